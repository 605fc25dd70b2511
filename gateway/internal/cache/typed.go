package cache

import (
	"context"
	"time"

	"diagnostics/gateway/internal/cache/cachestats"
)

// maxAhead is how far the clock of another instance may be ahead of ours.
const maxAhead = time.Minute

// Typed keeps values of one kind in a Store, each with the moment and the key that it is of. A failing store is a miss.
// The store may be shared, and what others left there is not trusted: what cannot be read, was sealed for another
// key, is older than anything may be kept, or is from the future is a miss too.
type Typed[V any] struct {
	store   Store
	prefix  string
	longest time.Duration
	now     func() time.Time
	counts  *cachestats.Counts // nil where nothing is counted
}

// NewTyped makes a typed view of a store; prefix keeps the kinds of values apart in a shared store, and longest is the
// longest that one is kept. V goes through encoding/json into the store and back, in memory too, so that both kinds of
// store give the same values.
func NewTyped[V any](store Store, prefix string, longest time.Duration) *Typed[V] {
	return &Typed[V]{store: store, prefix: prefix + ":", longest: longest, now: time.Now,
		counts: countsOf(store, prefix)}
}

// Kept gives what is kept under a key and passes fits; a nil fits takes all.
func (t *Typed[V]) Kept(ctx context.Context, key string, fits func(V) bool) (Entry[V], bool) {
	e, ok := t.look(ctx, key, fits)
	if ok {
		t.counts.Hit()
	} else {
		t.counts.Miss()
	}
	return e, ok
}

func (t *Typed[V]) look(ctx context.Context, key string, fits func(V) bool) (Entry[V], bool) {
	sealed, ok, err := t.store.Get(ctx, t.prefix+key)
	if err != nil || !ok {
		return Entry[V]{}, false
	}
	e, ok := open[V](t.prefix+key, sealed)
	age := t.now().Sub(e.FetchedAt)
	if !ok || age < -maxAhead || age > t.longest || fits != nil && !fits(e.Value) {
		return Entry[V]{}, false
	}
	return e, true
}

// Keep keeps what it can, for ttl: a value that does not marshal or a store that fails costs the next caller a load, no
// more. A store bounds its own time.
func (t *Typed[V]) Keep(ctx context.Context, key string, value V, ttl time.Duration) Entry[V] {
	e := Entry[V]{Value: value, FetchedAt: t.now().UTC().Round(0)}
	if sealed, err := seal(t.prefix+key, e); err == nil && ttl > 0 {
		// The last who waited may have left, the work is done all the same.
		_ = t.store.Set(context.WithoutCancel(ctx), t.prefix+key, sealed, ttl)
	}
	return e
}

// counted is a Store whose typed views count.
type counted struct {
	Store
	of func(name string) *cachestats.Counts
}

// NewCounted returns a Store of which each Typed counts its hits and misses under its own prefix.
func NewCounted(store Store, of func(name string) *cachestats.Counts) Store {
	return counted{Store: store, of: of}
}

// countsOf gives the counts of a typed view, nil where nothing is counted.
func countsOf(store Store, name string) *cachestats.Counts {
	if c, ok := store.(counted); ok {
		return c.of(name)
	}
	return nil
}
