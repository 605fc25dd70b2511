package cache

import (
	"context"
	"time"

	"diagnostics/shared/flight"
)

// Loading reads through a Typed; concurrent calls for the same key share one load.
type Loading[V any] struct {
	typed *Typed[V]
	loads flight.Group[string, Entry[V]]
}

// NewLoading makes a read-through cache of what NewTyped makes.
func NewLoading[V any](store Store, prefix string, longest time.Duration) *Loading[V] {
	l := &Loading[V]{typed: NewTyped[V](store, prefix, longest)}
	l.loads.Joined = l.typed.counts.Share
	return l
}

// Get returns the cached value, where it passes fits (nil accepts all), or loads it. All calls of one key pass one
// fits, which requires of a cached value what load requires of a fetched one. A load, its context, its error and its
// panic are shared as flight.Group describes; an error is not cached. Callers must not change a shared value.
func (l *Loading[V]) Get(ctx context.Context, key string, fits func(V) bool, load Load[V]) (Entry[V], error) {
	// The look into the store is part of the shared run: between a miss and a run of one's own another's could have
	// ended, and the same value would be fetched twice.
	return l.loads.Do(ctx, key, func(ctx context.Context) (Entry[V], error) {
		if kept, ok := l.typed.Kept(ctx, key, fits); ok {
			return kept, nil
		}
		value, ttl, err := load(ctx)
		if err != nil {
			return Entry[V]{}, err
		}
		return l.typed.Keep(ctx, key, value, ttl), nil
	})
}
