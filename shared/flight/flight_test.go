package flight_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/flight"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
)

type group = flight.Group[string, int]

// ask calls Do in a goroutine of its own.
func ask(ctx context.Context, g *group, key string, f func(context.Context) (int, error)) *parallel.Pending[answer] {
	return parallel.Start(func() answer {
		v, err := g.Do(ctx, key, f)
		return answer{v, err}
	})
}

type answer struct {
	value int
	err   error
}

// counted counts its calls and takes a second. When its context ends it takes a while to notice.
type counted struct {
	calls, canceled atomic.Int32
	err             error
}

func (c *counted) f(ctx context.Context) (int, error) {
	n := c.calls.Add(1)
	select {
	case <-time.After(time.Second):
		return int(n), c.err
	case <-ctx.Done():
		c.canceled.Add(1)
		time.Sleep(time.Minute) // of the bubble
		return 0, ctx.Err()
	}
}

func TestOneRunServesAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g group
		var c counted
		var asked []*parallel.Pending[answer]
		for range 10 {
			asked = append(asked, ask(t.Context(), &g, "a", c.f))
		}
		other := ask(t.Context(), &g, "b", func(context.Context) (int, error) { return 7, nil })
		for _, a := range asked {
			if got := a.Wait(); got != (answer{1, nil}) {
				t.Errorf("%+v", got)
			}
		}
		if got := other.Wait(); got.value != 7 {
			t.Errorf("another key: %+v", got)
		}
		if got := ask(t.Context(), &g, "a", c.f).Wait(); got.value != 2 {
			t.Errorf("once it has ended: %+v, want a new run", got)
		}
	})
}

func TestARunOutlivesItsFirstCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		var g group
		var c counted
		first, leave := context.WithCancel(context.WithValue(t.Context(), key{}, "first"))
		var value any
		one := ask(first, &g, "a", func(ctx context.Context) (int, error) {
			value = ctx.Value(key{})
			return c.f(ctx)
		})
		synctest.Wait()
		two := ask(t.Context(), &g, "a", c.f)
		synctest.Wait()
		leave()
		if got := one.Wait(); !errors.Is(got.err, context.Canceled) {
			t.Errorf("who left: %+v", got)
		}
		if got := two.Wait(); got != (answer{1, nil}) || c.canceled.Load() != 0 {
			t.Errorf("who stayed: %+v, %d canceled", got, c.canceled.Load())
		}
		if value != "first" {
			t.Errorf("the run lacks the values of the caller who began it: %v", value)
		}
	})
}

func TestTheLastToLeaveEndsTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g group
		var c counted
		ctx, leave := context.WithCancel(t.Context())
		for range 3 {
			ask(ctx, &g, "a", c.f)
		}
		synctest.Wait()
		leave()
		synctest.Wait()
		// A caller that comes now does not share the run that is being cancelled.
		if got := ask(t.Context(), &g, "a", c.f).Wait(); got != (answer{2, nil}) {
			t.Errorf("a newcomer: %+v", got)
		}
		if c.canceled.Load() != 1 {
			t.Errorf("%d runs canceled, want 1", c.canceled.Load())
		}
		time.Sleep(time.Minute)
	})
}

func TestACallerWhoHasLeftBeginsNothing(t *testing.T) {
	t.Parallel()
	var g group
	var c counted
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := g.Do(ctx, "a", c.f); !errors.Is(err, context.Canceled) || c.calls.Load() != 0 {
		t.Errorf("%v, %d calls", err, c.calls.Load())
	}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	failure := errors.New("failed")
	for _, tt := range []struct {
		name  string
		keep  time.Duration
		wait  time.Duration // from the end of the first run, which took a second
		err   error
		calls int32
	}{
		{"not kept", 0, 0, nil, 2},
		{"just before its time is over", 3 * time.Second, 2*time.Second - 1, nil, 1},
		{"when its time is over", 3 * time.Second, 2 * time.Second, nil, 2},
		{"a run longer than that", time.Second, 0, nil, 2},
		{"a failure", 3 * time.Second, 0, failure, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := group{Keep: tt.keep}
				c := counted{err: tt.err}
				for range 2 {
					if _, err := g.Do(t.Context(), "a", c.f); !errors.Is(err, tt.err) {
						t.Errorf("%v, want %v", err, tt.err)
					}
					time.Sleep(tt.wait)
				}
				if got := c.calls.Load(); got != tt.calls {
					t.Errorf("%d calls, want %d", got, tt.calls)
				}
				time.Sleep(tt.keep) // the timer of the last run
				synctest.Wait()
				if n := g.Runs(); n != 0 {
					t.Errorf("%d runs are still held", n)
				}
			})
		})
	}
}

