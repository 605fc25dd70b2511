package requests

import (
	"context"
	"fmt"
	"sync"

	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/ratelimit"
)

// ExtraCharge is what a run charges its target beside its own request. The run may charge from any goroutine, and after
// its answer: its work may be shared with other runs.
type ExtraCharge struct {
	limiter *Limiter
	client  clientip.Identity
	target  string

	mu   sync.Mutex
	last ratelimit.Decision // the zero Decision where nothing was charged
}

// Extra makes the extra charge of a run.
func (l *Limiter) Extra(client clientip.Identity, target string) *ExtraCharge {
	return &ExtraCharge{limiter: l, client: client, target: target}
}

// Allow charges so many further requests, but never more than the run's own request leaves of a full bucket: a limit
// below the price would refuse every run. A refusal is a fault.Error of kind Limited.
func (e *ExtraCharge) Allow(ctx context.Context, requests int) error {
	stages := e.limiter.targetStages(nil, e.client, e.target)
	if len(stages) == 0 {
		return nil
	}
	times := min(requests, stages[0][0].Limit.Requests-1)
	if times < 1 {
		return nil
	}
	for _, stage := range stages {
		stage[0].Times = times
	}
	d, err := e.limiter.limiter.Take(ctx, stages...)
	if err != nil {
		return fmt.Errorf("charge the limit of a target: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last = d
	if !d.Allowed {
		return fault.LimitedFor(d.RetryAfter, "TARGET_BUSY")
	}
	return nil
}

// Tighter returns the decision for the headers in place of the one before, if it is of a bucket with less left.
func (e *ExtraCharge) Tighter(before ratelimit.Decision) (d ratelimit.Decision, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last, e.last.Limit > 0 && (!e.last.Allowed || e.last.Remaining < before.Remaining)
}

// Refused reports whether the target's limit has refused the run.
func (e *ExtraCharge) Refused() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last.Limit > 0 && !e.last.Allowed
}
