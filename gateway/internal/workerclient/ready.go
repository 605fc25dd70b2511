package workerclient

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/workerapi"
)

// readiness keeps the last answer on readiness, good or bad, and the flight that fetches the next one.
type readiness struct {
	mu     sync.Mutex
	last   readyAnswer
	at     time.Time
	flight *readyFlight
}

type readyAnswer struct {
	ready workerapi.Ready
	err   error
}

type readyFlight struct {
	done   chan struct{}
	answer readyAnswer
}

// Ready asks the worker's /readyz. An answer, a failure included, is kept for three seconds, and callers at the same
// time share one question. A nil error means that the worker takes jobs for the families that it names; a worker that
// drains is an error. Errors are as those of Traceroute.
func (c *Client) Ready(ctx context.Context) (workerapi.Ready, error) {
	r := &c.ready
	r.mu.Lock()
	if r.flight == nil && !r.at.IsZero() && time.Since(r.at) < c.limits.keep {
		defer r.mu.Unlock()
		return r.last.ready, r.last.err
	}
	if r.flight == nil {
		r.flight = &readyFlight{done: make(chan struct{})}
		// The flight is everybody's: it must not end with the caller who happened to come first.
		go c.fly(context.WithoutCancel(ctx), r.flight)
	}
	flight := r.flight
	r.mu.Unlock()

	select {
	case <-flight.done:
		return flight.answer.ready, flight.answer.err
	case <-ctx.Done():
		return workerapi.Ready{}, ctx.Err()
	}
}

func (c *Client) fly(ctx context.Context, flight *readyFlight) {
	flight.answer.ready, flight.answer.err = c.askReady(ctx)
	r := &c.ready
	r.mu.Lock()
	r.last, r.at, r.flight = flight.answer, time.Now(), nil
	r.mu.Unlock()
	close(flight.done)
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
		return workerapi.Ready{}, fault.Wrap(fault.Upstream, err, "The diagnostics worker sent an answer that cannot be used.")
	}
	return ready, nil
}
