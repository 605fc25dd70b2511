package cache

import (
	"context"
	"time"

	"diagnostics/shared/flight"
)

// Loading reads through a Store, and those who ask for the same key at the same time share one load. A failing store is
// a miss, never an error of the lookup.
type Loading[V any] struct {
	store  Store
	prefix string
	now    func() time.Time
	loads  flight.Group[string, Entry[V]]
}

// NewLoading makes a read-through cache over the store; prefix keeps the kinds of values apart in a shared store. V
// goes through encoding/json into the store and back, in memory too, so that both kinds of store give the same values.
func NewLoading[V any](store Store, prefix string) *Loading[V] {
	return &Loading[V]{store: store, prefix: prefix + ":", now: time.Now}
}

// Get gives the kept value or loads it. A load, its context, its error and its panic are shared as flight.Group says;
// an error is not kept. The callers who share a value must not change it.
func (l *Loading[V]) Get(ctx context.Context, key string, load Load[V]) (Entry[V], error) {
	key = l.prefix + key
	// The look into the store is part of the shared run: between a miss and a run of one's own another's could have
	// ended, and the same value would be fetched twice.
	return l.loads.Do(ctx, key, func(ctx context.Context) (Entry[V], error) { return l.fetch(ctx, key, load) })
}

func (l *Loading[V]) fetch(ctx context.Context, key string, load Load[V]) (Entry[V], error) {
	if kept, ok := l.kept(ctx, key); ok {
		return kept, nil
	}
	value, ttl, err := load(ctx)
	if err != nil {
		return Entry[V]{}, err
	}
	entry := Entry[V]{Value: value, FetchedAt: l.now().UTC().Round(0)}
	if ttl > 0 {
		// The last waiter may have left, the work is done all the same. A store bounds its own time.
		l.keep(context.WithoutCancel(ctx), key, entry, ttl)
	}
	return entry, nil
}

func (l *Loading[V]) kept(ctx context.Context, key string) (Entry[V], bool) {
	sealed, ok, err := l.store.Get(ctx, key)
	if err != nil || !ok {
		return Entry[V]{}, false
	}
	return open[V](sealed)
}

// keep stores what it can: a value that does not marshal or a store that fails costs the next caller a load, no more.
func (l *Loading[V]) keep(ctx context.Context, key string, entry Entry[V], ttl time.Duration) {
	sealed, err := seal(entry)
	if err != nil {
		return
	}
	_ = l.store.Set(ctx, key, sealed, ttl)
}
