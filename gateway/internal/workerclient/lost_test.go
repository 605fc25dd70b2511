package workerclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/logtest"
	"diagnostics/shared/parallel"
	"diagnostics/shared/workerapi"
)

// journal is a log that several goroutines write to.
type journal struct{ logtest.Journal }

// holds waits for the lines of one outage, and wants no others.
func (j *journal) holds(t *testing.T, lost, back int) {
	t.Helper()
	eventually(t, "the log's lines", func() bool {
		return strings.Count(j.String(), "is lost") >= lost && strings.Count(j.String(), "is back") >= back
	})
	if text := j.String(); strings.Count(text, "level=WARN") != lost || strings.Count(text, "\n") != lost+back {
		t.Errorf("want %d lines that it is lost, and %d that it is back:\n%s", lost, back, text)
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not happen: %s", what)
		}
	}
}

// sentence is what a visitor is told.
func sentence(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return fmt.Sprint(err)
	}
	return f.Sentence
}

// listening serves at an address.
func listening(t *testing.T, addr string, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// A worker that has ended is told of by the first visitor, or before, and used again soon after it is back.
func TestAWorkerThatHasEnded(t *testing.T) {
	t.Parallel()
	s := worker(t, jsonAnswer(http.StatusOK, goodPing))
	c, log := logging(t, s.URL, quick())
	if _, err := c.Ping(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	s.Close()
	for range 5 {
		_, err := c.Ping(t.Context(), job)
		if got := wantFault(t, err, fault.Upstream, s.URL); got.Sentence != sentenceUnreachable {
			t.Errorf("told %q", got.Sentence)
		}
	}
	log.holds(t, 1, 0)
	if !strings.Contains(log.String(), "connection refused") || strings.Contains(log.String(), "127.0.0.1") {
		t.Errorf("the reason is not told, or the address is: %s", log)
	}
	if c.Serves() {
		t.Error("a worker that has ended serves")
	}
	listening(t, strings.TrimPrefix(s.URL, "http://"), readyAnd(jsonAnswer(http.StatusOK, goodPing)))
	log.holds(t, 1, 1)
	if _, err := c.Ping(t.Context(), job); err != nil || !c.Serves() {
		t.Errorf("the worker is back: %v, serves %t", err, c.Serves())
	}
}

// hung answers as long as it is not hung.
type hung struct {
	http.HandlerFunc
	is atomic.Bool
}

func (h *hung) answer(w http.ResponseWriter, r *http.Request) {
	drain(r)
	for h.is.Load() {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Millisecond):
		}
	}
	h.HandlerFunc(w, r)
}

// A worker that hangs costs the visitors who were there a little time, and those who come later none.
func TestAWorkerThatHangs(t *testing.T) {
	t.Parallel()
	h := &hung{HandlerFunc: readyAnd(jsonAnswer(http.StatusOK, goodPing))}
	s := server(t, h.answer)
	l := quick()
	l.job, l.ready = time.Minute, 200*time.Millisecond
	c, log := logging(t, s.URL, l)
	<-c.watch.Probed()
	h.is.Store(true)
	start := time.Now()
	_, err := c.Ping(t.Context(), job)
	if got := wantFault(t, err, fault.Timeout, s.URL); got.Sentence != sentenceSilent {
		t.Errorf("told %q", got.Sentence)
	}
	if took := time.Since(start); took > 5*(l.every+2*l.ready) {
		t.Errorf("the first visitor waited %v", took)
	}
	start = time.Now()
	for range 10 {
		_, err = c.Ping(t.Context(), job)
		wantFault(t, err, fault.Timeout, s.URL)
	}
	if took := time.Since(start); took > 5*20*time.Millisecond {
		t.Errorf("ten visitors who came later waited %v", took)
	}
	log.holds(t, 1, 0)
	h.is.Store(false)
	log.holds(t, 1, 1)
	if _, err := c.Ping(t.Context(), job); err != nil {
		t.Error(err)
	}
}

