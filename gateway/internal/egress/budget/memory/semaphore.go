package memory

import (
	"context"
	"runtime"
)

// Semaphore lets only a few at once do what takes a multiple of its result for a moment.
type Semaphore chan struct{}

// NewSemaphore has as many slots as half of the processors, and leaves the others to everybody else.
func NewSemaphore() Semaphore { return make(Semaphore, max(1, runtime.GOMAXPROCS(0)/2)) }

// Take waits for a slot, which release gives back. Its only error is that of a ctx that ends first.
func (t Semaphore) Take(ctx context.Context) (release func(), err error) {
	release = func() { <-t }
	select {
	case t <- struct{}{}: // without the locks of a choice of two
		return release, nil
	default:
	}
	select {
	case t <- struct{}{}:
		return release, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
