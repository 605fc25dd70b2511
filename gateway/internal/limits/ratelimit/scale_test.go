//go:build linux

package ratelimit

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/redis/breaker/redistest"
	"diagnostics/shared/waittest"

	"golang.org/x/sys/unix"
)

// clientsVariable says for how many clients the limits are measured; `cmd/proof limits` sets a million.
const clientsVariable = "LIMITS_CLIENTS"

func clientsOr(t *testing.T, few int) int {
	t.Helper()
	text := os.Getenv(clientsVariable)
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < few {
		t.Fatalf("%s=%q is not a number of at least %d", clientsVariable, text, few)
	}
	return n
}

// stagesOf are the charges of a run by the nth of so many clients, each of a /64 of its own and each at a target and an
// address of its own: of the /32 that a registry gives to any provider there are four thousand million.
func stagesOf(n int, window time.Duration) []Stage {
	client := fmt.Sprintf("2001:db8:%x:%x::/64", n>>16, n&0xffff)
	wide := fmt.Sprintf("2001:db8:%x::/48", n>>16)
	target := fmt.Sprintf("host-%d.example.com", n)
	address := fmt.Sprintf("11.%d.%d.%d", n>>16&0xff, n>>8&0xff, n&0xff)
	limit := func(requests int) Limit { return Limit{Requests: requests, Window: window} }
	return []Stage{
		{
			{Key: "tool|" + client + "|port-checker|" + target, Limit: limit(30)},
			{Key: "client|" + client, Limit: limit(120)},
		},
		{{Key: "client|" + wide, Limit: limit(1 << 30)}},
		{{Key: "target|" + target, Limit: limit(300)}},
		{
			{Key: "ports|" + client + "|" + address, Limit: limit(20), Item: 443},
			{Key: "own|" + client + "|" + address, Limit: limit(120)},
		},
		{{Key: "address|" + address, Limit: limit(1200)}},
	}
}

// pace is how long decisions took, in processor time: other programs of a busy machine are none of it.
type pace struct{ mean, usual, worst time.Duration }

func measure(turns int, decide func(int)) (p pace) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	each, total := make([]time.Duration, turns), time.Duration(0)
	for i := range turns {
		began := processorTime()
		decide(i)
		each[i] = processorTime() - began
		total += each[i]
	}
	slices.Sort(each)
	return pace{mean: total / time.Duration(turns), usual: each[turns*999/1000], worst: each[turns-1]}
}

// processorTime is what this thread has used.
func processorTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		panic(err)
	}
	return time.Duration(now.Nano())
}

func (p pace) String() string {
	return fmt.Sprintf("%v a decision (99.9%% within %v, worst %v)", p.mean.Round(10*time.Nanosecond),
		p.usual.Round(time.Microsecond), p.worst.Round(time.Microsecond))
}