// A worker that is stopped in order takes nothing new, and ends what it has begun.
func TestAJobOfAWorkerThatTakesNoMore(t *testing.T) {
	t.Parallel()
	begun, goOn := make(chan struct{}), make(chan struct{})
	s := worker(t, func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-goOn
		jsonAnswer(http.StatusOK, goodPing)(w, r)
	})
	c, log := logging(t, s.URL, quick())
	running := parallel.Start(func() error { _, err := c.Ping(t.Context(), job); return err })
	<-begun
	s.Listener.Close()
	log.holds(t, 1, 0)
	close(goOn)
	if err := running.Wait(); err != nil {
		t.Error(err)
	}
}

// One slow answer to the question for readiness loses no worker.
func TestAMomentOfSilenceIsNoLoss(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == workerapi.PathReady && asked.Add(1)%2 == 0 {
			<-r.Context().Done()
			return
		}
		readyAnd(jsonAnswer(http.StatusOK, goodPing))(w, r)
	})
	l := quick()
	l.ready, l.every = 100*time.Millisecond, 10*time.Millisecond
	c, log := logging(t, s.URL, l)
	eventually(t, "eight questions", func() bool { return asked.Load() > 8 })
	if _, err := c.Ping(t.Context(), job); err != nil {
		t.Error(err)
	}
	log.holds(t, 0, 0)
}

// hijacked answers on the bare connection.
func hijacked(answer func(conn *net.TCPConn)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		drain(r)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		answer(conn.(*net.TCPConn))
		_ = conn.Close()
	}
}

// What a visitor is told is what the worker did.
func TestWhatAFailedJobIsCalled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"ends before it answers": {hijacked(func(*net.TCPConn) {}), sentenceBrokenOff},
		"is killed before it answers": {hijacked(func(conn *net.TCPConn) { _ = conn.SetLinger(0) }),
			sentenceBrokenOff},
		"ends within the status": {hijacked(func(conn *net.TCPConn) { _, _ = io.WriteString(conn, "HTTP/1.1 200") }),
			sentenceBrokenOff},
		"ends within the answer": {hijacked(func(conn *net.TCPConn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
		}), sentenceBrokenOff},
		"speaks no HTTP": {hijacked(func(conn *net.TCPConn) {
			_, _ = io.WriteString(conn, "220 smtp.example.com ESMTP\r\n")
		}), sentenceUnusable},
		"answers for another": {jsonAnswer(http.StatusOK, strings.ReplaceAll(goodPing, "93.184.216.34", "8.8.8.8")),
			sentenceUnusable},
		"says nothing": {jsonAnswer(http.StatusOK, ""), sentenceUnusable},
		"says another type": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, goodPing) },
			sentenceUnusable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := worker(t, c.answer)
			asking, log := logging(t, s.URL, quick())
			_, err := asking.Ping(t.Context(), job)
			wantFault(t, err, fault.Upstream, s.URL)
			if got := sentence(err); got != c.want {
				t.Errorf("told %q (%v)", got, err)
			}
			log.holds(t, 0, 0)
		})
	}
}

// Something that takes connections for a worker that is gone, as a container's port or a load balancer does.
func TestADoorWithoutAWorker(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var door parallel.Group
	door.Go(func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			conn.Close()
		}
	})
	t.Cleanup(func() { l.Close(); door.Wait() })
	c, log := logging(t, "http://"+l.Addr().String(), quick())
	log.holds(t, 1, 0)
	_, err = c.Ping(t.Context(), job)
	if sentence(err) != sentenceUnreachable {
		t.Error(err)
	}
}

// The roots that it is given are those that a worker is verified by.
func TestAWorkerThatIsTrusted(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(readyAnd(jsonAnswer(http.StatusOK, goodPing)))
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c, _ := logging(t, s.URL, quick(), WithTLS(&tls.Config{RootCAs: roots}))
	if _, err := c.Ping(t.Context(), job); err != nil {
		t.Error(err)
	}
}

// A certificate that is not trusted is no answer.
func TestAWorkerThatIsNotTrusted(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(readyAnd(jsonAnswer(http.StatusOK, goodPing)))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	c, journal := logging(t, s.URL, quick())
	_, err := c.Ping(t.Context(), job)
	if sentence(err) != sentenceUnreachable {
		t.Error(err)
	}
	journal.holds(t, 1, 0)
}
