package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/parallel"
	"diagnostics/shared/waittest"
	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
	"diagnostics/worker/internal/probe"
)

// jobs are requests to a server without a network, so that they run on a synctest bubble's clock.
type jobs struct {
	server *Server
	began  atomic.Int32
}

// newJobs makes a server whose jobs each take a while.
func newJobs(takes time.Duration, slots int) *jobs {
	j := &jobs{}
	prober := &fakeProber{run: func(context.Context) error {
		j.began.Add(1)
		time.Sleep(takes) // of the bubble
		return nil
	}}
	j.server = New(Config{Tokens: []string{token}, Prober: prober, Slots: slots, Log: slog.New(slog.DiscardHandler)})
	return j
}

func (j *jobs) ping(target string) *httptest.ResponseRecorder {
	return j.post(workerapi.PathPing, target)
}

func (j *jobs) post(path, target string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", path, strings.NewReader(`{"target":"`+target+`"}`))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	j.server.ServeHTTP(w, r)
	return w
}

// want pings and demands so many jobs since the start.
func (j *jobs) want(t *testing.T, target string, began int32) {
	t.Helper()
	if w := j.ping(target); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if n := j.began.Load(); n != began {
		t.Errorf("%d jobs began, want %d", n, began)
	}
}

func TestJobsAreSharedForThreeSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJobs(time.Second, 2)
		var all parallel.Group
		for i := range 50 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 10 * time.Millisecond)
				j.want(t, "11.0.0.1", 1)
			})
		}
		all.Wait()
		j.want(t, "2a10::1", 2)
		// Two seconds have passed since the first began.
		time.Sleep(sharedFor - 2*time.Second - time.Nanosecond)
		j.want(t, "11.0.0.1", 2)
		time.Sleep(time.Nanosecond)
		j.want(t, "11.0.0.1", 3)
		if n := j.server.JobsRunning(); n != 0 {
			t.Errorf("%d slots in use", n)
		}
	})
}

func TestWithoutASlotTheAnswerSaysWhen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJobs(3*time.Second, 1)
		first := parallel.Start(func() *httptest.ResponseRecorder { return j.ping("11.0.0.1") })
		time.Sleep(time.Second)
		// A ping ends within five seconds, of which one has passed.
		if w := j.ping("11.0.0.2"); w.Code != 429 || w.Header().Get("Retry-After") != "4" {
			t.Errorf("without a slot: %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
		}
		// What runs already takes no slot.
		j.want(t, "11.0.0.1", 1)
		if w := first.Wait(); w.Code != 200 {
			t.Errorf("%d", w.Code)
		}
		// That there was no slot is not kept.
		j.want(t, "11.0.0.2", 2)
	})
}

// A job for which the budget of packets leaves nothing is refused as one without a slot is, and gives its slot back.
func TestABudgetThatIsUsedUpTellsUntilWhen(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	f.prober.run = func(context.Context) error { return &probe.BusyError{Free: 1001 * time.Millisecond} }
	a := f.do(f.request("POST", workerapi.PathPing, target))
	f.checkError("no budget", a, 429)
	if got, why := a.Header.Get("Retry-After"), a.Header.Get(workerapi.HeaderRefused); got != "2" || why != "budget" {
		t.Errorf("Retry-After %q, refused for %q", got, why)
	}
	if !strings.Contains(f.log.String(), `"code":"the_budget_of_packets_is_used_up"`) {
		t.Errorf("logged: %s", f.log.String())
	}
	if n := f.server.JobsRunning(); n != 0 {
		t.Errorf("%d slots in use", n)
	}
}

// Each request that shares a panicking job is answered, and the stack is logged under its id.
func TestAPanicOfASharedJob(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	release := make(chan struct{})
	f.prober.run = func(context.Context) error { <-release; panic("boom") }
	answers := make(chan answer, 3)
	for range cap(answers) {
		go func() { answers <- f.do(f.request("POST", workerapi.PathPing, target)) }()
	}
	waittest.Until(t, "a job runs", func() bool { return f.server.JobsRunning() == 1 })
	close(release)
	for range cap(answers) {
		a := <-answers
		f.checkError("a panic", a, 500)
		logged := 0
		for line := range strings.Lines(f.log.String()) {
			if !strings.Contains(line, `"msg":"panic"`) || !strings.Contains(line, a.envelope.RequestID) {
				continue
			}
			logged++
			if strings.Count(line, "[running]") != 1 || !strings.Contains(line, "job_test.go") ||
				!strings.Contains(line, `"panic":"boom"`) {
				t.Errorf("logged: %s", line)
			}
		}
		if logged != 1 {
			t.Errorf("%d lines for %s", logged, a.envelope.RequestID)
		}
	}
	if n := f.server.JobsRunning(); n != 0 {
		t.Errorf("%d slots in use", n)
	}
}

