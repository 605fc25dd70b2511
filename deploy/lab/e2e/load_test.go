//go:build e2e

package e2e

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// load is visitors who send requests until stop is called.
type load struct {
	over atomic.Bool
	all  sync.WaitGroup

	mu       sync.Mutex
	statuses map[int]int
	slowest  time.Duration
}

// visitorPause leaves some of the machine to the tests beside.
const visitorPause = 5 * time.Millisecond

// startLoad has each visitor send one request after another. A status of 0 is no answer, and not counted.
func startLoad(visitors int, ask func(visitor, turn int) answer) *load {
	l := &load{statuses: map[int]int{}}
	for visitor := range visitors {
		l.all.Go(func() {
			for turn := 0; !l.over.Load(); turn++ {
				l.count(ask(visitor, turn))
				time.Sleep(visitorPause) // the pace of a visitor
			}
		})
	}
	return l
}

func (l *load) count(a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.Status != 0 {
		l.statuses[a.Status]++
		l.slowest = max(l.slowest, a.Took)
	}
}

// now is how many answers there are so far, by status, and how long the slowest took.
func (l *load) now() (statuses map[int]int, slowest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.statuses), l.slowest
}

// end waits until all have gone, and gives what now does.
func (l *load) end() (statuses map[int]int, slowest time.Duration) {
	l.over.Store(true)
	l.all.Wait()
	return l.now()
}
