package ratelimit

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"diagnostics/gateway/internal/redis/breaker/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func take(t *testing.T, l Limiter, charges ...Charge) Decision {
	t.Helper()
	return (&bench{Limiter: l}).take(t, charges...)
}

func liveHeap() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// It is not parallel: it reads the heap of the whole process.
func TestMemoryIsBounded(t *testing.T) {
	const keys, atMost = 2 * DefaultMaxBuckets, 64 << 20
	clock := &fakeClock{}
	m := NewMemory(WithClock(clock.now))
	before := liveHeap()
	for i := range keys {
		take(t, m, charge(fmt.Sprintf("client:192.0.2.1 tool:dns-lookup target:%d.example.com", i), 30, time.Minute))
	}
	grown := liveHeap() - before
	t.Logf("%d keys: %d buckets, %.1f MiB", keys, m.Len(), float64(grown)/(1<<20))
	if n := m.Len(); n > DefaultMaxBuckets || n < DefaultMaxBuckets*9/10 {
		t.Errorf("%d buckets after %d keys, want nearly %d", n, keys, DefaultMaxBuckets)
	}
	if grown > atMost {
		t.Errorf("the heap grew by %d bytes, want at most %d", grown, atMost)
	}
	runtime.KeepAlive(m)
}

func TestMemoryForgetsFullBuckets(t *testing.T) {
	t.Parallel()
	clock := &fakeClock{}
	m := NewMemory(WithClock(clock.now))
	for i := range 10_000 {
		take(t, m, charge(fmt.Sprint(i), 10, time.Minute))
	}
	// Short of its refill a bucket stays.
	clock.advance(6*time.Second - time.Millisecond)
	take(t, m, charge("other", 10, time.Hour))
	if n := m.Len(); n != 10_001 {
		t.Errorf("%d buckets just before they are full, want all 10001", n)
	}
	clock.advance(time.Millisecond)
	for range 2 * 10_000 / sweepAtMost {
		take(t, m, charge("other", 1_000_000, time.Hour))
	}
	if n := m.Len(); n > 500 {
		t.Errorf("%d buckets after they are full, want the sweep to have taken most", n)
	}
}

func TestMemoryEvictionIsNoReset(t *testing.T) {
	t.Parallel()
	clock := &fakeClock{}
	m := NewMemory(WithClock(clock.now), WithMaxBuckets(1024))
	mine := charge("the attacker's bucket", 30, time.Minute)
	for range 30 {
		take(t, m, mine)
	}
	// Two hundred times the room in fresh keys, one request each.
	for i := range 200 * 1024 {
		take(t, m, charge(fmt.Sprint("spray ", i), 30, time.Minute))
	}
	if n := m.Len(); n > 1024 {
		t.Errorf("%d buckets", n)
	}
	if d := take(t, m, mine); d.Allowed {
		t.Errorf("spraying keys reset a spent bucket: %+v", d)
	}
	// A newcomer is counted even while there is no room.
	fresh := charge("newcomer", 2, time.Minute)
	take(t, m, fresh)
	take(t, m, fresh)
	if d := take(t, m, fresh); d.Allowed {
		t.Errorf("a newcomer is not counted: %+v", d)
	}
}

// However many keys there are, the store of distinct values stays within its room, and the one used least recently
// goes. It is not parallel: it reads the heap of the whole process.
func TestMemoryOfThingsIsBounded(t *testing.T) {
	// An eighth of the room, so that the test is quick.
	const room, atMost = maxDistinct / 8, 3 << 20
	clock := &fakeClock{}
	m := NewMemory(WithClock(clock.now))
	m.distinct.room = room
	before := liveHeap()
	for i := range 2 * room {
		for port := range uint16(20) {
			take(t, m, see(fmt.Sprint("ports|192.0.2.1|", i), port+1, 20, time.Minute))
		}
	}
	grown := liveHeap() - before
	t.Logf("%d sets of 20: %.1f MiB", m.distinct.len(), float64(grown)/(1<<20))
	if n := m.distinct.len(); n != room {
		t.Errorf("%d sets, want %d", n, room)
	}
	if grown > atMost {
		t.Errorf("the heap grew by %d bytes, want at most %d", grown, atMost)
	}
	if d := take(t, m, see(fmt.Sprint("ports|192.0.2.1|", room), 21, 20, time.Minute)); d.Allowed {
		t.Errorf("the oldest that there is room for is forgotten: %+v", d)
	}
	if d := take(t, m, see("ports|192.0.2.1|0", 21, 20, time.Minute)); !d.Allowed {
		t.Errorf("one that there is no room for: %+v", d)
	}
	runtime.KeepAlive(m)
}

func (s *distinct) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID)
}

func TestMemoryForgetsThings(t *testing.T) {
	t.Parallel()
	clock := &fakeClock{}
	m := NewMemory(WithClock(clock.now))
	for i := range 10 {
		take(t, m, see(fmt.Sprint(i), 80, 20, time.Minute))
	}
	clock.advance(time.Minute - time.Microsecond)
	take(t, m, see("0", 81, 20, time.Minute))
	if n := m.distinct.len(); n != 10 {
		t.Errorf("%d sets just before the window is over", n)
	}
	clock.advance(time.Microsecond)
	take(t, m, see("0", 81, 20, time.Minute))
	if n := m.distinct.len(); n != 1 {
		t.Errorf("%d sets after it", n)
	}
}

func TestMemoryOfThingsClockStepsBack(t *testing.T) {
	t.Parallel()
	clock := &fakeClock{}
	m := NewMemory(WithClock(clock.now))
	clock.advance(time.Hour)
	take(t, m, see("k", 80, 1, time.Minute))
	clock.advance(-30 * time.Minute)
	if d := take(t, m, see("k", 81, 1, time.Minute)); d.Allowed || d.RetryAfter != time.Minute {
		t.Errorf("after the step: %+v", d)
	}
	clock.advance(time.Minute)
	if d := take(t, m, see("k", 81, 1, time.Minute)); !d.Allowed {
		t.Errorf("a window later: %+v", d)
	}
}

func TestMemoryClockStepsBack(t *testing.T) {
	t.Parallel()
	clock := &fakeClock{}
	m := NewMemory(WithClock(clock.now))
	c := charge("k", 2, time.Minute)
	clock.advance(time.Hour)
	take(t, m, c)
	take(t, m, c)
	clock.advance(-30 * time.Minute)
	if d := take(t, m, c); d.Allowed || d.RetryAfter != 30*time.Second {
		t.Errorf("after the step: %+v", d)
	}
	clock.advance(30 * time.Second)
	if d := take(t, m, c); !d.Allowed {
		t.Errorf("half a window later: %+v", d)
	}
}

// Len is how many buckets of requests are held.
func (m *Memory) Len() int {
	n := 0
	for i := range m.shards {
		n += m.shards[i].len()
	}
	return n
}

func (s *shard) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.soonest)
}