// An answer with the measurement of another request is marked shared, for each kind of job; that of the first is not.
func TestSharedJobsSayThatTheyAre(t *testing.T) {
	t.Parallel()
	for _, path := range []string{workerapi.PathTraceroute, workerapi.PathPing, workerapi.PathPacketLoss} {
		synctest.Test(t, func(t *testing.T) {
			j := newJobs(time.Second, 2)
			ask := func(after time.Duration) *parallel.Pending[bool] {
				return parallel.Start(func() bool {
					time.Sleep(after)
					return j.shared(t, path)
				})
			}
			// One begins it, one joins it, one comes when it has ended, and one too late for it.
			asked := []*parallel.Pending[bool]{ask(0), ask(500 * time.Millisecond), ask(2 * time.Second), ask(sharedFor)}
			for i, want := range []bool{false, true, true, false} {
				if got := asked[i].Wait(); got != want {
					t.Errorf("%s: request %d has shared %t", path, i+1, got)
				}
			}
			time.Sleep(sharedFor)
		})
	}
}

// shared returns the shared flag of an answer.
func (j *jobs) shared(t *testing.T, path string) bool {
	t.Helper()
	w := j.post(path, "11.0.0.1")
	var envelope workerapi.Envelope[struct {
		Shared *bool `json:"shared"`
	}]
	err := json.Unmarshal(w.Body.Bytes(), &envelope)
	if err != nil || envelope.Data == nil || envelope.Data.Shared == nil {
		t.Errorf("%s: %d %s", path, w.Code, w.Body)
		return false
	}
	return *envelope.Data.Shared
}

// Over HTTP: one job, many answers, each under its own request id.
func TestSharedJobOverHTTP(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	release := make(chan struct{})
	f.prober.run = func(context.Context) error { <-release; return nil }
	const askers = 8
	ids := make(chan [2]string, askers)
	for i := range askers {
		go func() {
			id := fmt.Sprintf("6f1c2a34-5b6d-4e7f-8a90-b1c2d3e4f50%d", i)
			a := f.do(f.request("POST", workerapi.PathPing, fmt.Sprintf(`{"target":"11.0.0.1","requestId":%q}`, id)))
			ids <- [2]string{id, a.envelope.RequestID}
		}()
	}
	waittest.Until(t, "a job runs", func() bool { return f.server.JobsRunning() == 1 })
	// Another tool and the other family are other jobs.
	var others sync.WaitGroup
	for _, r := range []*http.Request{
		f.request("POST", workerapi.PathTraceroute, target),
		f.request("POST", workerapi.PathPing, `{"target":"2606:4700:4700::1111"}`),
	} {
		others.Go(func() { f.do(r) })
	}
	waittest.Until(t, "3 jobs run", func() bool { return f.server.JobsRunning() == 3 })
	close(release)
	for range askers {
		if id := <-ids; id[0] != id[1] {
			t.Errorf("request %s was answered as %s", id[0], id[1])
		}
	}
	others.Wait()
	f.prober.mu.Lock()
	defer f.prober.mu.Unlock()
	if len(f.prober.asked) != 3 {
		t.Errorf("jobs for %v", f.prober.asked)
	}
}

// ask sends a ping on behalf of a client.
func (j *jobs) ask(target string, who holder) *httptest.ResponseRecorder {
	body, _ := json.Marshal(workerapi.Request{Target: target, Client: who[0], Group: who[1], Place: who[2]})
	r := httptest.NewRequest("POST", workerapi.PathPing, strings.NewReader(string(body)))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	j.server.ServeHTTP(w, r)
	return w
}

// crowd sends pings to targets of their own, one right after the other, and counts the answers by status; those of
// refused shares are counted under 0.
func (j *jobs) crowd(n int, who func(i int) holder) map[int]int {
	counts := make([]atomic.Int32, 600)
	var all parallel.Group
	for i := range n {
		all.Go(func() {
			time.Sleep(time.Duration(i) * time.Microsecond) // of the bubble
			w := j.ask(fmt.Sprintf("11.%d.0.%d", 1+i/250, 1+i%250), who(i))
			status := w.Code
			if w.Header().Get(workerapi.HeaderRefused) == workerapi.RefusedShare {
				status = 0
			}
			counts[status].Add(1)
		})
	}
	all.Wait()
	found := map[int]int{}
	for status := range counts {
		if n := counts[status].Load(); n > 0 {
			found[status] = int(n)
		}
	}
	return found
}

