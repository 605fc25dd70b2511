package cache

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/redisguard/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// soon is how long a test waits for what must happen at once.
const soon = 5 * time.Second

func give[V any](v V, ttl time.Duration) Load[V] {
	return func(context.Context) (V, time.Duration, error) { return v, ttl, nil }
}

func forbidden[V any](t *testing.T) Load[V] {
	return func(context.Context) (v V, _ time.Duration, _ error) {
		t.Error("load was called")
		return v, 0, nil
	}
}

func TestLoadingKeepsWithItsHistory(t *testing.T) {
	t.Parallel()
	m, advance := newMemory(t, 1<<20)
	l := NewLoading[string](m, "kind")
	before := time.Now()
	first, err := l.Get(t.Context(), "key", give("value", time.Minute))
	if err != nil || first.Value != "value" || first.Cached {
		t.Fatalf("first: %+v, %v", first, err)
	}
	if first.FetchedAt.Before(before.Round(0)) || first.FetchedAt.After(time.Now()) || first.FetchedAt.Location() != time.UTC {
		t.Errorf("fetched at %v, asked at %v", first.FetchedAt, before)
	}
	second, err := l.Get(t.Context(), "key", forbidden[string](t))
	if err != nil || second.Value != "value" || !second.Cached || !second.FetchedAt.Equal(first.FetchedAt) {
		t.Errorf("second: %+v, %v; first: %+v", second, err, first)
	}
	advance(time.Minute + time.Millisecond)
	third, err := l.Get(t.Context(), "key", give("new", time.Minute))
	if err != nil || third.Value != "new" || third.Cached {
		t.Errorf("after its time: %+v, %v", third, err)
	}
}

func TestLoadingIsSharedThroughRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	one := NewLoading[[]int](NewRedis(newGuard(t, server.Addr())), "kind")
	two := NewLoading[[]int](NewRedis(newGuard(t, server.Addr())), "kind")
	a, err := one.Get(t.Context(), "key", give([]int{1, 2}, time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	b, err := two.Get(t.Context(), "key", forbidden[[]int](t))
	if err != nil || !b.Cached || len(b.Value) != 2 || !b.FetchedAt.Equal(a.FetchedAt) {
		t.Errorf("the other instance got %+v, %v; want %+v", b, err, a)
	}
}

func TestLoadingKeepsKindsApart(t *testing.T) {
	t.Parallel()
	m, _ := newMemory(t, 1<<20)
	a, b := NewLoading[string](m, "a"), NewLoading[string](m, "b")
	for l, want := range map[*Loading[string]]string{a: "of a", b: "of b"} {
		if e, err := l.Get(t.Context(), "key", give(want, time.Minute)); err != nil || e.Value != want {
			t.Errorf("got %+v, %v; want %s", e, err, want)
		}
	}
}

func TestLoadingTakesForeignBytesForAMiss(t *testing.T) {
	t.Parallel()
	for _, foreign := range []string{"", "garbage", `{"a":1}`, "dgc\x01", "dgc\x02345678901234567890"} {
		m, _ := newMemory(t, 1<<20)
		set(t, m, "kind:key", foreign, time.Hour)
		l := NewLoading[string](m, "kind")
		e, err := l.Get(t.Context(), "key", give("fresh", time.Minute))
		if err != nil || e.Value != "fresh" || e.Cached {
			t.Errorf("%q: %+v, %v", foreign, e, err)
		}
		if e, err = l.Get(t.Context(), "key", forbidden[string](t)); err != nil || !e.Cached {
			t.Errorf("%q is not replaced: %+v, %v", foreign, e, err)
		}
	}
}

func TestLoadingDoesNotKeep(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	working, _ := newMemory(t, 1<<20)
	cases := map[string]struct {
		store Store
		load  Load[string]
		want  error
	}{
		"a ttl of 0":      {working, give("v", 0), nil},
		"a negative ttl":  {working, give("v", -time.Second), nil},
		"an error":        {working, func(context.Context) (string, time.Duration, error) { return "v", time.Hour, failed }, failed},
		"a failing store": {broken{errors.New("store")}, give("v", time.Hour), nil},
	}
	for name, c := range cases {
		l := NewLoading[string](c.store, name)
		for range 2 {
			calls := 0
			e, err := l.Get(t.Context(), "key", func(ctx context.Context) (string, time.Duration, error) {
				calls++
				return c.load(ctx)
			})
			if !errors.Is(err, c.want) || calls != 1 || e.Cached || (err == nil) != (e.Value == "v") {
				t.Errorf("%s: %+v, %v after %d loads", name, e, err, calls)
			}
		}
	}
}

// gate is a load that reports its start and its context's end, and waits to be opened.
type gate struct {
	started chan struct{}
	ended   chan struct{}
	open    chan struct{}
	loads   atomic.Int32
}

func newGate() *gate {
	return &gate{started: make(chan struct{}, 100), ended: make(chan struct{}, 100), open: make(chan struct{})}
}

func (g *gate) load(ctx context.Context) (int32, time.Duration, error) {
	n := g.loads.Add(1)
	g.started <- struct{}{}
	select {
	case <-g.open:
		return n, time.Minute, nil
	case <-ctx.Done():
		g.ended <- struct{}{}
		return 0, 0, ctx.Err()
	}
}

func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(soon):
		t.Fatalf("%s: not within %s", what, soon)
	}
}

