package ratelimit

import (
	"context"
	"errors"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/redis/breaker"

	"github.com/redis/go-redis/v9"
)

type fallback struct {
	shared, local Limiter
	breaker       *breaker.Breaker
}

// NewFallback returns a Limiter that uses redis, within the breaker's bound, and memory where redis fails or the
// breaker is open. Its errors are that of a ctx that has ended, and a fault.Error of kind Busy where too many others
// wait for a working Redis: limits that all gateways share are never left to memory for that.
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
	if errors.Is(err, breaker.ErrBusy) {
		busy := fault.Wrap(fault.Busy, err, "SERVICE_BUSY", nil).ByRule(fault.LimitRedis)
		busy.RetryAfter = time.Second
		return Decision{}, busy
	}
	return f.local.Take(ctx, stages...)
}
