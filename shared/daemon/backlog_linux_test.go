package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
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

// A client that connected before the listener closes is answered, a later one is refused, and none is reset. Without
// drainBacklog tens of these clients are.
func TestDrainResetsNobody(t *testing.T) {
	t.Parallel()
	listeners, err := Listen(t.Context(), "LISTEN_ADDR", "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, signal := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		defer listeners.Close()
		log := given(t).OpenLog(io.Discard)
		defer log.Close()
		ended <- given(t).Serve(ctx, listeners, Service{
			Server: &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})},
			Drain:  func() {},
		}, log.Logger)
	}()
	var s storm
	s.begin(listeners.Public(), 200)
	s.await(1000)
	signal()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	s.all.Wait()
	if s.answered == 0 {
		t.Error("no one was answered")
	}
	for _, failure := range s.failures {
		t.Error(failure)
	}
}
