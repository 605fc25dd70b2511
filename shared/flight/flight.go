// Package flight lets concurrent callers with the same key share one run of a function. Unlike x/sync/singleflight, a
// run has no owner: it goes on when the caller that began it leaves, its context ends when the last waiting caller has
// left, and a panic in it is raised again in each of them.
package flight

import (
	"context"
	"sync"
	"time"

	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
)

// Group shares runs by key. The zero Group is ready for use, and not to be copied after the first.
type Group[K comparable, V any] struct {
	// Keep is how long after its start a run that succeeded still serves newcomers; 0 only while it is under way.
	Keep time.Duration
	// Joined is called for every caller that joins another's run; it may be nil.
	Joined func()

	mu   sync.Mutex
	runs map[K]*run[V]
}

// run is one call of the function, with those who wait for it.
type run[V any] struct {
	began   time.Time
	cancel  context.CancelFunc
	waiters int // guarded by Group.mu
	steps   progress.Feed
	pending *parallel.Pending[outcome[V]]
}

type outcome[V any] struct {
	value V
	err   error
}

// Do returns what f returns for the key: of the run that is under way, else of one that it begins. The run's context
// carries the values of the caller who began it but not that caller's end. A caller whose ctx ends leaves with
// ctx.Err(). A reader of the run's steps (package progress) gets those that it missed first. An error of f
// is given to all who wait and is not kept. Those who share a value must not change it. Where
// f panics, Do panics with its *parallel.Panic.
func (g *Group[K, V]) Do(ctx context.Context, key K, f func(context.Context) (V, error)) (V, error) {
	if err := ctx.Err(); err != nil {
		var none V
		return none, err
	}
	r := g.join(ctx, key, f)
	defer g.leave(key, r)
	if !r.ended() {
		defer progress.Follow(ctx, &r.steps)()
	}
	select {
	case <-r.pending.Done():
		o := r.pending.Wait()
		return o.value, o.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// join counts the caller among the waiters of the key's run, which it begins where there is none.
func (g *Group[K, V]) join(ctx context.Context, key K, f func(context.Context) (V, error)) *run[V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	// The timer that retires a kept run may fire late.
	if r := g.runs[key]; r != nil && (!r.ended() || time.Since(r.began) < g.Keep) {
		r.waiters++
		if g.Joined != nil {
			g.Joined()
		}
		return r
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &run[V]{began: time.Now(), cancel: cancel, waiters: 1}
	running = progress.With(running, &r.steps)
	if g.runs == nil {
		g.runs = make(map[K]*run[V])
	}
	g.runs[key] = r
	r.pending = parallel.Start(func() outcome[V] {
		defer cancel()
		keep := time.Duration(0)
		// Before the outcome is published: a later caller must not be given a failure, or what is too old.
		defer func() { g.retire(key, r, keep) }()
		value, err := f(running)
		if err == nil {
			keep = g.Keep - time.Since(r.began)
		}
		return outcome[V]{value, err}
	})
	return r
}

// retire takes a run that has ended off the board, now or once it has been kept long enough.
func (g *Group[K, V]) retire(key K, r *run[V], keep time.Duration) {
	if keep <= 0 {
		g.remove(key, r)
		return
	}
	time.AfterFunc(keep, func() { g.remove(key, r) })
}

// leave counts a waiter out. The last one to leave a run that is under way ends it, and takes it off the board at once:
// no caller must join what is being cancelled.
func (g *Group[K, V]) leave(key K, r *run[V]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r.waiters--
	if r.waiters > 0 || r.ended() {
		return
	}
	r.cancel()
	g.removeLocked(key, r)
}

func (r *run[V]) ended() bool {
	select {
	case <-r.pending.Done():
		return true
	default:
		return false
	}
}

func (g *Group[K, V]) remove(key K, r *run[V]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.removeLocked(key, r)
}

// removeLocked leaves a newer run of the key alone.
func (g *Group[K, V]) removeLocked(key K, r *run[V]) {
	if g.runs[key] == r {
		delete(g.runs, key)
	}
}
