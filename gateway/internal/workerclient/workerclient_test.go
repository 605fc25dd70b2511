package workerclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/remote"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/cause"
	"diagnostics/shared/logtest"
	"diagnostics/shared/workerapi"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	finding.Mistaken = func(mistake string) { panic(mistake) }
	goleak.VerifyTestMain(m)
}

const token = "0123456789abcdef"

// secret stands in the worker's error texts and must never reach a visitor.
const secret = "dial tcp 10.9.8.7:8081: goroutine 1"

var (
	target4 = netip.MustParseAddr("93.184.216.34")
	target6 = netip.MustParseAddr("2606:2800:220:1:248:1893:25c8:1946")
	job     = Job{Address: target4, Hostname: "example.com", RequestID: "6f0e5f7e-0000-4000-8000-000000000000"}
)

const goodTrace = `{"data":{"target":"93.184.216.34","address":"93.184.216.34","family":4,"reached":true,"stopReason":"reached",
"hops":[{"ttl":1,"address":"10.0.0.1","addresses":["10.0.0.1"],"hostname":"gw.corp.internal","hidden":false,"asn":null,"sent":3,"received":3,"lossPercent":0,"bestMs":0.1,"averageMs":0.2,"worstMs":0.3,"rttsMs":[0.1,0.2,0.3],"note":null,"mood":"good"},
{"ttl":2,"address":"93.184.216.34","addresses":["93.184.216.34"],"hostname":null,"hidden":false,"asn":null,"sent":3,"received":2,"lossPercent":33.3,"bestMs":1,"averageMs":2,"worstMs":3,"rttsMs":[1,null,3],"note":null}],
"explanation":[],"raw":"1 10.0.0.1\n2 93.184.216.34","extra":{"a":1}},"durationMs":1.5,"requestId":"x"}`

const goodPing = `{"data":{"target":"93.184.216.34","address":"93.184.216.34","family":4,"sent":2,"received":1,"duplicates":0,"lossPercent":50,"minMs":1,"averageMs":1,"medianMs":1,"maxMs":1,"stddevMs":0,"jitterMs":null,
"replies":[{"seq":0,"rttMs":1,"ttl":60},{"seq":1,"rttMs":null,"ttl":null}],"stopReason":"completed"},"durationMs":1,"requestId":"x"}`

func goodLoss() string {
	return strings.Replace(goodPing, `"stopReason"`, `"bursts":[{"startSeq":1,"length":1}],"stopReason"`, 1)
}

// quick are bounds that a test can wait for.
func quick() limits {
	return limits{job: 5 * time.Second, ready: time.Second, connect: time.Second, every: 50 * time.Millisecond}
}

// worker is a server that says that it is ready, and answers jobs by h.
func worker(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	return server(t, readyAnd(h))
}

func readyAnd(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, workerapi.PathReady) {
			jsonAnswer(http.StatusOK, goodReady)(w, r)
			return
		}
		h(w, r)
	}
}

func server(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func client(t *testing.T, base string, l limits) *Client {
	t.Helper()
	c, _ := logging(t, base, l)
	return c
}

// logging is client with its log.
func logging(t *testing.T, base string, l limits, options ...Option) (*Client, *journal) {
	t.Helper()
	log := &journal{}
	c, err := newClient(base, token, l, slog.New(slog.NewTextHandler(log, nil)), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, log
}

func jsonAnswer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, base, token string
		ok                bool
	}{
		{"http", "http://127.0.0.1:8081", token, true},
		{"https with a path", "https://worker.example.net/probe/", token, true},
		{"IPv6", "http://[::1]:8081", token, true},
		{"highest port", "http://w:65535", token, true},
		{"port too high", "http://w:65536", token, false},
		{"port zero", "http://w:0", token, false},
		{"empty", "", token, false},
		{"no scheme", "127.0.0.1:8081", token, false},
		{"other scheme", "unix:///run/worker", token, false},
		{"opaque", "http:worker", token, false},
		{"no host", "http:///x", token, false},
		{"port alone", "http://:8081", token, false},
		{"user", "http://u:p@worker", token, false},
		{"query", "http://worker/?a=b", token, false},
		{"empty query", "http://worker/?", token, false},
		{"fragment", "http://worker/#a", token, false},
		{"no token", "http://worker", "", false},
		{"token with a line break", "http://worker", token + "\n", false},
		{"token with a space", "http://worker", "a b", false},
		{"token beyond ASCII", "http://worker", "tökentökentökentöken", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			made, err := New(c.base, c.token, slog.New(slog.DiscardHandler))
			if err == nil {
				defer made.Close()
			}
			if (err == nil) != c.ok {
				t.Fatalf("New gives %v", err)
			}
			if err != nil && c.base != "" && strings.Contains(err.Error(), c.base) {
				t.Fatalf("the error repeats the URL: %v", err)
			}
		})
	}
}