func TestSharesOfTheSlots(t *testing.T) {
	t.Parallel()
	const ok, share, full = 200, 0, 429
	for _, c := range []struct {
		name  string
		slots int
		jobs  int
		who   func(i int) holder
		want  map[int]int
	}{
		{"eight clients cannot take all", 64, 72, func(i int) holder {
			if i >= 64 {
				return holder{fmt.Sprintf("late%d", i)}
			}
			return holder{fmt.Sprint(i % 8)}
		}, map[int]int{ok: 8*4 + 8, share: 32}},
		{"one client at its share", 64, 4, func(int) holder { return holder{"a"} }, map[int]int{ok: 4}},
		{"one client over it", 64, 5, func(int) holder { return holder{"a"} }, map[int]int{ok: 4, share: 1}},
		{"a small worker gives three", 10, 4, func(int) holder { return holder{"a"} }, map[int]int{ok: 3, share: 1}},
		{"a group at its share", 64, 16, func(i int) holder { return holder{fmt.Sprint(i), "g"} }, map[int]int{ok: 16}},
		{"a group over it", 64, 17, func(i int) holder { return holder{fmt.Sprint(i), "g"} },
			map[int]int{ok: 16, share: 1}},
		{"another group is free", 64, 18, func(i int) holder { return holder{fmt.Sprint(i), "g"[:i%2] + "h"} },
			map[int]int{ok: 18}},
		{"clients without a group are no group", 64, 64, func(i int) holder { return holder{fmt.Sprint(i)} },
			map[int]int{ok: 64}},
		{"a place names endless clients", 64, 32 + 500 + 32, func(i int) holder {
			if i >= 32+500 {
				return holder{fmt.Sprintf("own%d", i)}
			}
			return holder{fmt.Sprint(i), fmt.Sprintf("g%d", i), "p"}
		}, map[int]int{ok: 64, share: 500}},
		{"a gateway that names no client", 64, 65, func(int) holder { return holder{} }, map[int]int{ok: 64, full: 1}},
		{"all taken by others", 4, 5, func(i int) holder { return holder{fmt.Sprint(i)} },
			map[int]int{ok: 4, full: 1}},
		{"all taken, and a share", 3, 4, func(int) holder { return holder{"a"} }, map[int]int{ok: 3, share: 1}},
		{"fewer slots than a share", 1, 2, func(int) holder { return holder{"a"} }, map[int]int{ok: 1, full: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				j := newJobs(time.Second, c.slots)
				if got := j.crowd(c.jobs, c.who); fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("%v, want %v", got, c.want)
				}
				if f := j.server.inflight; f.inUse() != 0 || len(f.held[0])+len(f.held[1])+len(f.held[2]) != 0 {
					t.Errorf("left behind: %v", f.held)
				}
				// What was held is free again.
				if got := j.crowd(1, c.who); fmt.Sprint(got) != fmt.Sprint(map[int]int{ok: 1}) {
					t.Errorf("afterwards: %v", got)
				}
			})
		})
	}
}

func TestAShareTellsWhenItIsFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJobs(4*time.Second, 64)
		var all parallel.Group
		// Another client's job began before and says nothing of this one's share.
		all.Go(func() { j.ask("11.0.0.9", holder{"b", ""}) })
		time.Sleep(2 * time.Second)
		for i := range 4 {
			all.Go(func() { j.ask(fmt.Sprintf("11.0.0.%d", i+1), holder{"a", ""}) })
		}
		time.Sleep(time.Second)
		// A ping ends within five seconds, of which one has passed.
		w := j.ask("11.0.0.5", holder{"a", ""})
		if w.Code != 429 || w.Header().Get("Retry-After") != "4" {
			t.Errorf("%d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
		}
		// Joining a running job takes no slot.
		for _, target := range []string{"11.0.0.1", "11.0.0.9"} {
			if w := j.ask(target, holder{"a"}); w.Code != 200 {
				t.Errorf("joining %s: %d %s", target, w.Code, w.Body)
			}
		}
		all.Wait()
	})
}

