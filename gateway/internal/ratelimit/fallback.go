package ratelimit

import (
	"context"

	"diagnostics/gateway/internal/redisguard"

	"github.com/redis/go-redis/v9"
)

type fallback struct {
	shared, local Limiter
	guard         *redisguard.Guard
}

// NewFallback makes a Limiter that asks redis, within the guard's bound, and memory where redis fails or the guard
// knows it to be down. Its only error is that of a ctx that has ended.
func NewFallback(redis, memory Limiter, guard *redisguard.Guard) Limiter {
	return fallback{shared: redis, local: memory, guard: guard}
}

func (f fallback) Take(ctx context.Context, stages ...Stage) (Decision, error) {
	var d Decision
	err := f.guard.Do(ctx, redisguard.Limits, func(ctx context.Context, _ redis.UniversalClient) (err error) {
		d, err = f.shared.Take(ctx, stages...)
		return err
	})
	if err == nil {
		return d, nil
	}
	if ctx.Err() != nil {
		return Decision{}, ctx.Err()
	}
	return f.local.Take(ctx, stages...)
}
