// Package parallel runs functions in goroutines of their own and carries a panic back to the caller that waits. A panic
// that is not recovered ends the process whichever goroutine it is in, so below the edge of a service no other
// package starts a goroutine: what a hostile answer can break must cost one request, not all of them.
package parallel

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Panic is a panic that was caught in another goroutine.
type Panic struct {
	// Value is what panic was called with.
	Value any
	// Stack is that of the goroutine that panicked, at the moment it did.
	Stack []byte
}

// Error is for the log: it holds the stack.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the panic's value where it was an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// exited stands for the value of a function that ended its goroutine (runtime.Goexit): a caller that waits for it would
// otherwise take the lack of a result for a result.
const exited = "the function called runtime.Goexit"

// Go runs f in a goroutine of its own and then calls done, with the panic of f or nil.
func Go(f func(), done func(*Panic)) {
	go func() {
		caught := &Panic{Value: exited}
		// Deferred, so that a function that ends its goroutine is reported too.
		defer func() { done(caught) }()
		caught = Catch(f)
	}()
}

// Catch calls f and gives the panic that it ended with, or nil. A Panic that came from another goroutine is given as it
// is: its stack says more than that of this one.
func Catch(f func()) (caught *Panic) {
	defer func() {
		switch value := recover().(type) {
		case nil:
		case *Panic:
			caught = value
		default:
			caught = &Panic{Value: value, Stack: debug.Stack()}
		}
	}()
	f()
	return nil
}

// Try calls f and gives its panic as an error, for a function that a library calls in a goroutine of the library's own
// (the dial of net/http). The caller passes the library's error to Raise.
func Try[T any](f func() (T, error)) (result T, err error) {
	if p := Catch(func() { result, err = f() }); p != nil {
		var none T
		return none, p
	}
	return result, err
}

// Raise panics with the *Panic that err is or wraps; it returns where there is none.
func Raise(err error) {
	if p, is := errors.AsType[*Panic](err); is {
		panic(p)
	}
}

// Group is functions that run at once. The zero Group is ready for use, and not to be copied after the first.
type Group struct {
	running sync.WaitGroup

	mu    sync.Mutex
	first *Panic
}

// Go runs f in a goroutine of its own.
func (g *Group) Go(f func()) {
	g.running.Add(1)
	Go(f, func(p *Panic) {
		defer g.running.Done()
		if p == nil {
			return
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.first == nil {
			g.first = p
		}
	})
}

// Wait returns when all functions have. It panics with the *Panic of the first that did.
func (g *Group) Wait() {
	g.running.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.first != nil {
		panic(g.first)
	}
}

// Each calls f for every number under n, at most so many at once, and returns when all are done. It panics with the
// *Panic of the first that did. A single call needs no goroutine.
func Each(n, atOnce int, f func(i int)) {
	if n == 1 {
		if p := Catch(func() { f(0) }); p != nil {
			panic(p)
		}
		return
	}
	var next atomic.Int64
	var lanes Group
	for range min(n, atOnce) {
		lanes.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	lanes.Wait()
}

// Apart calls f in a goroutine of its own and returns when f has; it panics with the *Panic of f. A stack that has
// grown hardly shrinks while its goroutine waits, so what goes deep and is soon over leaves a small one to who waits.
func Apart(f func()) {
	var alone Group
	alone.Go(f)
	alone.Wait()
}

// Pending is the result of a function that runs by itself.
type Pending[T any] struct {
	done   chan struct{}
	result T
	panic  *Panic
}

// Start runs f in a goroutine of its own.
func Start[T any](f func() T) *Pending[T] {
	p := &Pending[T]{done: make(chan struct{})}
	Go(func() { p.result = f() }, func(caught *Panic) {
		p.panic = caught
		close(p.done)
	})
	return p
}

// Done is closed when the function has returned or panicked.
func (p *Pending[T]) Done() <-chan struct{} { return p.done }

// Wait returns what the function returned. It panics with the function's *Panic where it did. It may be called more
// than once.
func (p *Pending[T]) Wait() T {
	<-p.done
	if p.panic != nil {
		panic(p.panic)
	}
	return p.result
}

// Interrupt ends what a connection (a net.Conn) waits for once the context ends: a read or write then fails with
// os.ErrDeadlineExceeded. It does so by the connection's deadline, so no other code may set one meanwhile. The function
// that it returns ends the watch; it reports false where the context has ended already.
func Interrupt(ctx context.Context, conn interface{ SetDeadline(time.Time) error }) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
}