func TestTracerouteAsksAsPromised(t *testing.T) {
	t.Parallel()
	var seen *http.Request
	var body []byte
	s := worker(t, func(w http.ResponseWriter, r *http.Request) {
		seen = r
		body, _ = io.ReadAll(r.Body)
		jsonAnswer(http.StatusOK, goodTrace)(w, r)
	})
	got, err := client(t, s.URL+"/prefix", quick()).Traceroute(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	if seen.Method != http.MethodPost || seen.URL.Path != "/prefix/api/traceroute" {
		t.Errorf("asked %s %s", seen.Method, seen.URL.Path)
	}
	if a := seen.Header.Values("Authorization"); len(a) != 1 || a[0] != "Bearer "+token {
		t.Errorf("Authorization is %q", a)
	}
	if seen.Header.Get("Content-Type") != "application/json" || len(body) > workerapi.MaxRequestBytes {
		t.Errorf("sent %d bytes of %q", len(body), seen.Header.Get("Content-Type"))
	}
	var asked workerapi.Request
	if err := json.Unmarshal(body, &asked); err != nil || asked.Target != "93.184.216.34" ||
		asked.Hostname != job.Hostname || asked.RequestID != job.RequestID {
		t.Errorf("asked %s (%v)", body, err)
	}
	if h := got.Hops[0]; !h.Hidden || h.Address != nil || len(h.Addresses) != 0 || h.Hostname != nil {
		t.Errorf("private hop is told: %+v", h)
	}
	if h := got.Hops[1]; h.Hidden || h.Address == nil || *h.Address != "93.184.216.34" || h.RTTsMs[1] != nil {
		t.Errorf("public hop is %+v", h)
	}
	if got.Raw == nil || *got.Raw != "1 10.0.0.1\n2 93.184.216.34" {
		t.Errorf("raw is %v", got.Raw)
	}
	out, err := json.Marshal(got)
	if err != nil || strings.Contains(string(out), "mood") || strings.Contains(string(out), "extra") {
		t.Errorf("unknown fields pass through: %s (%v)", out, err)
	}
}

func TestPingAndPacketLossAskTheirOwnPaths(t *testing.T) {
	t.Parallel()
	s := worker(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/ping":
			jsonAnswer(http.StatusOK, goodPing)(w, r)
		case "/api/packet-loss":
			jsonAnswer(http.StatusOK, goodLoss())(w, r)
		default:
			http.NotFound(w, r)
		}
	})
	c := client(t, s.URL, quick())
	p, err := c.Ping(context.Background(), job)
	if err != nil || p.Received != 1 || p.Raw != nil {
		t.Errorf("ping: %+v, %v", p, err)
	}
	l, err := c.PacketLoss(context.Background(), job)
	if err != nil || len(l.Bursts) != 1 || l.Sent != 2 {
		t.Errorf("packet loss: %+v, %v", l, err)
	}
}

