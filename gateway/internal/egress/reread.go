package egress

import (
	"sync"
	"time"
)

// rereadAfter is how old a fact about this host (its addresses, its routes) may grow.
const rereadAfter = time.Minute

// rereadEvery keeps a fact about this host and reads it again once it is older than period. It starts no goroutine: the
// reading happens in the first call that finds the fact too old.
type rereadEvery[T any] struct {
	read   func() T
	period time.Duration
	now    func() time.Time

	mu    sync.Mutex
	value T
	at    time.Time
	known bool
}

func newReread[T any](read func() T) *rereadEvery[T] {
	return &rereadEvery[T]{read: read, period: rereadAfter, now: time.Now}
}

func (r *rereadEvery[T]) get() T {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.now(); !r.known || now.Sub(r.at) >= r.period {
		r.value, r.at, r.known = r.read(), now, true
	}
	return r.value
}
