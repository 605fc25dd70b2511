// Package fairqueue makes those who would ask a server of somebody else wait for their turn: no server is asked faster
// than its pace, and whoever wants a lot of one server waits behind those who want little.
package fairqueue

import (
	"context"
	"slices"
	"sync"
	"time"
)

// MaxWait is how long anybody waits for a turn.
const MaxWait = 5 * time.Second

// Pace is how often one server is asked: Burst times at once, and once more each Every.
type Pace struct {
	Burst int
	Every time.Duration
}

// room is how many may wait: the pace has no turn within MaxWait for more.
func (p Pace) room() int { return 1 + int(MaxWait/p.Every) }

// Slots count what a server is asked, over all instances. Take takes a slot at once and gives 0, or gives the time
// until one is free; its only error is that of a ctx that has ended.
type Slots interface {
	Take(ctx context.Context, server string, pace Pace) (wait time.Duration, err error)
}

// Visitor is on whose behalf a server is asked. Network is what several clients may belong to, empty where it is not
// known: together they have the share of four.
type Visitor struct{ Client, Network string }

// Queue is a line of waiting visitors for each server. It is safe for concurrent use.
type Queue struct {
	slots Slots

	mu    sync.Mutex
	lines map[string]*line
}

// New makes a Queue for slots.
func New(slots Slots) *Queue { return &Queue{slots: slots, lines: make(map[string]*line)} }

// Wait returns 0 once the server may be asked, within patience, which is at most MaxWait. It gives the time after which
// another try is worth it where the server has no turn by then. Its only error is that of a ctx that has ended.
func (q *Queue) Wait(
	ctx context.Context, server string, pace Pace, visitor Visitor, patience time.Duration,
) (again time.Duration, err error) {
	w := q.join(server, pace, visitor)
	if w == nil {
		return q.again(server, pace), nil
	}
	served := false
	defer func() { q.leave(server, w, served) }()
	until := time.Now().Add(min(patience, MaxWait))
	for {
		first, changed, out := q.look(server, w)
		if out {
			return q.again(server, pace), nil
		}
		left, wait := time.Until(until), time.Duration(0)
		if first {
			if wait, err = q.slots.Take(ctx, server, pace); err != nil {
				return 0, err
			}
			if served = wait <= 0; served {
				return 0, nil
			}
		}
		if left <= 0 || wait > left {
			return max(wait, q.again(server, pace)), nil
		}
		if wait == 0 { // somebody else is first
			wait = left
		}
		if err := sleep(ctx, wait, changed); err != nil {
			return 0, err
		}
	}
}

// sleep ends after d, or with the line's next change.
func sleep(ctx context.Context, d time.Duration, changed <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// again is when all who wait now will have had their turn.
func (q *Queue) again(server string, pace Pace) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := 0
	if l := q.lines[server]; l != nil {
		waiting = len(l.waiting)
	}
	return time.Duration(max(waiting, 1)) * pace.Every
}

// join takes a place in the line of a server, nil where that is full of those who come first. A full line loses its
// last one to whoever comes before it.
func (q *Queue) join(server string, pace Pace, visitor Visitor) *waiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[server]
	if l == nil {
		l = &line{changed: make(chan struct{}), given: make(map[string]int)}
		q.lines[server] = l
	}
	w := &waiter{turn: l.turnOf(visitor)}
	if len(l.waiting) >= pace.room() {
		last := l.last()
		if last.turn <= w.turn {
			return nil
		}
		last.out = true
		l.remove(last)
	}
	l.given[visitor.Client] = w.turn
	l.given[visitor.networkKey()] = w.turn
	l.waiting = append(l.waiting, w)
	l.change()
	return w
}

// look reports whether w is first, and gives what tells of the line's next change; out is that w has lost its place.
func (q *Queue) look(server string, w *waiter) (first bool, changed <-chan struct{}, out bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.out {
		return false, nil, true
	}
	l := q.lines[server]
	return l.first() == w, l.changed, false
}

func (q *Queue) leave(server string, w *waiter, served bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.out {
		return
	}
	l := q.lines[server]
	if served {
		l.now = max(l.now, w.turn)
	}
	l.remove(w)
	if len(l.waiting) == 0 {
		delete(q.lines, server)
		return
	}
	l.change()
}

// line is those who wait for one server.
type line struct {
	waiting []*waiter // as they came; there are few
	changed chan struct{}
	// now is the turn that was served last, given the last turn that each client and network got.
	now   int
	given map[string]int
}

type waiter struct {
	turn int
	out  bool
}

// A client's turns are perClient apart, a network's perNetwork, so that it has the share of four clients.
const (
	perClient  = 4
	perNetwork = 1
)

// turnOf is the turn of a newcomer: the present one for who has none yet, and later ones for who has.
func (l *line) turnOf(v Visitor) int {
	turn := l.now
	if last, ok := l.given[v.Client]; ok {
		turn = max(turn, last+perClient)
	}
	if last, ok := l.given[v.networkKey()]; ok && v.Network != "" {
		turn = max(turn, last+perNetwork)
	}
	return turn
}

// networkKey is apart from the names of clients.
func (v Visitor) networkKey() string { return "network " + v.Network }

// first is who has the lowest turn, and came first among those who have.
func (l *line) first() *waiter {
	return slices.MinFunc(l.waiting, func(a, b *waiter) int { return a.turn - b.turn })
}

// last is who has the highest turn, and came last among those who have.
func (l *line) last() *waiter {
	last := l.waiting[0]
	for _, w := range l.waiting {
		if w.turn >= last.turn {
			last = w
		}
	}
	return last
}

func (l *line) remove(w *waiter) {
	l.waiting = slices.DeleteFunc(l.waiting, func(other *waiter) bool { return other == w })
}

func (l *line) change() {
	close(l.changed)
	l.changed = make(chan struct{})
}