// TestMisbehaviour drives every way in which a worker can fail its caller through to the kind of failure that
// docs/contract.md#the-worker promises.
func TestMisbehaviour(t *testing.T) {
	t.Parallel()
	envelope := func(message string) string {
		return fmt.Sprintf(`{"error":%q,"durationMs":1,"requestId":"x"}`, message)
	}
	change := func(old, with string) http.HandlerFunc {
		if !strings.Contains(goodTrace, old) {
			t.Fatalf("%q is not in the good answer", old)
		}
		return jsonAnswer(http.StatusOK, strings.Replace(goodTrace, old, with, 1))
	}
	cases := []struct {
		name   string
		answer http.HandlerFunc
		want   fault.Kind
	}{
		{"HTML", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>"+secret)
		}, fault.Upstream},
		{"good answer as HTML", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, goodTrace)
		}, fault.Upstream},
		{"no content type", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, goodTrace)
		}, fault.Upstream},
		{"compressed", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			jsonAnswer(http.StatusOK, goodTrace)(w, r)
		}, fault.Upstream},
		{"HTML that claims to be JSON", jsonAnswer(http.StatusOK, "<html>"+secret), fault.Upstream},
		{"empty 200", jsonAnswer(http.StatusOK, ""), fault.Upstream},
		{"204", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, fault.Upstream},
		{"201 with a good answer", jsonAnswer(http.StatusCreated, goodTrace), fault.Upstream},
		{"truncated JSON", jsonAnswer(http.StatusOK, goodTrace[:len(goodTrace)/2]), fault.Upstream},
		{"truncated body", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(goodTrace)+10))
			jsonAnswer(http.StatusOK, goodTrace)(w, r)
		}, fault.Upstream},
		{"two values", jsonAnswer(http.StatusOK, goodTrace+goodTrace), fault.Upstream},
		{"an array", jsonAnswer(http.StatusOK, "["+goodTrace+"]"), fault.Upstream},
		{"null", jsonAnswer(http.StatusOK, "null"), fault.Upstream},
		{"null data", jsonAnswer(http.StatusOK, `{"data":null,"durationMs":1,"requestId":"x"}`), fault.Upstream},
		{"empty data", jsonAnswer(http.StatusOK, `{"data":{},"durationMs":1,"requestId":"x"}`), fault.Upstream},
		{"error in a 200", jsonAnswer(http.StatusOK, envelope(secret)), fault.Upstream},
		{"error beside data", jsonAnswer(http.StatusOK, strings.Replace(goodTrace, "{", `{"error":"`+secret+`",`, 1)), fault.Upstream},
		{"data in a 500", jsonAnswer(http.StatusInternalServerError, goodTrace), fault.Upstream},
		{"hops is a string", change(`"hops":[`, `"hops":"many","other":[`), fault.Upstream},
		{"hops is null", change(`"hops":[`, `"hops":null,"other":[`), fault.Upstream},
		{"ttl is a string", change(`"ttl":1`, `"ttl":"1"`), fault.Upstream},
		{"ttl is a fraction", change(`"ttl":1`, `"ttl":1.5`), fault.Upstream},
		{"infinite time", change(`"bestMs":0.1`, `"bestMs":1e999`), fault.Upstream},
		{"negative time", change(`"bestMs":0.1`, `"bestMs":-1`), fault.Upstream},
		{"other target", change(`"target":"93.184.216.34"`, `"target":"8.8.8.8"`), fault.Upstream},
		{"other family", change(`"family":4`, `"family":6`), fault.Upstream},
		{"unknown stop reason", change(`"stopReason":"reached"`, `"stopReason":"tired"`), fault.Upstream},
		{"400", jsonAnswer(http.StatusBadRequest, envelope(secret)), fault.Upstream},
		{"401", jsonAnswer(http.StatusUnauthorized, envelope(secret)), fault.Upstream},
		{"404", jsonAnswer(http.StatusNotFound, envelope(secret)), fault.Upstream},
		{"413", jsonAnswer(http.StatusRequestEntityTooLarge, envelope(secret)), fault.Upstream},
		{"415", jsonAnswer(http.StatusUnsupportedMediaType, envelope(secret)), fault.Upstream},
		{"429", jsonAnswer(http.StatusTooManyRequests, envelope(secret)), fault.Busy},
		{"500", jsonAnswer(http.StatusInternalServerError, envelope(secret)), fault.Upstream},
		{"500 without JSON", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, secret, http.StatusInternalServerError) }, fault.Upstream},
		{"502", jsonAnswer(http.StatusBadGateway, envelope(secret)), fault.Upstream},
		{"503", jsonAnswer(http.StatusServiceUnavailable, envelope(secret)), fault.Upstream},
		{"504", jsonAnswer(http.StatusGatewayTimeout, envelope(secret)), fault.Timeout},
		{"headers without end", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("a", 32<<10))
		}, fault.Upstream},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, fault.Upstream},
		{"speaks no HTTP", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, "220 smtp.example.com ESMTP\r\n")
				_ = conn.Close()
			}
		}, fault.Upstream},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := worker(t, c.answer)
			_, err := client(t, s.URL, quick()).Traceroute(context.Background(), job)
			wantFault(t, err, c.want, s.URL)
		})
	}
}

