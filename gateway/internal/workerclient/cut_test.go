package workerclient

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/parallel"
	"diagnostics/shared/workerapi"
)

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
		syscall.ETIMEDOUT:    sentenceSilent,
		syscall.EHOSTUNREACH: sentenceUnreachable,
		syscall.ENETUNREACH:  sentenceUnreachable,
		syscall.EHOSTDOWN:    sentenceUnreachable,

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
			if err := running.Wait(); told == "" && err != nil || told != "" && sentence(err) != told {
				t.Error(err)
			}
			if _, err := c.Ping(t.Context(), job); told != "" && sentence(err) != told {
				t.Error(err)
			}
		})
	}
}

// One connection that fails costs the one who asked, and nobody else: the worker is lost where it is refused, or where
// two questions for readiness fail as well.
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
			<-c.watch.Probed()
			unlucky.fails(test.failed, test.err)
			want := fault.Upstream
			if fault.IsTimeout(test.err) {
				want = fault.Timeout
			}
			_, err := c.Ping(t.Context(), job)
			wantFault(t, err, want, s.URL)
			eventually(t, "a question for readiness", func() bool { return asked.Load() > 1 })
			log.holds(t, test.lost, test.lost)
			if _, err := c.Ping(t.Context(), job); err != nil {
				t.Error(err)
			}
		})
	}
}

// What stands before a worker and answers for it, or a worker that takes nothing, is told once, and once more when the
// worker takes jobs again; and not beside a worker that is lost.
func TestAWorkerThatIsThereAndNotReady(t *testing.T) {
	t.Parallel()
	var status atomic.Int32
	status.Store(http.StatusOK)
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		drain(r)
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
		eventually(t, "the log's lines", func() bool {
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
	time.Sleep(20 * l.every)
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
	time.Sleep(20 * l.every)
	says(1, 1, 1)
}
