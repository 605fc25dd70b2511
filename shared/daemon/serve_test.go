package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/daemon/daemontest"
)

// running is a service on pipes, in a bubble whose clock its delays follow.
type running struct {
	public, metrics *daemontest.Pipes
	log             *strings.Builder
	drained         chan struct{} // closed by Drain
	signal          context.CancelFunc
	ended           chan error
}

var errLeaving = errors.New("the service leaves")

// serve runs a service whose requests take as long as their path says, until the test ends. They are answered 503 where
// the service leaves before, but for those with the query deaf, which nothing ends.
func serve(t *testing.T, env ...string) *running {
	t.Helper()
	return serveOn(t, nil, env...)
}

// serveOn is serve with a wrapper of the public listener.
func serveOn(t *testing.T, wrap func(net.Listener) net.Listener, env ...string) *running {
	t.Helper()
	r := &running{public: daemontest.NewPipes(), metrics: daemontest.NewPipes(), log: new(strings.Builder),
		drained: make(chan struct{}), ended: make(chan error, 1)}
	s := given(t, env...)
	var ctx context.Context
	ctx, r.signal = context.WithCancel(t.Context())
	service := Service{
		Server: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			took, err := time.ParseDuration(r.URL.Path[1:])
			if err != nil {
				t.Error(err)
			}
			over := r.Context().Done()
			if r.URL.Query().Has("deaf") {
				over = nil
			}
			select {
			case <-time.After(took):
			case <-over:
				if !errors.Is(context.Cause(r.Context()), errLeaving) {
					panic(http.ErrAbortHandler)
				}
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})},
		Leaving: errLeaving,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a 1\n") }),
		Drain:   func() { close(r.drained) },

		Listener: wrap,
	}
	listeners := &Listeners{public: r.public, metrics: r.metrics}
	go func() {
		defer listeners.Close()
		log := s.OpenLog(r.log)
		err := s.Serve(ctx, listeners, service, log.Logger)
		log.Close()
		r.ended <- err
	}()
	t.Cleanup(r.signal)
	return r
}

// get asks for a path and gives the status, 0 where there is no answer.
func get(p *daemontest.Pipes, path string) int {
	resp, err := p.Client().Get("http://sample" + path)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// TestDrain: unready but accepting for the delay, then deaf, but for what is in flight.
func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := serve(t, "SHUTDOWN_DELAY=10s", "SHUTDOWN_TIMEOUT=20s")
		if get(r.public, "/1s") != http.StatusOK || get(r.metrics, "/metrics") != http.StatusOK {
			t.Error("it does not serve")
		}
		if get(r.metrics, "/1s") != http.StatusNotFound {
			t.Error("the private listener serves more than metrics")
		}
		inFlight := make(chan int, 1)
		go func() { inFlight <- get(r.public, "/25s") }()
		synctest.Wait()
		begin := time.Now()
		r.signal()
		<-r.drained
		time.Sleep(9 * time.Second)
		if get(r.public, "/0s") != http.StatusOK {
			t.Error("a visitor who comes during the delay is not served")
		}
		time.Sleep(2 * time.Second)
		if get(r.public, "/0s") != 0 {
			t.Error("still accepting after the delay")
		}
		if get(r.metrics, "/metrics") != http.StatusOK {
			t.Error("the metrics go before the service does")
		}
		if status := <-inFlight; status != http.StatusOK || time.Since(begin) != 25*time.Second {
			t.Errorf("the request in flight: %d after %v", status, time.Since(begin))
		}
		if err := <-r.ended; err != nil || get(r.metrics, "/metrics") != 0 {
			t.Errorf("ended with %v", err)
		}
		for _, line := range []string{`"msg":"draining","delayMs":10000,"timeoutMs":20000}`, `"msg":"stopped"}`} {
			if !strings.Contains(r.log.String(), line) {
				t.Errorf("no %s in %s", line, r.log)
			}
		}
	})
}

// A connection that has sent nothing is no request in flight: browsers connect ahead.
func TestDrainWithASilentConnection(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[string]time.Duration{
		"SHUTDOWN_TIMEOUT=20s": time.Second, "SHUTDOWN_TIMEOUT=1s": time.Second / 2,
	} {
		synctest.Test(t, func(t *testing.T) {
			r := serve(t, timeout)
			silent, err := r.public.Dial()
			if err != nil {
				t.Fatal(err)
			}
			defer silent.Close()
			synctest.Wait()
			begin := time.Now()
			r.signal()
			if err := <-r.ended; err != nil || time.Since(begin) < want || time.Since(begin) > want+time.Second/2 {
				t.Errorf("%s: %v after %v, want about %v", timeout, err, time.Since(begin), want)
			}
		})
	}
}