// A caller that is querying a service, and waits for a lookup that others have begun, gets no stages of it.
func TestStagesOnTheWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g group
		run := func(ctx context.Context) (int, error) {
			progress.Enter(ctx, progress.Resolving)
			time.Sleep(time.Second)
			progress.Enter(ctx, progress.Connecting)
			progress.Report(ctx, "type", "A", 1)
			time.Sleep(time.Second)
			return 1, nil
		}
		leader, asking := new(progress.Feed), new(progress.Feed)
		ask(progress.With(t.Context(), leader), &g, "a", run)
		time.Sleep(time.Millisecond)
		two := ask(progress.Ask(progress.With(t.Context(), asking), "rdap.org"), &g, "a", run)
		two.Wait()
		for name, test := range map[string]struct {
			feed *progress.Feed
			want string
		}{"leader": {leader, "connecting 1 "}, "asking": {asking, "asking 1 "}} {
			told := ""
			for position := uint64(0); ; {
				s, next, ok, _ := test.feed.Next(position)
				if position = next; !ok {
					break
				}
				told += fmt.Sprintf("%s ", s.Value)
			}
			if told != test.want {
				t.Errorf("%s: told %q, want %q", name, told, test.want)
			}
		}
	})
}

func TestComingAndGoing(t *testing.T) {
	t.Parallel()
	var g group
	f := func(ctx context.Context) (int, error) {
		select {
		case <-time.After(time.Millisecond):
			return 1, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	var all parallel.Group
	for i := range 40 {
		all.Go(func() {
			for j := range 50 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration((i*7+j*13)%2000)*time.Microsecond)
				v, err := g.Do(ctx, "a", f)
				cancel()
				if err == nil && v != 1 || err != nil && ctx.Err() == nil {
					t.Errorf("%d, %v", v, err)
				}
			}
		})
	}
	all.Wait()
	if n := g.Runs(); n != 0 {
		t.Errorf("%d runs are still held", n)
	}
}

func TestAFailureReachesAllWhoWait(t *testing.T) {
	t.Parallel()
	failure := errors.New("failed")
	for name, fail := range map[string]func() error{
		"error":  func() error { return failure },
		"panic":  func() error { panic("boom") },
		"goexit": func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := group{Keep: time.Minute}
				var told, panicked atomic.Int32
				var all parallel.Group
				for range 5 {
					all.Go(func() {
						p := parallel.Catch(func() {
							_, err := g.Do(t.Context(), "a", func(context.Context) (int, error) {
								time.Sleep(time.Second)
								return 0, fail()
							})
							if errors.Is(err, failure) {
								told.Add(1)
							}
						})
						if p != nil {
							panicked.Add(1)
						}
					})
				}
				all.Wait()
				if name == "error" && told.Load() != 5 || name != "error" && panicked.Load() != 5 {
					t.Errorf("of 5 callers %d heard of the error and %d of the panic", told.Load(), panicked.Load())
				}
				// It is not kept: the next one gets a run of its own.
				one := func(context.Context) (int, error) { return 1, nil }
				if v, err := g.Do(t.Context(), "a", one); v != 1 || err != nil {
					t.Errorf("%d, %v", v, err)
				}
				time.Sleep(time.Minute)
			})
		})
	}
}
