package workerclient

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/parallel"
)

const goodReady = `{"status":"ready","families":[4,6],"mode":"raw"}`

func TestReady(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		answer http.HandlerFunc
		ok     bool
	}{
		{"ready", jsonAnswer(http.StatusOK, goodReady), true},
		{"ready for one family", jsonAnswer(http.StatusOK, `{"status":"ready","families":[6],"mode":"datagram","more":1}`), true},
		{"draining", jsonAnswer(http.StatusServiceUnavailable, `{"status":"draining","families":[4,6],"mode":"raw"}`), false},
		{"draining with status 200", jsonAnswer(http.StatusOK, `{"status":"draining","families":[4,6],"mode":"raw"}`), false},
		{"no family", jsonAnswer(http.StatusOK, `{"status":"ready","families":[],"mode":"raw"}`), false},
		{"wrong types", jsonAnswer(http.StatusOK, `{"status":"ready","families":["4"]}`), false},
		{"plain text", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }, false},
		{"not found", http.NotFound, false},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/readyz2", http.StatusFound) }, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := server(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/readyz" {
					t.Errorf("asked %s %s", r.Method, r.URL.Path)
				}
				c.answer(w, r)
			})
			asking := client(t, s.URL, quick())
			ready, err := asking.Ready(context.Background())
			if c.ok && (err != nil || len(ready.Families) == 0) {
				t.Fatalf("got %+v, %v", ready, err)
			}
			if !c.ok {
				wantFault(t, err, fault.Upstream, s.URL)
			}
			if asking.Serves() != c.ok {
				t.Errorf("Serves is %t", !c.ok)
			}
		})
	}
}

// Whoever asks for readiness has the worker's last word at once, and costs it nothing.
func TestReadyIsKnownBeforeItIsAsked(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		jsonAnswer(http.StatusOK, goodReady)(w, r)
	})
	l := quick()
	l.every = time.Hour
	c := client(t, s.URL, l)
	var all parallel.Group
	for range 8 {
		all.Go(func() {
			if _, err := c.Ready(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if asked.Load() != 1 {
		t.Fatalf("asked %d times", asked.Load())
	}
}

// At the start the first answer is waited for, and no longer than the caller likes.
func TestReadyWaitsForTheFirstAnswer(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		<-answer
		jsonAnswer(http.StatusOK, goodReady)(w, r)
	})
	l := quick()
	l.ready = time.Minute
	c := client(t, s.URL, l)
	ctx, leave := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer leave()
	if _, err := c.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("who left got %v", err)
	}
	if c.Serves() {
		t.Error("nobody has answered, and it serves")
	}
	close(answer)
	if _, err := c.Ready(t.Context()); err != nil {
		t.Errorf("who waited got %v", err)
	}
}

// net/http dials in a goroutine of its own.
func TestAPanicWhileDiallingReachesTheCaller(t *testing.T) {
	t.Parallel()
	dial := func() (net.Conn, error) { panic("boom") }
	c, _ := logging(t, "http://worker.test-site.com", quick(), dialling(dial))
	<-c.watch.Probed()
	ask := map[string]func() error{
		"ready":           func() error { _, err := c.Ready(t.Context()); return err },
		"a job, not sent": func() error { _, err := c.Ping(t.Context(), job); return err },
	}
	for name, ask := range ask {
		var p *parallel.Panic
		if err := ask(); !errors.As(err, &p) || p.Value != "boom" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p := parallel.Catch(func() {
		_, _ = c.call(t.Context(), time.Second, http.MethodPost, "/api/ping", nil)
	}); p == nil || p.Value != "boom" {
		t.Errorf("a job: caught %v", p)
	}
}
