package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	finding.Mistaken = func(mistake string) { panic(mistake) }
	goleak.VerifyTestMain(m)
}

// client is one of a server at base, which is watched once.
func client(t *testing.T, base string, change ...func(*Config)) *Client {
	t.Helper()
	u, err := ParseBase("the other side", base)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Name: "the other side", Base: u, Token: "0123456789abcdef", Idle: 2, MaxAnswer: 1 << 10, MaxStream: 4 << 10,
		Connect: time.Second, Ready: time.Second, Every: time.Hour, ReadyPath: "/ready",
		ReadReady:  func(answer []byte) (any, error) { return string(answer), nil },
		CodePrefix: "WORKER_",
		Log:        slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(&c)
	}
	made, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return made
}

// server counts its connections.
func server(t *testing.T, h http.HandlerFunc) (base string, connections *atomic.Int32) {
	t.Helper()
	connections = new(atomic.Int32)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/ready" {
			_, _ = io.WriteString(w, "{}")
			return
		}
		h(w, r)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL, connections
}

var get = Call{Method: http.MethodGet, Path: "/x", Limit: 5 * time.Second,
	Refuse: func(e *StatusError) error { return Own(fault.Upstream, e, "WORKER_REFUSED", nil) }}

func stream(w http.ResponseWriter, lines ...string) {
	w.Header().Set("Content-Type", progress.MediaType)
	_, _ = io.WriteString(w, strings.Join(lines, "\n")+"\n")
}

// A connection that is kept serves plain answers, refusals and streams alike; with Idle 0 each call has its own.
func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]int{"kept": 1, "not kept": 0} {
		base, connections := server(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.Contains(r.Header.Get("Accept"), progress.MediaType):
				stream(w, `{"step":{"kind":"a"}}`, `{"data":1,"status":200}`)
			case r.Method == http.MethodPost:
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = io.WriteString(w, `{"error":"Full."}`)
			default:
				_, _ = io.WriteString(w, `{"data":1}`)
			}
		})
		c := client(t, base, func(c *Config) { c.Idle = kept })
		if _, err := c.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		steps := 0
		lines, post := get, get
		lines.Step, post.Method = func(json.RawMessage) { steps++ }, http.MethodPost
		for _, call := range []Call{get, lines, post, lines, get} {
			_, err := c.Do(t.Context(), call)
			if (err != nil) != (call.Method == http.MethodPost) {
				t.Errorf("%s: %v", name, err)
			}
		}
		want := int32(1)
		if kept == 0 {
			want = 6
		}
		if got := connections.Load(); got != want || steps != 2 {
			t.Errorf("%s: %d connections, want %d; %d steps", name, got, want, steps)
		}
	}
}

// A stream whose end does not come delays no other run.
func TestAStreamThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	base, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		stream(w, `{"data":1,"status":200}`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	lines := get
	lines.Step = func(json.RawMessage) {}
	if answer, err := client(t, base).Do(t.Context(), lines); err != nil || !strings.Contains(string(answer), `"data":1`) {
		t.Errorf("%s, %v", answer, err)
	}
}

