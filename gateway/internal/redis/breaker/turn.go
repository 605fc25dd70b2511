package breaker

import (
	"context"
	"time"

	"diagnostics/gateway/internal/redis/outage"
)

// turns bounds the calls under way to the connections of the pool, so that no call waits in the pool, where its wait
// would count as time of Redis.
type turns chan struct{}

// patience is the longest wait for a turn. It is more than Bound, so that a wait while Redis hangs ends with the
// outage.
const patience = 2 * Bound

// await waits for a turn; end gives it back. Its errors are ErrBusy, ErrDown where Redis is lost
// meanwhile, and that of a ctx that has ended.
func (t turns) await(ctx context.Context, up *outage.Up) error {
	select {
	case t <- struct{}{}: // without a timer
		return nil
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-up.Lost():
		return ErrDown
	case <-timer.C:
		return ErrBusy
	}
}

func (t turns) end() { <-t }
