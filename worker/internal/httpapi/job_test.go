package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/parallel"
	"diagnostics/shared/workerapi"
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
		time.Sleep(takes)
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
	if !strings.Contains(f.log.String(), `"cause":"the budget of packets is used up"`) {
		t.Errorf("logged: %s", f.log.String())
	}
	if n := f.server.JobsRunning(); n != 0 {
		t.Errorf("%d slots in use", n)
	}
}

// Whoever shares a job that panics is answered, and its own stack is logged under each request's id.
func TestAPanicOfASharedJob(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	release := make(chan struct{})
	f.prober.run = func(context.Context) error { <-release; panic("boom") }
	answers := make(chan answer, 3)
	for range cap(answers) {
		go func() { answers <- f.do(f.request("POST", workerapi.PathPing, target)) }()
	}
	waitFor(t, func() bool { return f.server.JobsRunning() == 1 })
	close(release)
	for range cap(answers) {
		a := <-answers
		f.checkError("a panic", a, 500)
		told := 0
		for line := range strings.Lines(f.log.String()) {
			if !strings.Contains(line, `"msg":"panic"`) || !strings.Contains(line, a.envelope.RequestID) {
				continue
			}
			told++
			if strings.Count(line, "[running]") != 1 || !strings.Contains(line, "job_test.go") ||
				!strings.Contains(line, `"panic":"boom"`) {
				t.Errorf("logged: %s", line)
			}
		}
		if told != 1 {
			t.Errorf("%d lines for %s", told, a.envelope.RequestID)
		}
	}
	if n := f.server.JobsRunning(); n != 0 {
		t.Errorf("%d slots in use", n)
	}
}

// Whoever is given the measurement of another request is told so, in each of the three, and who began it is not.
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
					t.Errorf("%s: request %d is told shared %t", path, i+1, got)
				}
			}
			time.Sleep(sharedFor)
		})
	}
}

// shared tells what an answer says of itself.
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
	waitFor(t, func() bool { return f.server.JobsRunning() == 1 })
	// Another tool and the other family are other jobs.
	var others sync.WaitGroup
	for _, r := range []*http.Request{
		f.request("POST", workerapi.PathTraceroute, target),
		f.request("POST", workerapi.PathPing, `{"target":"2606:4700:4700::1111"}`),
	} {
		others.Go(func() { f.do(r) })
	}
	waitFor(t, func() bool { return f.server.JobsRunning() == 3 })
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