func TestBoundsOfAnswers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	step := `{"step":{"kind":"` + long + `"}}`
	last := `{"data":1,"status":200}`
	for name, tt := range map[string]struct {
		plain string
		lines []string
		fails bool
	}{
		"plain at the bound":       {plain: `"` + strings.Repeat("x", 1022) + `"`},
		"plain over it":            {plain: `"` + strings.Repeat("x", 1023) + `"`, fails: true},
		"lines at the bound":       {lines: []string{step, step, step, last}},
		"lines over it":            {lines: []string{step, step, step, step, step, last}, fails: true},
		"a line over its own":      {lines: []string{`{"step":{"kind":"` + long + long + `"}}`, last}, fails: true},
		"no last line":             {lines: []string{step}, fails: true},
		"not JSON":                 {lines: []string{"{", last}, fails: true},
		"a line of another shape":  {lines: []string{"[1]", `{"step":7}`, last}},
		"a last line of a failure": {lines: []string{`{"error":"No.","status":502}`}, fails: true},
	} {
		base, _ := server(t, func(w http.ResponseWriter, _ *http.Request) {
			if tt.plain != "" {
				_, _ = io.WriteString(w, tt.plain)
				return
			}
			stream(w, tt.lines...)
		})
		call := get
		if tt.plain == "" {
			call.Step = func(json.RawMessage) {}
		}
		_, err := client(t, base).Do(t.Context(), call)
		if (err != nil) != tt.fails || err != nil && !fault.Is(err, fault.Upstream) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The dial classifies host-side errors with the given function and the address that was dialled.
func TestWhoseFaultAFailedDialIs(t *testing.T) {
	t.Parallel()
	own := fault.New(fault.Busy, "SHORTAGE_HERE", nil)
	for name, told := range map[string]error{"own": own, "the other side's": nil} {
		c := client(t, "http://127.0.0.1:1", func(c *Config) {
			c.OwnFault = func(err error, to netip.Addr, _ time.Time) error {
				if errors.Is(err, context.Canceled) { // a probe that the end of the test broke off
					return nil
				}
				if !errors.Is(err, syscall.ECONNREFUSED) || !to.IsLoopback() {
					t.Errorf("%s: asked of %v and %v", name, err, to)
				}
				return told
			}
		})
		if _, err := c.dial(t.Context(), "tcp", "127.0.0.1:1"); errors.Is(err, own) != (told != nil) || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// net/http dials in a goroutine of its own.
func TestAPanicWhileDialling(t *testing.T) {
	t.Parallel()
	c := client(t, "http://192.0.2.1", func(c *Config) {
		c.Dial = func(context.Context, string, string) (net.Conn, error) { panic("boom") }
	})
	if p := parallel.Catch(func() { _, _ = c.call(t.Context(), get) }); p == nil || p.Value != "boom" {
		t.Errorf("caught %v", p)
	}
}

func TestOutcomesOfLosses(t *testing.T) {
	t.Parallel()
	c := client(t, "http://127.0.0.1:1")
	silent, unreachable := &silenceError{"x", context.DeadlineExceeded}, &unreachableError{"x", errors.New("y")}
	for want, errs := range map[Outcome][]error{
		OutcomeTimeout: {c.classify(silent), c.whileLost(silent)},
		OutcomeLost:    {c.classify(unreachable), c.whileLost(unreachable), c.classify(&brokenOffError{"x", io.EOF})},
		OutcomeFailed:  {c.classify(errors.New("x")), errors.New("x")},
	} {
		for _, err := range errs {
			var failed *fault.Error
			if got := OutcomeOf(t.Context(), err); got != want {
				t.Errorf("%v: %s, want %s", err, got, want)
			}
			if errors.As(err, &failed) && !failed.Local {
				t.Errorf("%v: not this service's own", err)
			}
		}
	}
}

// TestNoProxyIsEverUsed: the token would pass through it.
func TestNoProxyIsEverUsed(t *testing.T) {
	t.Parallel()
	if client(t, "http://127.0.0.1:1").transport.Load().Proxy != nil {
		t.Error("the transport reads a proxy")
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for header, want := range map[string][2]time.Duration{
		"7": {7 * time.Second, 7 * time.Second}, "3601": {time.Hour, time.Hour},
		"": {time.Second, 5 * time.Second}, "0": {time.Second, 5 * time.Second}, "soon": {time.Second, 5 * time.Second},
	} {
		if got := retryAfter(header); got < want[0] || got > want[1] {
			t.Errorf("%q: %v", header, got)
		}
	}
}

func TestParseBase(t *testing.T) {
	t.Parallel()
	for base, ok := range map[string]bool{
		"http://127.0.0.1:8081": true, "https://a.example.net/b/": true, "http://[::1]:1": true, "http://w:65535": true,
		"http://w:65536": false, "http://w:0": false, "": false, "ftp://w": false, "http:w": false, "http://": false,
		"http://:1": false, "http://u@w": false, "http://w?": false, "http://w?a": false, "http://w/#a": false,
	} {
		if _, err := ParseBase("the other side", base); (err == nil) != ok || err != nil &&
			(base != "" && strings.Contains(err.Error(), base) || !strings.Contains(err.Error(), "the other side")) {
			t.Errorf("%q: %v", base, err)
		}
	}
}

// FuzzLines checks that no bytes break the reader, and that it stays within its bounds.
func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"step":{"kind":"a"}}` + "\n" + `{"data":1,"status":200}`))
	f.Add([]byte(`{"error":"x","status":503,"retryAfter":4294967296}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		passed := 0
		lines := Lines{"x", 64, 256, func(step json.RawMessage) { passed += len(step) }, get.Refuse}
		answer, err := lines.Read(strings.NewReader(string(body)))
		if passed > 256 || len(answer) > 64 || (answer == nil) == (err == nil) {
			t.Errorf("%d passed, %d of the answer, %v", passed, len(answer), err)
		}
		if err == nil && !json.Valid(answer) {
			t.Errorf("%q", answer)
		}
	})
}
