package ratelimit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/redis/breaker"
	"diagnostics/gateway/internal/redis/breaker/redistest"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// bench is one limiter under test and the means to let time pass in it. drift is how much time may pass unasked where
// the clock is the real one.
type bench struct {
	Limiter
	sleep func(time.Duration)
	drift time.Duration

	attempt int
	planned time.Duration
}

func (b *bench) advance(d time.Duration) {
	b.planned += d
	b.sleep(d)
}

// attempts is a test that gets another try where the machine was too busy for its real clock, and only there.
type attempts struct {
	*testing.T
	problems []string
}

func (a *attempts) Errorf(format string, args ...any) {
	a.problems = append(a.problems, fmt.Sprintf(format, args...))
}

// run tries the check, on buckets of its own each time, until no more time than the drift was lost.
func (b *bench) run(t *testing.T, check func(*attempts, *bench)) {
	for range 10 {
		b.attempt++
		b.planned = 0
		a, start := &attempts{T: t}, time.Now()
		check(a, b)
		if lost := time.Since(start) - b.planned; len(a.problems) > 0 && b.drift > 0 && lost > b.drift { // a real Redis
			t.Logf("%s were lost to a busy machine, trying again", lost)
			continue
		}
		for _, p := range a.problems {
			t.Error(p)
		}
		return
	}
	t.Error("the machine was always too busy")
}

// own are the charges on buckets of this attempt.
func (b *bench) own(charges []Charge) []Charge {
	if b.attempt == 0 {
		return charges
	}
	mine := slices.Clone(charges)
	for i := range mine {
		mine[i].Key = fmt.Sprint(b.attempt, " ", mine[i].Key)
	}
	return mine
}

// patient lifts the driver's own timeouts: on a busy machine they would send a request twice.
func patient(o *redis.UniversalOptions) redis.UniversalClient {
	breaker.Tune(o)
	o.ReadTimeout, o.WriteTimeout, o.PoolTimeout, o.DialTimeout = time.Minute, time.Minute, time.Minute, time.Minute
	return redis.NewUniversalClient(o)
}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fakeClock is a clock that stands still until it is advanced.
type fakeClock struct{ passed atomic.Int64 }

func (c *fakeClock) now() time.Time          { return epoch.Add(time.Duration(c.passed.Load())) }
func (c *fakeClock) advance(d time.Duration) { c.passed.Add(int64(d)) }

func newMini(t *testing.T) (*miniredis.Miniredis, redis.UniversalClient, func(time.Duration)) {
	t.Helper()
	server, clock := miniredis.RunT(t), &fakeClock{}
	server.SetTime(epoch)
	client := patient(&redis.UniversalOptions{Addrs: []string{server.Addr()}})
	t.Cleanup(func() { _ = client.Close() })
	return server, client, func(d time.Duration) {
		clock.advance(d)
		server.SetTime(clock.now())
		server.FastForward(d)
	}
}

const realDrift = 250 * time.Millisecond

func benches() map[string]func(*testing.T) *bench {
	return map[string]func(*testing.T) *bench{
		"memory": func(*testing.T) *bench {
			clock := &fakeClock{}
			return &bench{Limiter: NewMemory(WithClock(clock.now)), sleep: clock.advance}
		},
		"miniredis": func(t *testing.T) *bench {
			_, client, advance := newMini(t)
			return &bench{Limiter: NewRedis(client), sleep: advance}
		},
		"redis-server": func(t *testing.T) *bench {
			client := patient(redistest.Start(t).Options())
			t.Cleanup(func() { _ = client.Close() })
			return &bench{Limiter: NewRedis(client), sleep: time.Sleep, drift: realDrift} // Redis has its own clock
		},
		"redis-server cluster": func(t *testing.T) *bench {
			return &bench{Limiter: NewRedis(startCluster(t)), sleep: time.Sleep, drift: realDrift} // Redis has its own clock
		},
	}
}

func (b *bench) take(t testing.TB, charges ...Charge) Decision {
	t.Helper()
	d, err := b.Take(t.Context(), b.own(charges))
	if err != nil {
		t.Fatalf("Take: %v", err)
	}
	if d.Allowed != (d.RetryAfter == 0) || d.RetryAfter < 0 || d.ResetAfter < 0 || d.Remaining < 0 {
		t.Fatalf("inconsistent decision %+v", d)
	}
	return d
}

