package breaker

import (
	"context"
	"time"

	"diagnostics/gateway/internal/redis/outage"

	"github.com/redis/go-redis/v9"
)

const (
	// A probe may open a connection, so it gets more than a call does: where a handshake is slower than Bound, calls
	// only ever use connections that a probe or a dial in the background has opened.
	probeTimeout  = time.Second
	probeKey      = "diagnostics:probe"
	probeLifetime = 1000
)

// The probe writes from a script, as the real calls do: a replica, a full memory, a failed save or a missing right let
// a PING pass.
const probeScript = `return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`

// probe checks that Redis serves. It takes a turn as calls do; without one it has no result.
func (b *Breaker) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, b.probeBound)
	defer cancel()
	select {
	case b.turns <- struct{}{}:
		defer b.turns.end()
	case <-ctx.Done():
		return outage.ErrUnsure
	}
	if cluster, ok := b.client.(*redis.ClusterClient); ok {
		// The script reaches the master of one slot only.
		if err := cluster.ForEachMaster(ctx, ping); err != nil {
			return err
		}
	}
	return write(ctx, b.client)
}

func write(ctx context.Context, client redis.UniversalClient) error {
	return client.Eval(ctx, probeScript, []string{probeKey}, "1", probeLifetime).Err()
}

func ping(ctx context.Context, node *redis.Client) error { return node.Ping(ctx).Err() }
