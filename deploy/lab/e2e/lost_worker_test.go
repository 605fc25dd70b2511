//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/shared/waittest"
)

// What a lost worker may cost (docs/contract.md#the-worker).
const (
	// once the gateway has noticed it
	lostAnswer = 2 * time.Second
	// before the gateway has noticed it: the readiness check that was just answered, and two that are not
	lostFirst = 5 * time.Second
	// until it is used again
	lostBack = 4 * time.Second
)

// pair is a gateway with a worker of its own, which a test may treat as it likes.
type pair struct {
	gateway, worker *lab.Server
	private         string // the gateway's listener for metrics
	workerPrivate   string // the worker's, until it is restarted
}

func startPair(t *testing.T, name string) *pair {
	t.Helper()
	private := freeAddr(t, 9091)
	worker, err := service.StartExtraWorker(t.Context(), "worker-"+name,
		append(slices.Clone(workerOfOne), "METRICS_LISTEN_ADDR="+private)...)
	if err != nil {
		t.Fatal(err)
	}
	p := pairWith(t, name, worker)
	p.workerPrivate = private
	return p
}

// workerOfOne are settings for a worker whose jobs are all of one visitor.
var workerOfOne = []string{
	"WORKER_MAX_CONCURRENT=4096", "WORKER_PACKETS_PER_SECOND=0", "WORKER_TARGET_PACKETS_PER_SECOND=0",
}

func pairWith(t *testing.T, name string, worker *lab.Server) *pair {
	t.Helper()
	private := freeAddr(t, 9090)
	gateway, err := service.StartGateway(t.Context(), "gateway-"+name, append(unlimited[:len(unlimited):len(unlimited)],
		"DIAGNOSTICS_WORKER_URL=http://"+worker.Addr, "METRICS_LISTEN_ADDR="+private)...)
	if err != nil {
		t.Fatal(err)
	}
	return &pair{gateway: gateway, worker: worker, private: private}
}

// freeAddr is an address beside the service without a listener.
func freeAddr(t *testing.T, port int) string {
	t.Helper()
	l, err := service.ListenBeside(port)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	return l.Addr().String()
}

func (p *pair) ask(t *testing.T, slug string, to netip.Addr) answer {
	t.Helper()
	return post(t, p.gateway, slug, map[string]any{"input": to.String()}, nil)
}

// signal sends one to the worker.
func (p *pair) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(p.worker.Process.PID(), s); err != nil {
		t.Fatal(err)
	}
}

func (p *pair) restart(t *testing.T) {
	t.Helper()
	worker, err := service.RestartExtraWorker(t.Context(), p.worker, workerOfOne...)
	if err != nil {
		t.Fatal(err)
	}
	p.worker = worker
}

// says waits until /readyz and the metrics say what the worker is, and the log has the lines.
func (p *pair) says(t *testing.T, state string, lost, back int) {
	t.Helper()
	up := map[string]float64{"ok": 1, "down": 0}[state]
	var seen string
	if !waittest.Within(lostBack, func() bool {
		ready := string(fetch(t, p.gateway, http.MethodGet, "/readyz", nil, nil).Body)
		reported, err := internet.Metrics(t.Context(), p.private)
		if err != nil {
			t.Fatal(err)
		}
		log := p.gateway.Process.Log()
		warnings := strings.Count(log, ` diagnostics worker is lost`)
		infos := strings.Count(log, ` diagnostics worker is back`)
		seen = fmt.Sprintf("%s, up %v, %d times lost and %d times back in the log", ready,
			reported["diagnostics_worker_up"], warnings, infos)
		return strings.Contains(ready, `"worker":"`+state+`"`) && reported["diagnostics_worker_up"] == up &&
			warnings == lost && infos == back
	}) {
		t.Errorf("want the worker %s, %d times lost and %d times back: %s", state, lost, back, seen)
	}
}

