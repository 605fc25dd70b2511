package breaker

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Share stores a value under a name where there is none yet, for good, and returns the one that is stored: all that
// share a Redis agree on one. Errors are those of Do.
func (b *Breaker) Share(ctx context.Context, name string, value []byte) (stored []byte, err error) {
	err = b.Do(ctx, PlaceKey, func(ctx context.Context, client redis.UniversalClient) error {
		if err := client.SetNX(ctx, name, value, 0).Err(); err != nil {
			return err
		}
		stored, err = client.Get(ctx, name).Bytes()
		return err
	})
	return stored, err
}