// TestJoinersAreNotTurnedAwayForAnotherOnesShare has a client over its share and one without any job ask for the same
// at the same moment, over and over.
func TestJoinersAreNotTurnedAwayForAnotherOnesShare(t *testing.T) {
	t.Parallel()
	j := newJobs(0, 64)
	release := make(chan struct{})
	held := j.server.config.Prober.(*fakeProber)
	quick := held.run
	held.run = func(ctx context.Context) error {
		<-release
		return quick(ctx)
	}
	var holding parallel.Group
	for i := range 4 {
		holding.Go(func() { j.ask(fmt.Sprintf("11.9.0.%d", i+1), holder{"greedy", ""}) })
	}
	waittest.Until(t, "4 jobs run", func() bool { return j.server.JobsRunning() == 4 })
	var all parallel.Group
	var refused atomic.Int32
	for i := range 60 {
		target := fmt.Sprintf("11.1.0.%d", i+1)
		for range 3 {
			all.Go(func() {
				if w := j.ask(target, holder{"greedy"}); w.Code == 429 {
					refused.Add(1)
				}
			})
		}
		all.Go(func() {
			if w := j.ask(target, holder{fmt.Sprint(i)}); w.Code == 429 && w.Header().Get(workerapi.HeaderRefused) != "" {
				t.Errorf("%s: refused for another one's share", target)
			}
		})
	}
	// Unless the greedy client is refused, nothing is tried.
	waittest.Until(t, "one was refused", func() bool { return refused.Load() > 0 })
	close(release)
	all.Wait()
	holding.Wait()
}

func TestPseudonymsAreShortAndNeverLogged(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	long := strings.Repeat("z", 65)
	for body, status := range map[string]int{
		`{"target":"11.0.0.1","client":"` + long[:64] + `","group":"` + long[:64] + `"}`: 200,
		`{"target":"11.0.0.1","client":"` + long + `"}`:                                  400,
		`{"target":"11.0.0.1","group":"` + long + `"}`:                                   400,
		`{"target":"11.0.0.1","client":"a b"}`:                                           400,
		`{"target":"11.0.0.1","group":"a\u0000"}`:                                        400,
		`{"target":"11.0.0.1","client":7}`:                                               400,
		`{"target":"11.0.0.1","client":""}`:                                              200,
		`{"target":"11.0.0.1","client":null,"more":1}`:                                   200,
	} {
		if a := f.do(f.request("POST", workerapi.PathPing, body)); a.StatusCode != status {
			t.Errorf("%s: %d, want %d", body, a.StatusCode, status)
		}
	}
	if strings.Contains(f.log.String(), "zzz") {
		t.Error("the log holds a pseudonym")
	}
}

func TestTraceOptions(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]exchange.Probe{
		`null`: {}, `{}`: {}, `{"protocol":"icmp"}`: {}, `{"protocol":""}`: {},
		`{"protocol":"tcp"}`:              {Protocol: exchange.TCP, Port: 443},
		`{"protocol":"udp"}`:              {Protocol: exchange.UDP, Port: 33434},
		`{"protocol":"tcp","port":1}`:     {Protocol: exchange.TCP, Port: 1},
		`{"protocol":"udp","port":65535}`: {Protocol: exchange.UDP, Port: 65535},
	} {
		f := start(t, nil)
		a := f.do(f.request("POST", workerapi.PathTraceroute, fmt.Sprintf(`{"target":"11.0.0.1","options":%s}`, options)))
		asked := append(f.prober.ports, exchange.Probe{})[0]
		if a.StatusCode != 200 || len(f.prober.asked) != 1 || asked != want {
			t.Errorf("%s: %d, asked %+v", options, a.StatusCode, f.prober.ports)
		}
	}
	f := start(t, nil)
	for _, options := range []string{
		`{"port":443}`, `{"protocol":"icmp","port":443}`, `{"protocol":"sctp"}`, `{"protocol":"TCP"}`, `{"protocol":6}`,
		`{"protocol":"tcp","port":-1}`, `{"protocol":"tcp","port":65536}`, `{"protocol":"tcp","port":"443"}`,
		`{"protocol":"tcp","port":443.5}`, `"tcp"`, `{"mtu":1}`, `{"mtu":"true"}`,
	} {
		a := f.do(f.request("POST", workerapi.PathTraceroute, fmt.Sprintf(`{"target":"11.0.0.1","options":%s}`, options)))
		f.checkError(options, a, 400)
	}
	if len(f.prober.asked) != 0 {
		t.Errorf("%d jobs began", len(f.prober.asked))
	}
	// A ping has no such options.
	if a := f.do(f.request("POST", workerapi.PathPing, `{"target":"11.0.0.1","options":{"port":443}}`)); a.StatusCode != 200 {
		t.Errorf("a ping: %d", a.StatusCode)
	}
}