// What a million clients, each with a target of its own, cost a gateway without Redis: memory while they are limited,
// the time of a decision among few and among many, and what is left of both when all limits are full again. The test is
// not parallel: it reads the heap of the whole process.
func TestManyClientsInMemory(t *testing.T) {
	clients := clientsOr(t, 20_000)
	clock := &fakeClock{}
	// More buckets than there is room for, however few clients.
	room := min(DefaultMaxBuckets, 4*clients)
	m := NewMemory(WithClock(clock.now), WithMaxBuckets(room))
	stages := make([][]Stage, clients)
	for n := range stages {
		stages[n] = stagesOf(n, time.Minute)
	}
	phase := func(name string, turns int, stages func(int) []Stage) pace {
		p := measure(turns, func(i int) {
			if d, err := m.Take(t.Context(), stages(i)...); err != nil || !d.Allowed {
				t.Fatalf("%s, decision %d: %+v, %v", name, i, d, err)
			}
		})
		t.Logf("%s: %v", name, p)
		return p
	}
	known := func(i int) []Stage { return stages[i] }
	empty := liveHeap()
	few := phase("among 1,000 clients", 1000, known)
	many := phase(fmt.Sprintf("among %d", clients), clients, known)
	held := m.Len() + m.distinct.len()
	full := liveHeap() - empty
	t.Logf("%d buckets, %.1f MiB: %d bytes each", held, float64(full)/(1<<20), full/int64(held))
	if m.Len() > room+shardCount || m.distinct.len() > maxDistinct {
		t.Errorf("%d and %d buckets", m.Len(), m.distinct.len())
	}
	if each := full / int64(held); each > 400 {
		t.Errorf("%d bytes a bucket", each)
	}
	clock.advance(2 * time.Minute)
	// Each later request removes a few of the others.
	other := []Stage{{charge("other", 1_000_000_000, time.Minute), see("others", 443, 20, time.Minute)}}
	after := phase("while those expire", held/sweepAtMost+shardCount, func(int) []Stage { return other })
	left := liveHeap() - empty
	t.Logf("%d buckets and %.2f MiB are left", m.Len()+m.distinct.len(), float64(left)/(1<<20))
	if n := m.Len() + m.distinct.len(); n > 2*shardCount {
		t.Errorf("%d buckets are left", n)
	}
	if left > full/20+64<<10 {
		t.Errorf("%d bytes of %d are left", left, full)
	}
	// What clears all at once would take a hundred milliseconds for it.
	for name, p := range map[string]pace{"few": few, "many": many, "expiring": after} {
		if p.worst > 20*time.Millisecond || p.mean > 300*time.Microsecond {
			t.Errorf("%s: %v", name, p)
		}
	}
	if many.mean > 5*max(few.mean, 2*time.Microsecond) {
		t.Errorf("%v a decision among many, %v among few", many.mean, few.mean)
	}
	runtime.KeepAlive(m)
	runtime.KeepAlive(stages)
}

// The same in Redis, which many gateways share: its memory, and that all of it comes back. A tenth of the clients do,
// as what is slow here are the round trips.
func TestManyClientsInRedis(t *testing.T) {
	t.Parallel()
	clients, window := clientsOr(t, 5000)/10, time.Second
	if clients > 500 {
		window = time.Minute
	}
	client := patient(redistest.Start(t).Options())
	t.Cleanup(func() { _ = client.Close() })
	l := NewRedis(client)
	used := func() int64 {
		info := client.InfoMap(t.Context(), "memory")
		bytes, err := strconv.ParseInt(info.Val()["Memory"]["used_memory"], 10, 64)
		if err != nil {
			t.Fatal(err, info.Err())
		}
		return bytes
	}
	keys := func() int64 { return client.DBSize(t.Context()).Val() }
	take := func(n int) {
		if d, err := l.Take(t.Context(), stagesOf(n, window)...); err != nil || !d.Allowed {
			t.Errorf("client %d: %+v, %v", n, d, err)
		}
	}
	take(0) // the scripts are loaded
	const at = 16
	empty, began := used(), time.Now()
	var next atomic.Int64
	var all sync.WaitGroup
	for range at {
		all.Go(func() {
			for n := int(next.Add(1)); n < clients; n = int(next.Add(1)) {
				take(n)
			}
		})
	}
	all.Wait()
	took, most, peak := time.Since(began), keys(), used()-empty // reported, not asserted
	t.Logf("%d clients by %d at once: %v a decision; %d keys, %.1f MiB: %d bytes each", clients, at,
		(took * at / time.Duration(clients)).Round(time.Microsecond), most, float64(peak)/(1<<20), peak/max(most, 1))
	// Redis doubles its tables by and by, and each connection has a buffer.
	if peak > 1000*most+1<<20 {
		t.Errorf("%d bytes for %d keys", peak, most)
	}
	waittest.Within(window+30*time.Second, func() bool { return keys() == 0 }) // Redis expires keys by its own clock
	t.Logf("%d keys and %.2f MiB are left", keys(), float64(used()-empty)/(1<<20))
	if n := keys(); n > 0 {
		t.Errorf("%d keys never expire", n)
	}
}
