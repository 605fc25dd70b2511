package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// engine is a docker that keeps its containers as lines of files, one file a service, and writes down what it is told
// to change. Of the images only :good is there, and $CHECK is the answer of a service to -check-config. With each
// question one more gateway uses a new worker.
const engine = `
docker() (
set -eu
case "$*" in
'compose version') ;;
'compose config') printf 'name: x\nservices:\n'; for s in gateway worker; do
  printf '  %s:\n    build:\n      image: no\n    image: x-%s:%s\n' $s $s "$VERSION"; done ;;
'compose ps --quiet '*) cat "$4" ;;
'image inspect '*) [[ $3 == *:good ]] ;;
'compose run '*' -check-config') echo "check $*" >>told; echo 'Creating x ... done'; [ -z "$CHECK" ] || echo "$CHECK"
  [[ $CHECK != *takes* ]] ;;
'stop '*) echo "stop ${*: -1}" >>told ;;
'rm '*) sed -i "/^$2\$/d" gateway worker ;;
'compose up '*) echo "new-$(wc -l <told)" >>"${*: -1}" ;;
'exec old'*'-gateways') echo 2 ;;
'exec new'*'-gateways') echo asked >>"asked-$2"; wc -l <"asked-$2" ;;
'exec '*'-healthcheck') echo "healthy $2" >>told ;;
*) echo "docker $*?" >&2; exit 1 ;;
esac
)
export -f docker
`

// TestRollScript runs deploy/roll.sh on an engine of files.
func TestRollScript(t *testing.T) {
	t.Parallel()
	const (
		checks = "check compose run --rm --no-deps -T -e RATE_LIMT_REQUESTS=set worker -check-config\n" +
			"check compose run --rm --no-deps -T -e RATE_LIMT_REQUESTS=set gateway -check-config\n"
		rolled = "stop old-1\nhealthy new-3\nstop old-2\nhealthy new-5\nstop old-3\nhealthy new-7\n"
	)
	for name, tt := range map[string]struct {
		version, check string
		good           bool
		says           []string
		told           string
		asked          int
	}{
		"all is well": {"good", "", true, []string{"roll: replaced worker old-1", "roll: replaced gateway old-3"},
			checks + rolled, 2},
		"a typo in the version": {"god", "", false, []string{"there is no image x-worker:god here"}, "", 0},
		"a wrong setting": {"good", "worker: LOG_LEVEL takes debug, info, warn or error", false,
			[]string{"worker: LOG_LEVEL takes debug", "roll: the new worker cannot start with these settings"},
			strings.SplitAfter(checks, "\n")[0], 0},
		"a warning": {"good", `level=WARN msg="a variable" variable=RATE_LIMT_REQUESTS`, true,
			[]string{`roll: worker: msg="a variable" variable=RATE_LIMT_REQUESTS`}, checks + rolled, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(name, text string) {
				t.Helper()
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"docker-compose.yml", "deploy/compose.tls.yml", "deploy/roll.sh"} {
				text, err := os.ReadFile(filepath.Join(root, name))
				if err != nil {
					t.Fatal(err)
				}
				write(name, string(text))
			}
			write("mine.yml", "services: {gateway: {environment: {LOG_LEVEL: ${MINE}}}}\n")
			write(".env", "# a comment\nRATE_LIMT_REQUESTS=1\nRATE_LIMIT_REQUESTS=1\nCADDY_PUBLISH=\nMINE=1\n"+
				"COMPOSE_FILE=docker-compose.yml\n")
			write("worker", "old-1\nold-2\n")
			write("gateway", "old-3\n")
			write("told", "")
			place := Place{Dir: dir, Env: []string{"VERSION=" + tt.version, "CHECK=" + tt.check}, Before: engine}
			out, err := place.Run(t.Context(), Script{Name: "roll", Text: "bash deploy/roll.sh 2>&1"})
			says := append(tt.says, "roll: .env: RATE_LIMT_REQUESTS is in none of compose's files")
			if !tt.good {
				says = append(says, "all runs as before")
			}
			for _, want := range says {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in %s", want, out)
				}
			}
			if (err == nil) != tt.good || strings.Count(out, "in none of") != 1 {
				t.Errorf("%v\n%s", err, out)
			}
			told, _ := os.ReadFile(filepath.Join(dir, "told"))
			if string(told) != tt.told {
				t.Errorf("told the engine\n%swant\n%s", told, tt.told)
			}
			asked, _ := filepath.Glob(filepath.Join(dir, "asked-*"))
			if len(asked) != tt.asked {
				t.Errorf("waited for the gateways of %v, want %d", asked, tt.asked)
			}
			for _, file := range asked {
				if text, err := os.ReadFile(file); err != nil || string(text) != "asked\nasked\n" {
					t.Errorf("%s: %q, %v", file, text, err)
				}
			}
		})
	}
}