// Traces of one address share a job only where protocol and port are the same too.
func TestTracesAreSharedByProtocolAndPort(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *Config) { c.Slots = 20 })
	var all parallel.Group
	for range 4 {
		for _, options := range []string{
			`{}`, `{"protocol":"tcp"}`, `{"protocol":"tcp","port":443}`, `{"protocol":"tcp","port":80}`, `{"protocol":"udp","port":443}`,
		} {
			all.Go(func() {
				a := f.do(f.request("POST", workerapi.PathTraceroute, fmt.Sprintf(`{"target":"11.0.0.1","options":%s}`, options)))
				if a.StatusCode != 200 {
					t.Errorf("%s: %d", options, a.StatusCode)
				}
			})
		}
	}
	all.Wait()
	slices.SortFunc(f.prober.ports, func(a, b exchange.Probe) int {
		return int(a.Protocol)<<16 + int(a.Port) - int(b.Protocol)<<16 - int(b.Port)
	})
	want := []exchange.Probe{{Protocol: exchange.UDP, Port: 443}, {Protocol: exchange.TCP, Port: 80},
		{Protocol: exchange.TCP, Port: 443}}
	if len(f.prober.asked) != 4 || !slices.Equal(f.prober.ports, want) {
		t.Errorf("%d jobs, with ports %+v", len(f.prober.asked), f.prober.ports)
	}
}

// A trace with the path MTU is a job of its own, which takes its slot for longer.
func TestTracesWithTheMTU(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *Config) { c.Slots = 20 })
	var all parallel.Group
	for range 2 {
		for _, options := range []string{`{}`, `{"mtu":false}`, `{"mtu":null}`, `{"mtu":true}`} {
			all.Go(func() {
				a := f.do(f.request("POST", workerapi.PathTraceroute, fmt.Sprintf(`{"target":"11.0.0.1","options":%s}`, options)))
				if a.StatusCode != 200 {
					t.Errorf("%s: %d", options, a.StatusCode)
				}
			})
		}
	}
	all.Wait()
	if len(f.prober.asked) != 2 || f.prober.mtus != 1 {
		t.Errorf("%d jobs, %d with the path MTU", len(f.prober.asked), f.prober.mtus)
	}
	if a, b := usualTrace(traceJob{}), usualTrace(traceJob{mtu: true}); a != 5*time.Second || b != 10*time.Second {
		t.Errorf("%v, with the path MTU %v", a, b)
	}
}

func TestNoSocketsForTheProtocol(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	f.prober.run = func(context.Context) error { return exchange.ErrProtocol }
	a := f.do(f.request("POST", workerapi.PathTraceroute, `{"target":"11.0.0.1","options":{"protocol":"tcp"}}`))
	f.checkError("no sockets", a, 502)
	why := a.Header.Get(workerapi.HeaderRefused)
	if a.envelope.Error != "This worker can trace with ICMP only." || why != workerapi.RefusedProtocol {
		t.Errorf("%q, %v", a.envelope.Error, a.Header)
	}
}

type observed struct {
	mu  sync.Mutex
	all []string
}

func (o *observed) JobEnded(tool string, e Ending, _ time.Duration) {
	o.add(fmt.Sprint(tool, " ", e.Status, " ", e.Outcome))
}

func (o *observed) Limited(tool string, by Limit) { o.add(fmt.Sprint(tool, " limited by ", by)) }

func (o *observed) add(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, line)
}

func (o *observed) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.all, ", ")
}

func TestObserver(t *testing.T) {
	t.Parallel()
	o := &observed{}
	f := start(t, func(c *Config) { c.Observer = o })
	f.do(f.request("POST", workerapi.PathTraceroute, target))
	f.do(f.request("POST", workerapi.PathPacketLoss, "{"))
	f.do(f.request("GET", workerapi.PathHealth, ""))
	if got := o.String(); got != "traceroute 200 ok, packet-loss 400 invalid" {
		t.Error(got)
	}
}

