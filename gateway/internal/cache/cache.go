// Package cache keeps answers for a time, in memory or in Redis, with one flight for identical lookups.
package cache

import (
	"context"
	"time"
)

// Store keeps bytes. A missing or expired key is (nil, false, nil); an error means that the store itself failed.
type Store interface {
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Set(ctx context.Context, key string, value []byte, ttl time.Duration) error
}

// Entry is a value with its history.
type Entry[V any] struct {
	Value     V
	FetchedAt time.Time
	Cached    bool // false for the caller whose flight fetched it, and for those who waited for that flight
}

// Load fetches a value and says how long it may be kept; 0 does not keep it.
type Load[V any] func(ctx context.Context) (V, time.Duration, error)

// Loading reads through a Store with one flight a key. A flight's context is not its first caller's: it ends when its
// last waiter leaves. A failing store is a miss, never an error of the lookup.
type Loading[V any] struct{}

// NewLoading makes a read-through cache over the store; prefix keeps the kinds of values apart in a shared store.
func NewLoading[V any](store Store, prefix string) *Loading[V] { panic("unwritten") }

// Get gives the kept value or loads it. An error of load is given to all who waited, and is not kept.
func (l *Loading[V]) Get(ctx context.Context, key string, load Load[V]) (Entry[V], error) {
	panic("unwritten")
}
