package ratelimit

import (
	"context"
	"sync/atomic"
	"time"
)

// Window is a strict limit on what this service itself does to somebody: never more than n in any stretch of the given
// length, whenever it begins. GCRA allows nearly twice that, a full burst and what refills meanwhile; so each of the n
// places is a bucket of its own that holds one request.
type Window struct {
	limiter Limiter
	places  []Charge
	next    atomic.Uint32
}

// NewWindow makes n places over the limiter. key is unique over all kinds of buckets.
func NewWindow(l Limiter, key string, n int, per time.Duration) *Window {
	w := &Window{limiter: l}
	for i := range n {
		w.places = append(w.places, Charge{Key: key + ":" + string(rune('a'+i)), Limit: Limit{Requests: 1, Window: per}})
	}
	return w
}

// Take takes a place and gives 0, or gives the time until one is free. Errors are the limiter's.
func (w *Window) Take(ctx context.Context) (time.Duration, error) {
	// Callers begin at different places, so that the free one is not always found last.
	begin := int(w.next.Add(1))
	var wait time.Duration
	for i := range w.places {
		d, err := w.limiter.Take(ctx, []Charge{w.places[(begin+i)%len(w.places)]})
		if err != nil {
			return 0, err
		}
		if d.Allowed {
			return 0, nil
		}
		if i == 0 || d.RetryAfter < wait {
			wait = d.RetryAfter
		}
	}
	return wait, nil
}