// endingTests come to each ending but those of TestLimitsAreTold.
var endingTests = map[string]struct {
	change func(*http.Request)
	body   string
	err    error // of the job
	want   string
}{
	"done":          {body: target, want: "200 ok"},
	"wrong token":   {body: target, change: withHeader("Authorization", "Bearer no"), want: "401 unauthorized"},
	"method":        {change: func(r *http.Request) { r.Method = "PUT" }, body: target, want: "405 invalid"},
	"media type":    {change: withHeader("Content-Type", "text/plain"), body: target, want: "415 invalid"},
	"size":          {body: strings.Repeat(" ", workerapi.MaxRequestBytes+1), want: "413 invalid"},
	"no JSON":       {body: "{", want: "400 invalid"},
	"no address":    {body: `{"target":"example.com"}`, want: "400 invalid"},
	"not public":    {body: `{"target":"10.0.0.1"}`, want: "400 refused"},
	"no packets":    {body: target, err: &probe.BusyError{}, want: "limited by packets, ping 429 busy"},
	"no family":     {body: target, err: exchange.ErrFamily, want: "502 no_route"},
	"no route":      {body: target, err: exchange.ErrNoRoute, want: "502 no_route"},
	"cut off":       {body: target, err: errors.Join(exchange.ErrCutOff, exchange.ErrNoRoute), want: "503 shortage"},
	"shortage":      {body: target, err: exchange.ErrShortage, want: "503 shortage"},
	"no flow":       {body: target, err: exchange.ErrNoFlow, want: "503 shortage"},
	"protocol":      {body: target, err: exchange.ErrProtocol, want: "502 unsupported"},
	"firewall":      {body: target, err: exchange.ErrForbidden, want: "502 forbidden"},
	"deadline":      {body: target, err: context.DeadlineExceeded, want: "504 timeout"},
	"the system's":  {body: target, err: errors.New("unforeseen"), want: "502 internal"},
	"panic":         {body: target, err: errPanic, want: "500 internal"},
	"client leaves": {body: target, err: errClientLeaves, want: "0 canceled"},
	"worker leaves": {body: target, err: ErrLeaving, want: "503 leaving"},
}

var errPanic, errClientLeaves = errors.New("panic"), errors.New("the client leaves")

func withHeader(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func TestEndings(t *testing.T) {
	t.Parallel()
	var met []string
	for _, tt := range endingTests {
		last := tt.want[strings.LastIndex(tt.want, ", ")+1:]
		met = append(met, strings.TrimPrefix(strings.TrimSpace(last), "ping "))
	}
	for _, e := range Endings() {
		if row := fmt.Sprint(e.Status, " ", e.Outcome); !slices.Contains(met, row) && e.Outcome != OutcomeLimited {
			t.Errorf("no case has %s", row)
		}
	}
	for name, tt := range endingTests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &observed{}
			f := start(t, func(c *Config) { c.Observer = o })
			ctx, leave := context.WithCancelCause(t.Context())
			defer leave(nil)
			f.prober.run = func(ctx context.Context) error {
				if errors.Is(tt.err, errPanic) {
					panic("boom")
				}
				if errors.Is(tt.err, errClientLeaves) || errors.Is(tt.err, ErrLeaving) {
					leave(tt.err)
					<-ctx.Done()
					return ctx.Err()
				}
				return tt.err
			}
			r := f.request("POST", workerapi.PathPing, tt.body)
			if tt.change != nil {
				tt.change(r)
			}
			f.server.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
			if got := o.String(); got != "ping "+tt.want {
				t.Errorf("%s, want ping %s", got, tt.want)
			}
		})
	}
}

// With 16 slots a client has 3 and a group 4.
func TestLimitsAreTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		held []holder
		asks holder
		want string
	}{
		"client": {make([]holder, 3), holder{"a", "g"}, "limited by client, ping 429 limited"},
		"group":  {make([]holder, 4), holder{1: "g"}, "limited by group, ping 429 limited"},
		"place":  {make([]holder, 8), holder{2: "p"}, "limited by place, ping 429 limited"},
		"slots":  {make([]holder, 16), holder{}, "limited by slots, ping 429 busy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &observed{}
			f := start(t, func(c *Config) { c.Observer, c.Slots = o, 16 })
			for range tt.held {
				if _, err := f.server.inflight.take(time.Now(), time.Second, tt.asks); err != nil {
					t.Fatal(err)
				}
			}
			f.do(f.request("POST", workerapi.PathPing,
				fmt.Sprintf(`{"target":"11.0.0.1","client":%q,"group":%q,"place":%q}`, tt.asks[0], tt.asks[1], tt.asks[2])))
			if got := o.String(); got != "ping "+tt.want {
				t.Errorf("%s, want ping %s", got, tt.want)
			}
		})
	}
}