func awaitWaiters[V any](t *testing.T, l *Loading[V], key string, n int) {
	t.Helper()
	deadline := time.Now().Add(soon)
	for {
		l.mu.Lock()
		f := l.flights[l.prefix+key]
		has := f != nil && f.waiters == n
		l.mu.Unlock()
		if has {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("never %d waiters", n)
		}
		time.Sleep(time.Millisecond)
	}
}

type outcome struct {
	entry Entry[int32]
	err   error
}

func goGet(ctx context.Context, l *Loading[int32], key string, load Load[int32]) <-chan outcome {
	out := make(chan outcome, 1)
	go func() {
		e, err := l.Get(ctx, key, load)
		out <- outcome{e, err}
	}()
	return out
}

func TestLoadingFliesOnce(t *testing.T) {
	t.Parallel()
	m, _ := newMemory(t, 1<<20)
	l, g := NewLoading[int32](m, "k"), newGate()
	const waiters = 50
	var outs []<-chan outcome
	for range waiters {
		outs = append(outs, goGet(t.Context(), l, "key", g.load))
	}
	awaitWaiters(t, l, "key", waiters)
	close(g.open)
	for _, out := range outs {
		if o := <-out; o.err != nil || o.entry.Value != 1 || o.entry.Cached {
			t.Errorf("%+v, want the one flight's value, not cached", o)
		}
	}
	if n := g.loads.Load(); n != 1 {
		t.Errorf("%d loads", n)
	}
	if e, err := l.Get(t.Context(), "key", g.load); err != nil || !e.Cached {
		t.Errorf("afterwards %+v, %v", e, err)
	}
}

func TestLoadingOutlivesItsFirstCaller(t *testing.T) {
	t.Parallel()
	m, _ := newMemory(t, 1<<20)
	l, g := NewLoading[int32](m, "k"), newGate()
	ctx, cancel := context.WithCancel(t.Context())
	first := goGet(ctx, l, "key", g.load)
	await(t, "start", g.started)
	second := goGet(t.Context(), l, "key", g.load)
	awaitWaiters(t, l, "key", 2)
	cancel()
	if o := <-first; !errors.Is(o.err, context.Canceled) {
		t.Errorf("the first caller got %+v", o)
	}
	select {
	case <-g.ended:
		t.Fatal("the flight died with its first caller")
	case <-time.After(50 * time.Millisecond):
	}
	close(g.open)
	if o := <-second; o.err != nil || o.entry.Value != 1 {
		t.Errorf("the second caller got %+v", o)
	}
}

