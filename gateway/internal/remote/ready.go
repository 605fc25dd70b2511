package remote

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/redis/outage"
	"diagnostics/shared/redact"
)

// readiness is the last answer on readiness, good or bad.
type readiness struct {
	ready any
	err   error
}

// Ready returns the last answer on readiness, at most Every old; at the start it waits for that. A nil error means that
// the other side takes requests; one that drains is an error. Errors are those of Do.
func (c *Client) Ready(ctx context.Context) (any, error) {
	select {
	case <-c.watch.Probed():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return c.lastReady()
}

// Serves reports whether Ready has no error to return.
func (c *Client) Serves() bool {
	_, err := c.lastReady()
	return err == nil
}

func (c *Client) lastReady() (any, error) {
	if reason := c.watch.Now().Reason(); reason != nil {
		return nil, c.whileLost(reason)
	}
	last := c.last.Load()
	if last == nil {
		return nil, fault.New(fault.Upstream, c.config.CodePrefix+unreachableCode, c.config.Args)
	}
	return last.ready, last.err
}

// again reports whether the readiness check is repeated: a process or a network may stall for a moment.
func again(err error) bool { return IsLoss(err) && !isRefusal(err) }

// probe returns an error unless the other side is there, and keeps its answer.
func (c *Client) probe(ctx context.Context) error {
	ready, err := c.checkReady(ctx)
	switch {
	case ctx.Err() != nil, isOwnFault(err):
		return outage.ErrUnsure
	case IsLoss(err):
		return err
	case err != nil:
		err = c.classify(err)
	}
	c.last.Store(&readiness{ready, err})
	c.noteReady(err)
	return nil
}

// noteReady logs when a side that is there takes requests no more, and when it does again. What stands in front of a
// process that is dead answers too.
func (c *Client) noteReady(err error) {
	switch since := c.unready; {
	case err != nil && since.IsZero():
		c.unready = time.Now()
		c.config.Log.Warn(c.config.NotReady, slog.String("error", redact.Message(cause(err), nil)))
	case err == nil && !since.IsZero():
		c.unready = time.Time{}
		c.config.Log.Info(c.config.ReadyAgain, slog.Int64("outageMs", time.Since(since).Milliseconds()))
	}
}

// cause is a failure for the log, without the sentence for a visitor.
func cause(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Cause != nil {
		return f.Cause
	}
	return err
}

func (c *Client) checkReady(ctx context.Context) (any, error) {
	answer, err := c.call(ctx, Call{Method: http.MethodGet, Path: c.config.ReadyPath, Limit: c.config.Ready})
	if err != nil {
		return nil, err
	}
	return c.config.ReadReady(answer)
}
