package cache

import (
	"context"
	"errors"
	"time"

	"diagnostics/gateway/internal/redis/breaker"

	"github.com/redis/go-redis/v9"
)

// redisPrefix keeps the cache apart from the limits and from other programs on the same server.
const redisPrefix = "diagnostics:cache:"

type redisStore struct{ breaker *breaker.Breaker }

// NewRedis makes a Store in a Redis that instances share. Each call is bounded by the breaker; its errors, and the
// breaker's ErrDown at once during an outage, are the Store's.
func NewRedis(breaker *breaker.Breaker) Store { return redisStore{breaker: breaker} }

// maxValue is more than anything that is stored, in bytes. A longer value is not ours and is ignored.
const maxValue = 1 << 20

var errTooLong = errors.New("cache: the value is over a megabyte")

func (s redisStore) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	err = s.breaker.Do(ctx, breaker.CacheGet, func(ctx context.Context, client redis.UniversalClient) (err error) {
		value, ok, err = read(ctx, client, breaker.Key(redisPrefix, key))
		return err
	})
	return value, ok && err == nil, err
}

// read gets a value up to a byte over the most that is kept: whatever stands there, no more of it is sent.
func read(ctx context.Context, client redis.UniversalClient, key string) (value []byte, ok bool, err error) {
	pipe := client.Pipeline()
	exists, text := pipe.Exists(ctx, key), pipe.GetRange(ctx, key, 0, maxValue)
	_, err = pipe.Exec(ctx)
	if redis.HasErrorPrefix(err, "WRONGTYPE") {
		// Not ours, so a miss, as is a value that is too long: what is stored next takes its place.
		return nil, false, nil
	}
	if err != nil || exists.Val() == 0 || len(text.Val()) > maxValue {
		return nil, false, err
	}
	return []byte(text.Val()), true, nil
}

func (s redisStore) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if len(value) > maxValue {
		return errTooLong
	}
	return s.breaker.Do(ctx, breaker.CacheSet, func(ctx context.Context, client redis.UniversalClient) error {
		if ttl <= 0 {
			return client.Del(ctx, breaker.Key(redisPrefix, key)).Err()
		}
		// A millisecond is the finest that Redis has.
		return client.Set(ctx, breaker.Key(redisPrefix, key), value, max(ttl, time.Millisecond)).Err()
	})
}
