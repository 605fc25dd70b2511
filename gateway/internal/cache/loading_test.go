package cache

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/redis/breaker/redistest"
	"diagnostics/shared/parallel"
)

func TestMain(m *testing.M) { redistest.Main(m) }

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
	l := NewLoading[string](m, "kind", time.Hour)
	before := time.Now()
	first, err := l.Get(t.Context(), "key", nil, give("value", time.Minute))
	if err != nil || first.Value != "value" || first.Cached {
		t.Fatalf("first: %+v, %v", first, err)
	}
	if first.FetchedAt.Before(before.Round(0)) || first.FetchedAt.After(time.Now()) ||
		first.FetchedAt.Location() != time.UTC {
		t.Errorf("fetched at %v, asked at %v", first.FetchedAt, before)
	}
	second, err := l.Get(t.Context(), "key", nil, forbidden[string](t))
	if err != nil || second.Value != "value" || !second.Cached || !second.FetchedAt.Equal(first.FetchedAt) {
		t.Errorf("second: %+v, %v; first: %+v", second, err, first)
	}
	advance(time.Minute + time.Millisecond)
	third, err := l.Get(t.Context(), "key", nil, give("new", time.Minute))
	if err != nil || third.Value != "new" || third.Cached {
		t.Errorf("after its time: %+v, %v", third, err)
	}
}

func TestLoadingIsSharedThroughRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	one := NewLoading[[]int](NewRedis(newGuard(t, server.Addr())), "kind", time.Hour)
	two := NewLoading[[]int](NewRedis(newGuard(t, server.Addr())), "kind", time.Hour)
	a, err := one.Get(t.Context(), "key", nil, give([]int{1, 2}, time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	b, err := two.Get(t.Context(), "key", nil, forbidden[[]int](t))
	if err != nil || !b.Cached || len(b.Value) != 2 || !b.FetchedAt.Equal(a.FetchedAt) {
		t.Errorf("the other instance got %+v, %v; want %+v", b, err, a)
	}
}

func TestLoadingKeepsKindsApart(t *testing.T) {
	t.Parallel()
	m, _ := newMemory(t, 1<<20)
	a, b := NewLoading[string](m, "a", time.Hour), NewLoading[string](m, "b", time.Hour)
	for l, want := range map[*Loading[string]]string{a: "of a", b: "of b"} {
		if e, err := l.Get(t.Context(), "key", nil, give(want, time.Minute)); err != nil || e.Value != want {
			t.Errorf("got %+v, %v; want %s", e, err, want)
		}
	}
}

func TestLoadingTakesForeignBytesForAMiss(t *testing.T) {
	t.Parallel()
	for _, foreign := range []string{"", "garbage", `{"a":1}`, "dgc\x01", "dgc\x02345678901234567890"} {
		m, _ := newMemory(t, 1<<20)
		set(t, m, "kind:key", foreign, time.Hour)
		l := NewLoading[string](m, "kind", time.Hour)
		e, err := l.Get(t.Context(), "key", nil, give("fresh", time.Minute))
		if err != nil || e.Value != "fresh" || e.Cached {
			t.Errorf("%q: %+v, %v", foreign, e, err)
		}
		if e, err = l.Get(t.Context(), "key", nil, forbidden[string](t)); err != nil || !e.Cached {
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
		l := NewLoading[string](c.store, name, time.Hour)
		for range 2 {
			calls := 0
			e, err := l.Get(t.Context(), "key", nil, func(ctx context.Context) (string, time.Duration, error) {
				calls++
				return c.load(ctx)
			})
			if !errors.Is(err, c.want) || calls != 1 || e.Cached || (err == nil) != (e.Value == "v") {
				t.Errorf("%s: %+v, %v after %d loads", name, e, err, calls)
			}
		}
	}
}

type outcome struct {
	entry Entry[int32]
	err   error
}

// slow counts its calls and takes a second.
func slow(calls *atomic.Int32) Load[int32] {
	return func(context.Context) (int32, time.Duration, error) {
		n := calls.Add(1)
		time.Sleep(time.Second) // of the bubble
		return n, time.Minute, nil
	}
}

func TestLoadingLoadsOnceForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, _ := newMemory(t, 1<<20)
		l := NewLoading[int32](m, "k", time.Hour)
		var calls atomic.Int32
		var asked []*parallel.Pending[outcome]
		for range 50 {
			asked = append(asked, parallel.Start(func() outcome {
				e, err := l.Get(t.Context(), "key", nil, slow(&calls))
				return outcome{e, err}
			}))
		}
		for _, a := range asked {
			if o := a.Wait(); o.err != nil || o.entry.Value != 1 || o.entry.Cached {
				t.Errorf("%+v, want the one load's value, not cached", o)
			}
		}
		if e, err := l.Get(t.Context(), "key", nil, slow(&calls)); err != nil || e.Value != 1 || !e.Cached {
			t.Errorf("afterwards %+v, %v", e, err)
		}
	})
}

// A load that no caller waits for any more still ends and is stored.
func TestLoadingKeepsWhatItsLastCallerDidNotWaitFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, _ := newMemory(t, 1<<20)
		l := NewLoading[int32](m, "k", time.Hour)
		var calls atomic.Int32
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := l.Get(ctx, "key", nil, slow(&calls)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		time.Sleep(time.Second)
		if e, err := l.Get(t.Context(), "key", nil, forbidden[int32](t)); err != nil || !e.Cached {
			t.Errorf("%+v, %v", e, err)
		}
	})
}

func TestAPanicOfALoadReachesItsCaller(t *testing.T) {
	t.Parallel()
	m, _ := newMemory(t, 1<<20)
	l := NewLoading[int32](m, "k", time.Hour)
	p := parallel.Catch(func() {
		_, _ = l.Get(t.Context(), "key", nil, func(context.Context) (int32, time.Duration, error) { panic("boom") })
	})
	if p == nil || p.Value != "boom" || !strings.Contains(p.Error(), "loading_test.go") {
		t.Errorf("caught %v", p)
	}
	if e, err := l.Get(t.Context(), "key", nil, give(int32(7), 0)); err != nil || e.Value != 7 {
		t.Errorf("the next caller got %+v, %v", e, err)
	}
}
