package toolstest

import (
	"context"
	"sync/atomic"
	"testing"
)

// ExpireAfter returns a context whose deadline passes once something has happened, and at no time of a clock.
func ExpireAfter(t testing.TB, happened <-chan struct{}) context.Context {
	t.Helper()
	e := &expiring{Context: context.WithoutCancel(t.Context()), done: make(chan struct{})}
	go func() {
		defer close(e.done)
		select {
		case <-happened:
			e.expired.Store(true)
		case <-t.Context().Done():
		}
	}()
	return e
}

type expiring struct {
	context.Context
	done    chan struct{}
	expired atomic.Bool
}

// Done is closed when the deadline has passed, or with the test.
func (e *expiring) Done() <-chan struct{} { return e.done }

// Err is that of a deadline that has passed.
func (e *expiring) Err() error {
	select {
	case <-e.done:
	default:
		return nil
	}
	if e.expired.Load() {
		return context.DeadlineExceeded
	}
	return context.Canceled
}
