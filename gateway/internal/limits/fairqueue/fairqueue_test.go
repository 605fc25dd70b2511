package fairqueue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bucket is slots that leak, as the real ones do.
type bucket struct {
	mu    sync.Mutex
	next  map[string]time.Time // when one more than a burst is free
	taken map[string]int
}

func newBucket() *bucket { return &bucket{next: map[string]time.Time{}, taken: map[string]int{}} }

func (b *bucket) Take(ctx context.Context, server string, pace Pace) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	next := b.next[server]
	if next.Before(now) {
		next = now
	}
	if wait := next.Sub(now) - time.Duration(pace.Burst-1)*pace.Every; wait > 0 {
		return wait, nil
	}
	b.next[server] = next.Add(pace.Every)
	b.taken[server]++
	return 0, nil
}

var pace = Pace{Burst: 3, Every: time.Second}

// crowd asks and keeps who was served when, in whole seconds.
type crowd struct {
	*Queue
	t     *testing.T
	began time.Time
	wg    sync.WaitGroup
	mu    sync.Mutex
	log   []string
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	return &crowd{Queue: New(newBucket()), t: t, began: time.Now()}
}

func (c *crowd) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, fmt.Sprintf("%.0f ", time.Since(c.began).Seconds())+fmt.Sprintf(format, args...))
}

// ask sends one visitor to the server, and returns when it waits or is gone again.
func (c *crowd) ask(server, client, network string) {
	c.wg.Go(func() {
		again, err := c.Wait(c.t.Context(), server, pace, Visitor{Client: client, Network: network}, MaxWait)
		switch {
		case err != nil:
			c.note("%s %v", client, err)
		case again > 0:
			c.note("%s refused for %.0f", client, again.Seconds())
		default:
			c.note("%s", client)
		}
	})
	synctest.Wait()
}

// burst takes the slots that are free, a little before all who ask later: no slot comes free at the very moment at
// which one of those has waited long enough.
func (c *crowd) burst(client string) {
	for range pace.Burst {
		c.ask("s", client, "")
	}
	time.Sleep(100 * time.Millisecond)
}

// want holds what happened, in the order of the seconds.
func (c *crowd) want(events ...string) {
	c.t.Helper()
	c.wg.Wait()
	slices.Sort(c.log)
	slices.Sort(events)
	if !slices.Equal(c.log, events) {
		c.t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(c.log, "\n\t"), strings.Join(events, "\n\t"))
	}
	if len(c.lines) != 0 {
		c.t.Errorf("%d lines are left", len(c.lines))
	}
}

// Who wants a lot of a server cannot shut it for others: one who comes later is served before all that the first still
// waits for.
func TestOneClientShutsNobodyOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		c.burst("greedy")
		for range 6 {
			c.ask("s", "greedy", "")
		}
		time.Sleep(300 * time.Millisecond)
		c.ask("s", "one", "")
		c.ask("s", "two", "")
		c.want("0 greedy", "0 greedy", "0 greedy",
			"0 greedy refused for 6", // no newcomer is refused for one of the greedy's
			"0 greedy refused for 6",
			"1 greedy", "2 one", "3 two", "4 greedy", "5 greedy", "5 greedy refused for 1")
	})
}

// Clients in turn, whoever came first; among equals who came first.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		c.burst("before")
		for _, client := range []string{"a", "a", "a", "b", "b"} {
			c.ask("s", client, "")
		}
		c.want("0 before", "0 before", "0 before", "1 a", "2 b", "3 a", "4 b", "5 a")
	})
}

// A network has the share of four clients, however many addresses it asks from.
func TestNetworks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		c.burst("before")
		for i := range 6 {
			c.ask("s", fmt.Sprint("n", i), "net")
		}
		c.ask("s", "a", "")
		c.ask("s", "b", "other")
		c.want("0 before", "0 before", "0 before", "0 n5 refused for 6", "0 n4 refused for 6",
			"1 n0", "2 a", "3 b", "4 n1", "5 n2", "5 n3 refused for 1")
	})
}

// A server that has no free slot leaves the others alone.
func TestServersAreApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		for range 4 {
			c.ask("s", "a", "")
		}
		c.ask("other", "a", "")
		c.want("0 a", "0 a", "0 a", "0 a", "1 a")
	})
}

// Whoever leaves takes no slot, and the next one is not held up.
func TestLeaving(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		c.burst("a")
		ctx, cancel := context.WithCancel(t.Context())
		c.wg.Go(func() {
			if _, err := c.Wait(ctx, "s", pace, Visitor{Client: "gone"}, MaxWait); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		})
		synctest.Wait()
		c.ask("s", "b", "")
		time.Sleep(500 * time.Millisecond)
		cancel()
		c.want("0 a", "0 a", "0 a", "1 b")
	})
}

// What one question has waited for a first server is taken off its patience for the next.
func TestPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := New(newBucket())
		wait := func(patience time.Duration) (time.Duration, time.Duration) {
			began := time.Now()
			again, err := q.Wait(t.Context(), "s", pace, Visitor{}, patience)
			if err != nil {
				t.Error(err)
			}
			return again, time.Since(began)
		}
		for range 3 {
			if again, took := wait(0); again != 0 || took != 0 {
				t.Errorf("a free slot: %v after %v", again, took)
			}
		}
		if again, took := wait(time.Second - time.Millisecond); again != time.Second || took != 0 {
			t.Errorf("just too little patience: %v after %v", again, took)
		}
		if again, took := wait(time.Second); again != 0 || took != time.Second {
			t.Errorf("just enough: %v after %v", again, took)
		}
	})
}

// Slots that other instances take are waited for no longer than MaxWait.
func TestOthersTakeEverySlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := New(taken{})
		began := time.Now()
		again, err := q.Wait(t.Context(), "s", pace, Visitor{}, time.Hour)
		if err != nil || again <= 0 || time.Since(began) != MaxWait {
			t.Errorf("%v, %v after %v", again, err, time.Since(began))
		}
	})
}

// taken has a slot in a second, and then it is gone.
type taken struct{}

func (taken) Take(context.Context, string, Pace) (time.Duration, error) { return time.Second, nil }
