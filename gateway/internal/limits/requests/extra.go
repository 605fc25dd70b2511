package httpapi

import (
	"context"
	"fmt"
	"sync"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/ratelimit"
)

// surcharge is what a run charges its target beside the one request of step 9. The run may do so from any goroutine,
// and after its answer: what it does may be shared with other runs.
type surcharge struct {
	limiter ratelimit.Limiter
	bucket  ratelimit.Charge

	mu   sync.Mutex
	last ratelimit.Decision // the zero Decision where nothing was charged
}

func (s *Server) surchargeOf(target string) *surcharge {
	return &surcharge{limiter: s.config.Limiter, bucket: s.targetCharge(target)}
}

// take charges for so many requests more, but never more than step 9 has left of a full bucket: a limit below the price
// would refuse the run for good.
func (u *surcharge) take(ctx context.Context, requests int) error {
	more := u.bucket
	if more.Times = min(requests, more.Limit.Requests-1); more.Times < 1 {
		return nil
	}
	d, err := u.limiter.Take(ctx, ratelimit.Stage{more})
	if err != nil {
		return fmt.Errorf("charge the limit of a target: %w", err)
	}
	u.mu.Lock()
	u.last = d
	u.mu.Unlock()
	if !d.Allowed {
		return fault.LimitedFor(d.RetryAfter, "Too many requests are going to this target at the moment.")
	}
	return nil
}

// tells gives the decision that the headers are to tell in place of the one of step 9, if any: the one of the bucket
// with the least left.
func (u *surcharge) tells(before ratelimit.Decision) (d ratelimit.Decision, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last, u.last.Limit > 0 && (!u.last.Allowed || u.last.Remaining < before.Remaining)
}

// refused reports whether the target's limit has refused the run.
func (u *surcharge) refused() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last.Limit > 0 && !u.last.Allowed
}