// wantFault requires a failure of the kind whose sentence holds no internals of the worker.
func wantFault(t *testing.T, err error, want fault.Kind, base string) *fault.Error {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != want {
		t.Fatalf("got %v, want a fault of kind %d", err, want)
	}
	host := strings.TrimPrefix(base, "http://")
	for _, leak := range []string{secret, host, "127.0.0.1", "10.9.8.7", token, "tcp", "json", "EOF",
		"context"} {
		if strings.Contains(f.Sentence(), leak) {
			t.Fatalf("the sentence holds %q: %s", leak, f.Sentence())
		}
	}
	if !strings.HasSuffix(f.Sentence(), ".") {
		t.Fatalf("no sentence: %q", f.Sentence())
	}
	return f
}

func TestAnswerSizeLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size int
		ok   bool
	}{{workerapi.MaxResponseBytes, true}, {workerapi.MaxResponseBytes + 1, false}} {
		t.Run(fmt.Sprint(c.size), func(t *testing.T) {
			t.Parallel()
			padded := goodTrace + strings.Repeat(" ", c.size-len(goodTrace))
			s := worker(t, jsonAnswer(http.StatusOK, padded))
			_, err := client(t, s.URL, quick()).Traceroute(context.Background(), job)
			if c.ok && err != nil {
				t.Fatal(err)
			}
			if !c.ok {
				wantFault(t, err, fault.Upstream, s.URL)
			}
		})
	}
}

// TestEndlessAnswerIsCutOff shows that the rest of an oversized answer is not read.
func TestEndlessAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	cut := make(chan int, 1)
	s := worker(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		chunk, sent := []byte(strings.Repeat(" ", 64<<10)), 0
		for {
			n, err := w.Write(chunk)
			sent += n
			if err != nil {
				cut <- sent
				return
			}
		}
	})
	_, err := client(t, s.URL, quick()).Traceroute(context.Background(), job)
	wantFault(t, err, fault.Upstream, s.URL)
	if sent := <-cut; sent > 16*workerapi.MaxResponseBytes {
		t.Fatalf("%d bytes were taken", sent)
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			var elsewhere atomic.Int32
			other := worker(t, func(w http.ResponseWriter, r *http.Request) {
				elsewhere.Add(1)
				jsonAnswer(http.StatusOK, goodTrace)(w, r)
			})
			s := worker(t, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, other.URL+"/api/traceroute", status)
			})
			_, err := client(t, s.URL, quick()).Traceroute(context.Background(), job)
			wantFault(t, err, fault.Upstream, s.URL)
			if elsewhere.Load() != 0 {
				t.Fatal("the redirect was followed")
			}
		})
	}
}

func TestBusyTellsTheWorkersRetryAfter(t *testing.T) {
	t.Parallel()
	cases := []struct {
		header   string
		min, max time.Duration
	}{
		{"1", time.Second, time.Second},
		{"7", 7 * time.Second, 7 * time.Second},
		{"100", 100 * time.Second, 100 * time.Second},
		{"3600", time.Hour, time.Hour},
		{"3601", time.Hour, time.Hour},
		{"0", time.Second, 5 * time.Second},
		{"-3", time.Second, 5 * time.Second},
		{"", time.Second, 5 * time.Second},
		{"99999999999999999999", time.Second, 5 * time.Second},
		{"Wed, 21 Oct 2015 07:28:00 GMT", time.Second, 5 * time.Second},
	}
	for _, c := range cases {
		t.Run(c.header, func(t *testing.T) {
			t.Parallel()
			s := worker(t, func(w http.ResponseWriter, r *http.Request) {
				if c.header != "" {
					w.Header().Set("Retry-After", c.header)
				}
				jsonAnswer(http.StatusTooManyRequests, `{"error":"busy"}`)(w, r)
			})
			_, err := client(t, s.URL, quick()).Ping(context.Background(), job)
			if got := wantFault(t, err, fault.Busy, s.URL).RetryAfter; got < c.min || got > c.max {
				t.Fatalf("Retry-After is %v", got)
			}
		})
	}
}

func TestSilentWorkerIsATimeout(t *testing.T) {
	t.Parallel()
	cases := map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) { drain(r); <-r.Context().Done() },
		"half an answer": func(w http.ResponseWriter, r *http.Request) {
			drain(r)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, goodTrace[:50])
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
	}
	for name, answer := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := worker(t, answer)
			l := quick()
			l.job = 100 * time.Millisecond
			_, err := client(t, s.URL, l).Traceroute(context.Background(), job)
			wantFault(t, err, fault.Timeout, s.URL)
		})
	}
}

