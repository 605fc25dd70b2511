package remote

import (
	"context"
	"errors"

	"diagnostics/gateway/internal/fault"
)

// Outcome is what became of a call, for metrics.
type Outcome string

// The outcomes.
const (
	OutcomeOK       Outcome = "ok"
	OutcomeBusy     Outcome = "busy"     // the other side has no slot, or is at a limit of its own
	OutcomeLimited  Outcome = "limited"  // the client's share of the slots
	OutcomeShortage Outcome = "shortage" // the other host, or this one, lacks something
	OutcomeTimeout  Outcome = "timeout"
	OutcomeLost     Outcome = "lost" // it cannot be reached, or broke off
	OutcomeFailed   Outcome = "failed"
	OutcomeCanceled Outcome = "canceled" // the visitor left
)

// Outcomes are all of them.
func Outcomes() []Outcome {
	return []Outcome{OutcomeOK, OutcomeBusy, OutcomeLimited, OutcomeShortage, OutcomeTimeout, OutcomeLost, OutcomeFailed,
		OutcomeCanceled}
}

// OutcomeOf is the outcome of a call that ended with err.
func OutcomeOf(ctx context.Context, err error) Outcome {
	var failed *fault.Error
	switch {
	case err == nil:
		return OutcomeOK
	case errors.Is(ctx.Err(), context.Canceled):
		return OutcomeCanceled
	case !errors.As(err, &failed):
		return OutcomeFailed
	case failed.Kind == fault.Limited:
		return OutcomeLimited
	case failed.Rule == fault.RuleShortage:
		return OutcomeShortage
	case failed.Kind == fault.Busy:
		return OutcomeBusy
	case failed.Kind == fault.Timeout:
		return OutcomeTimeout
	case IsLoss(err):
		return OutcomeLost
	}
	return OutcomeFailed
}