// recovers waits until a trace is right again.
func (p *pair) recovers(t *testing.T, since time.Time) {
	t.Helper()
	to, _ := lab.Clean(61)
	var a answer
	if !waittest.Within(time.Until(since.Add(lostBack)), func() bool {
		a = p.ask(t, "traceroute", to)
		return a.Status == 200
	}) {
		t.Errorf("status %d after %v: %s", a.Status, time.Since(since), a.Error)
		return
	}
	holdTruth(t, a, internet.PathTo(to))
	t.Logf("right again %d ms after the worker was", time.Since(since).Milliseconds())
}

// failing sends several requests, and wants the failure of a lost worker.
func (p *pair) failing(t *testing.T, status int, says string, within time.Duration) {
	t.Helper()
	var slowest time.Duration
	for n := range 5 {
		to, _ := lab.Clean(62 + n)
		a := p.ask(t, []string{"traceroute", "ping", "packet-loss"}[n%3], to)
		slowest = max(slowest, a.Took)
		if a.Status != status || !strings.Contains(a.Error, says) || a.Took > within {
			t.Errorf("status %d after %v: %s", a.Status, a.Took, a.Error)
		}
	}
	t.Logf("five visitors of a lost worker waited %d ms at most", slowest.Milliseconds())
	if a := post(t, p.gateway, "dns-lookup", map[string]any{"input": lab.DNSZone}, nil); a.Status != 200 {
		t.Errorf("dns-lookup: status %d: %s", a.Status, a.Error)
	}
}

// counted waits until a metric has a value.
func counted(t *testing.T, private, name string, want int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s is %d", name, want), func() bool {
		reported, err := internet.Metrics(t.Context(), private)
		return err == nil && reported[name] == float64(want)
	})
}

// running are pings, of which each takes two seconds, that are under way.
func (p *pair) running(t *testing.T, n int) (answers func() []answer) {
	t.Helper()
	all := make([]answer, n)
	var asking sync.WaitGroup
	for i := range all {
		to, _ := lab.Clean(70 + i)
		asking.Go(func() { all[i] = p.ask(t, "ping", to) })
	}
	counted(t, p.workerPrivate, "diagnostics_worker_jobs_in_flight", n)
	return func() []answer { asking.Wait(); return all }
}

// However the worker is lost, it costs no request more than a moment, and is logged once.
func TestALostWorker(t *testing.T) {
	t.Parallel()
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		p := startPair(t, "killed")
		p.says(t, "ok", 0, 0)
		answers := p.running(t, 3)
		p.worker.Process.Kill()
		for _, a := range answers() {
			if a.Status != 502 || !strings.Contains(a.Error, "stopped before it had answered") || a.Took > lostAnswer {
				t.Errorf("in the middle: status %d after %v: %s", a.Status, a.Took, a.Error)
			}
		}
		p.failing(t, 502, "cannot be reached", lostAnswer)
		p.says(t, "down", 1, 0)
		p.restart(t)
		p.recovers(t, time.Now())
		p.says(t, "ok", 1, 1)
	})
	t.Run("stopped", func(t *testing.T) {
		t.Parallel()
		p := startPair(t, "stopped")
		p.says(t, "ok", 0, 0)
		answers := p.running(t, 3)
		p.signal(t, syscall.SIGSTOP)
		for _, a := range answers() {
			t.Logf("who was there when it stopped waited %d ms", a.Took.Milliseconds())
			if a.Status != 504 || !strings.Contains(a.Error, "does not answer") || a.Took > lostFirst {
				t.Errorf("in the middle: status %d after %v: %s", a.Status, a.Took, a.Error)
			}
		}
		p.failing(t, 504, "does not answer", lostAnswer)
		p.says(t, "down", 1, 0)
		p.signal(t, syscall.SIGCONT)
		p.recovers(t, time.Now())
		p.says(t, "ok", 1, 1)
	})
	t.Run("stopped in order", func(t *testing.T) {
		t.Parallel()
		p := startPair(t, "ordered")
		answers := p.running(t, 3)
		p.signal(t, syscall.SIGTERM)
		for _, a := range answers() {
			facts{"received": 10}.hold(t, a)
		}
		<-p.worker.Process.Done()
		p.failing(t, 502, "cannot be reached", lostAnswer)
		p.says(t, "down", 1, 0)
	})
	t.Run("restarted under load", func(t *testing.T) {
		t.Parallel()
		p := startPair(t, "restarted")
		traces := startLoad(6, func(visitor, _ int) answer {
			to, _ := lab.Clean(90 + visitor)
			return p.ask(t, "traceroute", to)
		})
		for range 3 {
			before, _ := traces.now()
			eventually(t, "a trace by a worker that is up", func() bool {
				now, _ := traces.now()
				return now[200] > before[200]
			})
			p.worker.Process.Kill()
			p.restart(t)
		}
		back := time.Now()
		p.recovers(t, back)
		statuses, slowest := traces.end()
		t.Logf("by status %v, none later than %d ms", statuses, slowest.Milliseconds())
		if statuses[200] == 0 || statuses[502] == 0 || len(statuses) != 2 || slowest > lostAnswer {
			t.Errorf("by status %v, the slowest after %v", statuses, slowest)
		}
		for n := range 10 {
			to, _ := lab.Clean(80 + n)
			if a := p.ask(t, "traceroute", to); a.Status != 200 {
				t.Errorf("afterwards: status %d: %s", a.Status, a.Error)
			}
		}
	})
}

