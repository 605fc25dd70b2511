package ratelimit

import (
	"context"
	"fmt"
	"testing"
	"time"

	"diagnostics/gateway/internal/redis/breaker"
	"diagnostics/gateway/internal/redis/breaker/redistest"

	"github.com/redis/go-redis/v9"
)

// TestForeignValuesAreReplaced: whatever a key of ours holds, the bucket works from the first request on, and the value
// is one of ours after it.
func TestForeignValuesAreReplaced(t *testing.T) {
	t.Parallel()
	mini := func(t *testing.T) redis.UniversalClient {
		_, client, _ := newMini(t)
		return client
	}
	real := func(t *testing.T) redis.UniversalClient { return redistest.Start(t).Client() }
	text := func(value string) func(context.Context, redis.UniversalClient, string) error {
		return func(ctx context.Context, c redis.UniversalClient, key string) error {
			return c.Set(ctx, key, value, 0).Err()
		}
	}
	foreign := map[string]func(context.Context, redis.UniversalClient, string) error{
		"a list": func(ctx context.Context, c redis.UniversalClient, key string) error {
			return c.RPush(ctx, key, "1", "2").Err()
		},
		"a hash": func(ctx context.Context, c redis.UniversalClient, key string) error {
			return c.HSet(ctx, key, "level", "1").Err()
		},
		"a set": func(ctx context.Context, c redis.UniversalClient, key string) error {
			return c.SAdd(ctx, key, "1").Err()
		},
		"a sorted set": func(ctx context.Context, c redis.UniversalClient, key string) error {
			return c.ZAdd(ctx, key, redis.Z{Score: 1, Member: "1"}).Err()
		},
		"nothing": text(""), "words": text("not a level"), "half": text("3.5"), "no number": text("nan 1"),
		"without end": text("inf 1"), "less than nothing": text("-5 1"), "more than there is": text("1e300 99999999999999999"),
		"octets": text("\xff\x00 1"), "several points": text("1.2.3 5"),
	}
	servers := map[string]func(*testing.T) redis.UniversalClient{"miniredis": mini, "redis-server": real}
	for server, connect := range servers {
		client := connect(t)
		l := NewRedis(client)
		for name, put := range foreign {
			bucket := charge(fmt.Sprintf("%s of %s", name, server), 3, time.Hour)
			key := breaker.Key(redisPrefix, bucket.Key)
			if err := put(t.Context(), client, key); err != nil {
				t.Fatal(err)
			}
			for i := range 4 {
				d := take(t, l, bucket)
				if d.Allowed != (i < 3) {
					t.Errorf("%s, %s: take %d: %+v", server, name, i+1, d)
				}
			}
			if ttl := client.PTTL(t.Context(), key).Val(); ttl <= 0 || ttl > time.Hour {
				t.Errorf("%s, %s: lives %s", server, name, ttl)
			}
			if kind := client.Type(t.Context(), key).Val(); kind != "string" {
				t.Errorf("%s, %s: still a %s", server, name, kind)
			}
		}
	}
}
