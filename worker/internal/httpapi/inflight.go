package httpapi

import (
	"sync"
	"time"

	"diagnostics/shared/workerapi"
)

// holder is on whose behalf a job runs: the hashes that the gateway gave, empty where it gave none.
type holder struct{ client, group string }

// taken is the place of a running job.
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

// take gives a place for a job that usually takes at most a while. Without a free one the error is a *busyError: who
// holds a share of the places already hears of that, whether or not there are others.
func (p *inflight) take(now time.Time, usual time.Duration, who holder) (place int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case who.client != "" && p.clients[who.client] >= workerapi.ClientShare(p.limit):
		return 0, p.refuse(now, LimitClient, func(t taken) bool { return t.client == who.client })
	case who.group != "" && p.groups[who.group] >= workerapi.GroupShare(p.limit):
		return 0, p.refuse(now, LimitGroup, func(t taken) bool { return t.group == who.group })
	case len(p.running) >= p.limit:
		return 0, p.refuse(now, LimitPlaces, func(taken) bool { return true })
	}
	p.next++
	p.running[p.next] = taken{who, now.Add(usual)}
	count(p.clients, who.client, 1)
	count(p.groups, who.group, 1)
	return p.next, nil
}

// refuse says by when the first of the jobs that stand in the way should have ended.
func (p *inflight) refuse(now time.Time, limit Limit, inTheWay func(taken) bool) *busyError {
	var first time.Time
	for _, t := range p.running {
		if inTheWay(t) && (first.IsZero() || t.end.Before(first)) {
			first = t.end
		}
	}
	return &busyError{free: first.Sub(now), limit: limit}
}

func (p *inflight) leave(place int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.running[place]
	delete(p.running, place)
	count(p.clients, t.client, -1)
	count(p.groups, t.group, -1)
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

func (p *inflight) inUse() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.running)
}
