package daemon

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// After a peak the runtime keeps what it took: it collects every two minutes where little is allocated, and gives back
// slowly. So each look finds out whether a peak is over, and ends it. A look costs microseconds, what it does about a
// peak some milliseconds.
const (
	memoryLook  = 10 * time.Second
	memorySlack = 32 << 20 // not worth a collection
)

// memory is the runtime's: how much of the system's it holds, and how to give back what is unused.
type memory struct {
	held func() uint64
	free func()
}

func processMemory() memory { return memory{held: heldMemory, free: freeMemory} }

// freeMemory collects twice: what pools keep outlives one collection.
func freeMemory() {
	runtime.GC()
	debug.FreeOSMemory()
}

func heldMemory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// giveBack frees memory after each peak until ctx ends. What is needed after a peak is the level for the next.
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
			m.free()
			held = m.held()
			level = held
		}
		level, before = min(level, held), held
	}
}
