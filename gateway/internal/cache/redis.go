package cache

import (
	"context"
	"errors"
	"time"

	"diagnostics/gateway/internal/redisguard"

	"github.com/redis/go-redis/v9"
)

// redisPrefix keeps the cache apart from the limits and from other programs on the same server.
const redisPrefix = "diagnostics:cache:"

type redisStore struct{ guard *redisguard.Guard }

// NewRedis makes a Store in a Redis that instances share. Each call is bounded by the guard; its errors, and the
// guard's ErrDown at once during an outage, are the Store's.
func NewRedis(guard *redisguard.Guard) Store { return redisStore{guard: guard} }

func (s redisStore) Get(ctx context.Context, key string) ([]byte, bool, error) {
	var value []byte
	err := s.guard.Do(ctx, func(ctx context.Context, client redis.UniversalClient) (err error) {
		value, err = client.Get(ctx, redisguard.Key(redisPrefix, key)).Bytes()
		if redis.HasErrorPrefix(err, "WRONGTYPE") {
			// Not ours, so a miss: what is stored next takes its place.
			return redis.Nil
		}
		return err
	})
	if errors.Is(err, redis.Nil) {
		return nil, false, nil
	}
	return value, err == nil, err
}

func (s redisStore) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	return s.guard.Do(ctx, func(ctx context.Context, client redis.UniversalClient) error {
		if ttl <= 0 {
			return client.Del(ctx, redisguard.Key(redisPrefix, key)).Err()
		}
		// A millisecond is the finest that Redis has.
		return client.Set(ctx, redisguard.Key(redisPrefix, key), value, max(ttl, time.Millisecond)).Err()
	})
}
