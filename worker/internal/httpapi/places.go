package httpapi

import (
	"sync"
	"time"
)

// places bounds how many jobs run at once. A job that finds none free is refused at once; nothing queues.
type places struct {
	mu    sync.Mutex
	limit int
	next  int
	ends  map[int]time.Time // latest end of each running job
}

func newPlaces(limit int) *places {
	return &places{limit: limit, ends: map[int]time.Time{}}
}

// take gives a place for a job that takes at most a while. Without a free one, free is the time by which the first of
// the running jobs will have ended.
func (p *places) take(now time.Time, atMost time.Duration) (place int, free time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ends) >= p.limit {
		return 0, p.firstEnd().Sub(now), false
	}
	p.next++
	p.ends[p.next] = now.Add(atMost)
	return p.next, 0, true
}

func (p *places) firstEnd() time.Time {
	var first time.Time
	for _, end := range p.ends {
		if first.IsZero() || end.Before(first) {
			first = end
		}
	}
	return first
}

func (p *places) leave(place int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.ends, place)
}

func (p *places) inUse() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ends)
}