// wantTime asserts a duration that may have shrunk by the drift.
func (b *bench) wantTime(t *attempts, what string, got, want time.Duration) {
	t.Helper()
	if got > want || got < want-b.drift-time.Microsecond {
		t.Errorf("%s is %s, want %s (less at most %s)", what, got, want, b.drift)
	}
}

func charge(key string, n int, window time.Duration) Charge {
	return Charge{Key: key, Limit: Limit{Requests: n, Window: window}}
}

func TestLimiter(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*attempts, *bench){
		"burst":                      testBurst,
		"refill":                     testRefill,
		"keys are apart":             testKeys,
		"no limits":                  testNoLimits,
		"least left is told":         testLeastLeft,
		"longest wait is told":       testLongestWait,
		"refused costs nothing":      testRefusedCostsNothing,
		"never more than N at once":  testConcurrency,
		"huge limits":                testHuge,
		"windows of ms and of hours": testWindows,
		"a window of a request":      testOne,
		"a limit that shrinks":       testShrinking,
		"stages stop at a refusal":   testStages,
		"several at once":            testTimes,
		"distinct values":            testDistinct,
		"a thing that is seen again": testSeenAgain,
		"fewer values than before":   testFewerValues,
	}
	for kind, make := range benches() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := make(t)
			for name, check := range cases {
				t.Run(name, func(t *testing.T) { b.run(t, check) })
			}
		})
	}
}

func testBurst(t *attempts, b *bench) {
	const n, window = 5, time.Hour
	c := charge("burst", n, window)
	for i := 1; i <= n; i++ {
		d := b.take(t, c)
		if !d.Allowed || d.Limit != n || d.Remaining != n-i {
			t.Errorf("request %d: %+v", i, d)
		}
		b.wantTime(t, "ResetAfter", d.ResetAfter, time.Duration(i)*window/n)
	}
	d := b.take(t, c)
	if d.Allowed || d.Limit != n || d.Remaining != 0 {
		t.Errorf("request %d: %+v", n+1, d)
	}
	b.wantTime(t, "RetryAfter", d.RetryAfter, window/n)
	b.wantTime(t, "ResetAfter", d.ResetAfter, window)
}

func testRefill(t *attempts, b *bench) {
	const n, window = 5, 2500 * time.Millisecond
	c := charge("refill", n, window)
	for range n {
		b.take(t, c)
	}
	d := b.take(t, c)
	b.advance(d.RetryAfter - b.drift - 10*time.Millisecond)
	if d := b.take(t, c); d.Allowed {
		t.Errorf("passes %s early", d.RetryAfter)
	}
	b.advance(b.drift + 10*time.Millisecond)
	if d := b.take(t, c); !d.Allowed || d.Remaining != 0 {
		t.Errorf("after one step: %+v", d)
	}
	if d := b.take(t, c); d.Allowed {
		t.Errorf("a second one passes after one step: %+v", d)
	}
	b.advance(2 * window / n)
	if d := b.take(t, c); !d.Allowed || d.Remaining != 1 {
		t.Errorf("after two steps: %+v", d)
	}
	b.advance(window + 10*time.Millisecond)
	if d := b.take(t, c); !d.Allowed || d.Remaining != n-1 {
		t.Errorf("a full bucket holds no more than N: %+v", d)
	}
}

func testKeys(t *attempts, b *bench) {
	keys := []string{"", "a", "A", "a:b", "a\x00b", "a b", "client:192.0.2.1", "client:192.0.2.10",
		strings.Repeat("k", 5000), strings.Repeat("k", 5001)}
	for _, key := range keys {
		c := charge(key, 1, time.Hour)
		if d := b.take(t, c); !d.Allowed {
			t.Errorf("%.20q is another's bucket", key)
		}
		if d := b.take(t, c); d.Allowed {
			t.Errorf("%.20q is not kept", key)
		}
	}
}

// Several requests of one charge pass together or not at all.
func testTimes(t *attempts, b *bench) {
	times := func(key string, n, times int) Charge {
		c := charge(key, n, time.Hour)
		c.Times = times
		return c
	}
	for _, step := range []struct {
		times, left int
		allowed     bool
	}{{9, 11, true}, {9, 2, true}, {3, 0, false}, {0, 1, true}, {1, 0, true}, {1, 0, false}} {
		if d := b.take(t, times("nine", 20, step.times)); d.Allowed != step.allowed || d.Remaining != step.left {
			t.Errorf("%d at once: %+v, want %d left", step.times, d, step.left)
		}
	}
	b.wantTime(t, "RetryAfter", b.take(t, times("nine", 20, 9)).RetryAfter, 9*time.Hour/20)
	// More than a bucket ever holds takes all that it holds.
	if d := b.take(t, times("small", 5, 9)); !d.Allowed || d.Remaining != 0 {
		t.Errorf("nine of five: %+v", d)
	}
	if d := b.take(t, times("small", 5, 9)); d.Allowed {
		t.Errorf("nine of none: %+v", d)
	}
}