// Requests in flight have SHUTDOWN_TIMEOUT less a tenth or a second; then their contexts end, and they are cut off at
// its end where they ignore that.
func TestDrainThatTakesTooLong(t *testing.T) {
	t.Parallel()
	for timeout, told := range map[time.Duration]time.Duration{
		20 * time.Second: 19 * time.Second, 5 * time.Second: 4500 * time.Millisecond,
	} {
		for _, test := range []struct {
			path   string
			status int // 0 is none
			took   time.Duration
			cut    string
		}{
			{"/1h", http.StatusServiceUnavailable, told, "0"},
			{"/1m?deaf", 0, timeout, "1"},
		} {
			synctest.Test(t, func(t *testing.T) {
				r := serve(t, "SHUTDOWN_TIMEOUT="+timeout.String())
				late, timely := make(chan int, 1), make(chan int, 1)
				go func() { late <- get(r.public, test.path) }()
				go func() { timely <- get(r.public, "/"+(told-time.Millisecond).String()) }()
				synctest.Wait()
				begin := time.Now()
				r.signal()
				if status := <-timely; status != http.StatusOK {
					t.Errorf("who is in time: %d", status)
				}
				if status := <-late; status != test.status {
					t.Errorf("%s: %d, want %d", test.path, status, test.status)
				}
				err := <-r.ended
				took := time.Since(begin)
				time.Sleep(time.Minute) // until the deaf one is over, too
				want := "SHUTDOWN_TIMEOUT ran out with requests still in flight: 1, of which " + test.cut + " were cut off"
				// net/http looks every half second whether all is over.
				if err == nil || err.Error() != want || took < test.took || took > min(timeout, test.took+time.Second/2) {
					t.Errorf("%s: %v after %v", test.path, err, took)
				}
				line := `"level":"WARN","msg":"SHUTDOWN_TIMEOUT ran out","inFlight":1,"cutOff":` + test.cut + "}"
				if !strings.Contains(r.log.String(), line) {
					t.Errorf("no %s in %s", line, r.log)
				}
			})
		}
	}
}

// slowListener is one whose Accept is late to see that it was closed, as it is where the processor is taken. It fails
// when it is closed again, as a socket does.
type slowListener struct {
	net.Listener
	late time.Duration

	mu     sync.Mutex
	closed error
}

func (l *slowListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		time.Sleep(l.late) // of the bubble
	}
	return conn, err
}

func (l *slowListener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed != nil {
		return l.closed
	}
	l.closed = net.ErrClosed
	return l.Listener.Close()
}

// Nothing is in flight, so the end is no failure, however late the server leaves its listener; only where it does not
// leave within SHUTDOWN_TIMEOUT is something wrong, and that is not said of requests.
func TestDrainWithAListenerThatIsSlow(t *testing.T) {
	t.Parallel()
	for late, good := range map[time.Duration]bool{
		0: true, time.Millisecond: true, 19 * time.Second: true, 21 * time.Second: false,
	} {
		synctest.Test(t, func(t *testing.T) {
			wrap := func(l net.Listener) net.Listener { return &slowListener{Listener: l, late: late} }
			r := serveOn(t, wrap, "SHUTDOWN_TIMEOUT=20s")
			if get(r.public, "/0s") != http.StatusOK {
				t.Error("it does not serve")
			}
			r.signal()
			err := <-r.ended
			if (err == nil) != good || err != nil && !errors.Is(err, net.ErrClosed) {
				t.Errorf("late by %v: %v", late, err)
			}
		})
	}
}

// A listener that fails ends the service, in the middle of the delay too.
func TestAListenerThatFails(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(*running) *daemontest.Pipes{
		"public":  func(r *running) *daemontest.Pipes { return r.public },
		"metrics": func(r *running) *daemontest.Pipes { return r.metrics },
	} {
		for _, draining := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				r := serve(t, "SHUTDOWN_DELAY=5s")
				if draining {
					r.signal()
					<-r.drained
				}
				fail(r).Close()
				if err := <-r.ended; err == nil || !strings.HasPrefix(err.Error(), "serve: ") {
					t.Errorf("%s, draining %t: %v", name, draining, err)
				}
			})
		}
	}
}

// Profiles are served where they are enabled, and on the private listener alone.
func TestProfiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env    string
		status int
	}{{"PPROF_ENABLED=false", http.StatusNotFound}, {"PPROF_ENABLED=true", http.StatusOK}} {
		synctest.Test(t, func(t *testing.T) {
			r := serve(t, tt.env)
			for _, path := range []string{"/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/heap"} {
				if got := get(r.metrics, path); got != tt.status {
					t.Errorf("%s: %s: status %d", tt.env, path, got)
				}
			}
			r.signal()
			<-r.ended
		})
	}
}
