package breaker_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/redis/breaker"

	"github.com/redis/go-redis/v9"
)

// most is how many calls are under way at once: the connections of the pool.
const most = 8

// waits records how long calls waited for their turn and then took.
type waits struct {
	mu         sync.Mutex
	wait, took time.Duration
}

func (w *waits) Waited(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wait = max(w.wait, d)
}

func (w *waits) Asked(_ breaker.Operation, d time.Duration, _ bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.took = max(w.took, d)
}

// More calls than a slow Redis can answer wait, and then fail, and Redis is not down: each call that is made takes less
// than its Bound.
func TestOverloadIsNoOutage(t *testing.T) {
	t.Parallel()
	const slow = 200 * time.Millisecond // of the bubble's clock
	for calls, busy := range map[int]int{most: 0, 3 * most: 0, 4 * most: most, 1000: 1000 - 3*most} {
		synctest.Test(t, func(t *testing.T) {
			b, log, seen := idleGuard()
			defer b.Close()
			synctest.Wait()
			var refused, under atomic.Int32
			var all sync.WaitGroup
			for range calls {
				all.Go(func() {
					err := b.Do(t.Context(), breaker.Limits, func(context.Context, redis.UniversalClient) error {
						if n := under.Add(1); n > most {
							t.Errorf("%d calls at once", n)
						}
						defer under.Add(-1)
						time.Sleep(slow)
						return nil
					})
					switch {
					case errors.Is(err, breaker.ErrBusy):
						refused.Add(1)
					case err != nil:
						t.Error(err)
					}
				})
			}
			all.Wait()
			if int(refused.Load()) != busy || b.State() != breaker.OK || log.String() != "" {
				t.Errorf("of %d calls %d were refused, want %d; state %s, log %q", calls, refused.Load(), busy, b.State(), log)
			}
			if seen.took != slow || calls == 3*most && seen.wait != 2*slow {
				t.Errorf("of %d calls one waited %v and one took %v, want %v", calls, seen.wait, seen.took, slow)
			}
		})
	}
}

// Those who wait for a turn while Redis is lost do not wait longer, and call nothing.
func TestOutageEndsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _, _ := idleGuard()
		defer b.Close()
		synctest.Wait()
		var down atomic.Int32
		var all sync.WaitGroup
		begin := time.Now()
		for range 3 * most {
			all.Go(func() {
				err := b.Do(t.Context(), breaker.Limits, func(ctx context.Context, _ redis.UniversalClient) error {
					<-ctx.Done()
					return io.EOF
				})
				if errors.Is(err, breaker.ErrDown) {
					down.Add(1)
				}
			})
		}
		all.Wait()
		if down.Load() != 2*most || time.Since(begin) != breaker.Bound || b.State() != breaker.Down {
			t.Errorf("%d calls were not made, after %v, state %s", down.Load(), time.Since(begin), b.State())
		}
	})
}

// Who leaves while waiting for a turn takes none.
func TestCallerThatLeavesTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _, _ := idleGuard()
		defer b.Close()
		synctest.Wait()
		release := make(chan struct{})
		var all sync.WaitGroup
		hold := func(context.Context, redis.UniversalClient) error { <-release; return nil }
		for range most {
			all.Go(func() { _ = b.Do(t.Context(), breaker.Limits, hold) })
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := b.Do(ctx, breaker.Limits, hold); !errors.Is(err, context.DeadlineExceeded) || b.State() != breaker.OK {
			t.Errorf("%v, state %s", err, b.State())
		}
		close(release)
		all.Wait()
	})
}

// idleGuard is a Breaker whose Redis is never called by the tests, and whose first probe succeeds.
func idleGuard() (*breaker.Breaker, *journal, *waits) {
	o := &redis.UniversalOptions{Addrs: []string{"redis.example:6379"}}
	breaker.Tune(o)
	client := redis.NewUniversalClient(o)
	client.AddHook(answersAll{})
	log, seen := &journal{}, &waits{}
	return breaker.New(client, slog.New(slog.NewTextHandler(log, nil)), breaker.WithObserver(seen)), log, seen
}

// answersAll answers every command without a connection.
type answersAll struct{ redis.Hook }

func (answersAll) DialHook(next redis.DialHook) redis.DialHook { return next }

func (answersAll) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(context.Context, redis.Cmder) error { return nil }
}

func (answersAll) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
