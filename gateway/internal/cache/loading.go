package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Loading reads through a Store with one flight a key. A flight's context is not its first caller's: it carries that
// caller's values but ends only when the last waiter leaves. A failing store is a miss, never an error of the lookup.
type Loading[V any] struct {
	store  Store
	prefix string
	now    func() time.Time

	mu      sync.Mutex
	flights map[string]*flight[V]
}

// flight is one lookup under way. entry and err are written before done is closed and not after.
type flight[V any] struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiters int // guarded by Loading.mu
	entry   Entry[V]
	err     error
}

// NewLoading makes a read-through cache over the store; prefix keeps the kinds of values apart in a shared store. V goes
// through encoding/json into the store and back, in memory too, so that both kinds of store give the same values.
func NewLoading[V any](store Store, prefix string) *Loading[V] {
	return &Loading[V]{store: store, prefix: prefix + ":", now: time.Now, flights: map[string]*flight[V]{}}
}

// Get gives the kept value or loads it. An error of load is given to all who waited, and is not kept. A caller whose ctx
// ends leaves with ctx.Err(), the others go on waiting. The callers of one flight share its value: it is not to be
// changed.
func (l *Loading[V]) Get(ctx context.Context, key string, load Load[V]) (Entry[V], error) {
	if err := ctx.Err(); err != nil {
		return Entry[V]{}, err
	}
	key = l.prefix + key
	f := l.join(ctx, key, load)
	select {
	case <-f.done:
		return f.entry, f.err
	case <-ctx.Done():
		l.leave(key, f)
		return Entry[V]{}, ctx.Err()
	}
}

// join boards the flight of the key, or starts one. The look into the store is part of the flight: between a miss and a
// flight of one's own another's flight could have landed, and the same value would be fetched twice.
func (l *Loading[V]) join(ctx context.Context, key string, load Load[V]) *flight[V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f, ok := l.flights[key]; ok {
		f.waiters++
		return f
	}
	flying, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight[V]{done: make(chan struct{}), cancel: cancel, waiters: 1}
	l.flights[key] = f
	go l.fly(flying, key, f, load)
	return f
}

// leave takes one waiter off. The last one ends the flight and forgets it, so that nobody boards a dying one.
func (l *Loading[V]) leave(key string, f *flight[V]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.waiters--
	if f.waiters > 0 {
		return
	}
	f.cancel()
	l.forget(key, f)
}

// forget unlists the flight, unless the key has a newer one. l.mu is held.
func (l *Loading[V]) forget(key string, f *flight[V]) {
	if l.flights[key] == f {
		delete(l.flights, key)
	}
}

var errExited = errors.New("cache: load ended its goroutine")

func (l *Loading[V]) fly(ctx context.Context, key string, f *flight[V], load Load[V]) {
	f.err = errExited
	defer func() {
		if r := recover(); r != nil {
			f.err = fmt.Errorf("cache: load panicked: %v\n%s", r, debug.Stack())
		}
		l.mu.Lock()
		l.forget(key, f)
		l.mu.Unlock()
		f.cancel()
		close(f.done)
	}()
	f.entry, f.err = l.fetch(ctx, key, load)
}

func (l *Loading[V]) fetch(ctx context.Context, key string, load Load[V]) (Entry[V], error) {
	if kept, ok := l.kept(ctx, key); ok {
		return kept, nil
	}
	value, ttl, err := load(ctx)
	if err != nil {
		return Entry[V]{}, err
	}
	entry := Entry[V]{Value: value, FetchedAt: l.now().UTC().Round(0)}
	if ttl > 0 {
		// The last waiter may have left, the work is done all the same. A store bounds its own time.
		l.keep(context.WithoutCancel(ctx), key, entry, ttl)
	}
	return entry, nil
}

func (l *Loading[V]) kept(ctx context.Context, key string) (Entry[V], bool) {
	sealed, ok, err := l.store.Get(ctx, key)
	if err != nil || !ok {
		return Entry[V]{}, false
	}
	return open[V](sealed)
}

// keep stores what it can: a value that does not marshal or a store that fails costs the next caller a load, no more.
func (l *Loading[V]) keep(ctx context.Context, key string, entry Entry[V], ttl time.Duration) {
	sealed, err := seal(entry)
	if err != nil {
		return
	}
	_ = l.store.Set(ctx, key, sealed, ttl)
}
