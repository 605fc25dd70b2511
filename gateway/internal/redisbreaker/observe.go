package redisbreaker

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Operation is what Redis is asked for.
type Operation string

// The operations.
const (
	Limits   Operation = "limits"
	CacheGet Operation = "cache_get"
	CacheSet Operation = "cache_set"
	Check    Operation = "check"
)

// Operations are all of them.
func Operations() []Operation { return []Operation{Limits, CacheGet, CacheSet, Check} }

// Observer is told of every call that was made, how long it took and whether it failed. It is called from anywhere, and
// takes no time.
type Observer interface {
	Asked(o Operation, took time.Duration, failed bool)
}

// Option changes how a Breaker works.
type Option func(*Breaker)

// WithObserver sets who is told of the calls.
func WithObserver(o Observer) Option {
	return func(b *Breaker) { b.observer = o }
}

// observe tells of a call. What ends since its caller has left has not failed.
func (b *Breaker) observe(ctx context.Context, o Operation, began time.Time, err error) {
	if b.observer == nil || ctx.Err() != nil {
		return
	}
	b.observer.Asked(o, time.Since(began), err != nil && !errors.Is(err, redis.Nil))
}