func testNoLimits(t *attempts, b *bench) {
	off := [][]Charge{nil, {}, {charge("off", 0, time.Hour)}, {charge("off", -1, time.Hour), charge("off", 5, 0)}}
	for _, charges := range off {
		for range 3 {
			if d := b.take(t, charges...); d != (Decision{Allowed: true}) {
				t.Errorf("%v: %+v", charges, d)
			}
		}
	}
	d := b.take(t, charge("half off", 0, time.Hour), charge("half on", 7, time.Hour))
	if !d.Allowed || d.Limit != 7 || d.Remaining != 6 {
		t.Errorf("one of two off: %+v", d)
	}
}

func testLeastLeft(t *attempts, b *bench) {
	wide, narrow := charge("wide", 10, time.Hour), charge("narrow", 3, time.Hour)
	if d := b.take(t, wide, narrow); d.Limit != 3 || d.Remaining != 2 {
		t.Errorf("the narrow one has least left: %+v", d)
	}
	for range 8 {
		b.take(t, wide)
	}
	d := b.take(t, narrow, wide)
	if !d.Allowed || d.Limit != 10 || d.Remaining != 0 {
		t.Errorf("the wide one has least left: %+v", d)
	}
	b.wantTime(t, "ResetAfter", d.ResetAfter, time.Hour)
	short, long := charge("short", 2, time.Minute), charge("long", 2, time.Hour)
	d = b.take(t, short, long)
	b.wantTime(t, "of equals the later ResetAfter", d.ResetAfter, time.Hour/2)
}

func testLongestWait(t *attempts, b *bench) {
	short, long, open := charge("r short", 1, time.Minute), charge("r long", 1, time.Hour), charge("r open", 9, time.Hour)
	b.take(t, short, long)
	for _, charges := range [][]Charge{{short, long, open}, {long, open, short}, {open, short, long}} {
		d := b.take(t, charges...)
		if d.Allowed || d.Limit != 1 || d.Remaining != 0 {
			t.Errorf("%+v", d)
		}
		b.wantTime(t, "RetryAfter", d.RetryAfter, time.Hour)
	}
	if d := b.take(t, short, open); d.Allowed || d.RetryAfter > time.Minute {
		t.Errorf("one refuses, the other has room: %+v", d)
	}
}

func testRefusedCostsNothing(t *attempts, b *bench) {
	c := charge("refused", 2, time.Hour)
	for range 2 {
		b.take(t, c)
	}
	for range 50 {
		d := b.take(t, c)
		b.wantTime(t, "RetryAfter", d.RetryAfter, time.Hour/2)
		b.wantTime(t, "ResetAfter", d.ResetAfter, time.Hour)
	}
}

func testConcurrency(t *attempts, b *bench) {
	const n, callers, each = 100, 40, 10
	tight, wide := charge("together", n, time.Hour), charge("together wide", 10*n, time.Hour)
	both := b.own([]Charge{tight, wide})
	var all sync.WaitGroup
	var allowed atomic.Int32
	seen := make([]atomic.Bool, n)
	for range callers {
		all.Go(func() {
			for range each {
				d, err := b.Take(context.Background(), both)
				if err != nil {
					t.T.Errorf("Take: %v", err)
				}
				if !d.Allowed {
					continue
				}
				allowed.Add(1)
				if seen[d.Remaining].Swap(true) {
					t.T.Errorf("two requests were told that %d remain", d.Remaining)
				}
			}
		})
	}
	all.Wait()
	if got := allowed.Load(); got != n {
		t.Errorf("%d of %d requests passed, want %d", got, callers*each, n)
	}
}

