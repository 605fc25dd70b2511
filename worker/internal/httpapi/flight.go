package httpapi

import (
	"context"
	"fmt"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"
)

// sharedFor is how long after its start a job still serves those who ask the same.
const sharedFor = 3 * time.Second

// flights run the jobs of one tool: whoever asks for a target that is being measured, or whose measurement began less than
// three seconds ago, gets that one's result. A target's address tells its family too.
type flights[T any] struct {
	limit  time.Duration // of a job, from outside
	run    func(context.Context, netip.Addr) (T, error)
	places *places
	atMost time.Duration // what a job takes by itself

	mu  sync.Mutex
	all map[netip.Addr]*flight[T]
}

// flight is one job, with those who wait for it.
type flight[T any] struct {
	began   time.Time
	waiters int
	cancel  context.CancelFunc
	done    chan struct{}

	// These are written before done is closed and only read behind it.
	result T
	err    error
	panic  *panicked
}

// panicked is a panic of a job, to be raised again where it is answered for.
type panicked struct {
	value any
	stack []byte
}

// String is what the log is told.
func (p *panicked) String() string { return fmt.Sprintf("%v\n%s", p.value, p.stack) }

func (fl *flight[T]) running() bool {
	select {
	case <-fl.done:
		return false
	default:
		return true
	}
}

// join gives the flight for a target and counts the caller among its waiters. A flight that is not there yet takes a
// place; without one, free is the time until the first is expected to be.
func (f *flights[T]) join(now time.Time, target netip.Addr) (fl *flight[T], free time.Duration, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl := f.all[target]; fl != nil && (fl.running() || now.Sub(fl.began) < sharedFor) {
		fl.waiters++
		return fl, 0, true
	}
	place, free, ok := f.places.take(now, f.atMost)
	if !ok {
		return nil, free, false
	}
	// The job is not the first asker's: it goes on when that one leaves and others wait.
	ctx, cancel := context.WithTimeout(context.Background(), f.limit)
	fl = &flight[T]{began: now, waiters: 1, cancel: cancel, done: make(chan struct{})}
	f.all[target] = fl
	go f.fly(ctx, fl, target, place)
	return fl, 0, true
}

func (f *flights[T]) fly(ctx context.Context, fl *flight[T], target netip.Addr, place int) {
	defer func() {
		if p := recover(); p != nil {
			fl.panic = &panicked{p, debug.Stack()}
		}
		fl.cancel()
		f.places.leave(place)
		keep := sharedFor - time.Since(fl.began)
		if fl.err != nil || fl.panic != nil || keep <= 0 {
			f.drop(target, fl)
		} else {
			time.AfterFunc(keep, func() { f.drop(target, fl) })
		}
		close(fl.done)
	}()
	fl.result, fl.err = f.run(ctx, target)
}

// leave takes a waiter off. The last one to leave a job that runs ends it, and nobody joins it any more.
func (f *flights[T]) leave(target netip.Addr, fl *flight[T]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fl.waiters--
	if fl.waiters > 0 || !fl.running() {
		return
	}
	fl.cancel()
	f.forget(target, fl)
}

// drop forgets a flight: the next one who asks starts another.
func (f *flights[T]) drop(target netip.Addr, fl *flight[T]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget(target, fl)
}

// forget is drop for those who hold the lock.
func (f *flights[T]) forget(target netip.Addr, fl *flight[T]) {
	if f.all[target] == fl {
		delete(f.all, target)
	}
}
