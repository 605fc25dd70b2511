package workerclient

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/flight"
	"diagnostics/shared/workerapi"
)

// readiness keeps the last answer on readiness, good or bad.
type readiness struct {
	asking flight.Group[struct{}, workerapi.Ready]

	mu   sync.Mutex
	last readyAnswer
	at   time.Time
}

type readyAnswer struct {
	ready workerapi.Ready
	err   error
}

// Ready asks the worker's /readyz. An answer, a failure included, is kept for three seconds, and callers at the same
// time share one question. A nil error means that the worker takes jobs for the families that it names; a worker that
// drains is an error. Errors are as those of Traceroute.
func (c *Client) Ready(ctx context.Context) (workerapi.Ready, error) {
	return c.ready.asking.Do(ctx, struct{}{}, func(ctx context.Context) (workerapi.Ready, error) {
		if kept, ok := c.ready.kept(c.limits.keep); ok {
			return kept.ready, kept.err
		}
		// A question has a bound of its own. It goes on when nobody waits any more: whoever asks next wants the answer,
		// and one who waits less long than a slow worker takes would otherwise never hear it.
		ready, err := c.askReady(context.WithoutCancel(ctx))
		c.ready.keep(readyAnswer{ready, err})
		return ready, err
	})
}

// kept gives the last answer where it is not older than that.
func (r *readiness) kept(longest time.Duration) (answer readyAnswer, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last, !r.at.IsZero() && time.Since(r.at) < longest
}

func (r *readiness) keep(answer readyAnswer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.at = answer, time.Now()
}

func (c *Client) askReady(ctx context.Context) (workerapi.Ready, error) {
	answer, err := c.exchange(ctx, c.limits.ready, http.MethodGet, workerapi.PathReady, nil)
	if err != nil {
		return workerapi.Ready{}, err
	}
	var ready workerapi.Ready
	if err = json.Unmarshal(answer, &ready); err == nil {
		err = ready.Validate()
	}
	if err != nil {
		return workerapi.Ready{}, fault.Wrap(fault.Upstream, err,
			"The diagnostics worker sent an answer that cannot be used.")
	}
	return ready, nil
}
