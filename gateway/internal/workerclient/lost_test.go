package workerclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/logtest"
	"diagnostics/shared/parallel"
	"diagnostics/shared/waittest"
	"diagnostics/shared/workerapi"
)

// journal is a log that several goroutines write to.
type journal struct{ logtest.Journal }

// holds waits for the lines of one outage, and wants no others.
func (j *journal) holds(t *testing.T, lost, back int) {
	t.Helper()
	waittest.Until(t, "the log's lines", func() bool {
		return strings.Count(j.String(), "is lost") >= lost && strings.Count(j.String(), "is back") >= back
	})
	if text := j.String(); strings.Count(text, "level=WARN") != lost || strings.Count(text, "\n") != lost+back {
		t.Errorf("want %d lines that it is lost, and %d that it is back:\n%s", lost, back, text)
	}
}

// code returns that of the error that the client gets.
func code(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return fmt.Sprint(err)
	}
	return f.Code
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

// A lost worker is logged with the first job, or before, and used again soon after it is back.
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
		if got := wantFault(t, err, fault.Upstream, s.URL); got.Code != "WORKER_UNREACHABLE" {
			t.Errorf("told %q", got.Code)
		}
	}
	log.holds(t, 1, 0)
	wants := regexp.MustCompile(`worker=127\.0\.0\.1:\d+ error="connect to the worker: dial tcp \[name\]: connect: connection refused"`)
	if !wants.MatchString(log.String()) {
		t.Errorf("the worker or the reason is not told: %s", log)
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
	is   atomic.Bool
	jobs atomic.Int32
}

func (h *hung) answer(w http.ResponseWriter, r *http.Request) {
	drain(r)
	if r.Method == http.MethodPost {
		h.jobs.Add(1)
	}
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
	_, _ = c.Ready(t.Context())
	h.is.Store(true)
	_, err := c.Ping(t.Context(), job) // the limit of a job, a minute later, would have another sentence
	if got := wantFault(t, err, fault.Timeout, s.URL); got.Code != "WORKER_SILENT" {
		t.Errorf("told %q", got.Code)
	}
	for range 10 {
		_, err = c.Ping(t.Context(), job)
		wantFault(t, err, fault.Timeout, s.URL)
	}
	if n := h.jobs.Load(); n != 1 {
		t.Errorf("the worker was asked for %d jobs, want the first alone", n)
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
	waittest.Until(t, "eight questions", func() bool { return asked.Load() > 8 })
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

// The error of a client matches what the worker did.
func TestWhatAFailedJobIsCalled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"ends before it answers": {hijacked(func(*net.TCPConn) {}), "WORKER_BROKE_OFF"},
		"is killed before it answers": {hijacked(func(conn *net.TCPConn) { _ = conn.SetLinger(0) }),
			"WORKER_BROKE_OFF"},
		"ends within the status": {hijacked(func(conn *net.TCPConn) { _, _ = io.WriteString(conn, "HTTP/1.1 200") }),
			"WORKER_BROKE_OFF"},
		"ends within the answer": {hijacked(func(conn *net.TCPConn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
		}), "WORKER_BROKE_OFF"},
		"speaks no HTTP": {hijacked(func(conn *net.TCPConn) {
			_, _ = io.WriteString(conn, "220 smtp.example.com ESMTP\r\n")
		}), "WORKER_UNUSABLE"},
		"answers for another": {jsonAnswer(http.StatusOK, strings.ReplaceAll(goodPing, "93.184.216.34", "8.8.8.8")),
			"WORKER_UNUSABLE"},
		"says nothing": {jsonAnswer(http.StatusOK, ""), "WORKER_UNUSABLE"},
		"says another type": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, goodPing) },
			"WORKER_UNUSABLE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := worker(t, c.answer)
			asking, log := logging(t, s.URL, quick())
			_, err := asking.Ping(t.Context(), job)
			wantFault(t, err, fault.Upstream, s.URL)
			if got := code(err); got != c.want {
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
	if code(err) != "WORKER_UNREACHABLE" {
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
	if code(err) != "WORKER_UNREACHABLE" {
		t.Error(err)
	}
	journal.holds(t, 1, 0)
}

// flakyDialer dials a worker; its connections can fail.
type flakyDialer struct {
	to string

	mu     sync.Mutex
	err    error
	failed int // how many more fail
}

func flakyDialerTo(s *httptest.Server) *flakyDialer {
	return &flakyDialer{to: s.Listener.Addr().String()}
}

func (d *flakyDialer) dial() (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed == 0 {
		return net.Dial("tcp", d.to)
	}
	d.failed--
	return nil, d.err
}

// fails has the next connections fail.
func (d *flakyDialer) fails(times int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed, d.err = times, err
}

// dialled is the error of a connection.
func dialled(errno syscall.Errno) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)}
}

