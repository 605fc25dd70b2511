//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"diagnostics/shared/waittest"
)

// script is `make run` without the build, on two free ports of loopback.
type script struct {
	dir             string
	gateway, worker string
}

func newScript(t *testing.T) script {
	t.Helper()
	s := script{dir: t.TempDir(), gateway: freePort(t), worker: freePort(t)}
	text, err := os.ReadFile("../../run.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.MkdirAll(filepath.Join(s.dir, "deploy"), 0o755),
		os.MkdirAll(filepath.Join(s.dir, "bin"), 0o755),
		os.WriteFile(filepath.Join(s.dir, "deploy", "run.sh"), text, 0o755),
		os.Symlink(gatewayProgram, filepath.Join(s.dir, "bin", "gateway")),
		os.Symlink(workerProgram, filepath.Join(s.dir, "bin", "worker")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// output is what a script has said so far.
type output struct {
	sync.Mutex
	bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.Lock()
	defer o.Unlock()
	return o.Buffer.Write(p)
}

func (o *output) String() string {
	o.Lock()
	defer o.Unlock()
	return o.Buffer.String()
}

// start runs the script until it ends or the context does, which ends it as Ctrl-C would.
func (s script) start(ctx context.Context, t *testing.T) (*exec.Cmd, *output) {
	t.Helper()
	said := &output{}
	c := exec.CommandContext(ctx, filepath.Join(s.dir, "deploy", "run.sh"))
	c.Env = append(os.Environ(),
		"GATEWAY_LISTEN_ADDR="+s.gateway, "WORKER_LISTEN_ADDR="+s.worker, "RDAP_BOOTSTRAP_URL=off")
	c.Stdout, c.Stderr = said, said
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 20 * time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, said
}

// `make run` prints the URL once the gateway answers there.
func TestRunPrintsTheURL(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, said := s.start(ctx, t)
	if !waittest.Within(time.Minute, func() bool {
		return strings.Contains(said.String(), "Open http://"+s.gateway+"/\n")
	}) {
		t.Fatal(said)
	}
	cancel()
	if err := c.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%v: %s", err, said)
	}
}

// Of a port that is taken `make run` prints the number and the setting, and no URL.
func TestRunWithATakenPort(t *testing.T) {
	t.Parallel()
	for taker, take := range map[string]func(t *testing.T, addr string){
		"one that says it is healthy": func(t *testing.T, addr string) { serveAt(t, addr, http.StatusOK) },
		"a stranger":                  func(t *testing.T, addr string) { serveAt(t, addr, http.StatusNotFound) },
		"one that says nothing":       func(t *testing.T, addr string) { listenAt(t, addr) },
	} {
		for _, setting := range []string{"GATEWAY_LISTEN_ADDR", "WORKER_LISTEN_ADDR"} {
			t.Run(fmt.Sprintf("%s: %s", setting, taker), func(t *testing.T) {
				t.Parallel()
				s := newScript(t)
				taken := map[string]string{"GATEWAY_LISTEN_ADDR": s.gateway, "WORKER_LISTEN_ADDR": s.worker}[setting]
				take(t, taken)
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				c, said := s.start(ctx, t)
				err := c.Wait()
				if err == nil || ctx.Err() != nil {
					t.Errorf("it went on: %v", err)
				}
				want := taken + " is already in use: stop what listens there, or choose another address by " + setting + "\n"
				if !strings.Contains(said.String(), want) || strings.Contains(said.String(), "http://") {
					t.Errorf("said: %s", said)
				}
			})
		}
	}
}

func listenAt(t *testing.T, addr string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func serveAt(t *testing.T, addr string, status int) {
	t.Helper()
	answer := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	server := httptest.NewUnstartedServer(http.HandlerFunc(answer))
	_ = server.Listener.Close()
	server.Listener = listenAt(t, addr)
	server.Start()
	t.Cleanup(server.Close)
}