func TestLoadingEndsWithItsLastWaiter(t *testing.T) {
	t.Parallel()
	m, _ := newMemory(t, 1<<20)
	l, g := NewLoading[int32](m, "k"), newGate()
	ctx, cancel := context.WithCancel(t.Context())
	one, two := goGet(ctx, l, "key", g.load), goGet(ctx, l, "key", g.load)
	awaitWaiters(t, l, "key", 2)
	await(t, "start", g.started)
	cancel()
	for _, out := range []<-chan outcome{one, two} {
		if o := <-out; !errors.Is(o.err, context.Canceled) {
			t.Errorf("got %+v", o)
		}
	}
	await(t, "the flight's end", g.ended)
	close(g.open)
	if e, err := l.Get(t.Context(), "key", g.load); err != nil || e.Value != 2 || e.Cached {
		t.Errorf("the next caller got %+v, %v; want a flight of its own", e, err)
	}
}

// A load that ignores its context must not catch the callers who come after its last waiter left.
func TestLoadingLetsNobodyBoardADyingFlight(t *testing.T) {
	t.Parallel()
	m, _ := newMemory(t, 1<<20)
	l := NewLoading[int32](m, "k")
	started, release := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	out := goGet(ctx, l, "key", func(context.Context) (int32, time.Duration, error) {
		close(started)
		<-release
		return 1, 0, nil
	})
	await(t, "start", started)
	cancel()
	<-out
	defer close(release)
	if e, err := l.Get(t.Context(), "key", give(int32(2), time.Minute)); err != nil || e.Value != 2 {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestLoadingCallerWithoutTimeNeverStarts(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := NewLoading[int32](broken{}, "k")
	if _, err := l.Get(ctx, "key", forbidden[int32](t)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestLoadingGivesItsErrorToAll(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	cases := map[string]struct {
		end  func() error
		want func(error) bool
	}{
		"error": {func() error { return failed }, func(err error) bool { return errors.Is(err, failed) }},
		"panic": {func() error { panic("boom") }, func(err error) bool {
			return err != nil && strings.Contains(err.Error(), "boom") && strings.Contains(err.Error(), "loading_test.go")
		}},
		"exit": {func() error { runtime.Goexit(); return nil }, func(err error) bool { return errors.Is(err, errExited) }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := newMemory(t, 1<<20)
			l, open := NewLoading[int32](m, "k"), make(chan struct{})
			load := func(context.Context) (int32, time.Duration, error) {
				<-open
				return 0, time.Hour, c.end()
			}
			var outs []<-chan outcome
			for range 5 {
				outs = append(outs, goGet(t.Context(), l, "key", load))
			}
			awaitWaiters(t, l, "key", 5)
			close(open)
			for _, out := range outs {
				if o := <-out; !c.want(o.err) {
					t.Errorf("got %+v", o)
				}
			}
			if e, err := l.Get(t.Context(), "key", give(int32(7), 0)); err != nil || e.Value != 7 {
				t.Errorf("the next caller got %+v, %v", e, err)
			}
		})
	}
}

func TestLoadingCarriesTheFirstCallersValues(t *testing.T) {
	t.Parallel()
	type key struct{}
	l := NewLoading[any](broken{}, "k")
	e, err := l.Get(context.WithValue(t.Context(), key{}, "id"), "key", func(ctx context.Context) (any, time.Duration, error) {
		return ctx.Value(key{}), 0, nil
	})
	if err != nil || e.Value != "id" {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestLoadingUnderComingAndGoing(t *testing.T) {
	t.Parallel()
	m, _ := newMemory(t, 1<<20)
	l := NewLoading[int32](m, "k")
	var flying, most atomic.Int32
	load := func(ctx context.Context) (int32, time.Duration, error) {
		most.Store(max(most.Load(), flying.Add(1)))
		defer flying.Add(-1)
		select {
		case <-time.After(time.Millisecond):
			return 1, 0, nil
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		}
	}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			for j := range 50 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration((i*7+j*13)%2000)*time.Microsecond)
				e, err := l.Get(ctx, "key", load)
				cancel()
				if err == nil && e.Value != 1 || err != nil && ctx.Err() == nil {
					t.Errorf("got %+v, %v", e, err)
				}
			}
		})
	}
	all.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.flights) != 0 {
		t.Errorf("%d flights are left", len(l.flights))
	}
}
