package workerclient

import (
	"context"
	"errors"
	"strings"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/workerapi"
)

// Outcome is what became of a job.
type Outcome string

// The outcomes of jobs.
const (
	OutcomeOK       Outcome = "ok"
	OutcomeBusy     Outcome = "busy"     // no slot, or no packets left
	OutcomeLimited  Outcome = "limited"  // the client's share of the slots
	OutcomeShortage Outcome = "shortage" // the worker's host, or this one, lacks something
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

// Slugs are the tools of which there are jobs.
func Slugs() []string {
	return []string{slugOf(workerapi.PathTraceroute), slugOf(workerapi.PathPing), slugOf(workerapi.PathPacketLoss)}
}

func slugOf(path string) string { return strings.TrimPrefix(path, "/api/") }

// Observer is told what became of each job and how long it took. It is called from anywhere, and takes no time.
type Observer interface {
	Asked(slug string, o Outcome, took time.Duration)
}

// WithObserver sets who is told of the jobs.
func WithObserver(o Observer) Option {
	return func(c *Client) { c.observer = o }
}

// observe tells of a job that began at a moment.
func (c *Client) observe(ctx context.Context, path string, began time.Time, err error) {
	if c.observer != nil {
		c.observer.Asked(slugOf(path), outcomeOf(ctx, err), time.Since(began))
	}
}

func outcomeOf(ctx context.Context, err error) Outcome {
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
	case isLoss(err):
		return OutcomeLost
	}
	return OutcomeFailed
}
