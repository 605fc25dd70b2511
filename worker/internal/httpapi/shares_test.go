package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/parallel"
	"diagnostics/shared/workerapi"
)

// ask sends a ping on somebody's behalf.
func (j *jobs) ask(target, client, group string) *httptest.ResponseRecorder {
	body, _ := json.Marshal(workerapi.Request{Target: target, Client: client, Group: group})
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
			time.Sleep(time.Duration(i) * time.Microsecond)
			h := who(i)
			w := j.ask(fmt.Sprintf("11.%d.0.%d", 1+i/250, 1+i%250), h.client, h.group)
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
				return holder{client: fmt.Sprintf("late%d", i)}
			}
			return holder{client: fmt.Sprint(i % 8)}
		}, map[int]int{ok: 8*4 + 8, share: 32}},
		{"one client at its share", 64, 4, func(int) holder { return holder{client: "a"} }, map[int]int{ok: 4}},
		{"one client over it", 64, 5, func(int) holder { return holder{client: "a"} }, map[int]int{ok: 4, share: 1}},
		{"a small worker gives three", 10, 4, func(int) holder { return holder{client: "a"} }, map[int]int{ok: 3, share: 1}},
		{"a group at its share", 64, 16, func(i int) holder { return holder{fmt.Sprint(i), "g"} }, map[int]int{ok: 16}},
		{"a group over it", 64, 17, func(i int) holder { return holder{fmt.Sprint(i), "g"} },
			map[int]int{ok: 16, share: 1}},
		{"another group is free", 64, 18, func(i int) holder { return holder{fmt.Sprint(i), "g"[:i%2] + "h"} },
			map[int]int{ok: 18}},
		{"clients without a group are no group", 64, 64, func(i int) holder { return holder{client: fmt.Sprint(i)} },
			map[int]int{ok: 64}},
		{"a gateway that tells nobody's name", 64, 65, func(int) holder { return holder{} }, map[int]int{ok: 64, full: 1}},
		{"all taken by others", 4, 5, func(i int) holder { return holder{client: fmt.Sprint(i)} },
			map[int]int{ok: 4, full: 1}},
		{"all taken, and a share", 3, 4, func(int) holder { return holder{client: "a"} }, map[int]int{ok: 3, share: 1}},
		{"fewer slots than a share", 1, 2, func(int) holder { return holder{client: "a"} }, map[int]int{ok: 1, full: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				j := newJobs(time.Second, c.slots)
				if got := j.crowd(c.jobs, c.who); fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("%v, want %v", got, c.want)
				}
				if f := j.server.inflight; f.inUse() != 0 || len(f.clients) != 0 || len(f.groups) != 0 {
					t.Errorf("left behind: %v %v", f.clients, f.groups)
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
		all.Go(func() { j.ask("11.0.0.9", "b", "") })
		time.Sleep(2 * time.Second)
		for i := range 4 {
			all.Go(func() { j.ask(fmt.Sprintf("11.0.0.%d", i+1), "a", "") })
		}
		time.Sleep(time.Second)
		// A ping ends within five seconds, of which one has passed.
		w := j.ask("11.0.0.5", "a", "")
		if w.Code != 429 || w.Header().Get("Retry-After") != "4" {
			t.Errorf("%d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
		}
		// What runs already takes no slot, whoever began it.
		for _, target := range []string{"11.0.0.1", "11.0.0.9"} {
			if w := j.ask(target, "a", ""); w.Code != 200 {
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
		holding.Go(func() { j.ask(fmt.Sprintf("11.9.0.%d", i+1), "greedy", "") })
	}
	waitFor(t, func() bool { return j.server.JobsRunning() == 4 })
	var all parallel.Group
	var refused atomic.Int32
	for i := range 60 {
		target := fmt.Sprintf("11.1.0.%d", i+1)
		for range 3 {
			all.Go(func() {
				if w := j.ask(target, "greedy", ""); w.Code == 429 {
					refused.Add(1)
				}
			})
		}
		all.Go(func() {
			if w := j.ask(target, fmt.Sprint(i), ""); w.Code == 429 && w.Header().Get(workerapi.HeaderRefused) != "" {
				t.Errorf("%s: refused for another one's share", target)
			}
		})
	}
	// Unless the greedy client is refused, nothing is tried.
	waitFor(t, func() bool { return refused.Load() > 0 })
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
