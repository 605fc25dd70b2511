//go:build e2e

package docs

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// host is a network namespace with nothing but loopback, in which the service runs as the pages say: so their
// addresses are free there, and nothing leaves it.
type host struct {
	dir  string
	into []string // enters the namespace
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{dir: t.TempDir()}
	keeper := exec.Command("unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec sleep 600")
	out, err := keeper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := keeper.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = keeper.Process.Kill()
		_ = keeper.Wait()
	})
	if line, err := io.ReadAll(io.LimitReader(out, 3)); err != nil || string(line) != "up\n" {
		t.Fatalf("no namespace: %q, %v", line, err)
	}
	h.into = []string{"nsenter", fmt.Sprintf("--net=/proc/%d/ns/net", keeper.Process.Pid), "--"}
	return h
}

// start runs a program to the end of the test. What it writes goes to name.log.
func (h *host) start(t *testing.T, name string, env []string, command ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(h.dir, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	// A test that is killed leaves nothing behind for long.
	command = append(append(slices.Clone(h.into), "timeout", "300"), command...)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = append([]string{"PATH=" + os.Getenv("PATH")}, env...), h.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		_ = cmd.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s:\n%s", name, text[max(0, len(text)-2000):])
		}
	})
}

// run runs commands in the namespace.
func (h *host) run(t *testing.T, s Script, old ...string) string {
	t.Helper()
	place := Place{Dir: h.dir, Into: h.into, Before: before, Instead: strings.NewReplacer(
		append(old, "/var/log/diagnostics", filepath.Join(h.dir, "audit"))...)}
	out, err := place.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// before stands for what a host has and a namespace has not. The tests are run by root, and without systemd.
const before = `
sudo() { "$@"; }
journalctl() { cat "${2#diagnostics-}.log"; }
`

// ask runs a tool once and returns its status.
func (h *host) ask(t *testing.T, slug, input string) string {
	t.Helper()
	return strings.TrimSpace(h.run(t, Script{Name: slug, Text: fmt.Sprintf(
		`curl -s -o answer.json -w '%%{http_code}' http://127.0.0.1:8080/api/tools/%s \
			-H 'Content-Type: application/json' -d '{"input":"%s"}'`, slug, input)}))
}

const token = "a-token-of-the-tests-alone"

// serve starts Redis, the worker and the gateway.
func (h *host) serve(t *testing.T) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(h.dir, "audit"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.start(t, "redis", nil, "redis-server", "--bind", "127.0.0.1", "--save", "")
	h.start(t, "worker", []string{"DIAGNOSTICS_WORKER_TOKEN=" + token, "METRICS_LISTEN_ADDR=127.0.0.1:9091",
		"PPROF_ENABLED=true"}, binary(t, "LAB_WORKER"))
	h.start(t, "gateway", []string{"DIAGNOSTICS_WORKER_TOKEN=" + token, "ENABLE_WORKER_TOOLS=true",
		"DIAGNOSTICS_WORKER_URL=http://127.0.0.1:8081", "RATE_LIMIT_REDIS_URL=redis://127.0.0.1:6379",
		"METRICS_LISTEN_ADDR=127.0.0.1:9090", "PPROF_ENABLED=true", "DNS_RESOLVERS=127.0.0.1:1053", "EGRESS_FAMILIES=ipv4",
		"RDAP_BOOTSTRAP_URL=off", "AUDIT_LOG_FILE=" + filepath.Join(h.dir, "audit", "audit.log")}, binary(t, "LAB_GATEWAY"))
	h.run(t, Script{Name: "start", Text: `for _ in $(seq 100); do
		[[ $(curl -s http://127.0.0.1:8080/readyz) == '{"status":"ready","redis":"ok","worker":"ok"}' ]] && exit; sleep 0.1
	done; cat *.log; exit 1`})
}

func binary(t *testing.T, variable string) string {
	t.Helper()
	path, err := filepath.Abs(os.Getenv(variable))
	if err != nil || os.Getenv(variable) == "" {
		t.Fatalf("%s names no binary: run make e2e", variable)
	}
	return path
}

// TestCommandsOfAHost runs the pages' commands for a host.
func TestCommandsOfAHost(t *testing.T) {
	blocks, err := Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(t)
	h.serve(t)
	// Requests for the log, the audit log and the worker. Nothing leads to the target here.
	const target = "11.0.0.9"
	h.ask(t, "port-checker", target+":443")
	h.ask(t, "ping", target)
	now := time.Now().UTC()
	around := []string{"2026-05-01T11:55:00Z", now.Add(-time.Minute).Format(time.RFC3339),
		"2026-05-01T12:05:00Z", now.Add(time.Minute).Format(time.RFC3339), "host=example.com", "host=" + target,
		"client=198.51.100.7", "client=127.0.0.1", "address=192.0.2.1", "address=" + target,
		"seconds=5", "seconds=1"}
	for _, s := range Scripts(blocks, Host) {
		out := h.run(t, s, around...)
		t.Logf("%s\n%s", s.Name, out)
		if s.Name != "docs/incidents.md" {
			continue
		}
		for what, want := range map[string]string{
			"the complaint leads to the client": "\t127.0.0.1\tport-checker\t" + target + "\t",
			"a name leads to the address":       "\n" + target + "\n",
			"the ways of a request":             `"msg":"request"`,
			"the ways of a job":                 `"msg":"job"`,
		} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", what, want, out)
			}
		}
	}
}

// TestOneClientsLimitIsEmptied: the keys that the page names are those that the gateway counts under.
func TestOneClientsLimitIsEmptied(t *testing.T) {
	blocks, err := Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(t)
	h.serve(t)
	// A request of 30 is back every two seconds, so a slow machine sends some more.
	status := ""
	for i := 0; i < 60 && status != "429"; i++ {
		status = h.ask(t, "my-ip", "")
	}
	if status != "429" {
		t.Fatalf("the limit is not used up: %s", status)
	}
	for _, s := range Scripts(blocks, Host, "Before you begin", "Empty one client's limit") {
		if s.Name == "docs/incidents.md" {
			h.run(t, s, "client=198.51.100.7", "client=127.0.0.1")
		}
	}
	if status = h.ask(t, "my-ip", ""); status != "200" {
		t.Errorf("the limit is not empty: %s", status)
	}
}

// TestMakeRun is what make run does once it has built.
func TestMakeRun(t *testing.T) {
	h := newHost(t)
	script, err := filepath.Abs(filepath.Join(root, "deploy/run.sh"))
	if err != nil {
		t.Fatal(err)
	}
	h.start(t, "run", []string{"RDAP_BOOTSTRAP_URL=off"}, script)
	out := h.run(t, Script{Name: "make run", Text: `
		for _ in $(seq 100); do grep -q 'Open http' run.log && break; sleep 0.1; done
		url=$(sed -n 's/^ *Open //p' run.log); curl -fsS "$url" | grep -c '<form'; curl -s "${url}readyz"`})
	if !strings.HasSuffix(strings.TrimSpace(out), `"worker":"ok"}`) {
		t.Error(out)
	}
}