// drain reads the request, without which net/http does not notice that its client has gone.
func drain(r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }

// TestLeavingVisitorCancelsTheJob shows that the worker's side of the job ends when the visitor's does.
func TestLeavingVisitorCancelsTheJob(t *testing.T) {
	t.Parallel()
	started, ended := make(chan struct{}), make(chan struct{})
	s := worker(t, func(_ http.ResponseWriter, r *http.Request) {
		drain(r)
		close(started)
		<-r.Context().Done()
		close(ended)
	})
	ctx, leave := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() {
		_, err := client(t, s.URL, quick()).Traceroute(ctx, job)
		result <- err
	}()
	<-started
	leave()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	<-ended
}

func TestBoundOfTheWholeRunIsATimeout(t *testing.T) {
	t.Parallel()
	s := worker(t, func(_ http.ResponseWriter, r *http.Request) { drain(r); <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := client(t, s.URL, quick()).Traceroute(ctx, job)
	wantFault(t, err, fault.Timeout, s.URL)
}

// TestAnswersAreNoLoss shows that a worker that answers is asked again, however it answers.
func TestAnswersAreNoLoss(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401, 429, 500, 503, 504} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			s := worker(t, func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				jsonAnswer(status, `{"error":"no"}`)(w, r)
			})
			c := client(t, s.URL, quick())
			for range 10 {
				if _, err := c.Ping(context.Background(), job); err == nil {
					t.Fatal("no failure")
				}
			}
			if asked.Load() != 10 {
				t.Fatalf("asked %d times", asked.Load())
			}
		})
	}
}

// TestLeavingVisitorsAreNoLoss: a dial that its own visitor gave up says nothing about the worker.
func TestLeavingVisitorsAreNoLoss(t *testing.T) {
	t.Parallel()
	s := worker(t, jsonAnswer(http.StatusOK, goodPing))
	c := client(t, s.URL, quick())
	gone, leave := context.WithCancel(context.Background())
	leave()
	for range 10 {
		if _, err := c.Ping(gone, job); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
	}
	if _, err := c.Ping(context.Background(), job); err != nil {
		t.Fatal(err)
	}
}

// TestEveryJobHasItsOwnConnection: only so is the worker's name looked up anew and a moved worker found.
func TestEveryJobHasItsOwnConnection(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	s := httptest.NewUnstartedServer(readyAnd(jsonAnswer(http.StatusOK, goodPing)))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	l := quick()
	l.every = time.Hour
	c := client(t, s.URL, l)
	_, _ = c.Ready(t.Context())
	for range 3 {
		if _, err := c.Ping(context.Background(), job); err != nil {
			t.Fatal(err)
		}
	}
	if connections.Load() != 4 {
		t.Fatalf("%d connections", connections.Load())
	}
}

func TestIPv6Job(t *testing.T) {
	t.Parallel()
	s := worker(t, func(w http.ResponseWriter, r *http.Request) {
		body := strings.ReplaceAll(goodPing, "93.184.216.34", target6.String())
		jsonAnswer(http.StatusOK, strings.Replace(body, `"family":4`, `"family":6`, 1))(w, r)
	})
	c := client(t, s.URL, quick())
	got, err := c.Ping(context.Background(), Job{Address: target6})
	if err != nil || got.Family != 6 {
		t.Fatalf("got %+v, %v", got, err)
	}
	_, err = c.Ping(context.Background(), Job{Address: target4})
	wantFault(t, err, fault.Upstream, s.URL)
}

// TestDefaultLimits holds the real bounds to the contract.
func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	l := defaultLimits()
	if l.job != workerapi.JobLimit || l.connect > 2*time.Second || l.every+2*l.ready > 3*time.Second {
		t.Fatalf("limits are %+v", l)
	}
}

// What this host lacks is not the worker's fault, and no reason to call it lost.
func TestOwnFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		kind fault.Kind
	}{
		"no file": {syscall.EMFILE, fault.Busy},
		"no port": {syscall.EADDRNOTAVAIL, fault.Busy},
		"refused": {syscall.ECONNREFUSED, fault.Upstream},
	} {
		c, log := logging(t, "http://worker.example.com", quick(), dialling(func() (net.Conn, error) {
			failed := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", test.err)}
			return nil, cmp.Or[error](shortage.Of(failed), failed) // as Client.dial does
		}))
		for range 4 {
			if _, err := c.Ping(t.Context(), job); !fault.Is(err, test.kind) {
				t.Errorf("%s: %v", name, err)
			}
		}
		c.Close()
		if lost := strings.Contains(log.String(), "lost"); lost != (test.kind == fault.Upstream) {
			t.Errorf("%s: %s", name, log)
		}
	}
}

