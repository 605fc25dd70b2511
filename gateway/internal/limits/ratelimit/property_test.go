package ratelimit

import (
	"fmt"
	"testing"
	"time"

	"diagnostics/gateway/internal/redis/breaker/redistest"

	"pgregory.net/rapid"
)

// maxModelWindow keeps the smallest step of a level (1 µs of the refill) above the rounding that the stores tolerate,
// so that the model and they must agree on every single request.
const maxModelWindow = 200 * time.Millisecond

// drawStages draws what one request charges: buckets of requests and of distinct values, of few keys, so that they
// meet often. A key has one limit.
func drawStages(t *rapid.T, limits map[string]Limit, windows *rapid.Generator[int64]) []Stage {
	charge := rapid.Custom(func(t *rapid.T) Charge {
		c := Charge{Key: rapid.SampledFrom([]string{"a", "b", "c", "ports a", "ports b", "off"}).Draw(t, "key")}
		if _, known := limits[c.Key]; !known {
			limits[c.Key] = Limit{Requests: rapid.IntRange(1, 6).Draw(t, "n"),
				Window: time.Duration(windows.Draw(t, "window")) * time.Microsecond}
		}
		c.Limit = limits[c.Key]
		c.Times = rapid.IntRange(0, 7).Draw(t, "times") // a limit has at most six
		if c.Key == "off" {
			c.Limit.Requests = 0
		}
		if c.Key == "ports a" || c.Key == "ports b" {
			c.Item = rapid.Uint16Range(1, 9).Draw(t, "item")
		}
		return c
	})
	stage := rapid.Custom(func(t *rapid.T) Stage { return rapid.SliceOfN(charge, 0, 3).Draw(t, "charges") })
	return rapid.SliceOfN(stage, 0, 3).Draw(t, "stages")
}

// under gives the stages on buckets of one check, where many share a store.
func under(check int, stages []Stage) []Stage {
	mine := make([]Stage, len(stages))
	for i, stage := range stages {
		for _, c := range stage {
			c.Key = fmt.Sprint(check, " ", c.Key)
			mine[i] = append(mine[i], c)
		}
	}
	return mine
}

// drawPause draws how long nothing happens: often nothing at all, often exactly what brings a bucket to a boundary or
// one microsecond beside it.
func drawPause(t *rapid.T, limits map[string]Limit) int64 {
	if rapid.Bool().Draw(t, "at once") {
		return 0
	}
	steps := []int64{1}
	for _, key := range []string{"a", "b", "c", "ports a", "ports b"} {
		if l, known := limits[key]; known {
			window := l.Window.Microseconds()
			steps = append(steps, window, window/int64(l.Requests))
		}
	}
	return max(rapid.SampledFrom(steps).Draw(t, "step")+rapid.Int64Range(-1, 1).Draw(t, "beside"), 0)
}

// Memory and Redis decide every request of every sequence as the model does.
func TestLimitersAgainstAModel(t *testing.T) {
	t.Parallel()
	clock := &fakeClock{}
	_, client, advanceRedis := newMini(t)
	limiters := map[string]Limiter{"memory": NewMemory(WithClock(clock.now)), "redis": NewRedis(client)}
	check := 0
	rapid.Check(t, func(t *rapid.T) {
		check++
		exact, limits := newModel(), map[string]Limit{}
		windows := rapid.Int64Range(1, maxModelWindow.Microseconds())
		for range rapid.IntRange(1, 40).Draw(t, "requests") {
			pause := drawPause(t, limits)
			exact.now += pause
			clock.advance(micro(pause))
			advanceRedis(micro(pause))
			stages := drawStages(t, limits, windows)
			want := exact.take(stages...)
			for name, l := range limiters {
				if got, err := l.Take(t.Context(), under(check, stages)...); err != nil || !agrees(got, want) {
					t.Fatalf("%s at %d µs: %v: %+v, %v; the model: %+v", name, exact.now, stages, got, err, want)
				}
			}
		}
	})
}

