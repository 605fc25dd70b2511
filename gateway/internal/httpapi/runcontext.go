package httpapi

import (
	"context"
	"sync"
	"time"
)

// runContext is the context of a run, which ends with its time, with the request, or by end. Its timer and channel are
// made once somebody waits for it: a run that is answered from memory is over before anybody does.
type runContext struct {
	context.Context // the request's, with the run's values

	until time.Time

	mu     sync.Mutex
	waited context.Context // nil while nobody has waited
	cancel context.CancelFunc
	over   bool
	cause  error
}

func newRunContext(parent context.Context, limit time.Duration) *runContext {
	until := time.Now().Add(limit)
	if earlier, ok := parent.Deadline(); ok && earlier.Before(until) {
		until = earlier
	}
	return &runContext{Context: parent, until: until}
}

// Deadline implements context.Context.
func (c *runContext) Deadline() (time.Time, bool) { return c.until, true }

// Done implements context.Context.
func (c *runContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wait().Done()
}

// Err implements context.Context.
func (c *runContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waited == nil && !c.over && time.Now().Before(c.until) {
		return c.Context.Err()
	}
	return c.wait().Err()
}

// Value implements context.Context. Package context looks for the contexts that can end by it.
func (c *runContext) Value(key any) any {
	c.mu.Lock()
	waited := c.waited
	c.mu.Unlock()
	if waited != nil {
		return waited.Value(key)
	}
	return c.Context.Value(key)
}

// end ends the run; Cause gives the cause of the first call. After the run it is called with nil, to let go of what the
// context took.
func (c *runContext) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.over, c.cause = true, cause
	if c.waited != nil {
		c.cancel()
	}
}

// Cause is why the run was ended, nil where nothing ended it before its time.
func (c *runContext) Cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// wait makes the context that can be waited for. The caller has the lock.
func (c *runContext) wait() context.Context {
	if c.waited == nil {
		c.waited, c.cancel = context.WithDeadline(c.Context, c.until)
		if c.over {
			c.cancel()
		}
	}
	return c.waited
}
