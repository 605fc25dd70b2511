package cache

import (
	"context"
	"time"
)

type fallback struct{ shared, local Store }

// NewFallback makes a Store that reads the shared store, and the local one where the shared store fails. Writes go to
// both, so that an outage does not start with an empty cache and a rush on the providers.
func NewFallback(shared, local Store) Store { return fallback{shared: shared, local: local} }

func (f fallback) Get(ctx context.Context, key string) ([]byte, bool, error) {
	value, ok, err := f.shared.Get(ctx, key)
	if err != nil {
		return f.local.Get(ctx, key)
	}
	return value, ok, nil
}

func (f fallback) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	err := f.local.Set(ctx, key, value, ttl)
	if sharedErr := f.shared.Set(ctx, key, value, ttl); sharedErr == nil {
		return nil
	}
	return err
}