// dialling is a client whose connections come from a function.
func dialling(dial func() (net.Conn, error)) Option {
	return func(_ *Client, r *remote.Config) {
		r.Dial = func(context.Context, string, string) (net.Conn, error) { return dial() }
	}
}

// connTo is a connection that says that it leads somewhere.
type connTo struct {
	net.Conn
	to string
}

func (c connTo) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.to)) }

// A connection in clear text is logged once, with the host of the setting and without its address.
func TestClearTextIsToldOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		base, to string
		lines    int
	}{
		{"http://worker", "127.0.0.1:8081", 0}, {"http://worker", "10.0.0.1:8081", 0},
		{"http://worker", "198.51.100.7:8081", 1}, {"http://worker", "[2001:db8::7]:8081", 1},
		{"https://worker", "198.51.100.7:8081", 0},
	} {
		var told logtest.Journal
		base, err := remote.ParseBase("the worker", tt.base)
		if err != nil {
			t.Fatal(err)
		}
		warn := warnOfClearText(base, slog.New(slog.NewTextHandler(&told, nil)))
		for range 3 {
			warn(connTo{to: tt.to})
		}
		text := told.String()
		if strings.Count(text, "without TLS") != tt.lines || strings.Count(text, "WORKER_TLS_CERT_FILE") != tt.lines ||
			strings.Count(text, "worker=worker\n") != tt.lines ||
			strings.Contains(text, "198.51") || strings.Contains(text, "2001:") {
			t.Errorf("%s at %s: %s", tt.base, tt.to, text)
		}
	}
}

// Token, roots and client certificate hold from the next request on.
func TestSecretsAreReplaced(t *testing.T) {
	t.Parallel()
	tokens := make(chan string, 10)
	ping := jsonAnswer(http.StatusOK, goodPing)
	s := httptest.NewTLSServer(readyAnd(func(w http.ResponseWriter, r *http.Request) {
		tokens <- r.Header.Get("Authorization")
		ping(w, r)
	}))
	t.Cleanup(s.Close)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c, _ := logging(t, s.URL, quick(), WithTLS(&tls.Config{RootCAs: roots}))
	for _, want := range []string{token, "another"} {
		if err := c.SetToken(want); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Ping(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if got := <-tokens; got != "Bearer "+want {
			t.Errorf("sent %q", got)
		}
	}
	if err := c.SetToken("a b"); err == nil {
		t.Error("a token with a space is taken")
	}
	c.SetTLS(&tls.Config{RootCAs: x509.NewCertPool()})
	if _, err := c.Ping(t.Context(), job); code(err) != "WORKER_UNREACHABLE" {
		t.Errorf("without roots: %v", err)
	}
}

// In TLS 1.3 the worker refuses a certificate once this side has ended its handshake: that is no connection either.
func TestARefusedClientCertificate(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(readyAnd(jsonAnswer(http.StatusOK, goodPing)))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c, journal := logging(t, s.URL, quick(), WithTLS(&tls.Config{RootCAs: roots}))
	if _, err := c.Ping(t.Context(), job); code(err) != "WORKER_UNREACHABLE" {
		t.Error(err)
	}
	journal.holds(t, 1, 0)
	// Which part of net/http notices first is chance.
	for _, part := range []string{"connect to the worker: ", "remote error: tls: certificate required"} {
		if !strings.Contains(journal.String(), part) {
			t.Error(journal)
		}
	}
}

func TestOutcomesOfJobs(t *testing.T) {
	t.Parallel()
	left, leave := context.WithCancel(t.Context())
	leave()
	status := func(status int, why string) error {
		return refusal(&remote.StatusError{Status: status, Reason: why})
	}
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		want remote.Outcome
	}{
		"ok":                        {t.Context(), nil, remote.OutcomeOK},
		"left":                      {left, left.Err(), remote.OutcomeCanceled},
		"busy":                      {t.Context(), status(429, ""), remote.OutcomeBusy},
		"out of packets":            {t.Context(), status(429, workerapi.RefusedBudget), remote.OutcomeBusy},
		"share":                     {t.Context(), status(429, workerapi.RefusedShare), remote.OutcomeLimited},
		"shortage of the worker":    {t.Context(), status(503, workerapi.RefusedShortage), remote.OutcomeShortage},
		"shortage of this host":     {t.Context(), shortage.Fault(nil), remote.OutcomeShortage},
		"late":                      {t.Context(), status(504, ""), remote.OutcomeTimeout},
		"another status":            {t.Context(), status(500, ""), remote.OutcomeFailed},
		"the target is not taken":   {t.Context(), status(400, ""), remote.OutcomeFailed},
		"a failure of another kind": {t.Context(), errors.New("x"), remote.OutcomeFailed},
	} {
		got := remote.OutcomeOf(c.ctx, c.err)
		if got != c.want || !slices.Contains(remote.Outcomes(), got) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		// A worker that fails is this service's own fault.
		var failed *fault.Error
		if errors.As(c.err, &failed) && (failed.Kind == fault.Upstream || failed.Kind == fault.Timeout) && !failed.Local {
			t.Errorf("%s: not this service's own", name)
		}
	}
}