// A real redis-server decides as memory does. Its clock cannot be set, so nothing refills meanwhile.
func TestRedisServerAgainstMemory(t *testing.T) {
	t.Parallel()
	client := patient(redistest.Start(t).Options())
	t.Cleanup(func() { _ = client.Close() })
	shared, memory := NewRedis(client), NewMemory()
	const drift = time.Minute
	check := 0
	rapid.Check(t, func(t *rapid.T) {
		check++
		limits := map[string]Limit{}
		windows := rapid.Int64Range((1000 * time.Hour).Microseconds(), (2000 * time.Hour).Microseconds())
		for range rapid.IntRange(1, 20).Draw(t, "requests") {
			stages := under(check, drawStages(t, limits, windows))
			got, err := shared.Take(t.Context(), stages...)
			want, err2 := memory.Take(t.Context(), stages...)
			near := (got.RetryAfter - want.RetryAfter).Abs() < drift
			if want.Allowed {
				near = near && got.Remaining == want.Remaining && (got.ResetAfter-want.ResetAfter).Abs() < drift
			} // of two buckets with the same wait, but for the drift, either may be returned, and its remaining requests
			if err != nil || err2 != nil || got.Allowed != want.Allowed || !near {
				t.Fatalf("%v: redis %+v, %v; memory %+v, %v", stages, got, err, want, err2)
			}
		}
	})
}

// No client is locked out of a shared bucket by others, however their requests interleave and however many of them are
// rejected, as long as their own shares cannot fill it: a client has at most its share at once and once more in a
// window, so of k clients 2*k*share reach the shared bucket in a window. And no client gets more than that.
func TestSharesCannotBeExceeded(t *testing.T) {
	t.Parallel()
	clock := &fakeClock{}
	_, client, advanceRedis := newMini(t)
	limiters := map[string]Limiter{"memory": NewMemory(WithClock(clock.now)), "redis": NewRedis(client)}
	check := 0
	rapid.Check(t, func(t *rapid.T) {
		check++
		const window = time.Minute
		clients := rapid.IntRange(1, 5).Draw(t, "clients")
		share := rapid.IntRange(1, 4).Draw(t, "share")
		network := rapid.IntRange(share, 2*share).Draw(t, "network")
		all := 2*clients*share + 1
		ask := func(l Limiter, who int) (Decision, error) {
			return l.Take(t.Context(), under(check, []Stage{
				{charge(fmt.Sprint("own ", who), share, window)},
				{charge(fmt.Sprint("network ", who%2), network, window)},
				{charge("all", all, window)},
			})...)
		}
		// The last client is the only one of its network, and keeps to its share.
		honest := func(l Limiter) (Decision, error) {
			return l.Take(t.Context(), under(check, []Stage{
				{charge("own honest", 1, window)}, {charge("network honest", network, window)}, {charge("all", all, window)},
			})...)
		}
		passed := map[string]map[int]int{"memory": {}, "redis": {}}
		left := window
		for range rapid.IntRange(0, 40).Draw(t, "requests") {
			pause := time.Duration(rapid.Int64Range(0, int64(left/20)).Draw(t, "pause"))
			left -= pause
			clock.advance(pause)
			advanceRedis(pause)
			who := rapid.IntRange(1, clients).Draw(t, "who")
			for name, l := range limiters {
				d, err := ask(l, who)
				if err != nil {
					t.Fatal(err)
				}
				if d.Allowed {
					passed[name][who]++
				}
				if n := passed[name][who]; n > 2*share {
					t.Fatalf("%s: %d requests of one client passed in a window, of a share of %d", name, n, share)
				}
			}
		}
		for name, l := range limiters {
			if d, err := honest(l); err != nil || !d.Allowed {
				t.Fatalf("%s: a client that had asked nothing is refused: %+v, %v; passed %v", name, d, err, passed[name])
			}
		}
	})
}

// What a narrower stage refuses leaves no trace in a wider one: a run of requests and the same run without those that
// were refused leave the shared bucket in the same state.
func TestRefusedRequestsChargeNothingShared(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		clock := &fakeClock{}
		real, onlyPassed := NewMemory(WithClock(clock.now)), NewMemory(WithClock(clock.now))
		const window = 10 * time.Second
		shared := charge("shared", rapid.IntRange(1, 8).Draw(t, "n"), window)
		for range rapid.IntRange(1, 50).Draw(t, "requests") {
			clock.advance(time.Duration(rapid.Int64Range(0, int64(window/4)).Draw(t, "pause")))
			own := charge(fmt.Sprint("own ", rapid.IntRange(1, 3).Draw(t, "who")), 2, window)
			alone, err := onlyPassed.Take(t.Context(), Stage{own})
			if err != nil {
				t.Fatal(err)
			}
			want := alone
			if alone.Allowed {
				wide, err := onlyPassed.Take(t.Context(), Stage{shared})
				if err != nil {
					t.Fatal(err)
				}
				want = alone.with(wide)
			}
			if got, err := real.Take(t.Context(), Stage{own}, Stage{shared}); err != nil || got != want {
				t.Fatalf("%+v, %v; want %+v", got, err, want)
			}
		}
	})
}