// Where there are two workers, the one that stops costs no request but those that it had begun when it was killed.
func TestOneOfTwoWorkersIsLost(t *testing.T) {
	t.Parallel()
	two := make([]*lab.Server, 2)
	for i := range two {
		worker, err := service.StartExtraWorker(t.Context(), fmt.Sprintf("worker-of-two-%d", i), workerOfOne...)
		if err != nil {
			t.Fatal(err)
		}
		two[i] = worker
	}
	p := pairWith(t, "two-workers", &lab.Server{Addr: two[0].Addr + ",http://" + two[1].Addr})
	readyAre := func(want ...float64) {
		t.Helper()
		eventually(t, "the metrics by worker", func() bool {
			reported, err := internet.Metrics(t.Context(), p.private)
			return err == nil && reported[`diagnostics_worker_ready{worker="`+two[0].Addr+`"}`] == want[0] &&
				reported[`diagnostics_worker_ready{worker="`+two[1].Addr+`"}`] == want[1]
		})
	}
	readyAre(1, 1)
	const visitors = 6
	traces := startLoad(visitors, func(visitor, turn int) answer {
		to, _ := lab.Clean(60 + (visitor*7+turn)%40)
		return p.ask(t, "traceroute", to)
	})
	further := func() {
		t.Helper()
		before, _ := traces.now()
		eventually(t, "traces go on", func() bool {
			now, _ := traces.now()
			return now[200] >= before[200]+2*visitors
		})
	}
	further()
	if err := syscall.Kill(two[0].Process.PID(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-two[0].Process.Done()
	further()
	readyAre(0, 1)
	if statuses, _ := traces.now(); len(statuses) != 1 {
		t.Errorf("by status while one of two stopped in order: %v", statuses)
	}
	p.says(t, "ok", 1, 0)
	back, err := service.RestartExtraWorker(t.Context(), two[0], workerOfOne...)
	if err != nil {
		t.Fatal(err)
	}
	readyAre(1, 1)
	further()
	two[1].Process.Kill()
	further()
	statuses, slowest := traces.end()
	t.Logf("by status %v, none later than %d ms", statuses, slowest.Milliseconds())
	begun := statuses[502]
	delete(statuses, 200)
	delete(statuses, 502)
	if len(statuses) > 0 || begun > visitors || slowest > lostAnswer {
		t.Errorf("%d of status 502 and by other status %v after one of two was killed, the slowest after %v",
			begun, statuses, slowest)
	}
	readyAre(1, 0)
	back.Process.Kill()
	p.says(t, "down", 3, 1)
}

// liar plays a worker that is ready, and sends one body for every job.
type liar struct {
	mu     sync.Mutex
	answer http.HandlerFunc
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/readyz" {
		_, _ = io.WriteString(w, `{"status":"ready","families":[4,6],"mode":"raw"}`)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	l.mu.Lock()
	answer := l.answer
	l.mu.Unlock()
	answer(w, r)
}

// A worker that lies gets no word of it to a visitor.
func TestALyingWorker(t *testing.T) {
	t.Parallel()
	const to, asked = "11.80.0.61", `"target":"11.80.0.61","address":"11.80.0.61","family":4`
	const hop = `{"ttl":1,"address":"11.80.0.61","addresses":["11.80.0.61"],"hostname":"inside.example",` +
		`"hidden":false,"asn":null,` +
		`"sent":1,"received":1,"lossPercent":0,"bestMs":1,"averageMs":1,"worstMs":1,"rttsMs":[1],"note":null}`
	trace := func(asked, hops, more string) string {
		return `{"data":{` + asked + `,"reached":true,"stopReason":"reached","hops":[` + hops + `],"explanation":[]` + more +
			`},"durationMs":1,"requestId":"00000000-0000-4000-8000-000000000000"}`
	}
	good := trace(asked, hop, "")
	with := func(old, lie string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.ReplaceAll(good, old, lie))
		}
	}
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); _, _ = io.WriteString(w, body) }
	}
	l, err := service.ListenBeside(8081)
	if err != nil {
		t.Fatal(err)
	}
	lies := &liar{}
	server := &http.Server{Handler: lies}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
	p := pairWith(t, "lied-to", &lab.Server{Addr: l.Addr().String()})
	ask := func(lie http.HandlerFunc) answer {
		lies.mu.Lock()
		lies.answer = lie
		lies.mu.Unlock()
		return p.ask(t, "traceroute", netip.MustParseAddr(to))
	}
	if a := ask(with("", "")); a.Status != 200 || a.at("hops.0.hostname") == "inside.example" ||
		strings.Contains(string(a.Body), "00000000-0000-4000-8000-000000000000") {
		t.Errorf("the truth, with another's request id and a name: status %d: %s", a.Status, a.Body)
	}
	private := with(`"address":"11.80.0.61","addresses":["11.80.0.61"]`, `"address":"10.1.2.3","addresses":["10.1.2.3"]`)
	if a := ask(private); a.Status != 200 || a.at("hops.0.hidden") != true ||
		strings.Contains(string(a.Body), "10.1.2.3") {
		t.Errorf("a private hop: status %d: %s", a.Status, a.Body)
	}
	for name, lie := range map[string]http.HandlerFunc{
		"another target":    with("11.80.0.61", "11.80.0.62"),
		"another address":   with(`"address":"11.80.0.61","family"`, `"address":"10.0.0.1","family"`),
		"another family":    with(`"family":4`, `"family":6`),
		"a name for a hop":  with(`"addresses":["11.80.0.61"]`, `"addresses":["inside.example"]`),
		"texts for numbers": with(`"sent":1`, `"sent":"1"`),
		"no hops":           with(`"hops":[`, `"hops":null,"other":[`),
		"a huge body":       with(`"explanation":[]`, `"explanation":["`+strings.Repeat("x", 2<<20)+`"]`),
		"a control character": with(`"explanation":[]`,
			`"explanation":["\u001b[2J"]`),
		"no JSON":             status(200, "<html>inside.example"),
		"nothing":             status(200, ""),
		"an error that is OK": status(200, `{"error":"dial tcp 10.0.0.1","durationMs":1,"requestId":"x"}`),
		"an error":            status(500, `{"error":"dial tcp 10.0.0.1","durationMs":1,"requestId":"x"}`),
		"another type": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, good)
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+service.Worker.Addr+r.URL.Path, http.StatusTemporaryRedirect)
		},
	} {
		a := ask(lie)
		if a.Status != 502 || a.Took > lostAnswer || !strings.Contains(a.Error, "The diagnostics worker ") ||
			strings.Contains(string(a.Body), "10.0.0.1") || strings.Contains(string(a.Body), "inside") {
			t.Errorf("%s: status %d after %v: %.300s", name, a.Status, a.Took, a.Body)
		}
	}
	// It is there, whatever it says.
	p.says(t, "ok", 0, 0)
}