// heard records the outcomes that it observes.
type heard []string

func (h *heard) Asked(slug string, o remote.Outcome, _ time.Duration) {
	*h = append(*h, slug+" "+string(o))
}

func TestObserverHearsTheTool(t *testing.T) {
	t.Parallel()
	h := &heard{}
	c := &Client{observer: h}
	for _, path := range []string{workerapi.PathTraceroute, workerapi.PathPing, workerapi.PathPacketLoss} {
		c.observe(t.Context(), path, time.Now(), nil)
	}
	if want := []string{"traceroute ok", "ping ok", "packet-loss ok"}; !slices.Equal(*h, want) ||
		!slices.Equal(Slugs(), []string{"traceroute", "ping", "packet-loss"}) {
		t.Errorf("heard %q", *h)
	}
}

// A worker that traces with other probes than it was asked for has not done its job, and one that knows no others says
// so or drops the question.
func TestProbesOfATrace(t *testing.T) {
	t.Parallel()
	port := 443
	trace := func(protocol string, port *int) workerapi.Traceroute {
		return workerapi.Traceroute{Target: target4.String(), Address: target4.String(), Family: 4,
			StopReason: workerapi.StopGapLimit, Hops: []workerapi.Hop{}, Explanation: []string{}, Protocol: protocol, Port: port}
	}
	tcp := workerapi.TraceOptions{Protocol: workerapi.ProtocolTCP, Port: 443}
	for _, c := range []struct {
		name   string
		answer workerapi.Traceroute
		asked  workerapi.TraceOptions
		code   string
	}{
		{"TCP", trace("tcp", &port), tcp, ""},
		{"ICMP", trace("icmp", nil), workerapi.TraceOptions{}, ""},
		{"ICMP of an older worker", trace("", nil), workerapi.TraceOptions{}, ""},
		{"an older worker", trace("", nil), tcp, codeICMPOnly},
		{"other probes", trace("icmp", nil), tcp, "WORKER_UNUSABLE"},
		{"probes that no one asked for", trace("tcp", &port), workerapi.TraceOptions{}, "WORKER_UNUSABLE"},
	} {
		got, err := probedAs(c.answer, c.asked)
		if c.code == "" && (err != nil || got.Protocol == "") || c.code != "" && code(err) != c.code {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

func TestAWorkerWithICMPAlone(t *testing.T) {
	t.Parallel()
	s := worker(t, func(w http.ResponseWriter, r *http.Request) {
		drain(r)
		w.Header().Set(workerapi.HeaderRefused, workerapi.RefusedProtocol)
		jsonAnswer(http.StatusBadGateway, `{"error":"anything"}`)(w, r)
	})
	c, _ := logging(t, s.URL, quick())
	asked := job
	asked.Trace = workerapi.TraceOptions{Protocol: workerapi.ProtocolTCP, Port: 443}
	_, err := c.Traceroute(t.Context(), asked)
	wantFault(t, err, fault.Upstream, s.URL)
	if code(err) != codeICMPOnly {
		t.Errorf("%v", err)
	}
}

// TestJobsNameTheirVisitorByHashes: all gateways of a worker send one hash for one client, which does not reveal it.
func TestJobsNameTheirVisitorByHashes(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var bodies []string
	s := worker(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		bodies = append(bodies, string(body))
		mu.Unlock()
		jsonAnswer(http.StatusOK, goodTrace)(w, r)
	})
	send := func(with string, client, network string) (workerapi.Request, string) {
		c, err := newClient(s.URL, with, quick(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		j := job
		j.Client, j.Network = client, network
		if _, err := c.Traceroute(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		body := bodies[len(bodies)-1]
		var asked workerapi.Request
		if err := json.Unmarshal([]byte(body), &asked); err != nil {
			t.Fatal(err)
		}
		return asked, body
	}
	const net64, net48 = "2001:db8:1:2::/64", "2001:db8:1::/48"
	one, body := send(token, net64, net48)
	if strings.Contains(body, "db8") || one.Client == "" || one.Group == "" || one.Client == one.Group ||
		!workerapi.ValidPseudonym(one.Client) || !workerapi.ValidPseudonym(one.Group) {
		t.Errorf("sent %s", body)
	}
	if again, _ := send(token, net64, net48); again.Client != one.Client || again.Group != one.Group {
		t.Errorf("another gateway names the visitor %+v, the first %+v", again, one)
	}
	neighbour, _ := send(token, "2001:db8:1:3::/64", net48)
	if neighbour.Client == one.Client || neighbour.Group != one.Group {
		t.Errorf("a neighbour is %+v beside %+v", neighbour, one)
	}
	if other, _ := send(token+"-two", net64, net48); other.Client == one.Client || other.Group == one.Group {
		t.Error("the hashes do not depend on the token")
	}
	if v4, body := send(token, "93.184.216.34", ""); v4.Client == "" || strings.Contains(body, "group") {
		t.Errorf("sent %s for IPv4", body)
	}
	if _, body := send(token, "", ""); strings.Contains(body, "client") || strings.Contains(body, "group") {
		t.Errorf("sent %s for no one", body)
	}
}

func TestJobsCarryThePrefixes(t *testing.T) {
	t.Parallel()
	prefixes := []netip.Prefix{netip.MustParsePrefix("2a0e:1:2:64::/96")}
	for want, option := range map[string]Option{
		`"nat64":["2a0e:1:2:64::/96"]`: WithTranslation(func() []netip.Prefix { return prefixes }),
		"":                             WithTranslation(func() []netip.Prefix { return nil }),
	} {
		bodies := make(chan string, 1)
		s := worker(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			bodies <- string(body)
			jsonAnswer(http.StatusOK, goodTrace)(w, r)
		})
		c, err := newClient(s.URL, token, quick(), slog.New(slog.DiscardHandler), option)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		if _, err := c.Traceroute(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if body := <-bodies; !strings.Contains(body, want) || strings.Contains(body, "nat64") != (want != "") {
			t.Errorf("sent %s", body)
		}
	}
}

func TestASharesRefusalIsTheVisitorsOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		reason string
		want   fault.Kind
		wait   time.Duration
		logged string
	}{
		{429, workerapi.RefusedShare, fault.Limited, 7 * time.Second, "429: share"},
		{429, workerapi.RefusedBudget, fault.Busy, 7 * time.Second, "429: budget"},
		{429, "", fault.Busy, 7 * time.Second, "429"}, // every slot, and workers that know no shares
		{429, "moon", fault.Busy, 7 * time.Second, "429"},
		{503, workerapi.RefusedShare, fault.Upstream, 0, "503: share"},
		{503, workerapi.RefusedShortage, fault.Busy, time.Second, "503: shortage"}, // its host's own fault is this service's
		{429, workerapi.RefusedShortage, fault.Busy, 7 * time.Second, "429: shortage"},
	} {
		s := worker(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			if c.reason != "" {
				w.Header().Set(workerapi.HeaderRefused, c.reason)
			}
			jsonAnswer(c.status, `{"error":"no slot"}`)(w, r)
		})
		_, err := client(t, s.URL, quick()).Ping(t.Context(), job)
		if got := wantFault(t, err, c.want, s.URL); got.RetryAfter != c.wait {
			t.Errorf("%d %q: Retry-After is %v", c.status, c.reason, got.RetryAfter)
		}
		want := "worker_status_" + strings.ReplaceAll(c.logged, ": ", "_")
		if _, got := cause.Of(err); got != want {
			t.Errorf("%d %q: logged as %q", c.status, c.reason, got)
		}
	}
}
