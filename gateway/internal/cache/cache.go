// Package cache keeps answers for a time, in memory or in Redis, with one flight for identical lookups.
package cache

import (
	"context"
	"time"
)

// Store keeps bytes. A missing or expired key is (nil, false, nil); an error means that the store itself failed. A ttl
// of 0 or less keeps nothing and forgets what was kept.
type Store interface {
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Set(ctx context.Context, key string, value []byte, ttl time.Duration) error
}

// Entry is a value with its history.
type Entry[V any] struct {
	Value     V
	FetchedAt time.Time
	Cached    bool // false for the caller whose flight fetched it, and for the callers that waited for that flight
}

// Load fetches a value and returns how long it may be kept; 0 does not keep it.
type Load[V any] func(ctx context.Context) (V, time.Duration, error)