// What is under way is waited for as long as something may come of it, and no longer.
func TestAJobOfAWorkerThatIsCutOff(t *testing.T) {
	t.Parallel()
	for errno, told := range map[syscall.Errno]string{
		syscall.ETIMEDOUT:    "WORKER_SILENT",
		syscall.EHOSTUNREACH: "WORKER_UNREACHABLE",
		syscall.ENETUNREACH:  "WORKER_UNREACHABLE",
		syscall.EHOSTDOWN:    "WORKER_UNREACHABLE",

		syscall.ECONNREFUSED: "",
		syscall.ECONNRESET:   "",
	} {
		t.Run(errno.Error(), func(t *testing.T) {
			t.Parallel()
			begun, goOn := make(chan struct{}), make(chan struct{})
			s := worker(t, func(w http.ResponseWriter, r *http.Request) {
				drain(r)
				close(begun)
				<-goOn
				jsonAnswer(http.StatusOK, goodPing)(w, r)
			})
			l := quick()
			l.job = time.Minute
			cut := flakyDialerTo(s)
			c, log := logging(t, s.URL, l, dialling(cut.dial))
			running := parallel.Start(func() error { _, err := c.Ping(t.Context(), job); return err })
			<-begun
			cut.fails(1000, dialled(errno))
			log.holds(t, 1, 0)
			if told == "" {
				close(goOn)
			} else {
				defer close(goOn)
			}
			select {
			case <-running.Done():
			case <-time.After(5 * time.Second):
				t.Fatal("the job is waited for")
			}
			if err := running.Wait(); told == "" && err != nil || told != "" && code(err) != told {
				t.Error(err)
			}
			if _, err := c.Ping(t.Context(), job); told != "" && code(err) != told {
				t.Error(err)
			}
		})
	}
}

// One failed connection fails one job and no other: the worker is lost where connections are refused, or where two
// readiness checks fail as well.
func TestOneFailedConnection(t *testing.T) {
	t.Parallel()
	late := &net.DNSError{Err: "i/o timeout", IsTimeout: true}
	for name, test := range map[string]struct {
		err    error
		failed int
		lost   int
	}{
		"a lost packet":            {dialled(syscall.ETIMEDOUT), 1, 0},
		"a lost packet of the DNS": {late, 1, 0},
		"no such name":             {&net.DNSError{Err: "no such host", IsNotFound: true}, 1, 0},
		"no way":                   {dialled(syscall.EHOSTUNREACH), 1, 0},
		"a reset":                  {dialled(syscall.ECONNRESET), 1, 0},
		"two lost packets":         {dialled(syscall.ETIMEDOUT), 2, 0},
		"no way, twice":            {dialled(syscall.EHOSTUNREACH), 2, 0},
		"three lost packets":       {dialled(syscall.ETIMEDOUT), 3, 1},
		"no way at all":            {dialled(syscall.EHOSTUNREACH), 3, 1},
		"a refusal":                {dialled(syscall.ECONNREFUSED), 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			s := server(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == workerapi.PathReady {
					asked.Add(1)
				}
				readyAnd(jsonAnswer(http.StatusOK, goodPing))(w, r)
			})
			l := quick()
			l.every = time.Hour
			unlucky := flakyDialerTo(s)
			c, log := logging(t, s.URL, l, dialling(unlucky.dial))
			_, _ = c.Ready(t.Context())
			unlucky.fails(test.failed, test.err)
			want := fault.Upstream
			if fault.IsTimeout(test.err) {
				want = fault.Timeout
			}
			_, err := c.Ping(t.Context(), job)
			wantFault(t, err, want, s.URL)
			waittest.Until(t, "a question for readiness", func() bool { return asked.Load() > 1 })
			log.holds(t, test.lost, test.lost)
			if _, err := c.Ping(t.Context(), job); err != nil {
				t.Error(err)
			}
		})
	}
}

// A proxy that answers in place of a worker, or a worker that takes no jobs, is logged once, and once more when the
// worker takes jobs again; and not beside a worker that is lost.
func TestAWorkerThatIsThereAndNotReady(t *testing.T) {
	t.Parallel()
	var status, asked atomic.Int32
	status.Store(http.StatusOK)
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		drain(r)
		asked.Add(1)
		if now := int(status.Load()); now != http.StatusOK {
			http.Error(w, secret, now)
			return
		}
		readyAnd(jsonAnswer(http.StatusOK, goodPing))(w, r)
	})
	l := quick()
	l.every = 10 * time.Millisecond
	c, log := logging(t, s.URL, l)
	says := func(unready, ready, lost int) {
		t.Helper()
		waittest.Until(t, "the log's lines", func() bool {
			text := log.String()
			return strings.Count(text, "is not ready") >= unready && strings.Count(text, "ready again") >= ready &&
				strings.Count(text, "is lost") >= lost
		})
		text := log.String()
		if strings.Count(text, "\n") != unready+ready+lost {
			t.Errorf("want %d, %d and %d lines:\n%s", unready, ready, lost, text)
		}
	}
	if _, err := c.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	status.Store(http.StatusBadGateway)
	says(1, 0, 0)
	before := asked.Load()
	waittest.Until(t, "twenty more answers", func() bool { return asked.Load() >= before+20 })
	says(1, 0, 0)
	if text := log.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, "worker status 502") ||
		strings.Contains(text, "10.9.8.7") {
		t.Errorf("the reason is not told, or more than that: %s", text)
	}
	if c.Serves() {
		t.Error("it serves")
	}
	status.Store(http.StatusOK)
	says(1, 1, 0)
	if _, err := c.Ping(t.Context(), job); err != nil || !c.Serves() {
		t.Errorf("%v, serves %t", err, c.Serves())
	}
	s.Close()
	says(1, 1, 1)
	time.Sleep(20 * l.every) // nothing happens that the lack of a line could wait for
	says(1, 1, 1)
}

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

// A readiness check returns the worker's last state at once, without a request to it.
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
		t.Error("no one has answered, and it serves")
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
	_, _ = c.Ready(t.Context())
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
}
