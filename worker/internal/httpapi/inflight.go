package httpapi

import (
	"sync"
	"time"

	"diagnostics/shared/workerapi"
)

// holder is on whose behalf a job runs: the hashes that the gateway gave, empty where it gave none.
type holder struct{ client, group string }

// taken is the slot of a running job.
type taken struct {
	holder
	end time.Time // as is to be expected
}

// inflight bounds how many jobs run at once, in all and of one client or group. A job over the bound is refused
// at once; nothing queues.
type inflight struct {
	mu      sync.Mutex
	limit   int
	next    int
	running map[int]taken
	clients map[string]int // how many of the running jobs are each one's
	groups  map[string]int
}

func newInflight(limit int) *inflight {
	return &inflight{limit: limit, running: map[int]taken{}, clients: map[string]int{}, groups: map[string]int{}}
}

// take gives a slot for a job that usually takes at most a while. Without a free one the error is a *busyError: a
// client over its share is refused even where slots are free.
func (f *inflight) take(now time.Time, usual time.Duration, who holder) (slot int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case who.client != "" && f.clients[who.client] >= workerapi.ClientShare(f.limit):
		return 0, f.refuse(now, LimitClient, func(t taken) bool { return t.client == who.client })
	case who.group != "" && f.groups[who.group] >= workerapi.GroupShare(f.limit):
		return 0, f.refuse(now, LimitGroup, func(t taken) bool { return t.group == who.group })
	case len(f.running) >= f.limit:
		return 0, f.refuse(now, LimitSlots, func(taken) bool { return true })
	}
	f.next++
	f.running[f.next] = taken{who, now.Add(usual)}
	count(f.clients, who.client, 1)
	count(f.groups, who.group, 1)
	return f.next, nil
}

// refuse says by when the first of the jobs that stand in the way should have ended.
func (f *inflight) refuse(now time.Time, limit Limit, inTheWay func(taken) bool) *busyError {
	var first time.Time
	for _, t := range f.running {
		if inTheWay(t) && (first.IsZero() || t.end.Before(first)) {
			first = t.end
		}
	}
	return &busyError{free: first.Sub(now), limit: limit}
}

func (f *inflight) leave(slot int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.running[slot]
	delete(f.running, slot)
	count(f.clients, t.client, -1)
	count(f.groups, t.group, -1)
}

// count keeps no entry for who holds nothing.
func count(of map[string]int, who string, n int) {
	if who == "" {
		return
	}
	if of[who] += n; of[who] <= 0 {
		delete(of, who)
	}
}

func (f *inflight) inUse() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.running)
}
