package daemon

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// After a peak the runtime keeps what it took until the next collection, which comes every two minutes where little is
// allocated, and gives back what is free only slowly. A thousand runs that have begun at once, and wait for silent
// targets, would hold twice what they need. So each look finds out whether a peak is over and little is going on, then
// collects and gives back what is free. That holds up everything for some 20 ms, which is why it waits for a quiet
// second; where much is allocated the runtime collects often by itself. A look costs microseconds.
const (
	memoryLook  = time.Second
	memoryQuiet = 8 << 20  // allocated between two looks
	memorySlack = 32 << 20 // not worth a collection
	// memoryRecall is after how many looks what was needed may not be needed any more.
	memoryRecall = 10
)

// memory is the runtime's: how much of the system's it holds, how much was ever allocated, and how to give back what is
// unused.
type memory struct {
	held, allocated func() uint64
	collect         func()
}

func processMemory() memory {
	return memory{held: heldMemory, allocated: allocatedMemory, collect: collectAll}
}

// collectAll collects twice, since what pools keep outlives one collection.
func collectAll() {
	runtime.GC()
	debug.FreeOSMemory()
}

func heldMemory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

func allocatedMemory() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// giveBack collects after each peak until ctx ends. What is needed after a peak is the level for the next.
func (m memory) giveBack(ctx context.Context) {
	tick := time.NewTicker(memoryLook)
	defer tick.Stop()
	level, allocated := m.held(), m.allocated()
	least := level
	for looks := 1; ; looks++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		before := allocated
		allocated = m.allocated()
		held := m.held()
		least = min(least, held)
		if looks%memoryRecall == 0 {
			level = least
		}
		if allocated-before < memoryQuiet && held > level+memorySlack {
			m.collect()
			held = m.held()
			level = held
		}
		level = min(level, held)
	}
}
