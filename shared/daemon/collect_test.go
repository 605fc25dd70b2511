package daemon

import (
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

func TestASmallHeapGrowsFirst(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for live, want := range map[uint64]int{
		0: 700, 3 * mib: 700, 4 * mib: 500, 6 * mib: 300, 8 * mib: 200, 8*mib + 1: 100,
		12*mib - 1: 100, 12 * mib: 100, 100 * mib: 100,
	} {
		percent := growthFor(live)
		if percent != want {
			t.Errorf("%d live bytes may grow by %d %%, want %d", live, percent, want)
		}
		if most := live + live*uint64(percent)/100; most > max(smallHeap, 2*live) {
			t.Errorf("%d live bytes become %d", live, most)
		}
	}
}

// Every collection is followed, growth is set where it changes, and the end sets it back.
func TestCollectLess(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	var stopped atomic.Bool
	var live uint64
	var grown []int
	var next func()
	h := heap{live: func() uint64 { return live }, grow: func(percent int) { grown = append(grown, percent) },
		next: func(do func()) { next = do }}
	h.follow(&stopped, math.MaxInt)
	for _, live = range []uint64{3 * mib, 6 * mib, 6*mib - 1, 50 * mib, 2 * mib} {
		next()
	}
	stopped.Store(true)
	next()
	if want := []int{700, 300, 100, 700, 100}; !slices.Equal(grown, want) {
		t.Errorf("growth was set to %v, want %v", grown, want)
	}
}

func TestAfterCollection(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	afterCollection(func() { close(done) })
	for deadline := time.After(10 * time.Second); ; {
		runtime.GC()
		select {
		case <-done:
			return
		case <-deadline:
			t.Fatal("no collection is noticed")
		case <-time.After(time.Millisecond):
		}
	}
}
