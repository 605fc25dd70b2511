package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// storm is many clients, each with a connection of its own for each request.
type storm struct {
	all      sync.WaitGroup
	mu       sync.Mutex
	more     *sync.Cond // signals further answers and failures
	answered int
	failures []error // of all but connections that were refused
}

func (s *storm) begin(addr string, visitors int) {
	s.more = sync.NewCond(&s.mu)
	for range visitors {
		s.all.Go(func() {
			for {
				err := visit(addr)
				s.mu.Lock()
				switch {
				case err == nil:
					s.answered++
				case !errors.Is(err, syscall.ECONNREFUSED):
					s.failures = append(s.failures, err)
				}
				s.mu.Unlock()
				s.more.Broadcast()
				if errors.Is(err, syscall.ECONNREFUSED) {
					return
				}
			}
		})
	}
}

// await waits until so many have been answered.
func (s *storm) await(answers int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.answered < answers && len(s.failures) == 0 {
		s.more.Wait()
	}
}

func visit(addr string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		return err
	}
	answer, err := io.ReadAll(c)
	if err == nil && len(answer) == 0 {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// A client that connected before the listener closes is answered, a later one is refused, and none is reset, also where
// the service has no rights. Without drainBacklogs tens of these clients are.
func TestDrainResetsNobody(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		runAsNobody(t)
		return
	}
	listeners, err := Listen(t.Context(), "LISTEN_ADDR", "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	peers, err := ListenOn(t.Context(), "PEER_LISTEN_ADDR", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	newServer := func() *http.Server {
		return &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	}
	ctx, signal := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var printed strings.Builder
	go func() {
		defer listeners.Close()
		log := given(t).OpenLog(&printed)
		err := given(t).Serve(ctx, listeners, Service{
			Server: newServer(),
			Peers:  &Peers{Server: newServer(), Listener: peers},
			Drain:  func() {},
		}, log.Logger)
		log.Close()
		ended <- err
	}()
	storms := map[string]*storm{listeners.Public(): {}, peers.Addr().String(): {}}
	for addr, s := range storms {
		s.begin(addr, 100)
	}
	for _, s := range storms {
		s.await(500)
	}
	signal()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for addr, s := range storms {
		s.all.Wait()
		if s.answered == 0 {
			t.Error("no one was answered")
		}
		for _, failure := range s.failures {
			t.Errorf("%s: %v", addr, failure)
		}
	}
	if strings.Contains(printed.String(), "WARN") {
		t.Error(printed.String())
	}
}

// runAsNobody runs the test once more as a user without any capability, as the containers of the services do.
func runAsNobody(t *testing.T) {
	t.Helper()
	const nobody = 65534
	again := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := again.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}
