package daemon

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// The runtime collects whenever the heap has doubled. A service that holds a few megabytes and answers thousands of
// requests a second would do nothing else all day: some twenty collections a second. So the heap may grow to smallHeap
// first. From half of that on it doubles, as ever, and GOMEMLIMIT holds as ever.
const (
	smallHeap      = 24 << 20 // less than memorySlack: it is no peak that giveBack would end
	defaultPercent = 100
)

// growthFor is the growth in percent, as of GOGC, that lets a heap of which so much is live come to smallHeap.
func growthFor(live uint64) int {
	if live >= smallHeap/2 {
		return defaultPercent
	}
	// The runtime counts stacks too, and its own least heap grows with the percentage.
	return int(smallHeap/max(live, smallHeap/8)-1) * 100 // #nosec G115 -- 1 to 7
}

// heap is the runtime's, with its collections.
type heap struct {
	live func() uint64 // what the last collection left
	grow func(percent int)
	next func(do func()) // after the next collection
}

func processHeap() heap {
	return heap{live: liveHeap, grow: func(percent int) { debug.SetGCPercent(percent) }, next: afterCollection}
}

// liveHeap is what the last collection has left of the heap, in bytes.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// afterCollection calls do once the next collection has found that nobody holds an object. It must not be so small that
// the runtime puts it together with others.
func afterCollection(do func()) {
	runtime.AddCleanup(new([64]byte), func(do func()) { do() }, do)
}

// collectLess judges the heap anew after each collection, until stop is called. Who sets GOGC knows better.
func (h heap) collectLess() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	var stopped atomic.Bool
	h.follow(&stopped, math.MaxInt)
	return func() { stopped.Store(true) }
}

func (h heap) follow(stopped *atomic.Bool, before int) {
	percent := defaultPercent
	if !stopped.Load() {
		percent = growthFor(h.live())
	}
	if percent != before { // to set it holds up everything for a moment
		h.grow(percent)
	}
	if !stopped.Load() {
		h.next(func() { h.follow(stopped, percent) })
	}
}
