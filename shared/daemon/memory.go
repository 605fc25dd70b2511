package daemon

import (
	"context"
	"runtime"
	"runtime/metrics"
	"time"
)

// After a peak the runtime keeps what it took until the next collection, which comes every two minutes where little is
// allocated. So each look finds out whether a peak is over, and collects. What is free then goes back to the system in
// the background, within seconds; debug.FreeOSMemory would give it back at once, and hold up everything meanwhile. A
// look costs microseconds.
const (
	memoryLook  = 10 * time.Second
	memorySlack = 32 << 20 // not worth a collection
)

// memory is the runtime's: how much of the system's it holds, and how to find what is unused.
type memory struct {
	held    func() uint64
	collect func()
}

func processMemory() memory { return memory{held: heldMemory, collect: collectTwice} }

// collectTwice does so since what pools keep outlives one collection.
func collectTwice() {
	runtime.GC()
	runtime.GC()
}

func heldMemory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// giveBack collects after each peak until ctx ends. What is needed after a peak is the level for the next.
func (m memory) giveBack(ctx context.Context) {
	tick := time.NewTicker(memoryLook)
	defer tick.Stop()
	level := m.held()
	for before := level; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		held := m.held()
		if held <= before && held > level+memorySlack {
			m.collect()
			held = m.held()
			level = held
		}
		level, before = min(level, held), held
	}
}