func testHuge(t *attempts, b *bench) {
	const n = 1_000_000_000
	for i, window := range []time.Duration{time.Millisecond, 500 * time.Millisecond, time.Minute, 24 * time.Hour} {
		c := charge(fmt.Sprint("huge", i), n, window)
		d := b.take(t, c)
		if !d.Allowed || d.Limit != n || d.Remaining != n-1 || d.ResetAfter > time.Millisecond {
			t.Errorf("per %s: %+v", window, d)
		}
	}
	c := charge("huge and slow", n, 24*365*100*time.Hour)
	for i := 1; i <= 20; i++ {
		// Nothing leaks in the drift: a step is over three seconds.
		if d := b.take(t, c); !d.Allowed || d.Remaining != n-i {
			t.Errorf("request %d: %+v", i, d)
		}
	}
}

func testWindows(t *attempts, b *bench) {
	ms := charge("ms", 2, 20*time.Millisecond)
	b.take(t, ms)
	if d := b.take(t, ms); d.ResetAfter > 20*time.Millisecond {
		t.Errorf("two of two: %+v", d)
	}
	b.advance(25 * time.Millisecond)
	if d := b.take(t, ms); !d.Allowed || d.Remaining != 1 {
		t.Errorf("after the window: %+v", d)
	}
	hours := charge("hours", 1, 48*time.Hour)
	b.take(t, hours)
	b.wantTime(t, "RetryAfter", b.take(t, hours).RetryAfter, 48*time.Hour)
}

func testOne(t *attempts, b *bench) {
	c := charge("one", 1, 600*time.Millisecond)
	if d := b.take(t, c); !d.Allowed || d.Remaining != 0 {
		t.Errorf("%+v", d)
	}
	d := b.take(t, c)
	if d.Allowed {
		t.Errorf("%+v", d)
	}
	b.advance(d.RetryAfter)
	if d := b.take(t, c); !d.Allowed {
		t.Errorf("at RetryAfter: %+v", d)
	}
}

func testShrinking(t *attempts, b *bench) {
	for range 10 {
		b.take(t, charge("shrinking", 10, time.Hour))
	}
	d := b.take(t, charge("shrinking", 4, time.Hour))
	if d.Allowed || d.Remaining != 0 {
		t.Errorf("%+v", d)
	}
	// What drains while ten an hour are allowed takes 10/4 of its time where four are.
	slower := bench{drift: b.drift * 10 / 4}
	slower.wantTime(t, "RetryAfter", d.RetryAfter, 7*time.Hour/4)
}

// takeStages is take for several stages.
func (b *bench) takeStages(t testing.TB, stages ...Stage) Decision {
	t.Helper()
	mine := make([]Stage, len(stages))
	for i, stage := range stages {
		mine[i] = b.own(stage)
	}
	d, err := b.Take(t.Context(), mine...)
	if err != nil {
		t.Fatalf("Take: %v", err)
	}
	return d
}

func testStages(t *attempts, b *bench) {
	own, beside := charge("stage own", 2, time.Hour), charge("stage beside", 9, time.Hour)
	wide, widest := charge("stage wide", 5, time.Hour), charge("stage widest", 4, time.Hour)
	all := []Stage{{own, beside}, {wide}, {}, {widest}}
	for i := 1; i <= 2; i++ {
		if d := b.takeStages(t, all...); !d.Allowed || d.Limit != 2 || d.Remaining != 2-i {
			t.Errorf("request %d: %+v, want the numbers of the narrowest", i, d)
		}
	}
	for range 20 {
		d := b.takeStages(t, all...)
		if d.Allowed || d.Limit != 2 || d.Remaining != 0 {
			t.Errorf("the own bucket is empty: %+v", d)
		}
		b.wantTime(t, "RetryAfter", d.RetryAfter, time.Hour/2)
	}
	// What stands beside the refusing one has been charged, what stands behind it has not.
	for c, left := range map[*Charge]int{&beside: 0, &wide: 2, &widest: 1} {
		if d := b.take(t, *c); d.Remaining != left {
			t.Errorf("%s: %+v, want %d to remain", c.Key, d, left)
		}
	}
	// A rejection in the middle returns its own bucket, though an earlier one has less left.
	for range 2 {
		b.take(t, wide)
	}
	tight := charge("stage tight", 1, 10*time.Hour)
	if d := b.takeStages(t, Stage{tight}, Stage{wide}, Stage{widest}); d.Allowed || d.Limit != 5 {
		t.Errorf("the wide one is empty: %+v", d)
	}
	if d := b.take(t, widest); !d.Allowed || d.Remaining != 0 {
		t.Errorf("the one behind it: %+v", d)
	}
}

