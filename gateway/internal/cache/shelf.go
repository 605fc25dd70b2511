package cache

import (
	"context"
	"time"

	"diagnostics/gateway/internal/cachestats"
)

// maxAhead is how far the clock of another instance may be ahead of ours.
const maxAhead = time.Minute

// Shelf keeps values of one kind in a Store, each with the moment and the key that it is of. A failing store is a miss.
// The store may be shared, and what others left there is not trusted: what cannot be read, was sealed for another
// key, is older than anything may be kept, or is from the future is a miss too.
type Shelf[V any] struct {
	store   Store
	prefix  string
	longest time.Duration
	now     func() time.Time
	counts  *cachestats.Counts // nil where nobody counts
}

// NewShelf makes a shelf; prefix keeps the kinds of values apart in a shared store, and longest is the longest that one
// is kept. V goes through encoding/json into the store and back, in memory too, so that both kinds of store give the
// same values.
func NewShelf[V any](store Store, prefix string, longest time.Duration) *Shelf[V] {
	return &Shelf[V]{store: store, prefix: prefix + ":", longest: longest, now: time.Now,
		counts: countsOf(store, prefix)}
}

// Kept gives what is kept under a key and passes fits; a nil fits takes all.
func (s *Shelf[V]) Kept(ctx context.Context, key string, fits func(V) bool) (Entry[V], bool) {
	e, ok := s.look(ctx, key, fits)
	if ok {
		s.counts.Hit()
	} else {
		s.counts.Miss()
	}
	return e, ok
}

func (s *Shelf[V]) look(ctx context.Context, key string, fits func(V) bool) (Entry[V], bool) {
	sealed, ok, err := s.store.Get(ctx, s.prefix+key)
	if err != nil || !ok {
		return Entry[V]{}, false
	}
	e, ok := open[V](s.prefix+key, sealed)
	age := s.now().Sub(e.FetchedAt)
	if !ok || age < -maxAhead || age > s.longest || fits != nil && !fits(e.Value) {
		return Entry[V]{}, false
	}
	return e, true
}

// Keep keeps what it can, for ttl: a value that does not marshal or a store that fails costs the next caller a load, no
// more. A store bounds its own time.
func (s *Shelf[V]) Keep(ctx context.Context, key string, value V, ttl time.Duration) Entry[V] {
	e := Entry[V]{Value: value, FetchedAt: s.now().UTC().Round(0)}
	if sealed, err := seal(s.prefix+key, e); err == nil && ttl > 0 {
		// The last who waited may have left, the work is done all the same.
		_ = s.store.Set(context.WithoutCancel(ctx), s.prefix+key, sealed, ttl)
	}
	return e
}
