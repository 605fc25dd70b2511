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
			s := worker(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/readyz" {
					t.Errorf("asked %s %s", r.Method, r.URL.Path)
				}
				c.answer(w, r)
			})
			ready, err := client(t, s.URL, quick()).Ready(context.Background())
			if c.ok && (err != nil || len(ready.Families) == 0) {
				t.Fatalf("got %+v, %v", ready, err)
			}
			if !c.ok {
				wantFault(t, err, fault.Upstream, s.URL)
			}
		})
	}
}

func TestReadyIsKeptForAWhile(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := worker(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			jsonAnswer(http.StatusServiceUnavailable, `{}`)(w, r)
			return
		}
		jsonAnswer(http.StatusOK, goodReady)(w, r)
	})
	l := quick()
	l.keep = 500 * time.Millisecond
	c := client(t, s.URL, l)
	start := time.Now()
	for range 5 {
		if _, err := c.Ready(context.Background()); err == nil && time.Since(start) < l.keep {
			t.Fatal("a failure was not kept")
		}
	}
	time.Sleep(l.keep + 50*time.Millisecond)
	if _, err := c.Ready(context.Background()); err != nil {
		t.Fatalf("a failure was kept for ever: %v", err)
	}
	if asked.Load() != 2 {
		t.Fatalf("asked %d times", asked.Load())
	}
}

func TestReadyIsAskedOnceForAll(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := worker(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		jsonAnswer(http.StatusOK, goodReady)(w, r)
	})
	l := quick()
	l.keep = time.Minute
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

// One who waits less long than a slow worker takes must not keep the answer from those who ask later.
func TestReadyIsKeptForThoseWhoComeLater(t *testing.T) {
	t.Parallel()
	arrived, answer, answered := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var asked atomic.Int32
	s := worker(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 1 {
			t.Error("the worker is asked again")
			return
		}
		close(arrived)
		<-answer
		jsonAnswer(http.StatusOK, goodReady)(w, r)
		close(answered)
	})
	l := quick()
	l.ready, l.keep = time.Minute, time.Minute
	c := client(t, s.URL, l)
	ctx, leave := context.WithCancel(context.Background())
	left := parallel.Start(func() error { _, err := c.Ready(ctx); return err })
	<-arrived
	leave()
	if err := left.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	close(answer)
	<-answered
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, ok := c.ready.kept(l.keep); ok {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the answer is not kept")
		}
	}
	if _, err := c.Ready(context.Background()); err != nil {
		t.Errorf("who came later got %v", err)
	}
}

// net/http dials in a goroutine of its own, and Ready asks in another.
func TestAPanicWhileDiallingReachesTheCaller(t *testing.T) {
	t.Parallel()
	c := client(t, "http://worker.test-site.com", quick())
	c.transport = newTransport(quick(), func(context.Context, string, string) (net.Conn, error) { panic("boom") })
	for name, ask := range map[string]func() error{
		"ready":              func() error { _, err := c.Ready(t.Context()); return err },
		"ready, asked again": func() error { _, err := c.Ready(t.Context()); return err },
		"a job":              func() error { _, err := c.Ping(t.Context(), job); return err },
	} {
		var err error
		if p := parallel.Catch(func() { err = ask() }); p == nil || p.Value != "boom" {
			t.Errorf("%s: caught %v, err %v", name, p, err)
		}
	}
}

func TestReadyOfASilentWorkerIsBounded(t *testing.T) {
	t.Parallel()
	s := worker(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	l := quick()
	l.ready = 50 * time.Millisecond
	start := time.Now()
	_, err := client(t, s.URL, l).Ready(context.Background())
	wantFault(t, err, fault.Timeout, s.URL)
	if took := time.Since(start); took > 5*l.ready {
		t.Fatalf("took %v", took)
	}
}