// see is a charge of one thing.
func see(key string, item uint16, n int, window time.Duration) Charge {
	c := charge(key, n, window)
	c.Item = item
	return c
}

func testDistinct(t *attempts, b *bench) {
	const window = 1500 * time.Millisecond
	for i, item := range []uint16{80, 443, 65535} {
		d := b.take(t, see("things", item, 3, window))
		if !d.Allowed || d.Limit != 3 || d.Remaining != 2-i {
			t.Errorf("thing %d: %+v", item, d)
		}
		b.wantTime(t, "ResetAfter", d.ResetAfter, window)
	}
	b.advance(b.drift + 200*time.Millisecond)
	for range 5 {
		d := b.take(t, see("things", 22, 3, window))
		if d.Allowed || d.Limit != 3 || d.Remaining != 0 {
			t.Errorf("a fourth: %+v", d)
		}
		b.wantTime(t, "RetryAfter", d.RetryAfter, window-b.drift-200*time.Millisecond)
	}
	if d := b.take(t, see("others", 22, 3, window)); !d.Allowed {
		t.Errorf("under another key: %+v", d)
	}
	if d := b.take(t, see("things", 443, 3, window)); !d.Allowed || d.Remaining != 0 {
		t.Errorf("one that was seen: %+v", d)
	}
	wait := b.take(t, see("things", 22, 3, window)).RetryAfter
	b.advance(wait - b.drift - 10*time.Millisecond)
	if d := b.take(t, see("things", 22, 3, window)); d.Allowed {
		t.Errorf("passes %s early", b.drift+10*time.Millisecond)
	}
	b.advance(b.drift + 10*time.Millisecond)
	if d := b.take(t, see("things", 22, 3, window)); !d.Allowed {
		t.Errorf("at RetryAfter: %+v", d)
	}
}

func testSeenAgain(t *attempts, b *bench) {
	const window = time.Hour
	for range 50 {
		if d := b.take(t, see("again", 1, 1, window)); !d.Allowed || d.Remaining != 0 {
			t.Errorf("%+v", d)
		}
	}
	if d := b.take(t, see("again", 2, 1, window)); d.Allowed {
		t.Errorf("%+v", d)
	}
}

func testFewerValues(t *attempts, b *bench) {
	for item := range uint16(5) {
		b.take(t, see("fewer", item+1, 5, time.Hour))
	}
	if d := b.take(t, see("fewer", 3, 2, time.Hour)); !d.Allowed || d.Remaining != 0 {
		t.Errorf("one that was seen: %+v", d)
	}
	if d := b.take(t, see("fewer", 9, 2, time.Hour)); d.Allowed {
		t.Errorf("a new one: %+v", d)
	}
}

// Both kinds count alike: the same requests at the same moments get the same answers to the microsecond.
func TestMemoryAndRedisAgree(t *testing.T) {
	t.Parallel()
	_, client, advanceRedis := newMini(t)
	clock := &fakeClock{}
	memory, shared := NewMemory(WithClock(clock.now)), NewRedis(client)
	limits := []Limit{{1, time.Second}, {3, time.Second}, {7, time.Minute}, {30, 60 * time.Second},
		{1000, 90 * time.Millisecond}, {1_000_000_000, time.Minute}}
	// A fixed, uneven walk over the buckets and the clock.
	for i := range 3000 {
		l := limits[i*7%len(limits)]
		charges := []Charge{
			{Key: fmt.Sprint("a", i*i%5, l), Limit: l},
			{Key: "b", Limit: limits[(i/40)%4]},
		}
		want, err := memory.Take(t.Context(), charges)
		got, err2 := shared.Take(t.Context(), charges)
		if err != nil || err2 != nil || got != want {
			t.Fatalf("step %d: redis %+v, %v; memory %+v, %v", i, got, err2, want, err)
		}
		step := time.Duration(i*i*37%50_000) * 7 * time.Microsecond
		clock.advance(step)
		advanceRedis(step)
	}
}

func startCluster(t *testing.T) redis.UniversalClient {
	t.Helper()
	one, two := redistest.StartClusterNode(t), redistest.StartClusterNode(t)
	redistest.Join(t, one, two)
	client := patient(&redis.UniversalOptions{Addrs: []string{one.Addr(), two.Addr()}, IsClusterMode: true})
	t.Cleanup(func() { _ = client.Close() })
	return client
}
