package workerclient

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/redis/outage"
	"diagnostics/shared/workerapi"
)

// readiness is the last answer on readiness, good or bad.
type readiness struct {
	ready workerapi.Ready
	err   error
}

// Ready returns the worker's last answer on readiness, a second old at most; at the start it waits for that. A nil
// error means that the worker takes jobs for the families that it names; a worker that drains is an error. Errors are
// as those of Traceroute.
func (c *Client) Ready(ctx context.Context) (workerapi.Ready, error) {
	select {
	case <-c.watch.Probed():
	case <-ctx.Done():
		return workerapi.Ready{}, ctx.Err()
	}
	return c.lastReady()
}

// Serves reports whether Ready has no error to give.
func (c *Client) Serves() bool {
	_, err := c.lastReady()
	return err == nil
}

func (c *Client) lastReady() (workerapi.Ready, error) {
	if reason := c.watch.Now().Reason(); reason != nil {
		return workerapi.Ready{}, whileLost(reason)
	}
	last := c.last.Load()
	if last == nil {
		return workerapi.Ready{}, fault.New(fault.Upstream, sentenceUnreachable)
	}
	return last.ready, last.err
}

// again reports whether the readiness check is repeated: a process or a network may stall for a moment.
func again(err error) bool { return isLoss(err) && !isRefusal(err) }

// probe returns an error unless the worker is there, and keeps its answer.
func (c *Client) probe(ctx context.Context) error {
	ready, err := c.askReady(ctx)
	switch {
	case ctx.Err() != nil, isOwnFault(err):
		return outage.ErrUnsure
	case isLoss(err):
		return err
	case err != nil:
		err = classify(err)
	}
	c.last.Store(&readiness{ready, err})
	return nil
}

// isReady returns an error unless a worker that is there takes jobs, by its last answer. What stands in front of a
// worker that is dead answers too.
func (c *Client) isReady(ctx context.Context) error {
	select {
	case <-c.watch.Probed():
	case <-ctx.Done():
		return outage.ErrUnsure
	}
	last := c.last.Load()
	if last == nil || c.watch.Now().Reason() != nil {
		return outage.ErrUnsure
	}
	return cause(last.err)
}

// cause is a failure for the log, without the sentence for a visitor.
func cause(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Cause != nil {
		return f.Cause
	}
	return err
}

func (c *Client) askReady(ctx context.Context) (workerapi.Ready, error) {
	var ready workerapi.Ready
	answer, err := c.call(ctx, c.limits.ready, http.MethodGet, workerapi.PathReady, nil, nil)
	if err == nil {
		err = json.Unmarshal(answer, &ready)
	}
	if err == nil {
		err = ready.Validate()
	}
	return ready, err
}
