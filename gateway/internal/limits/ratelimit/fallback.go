package ratelimit

import (
	"context"

	"diagnostics/gateway/internal/redis/breaker"

	"github.com/redis/go-redis/v9"
)

type fallback struct {
	shared, local Limiter
	breaker       *breaker.Breaker
}

// NewFallback returns a Limiter that uses redis, within the breaker's bound, and memory where redis fails or the
// breaker is open. Its only error is that of a ctx that has ended.
func NewFallback(redis, memory Limiter, breaker *breaker.Breaker) Limiter {
	return fallback{shared: redis, local: memory, breaker: breaker}
}

func (f fallback) Take(ctx context.Context, stages ...Stage) (Decision, error) {
	var d Decision
	err := f.breaker.Do(ctx, breaker.Limits, func(ctx context.Context, _ redis.UniversalClient) (err error) {
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
