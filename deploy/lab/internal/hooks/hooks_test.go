// Package hooks tests the pre-commit hook in a repository of its own.
package hooks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// root is the project's.
const root = "../../../.."

const (
	good      = "package tool\n\nimport \"fmt\"\n\nfunc Tell() { fmt.Println(\"x\") }\n"
	unaligned = "package tool\n\nimport \"fmt\"\n\nfunc Tell() {\nfmt.Println(\"x\") }\n"
	wrong     = "package tool\n\nimport \"fmt\"\n\nfunc Tell() { fmt.Printf(\"%d\\n\", \"x\") }\n"
)

func TestPreCommit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		staged, onDisk string
		refusal        string // empty: it is committed
	}{
		"well formatted":              {staged: good, onDisk: good},
		"badly formatted":             {staged: unaligned, onDisk: unaligned, refusal: "gofmt would change tool/tool.go"},
		"well formatted on disk only": {staged: unaligned, onDisk: good, refusal: "gofmt would change tool/tool.go"},
		"what vet finds":              {staged: wrong, onDisk: wrong, refusal: "go vet refuses"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			r.write("tool/tool.go", tt.staged)
			r.run("git", "add", ".")
			r.write("tool/tool.go", tt.onDisk)
			out, err := r.command("git", "commit", "--quiet", "--message", "a tool").CombinedOutput()
			if committed := err == nil; committed != (tt.refusal == "") || !strings.Contains(string(out), tt.refusal) {
				t.Errorf("committed: %v, with %q; want %q", committed, out, tt.refusal)
			}
		})
	}
}

// repository is a clone with the hook turned on, and nothing else.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t, t.TempDir()}
	text, err := os.ReadFile(filepath.Join(root, ".githooks", "pre-commit"))
	if err != nil {
		t.Fatal(err)
	}
	r.write(".githooks/pre-commit", string(text))
	r.write("go.mod", "module example.org\n\ngo 1.26.0\n")
	r.run("git", "init", "--quiet")
	r.run("git", "config", "user.name", "A Developer")
	r.run("git", "config", "user.email", "developer@example.org")
	r.run("git", "config", "core.hooksPath", ".githooks")
	return r
}

func (r repository) write(file, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		r.t.Fatal(err)
	}
}

func (r repository) run(name string, args ...string) {
	r.t.Helper()
	if out, err := r.command(name, args...).CombinedOutput(); err != nil {
		r.t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

// command is one in the repository, whichever repository the tests themselves were called from: a hook of git's has
// variables that name one.
func (r repository) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(r.t.Context(), name, args...)
	cmd.Dir = r.dir
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "GIT_") && !strings.HasPrefix(setting, "GOFLAGS=") {
			cmd.Env = append(cmd.Env, setting)
		}
	}
	return cmd
}
