package httpapi

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// processor tells what runs cost of processor time. The kernel counts it for the process alone, so what is used between
// two starts or ends of runs is shared evenly among those that were under way: exact for a run that is alone, but for
// what the process does besides.
type processor struct {
	used func() time.Duration // by the process, since its start

	mu      sync.Mutex
	running int
	last    time.Duration
	share   time.Duration // of a run that had been under way since the process began
}

func newProcessor() *processor { return &processor{used: processorTime} }

// begin gives the share of a run that begins now, which end takes.
func (p *processor) begin() (start time.Duration) {
	now := p.used()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell(now)
	p.running++
	return p.share
}

// end gives what a run cost.
func (p *processor) end(start time.Duration) time.Duration {
	now := p.used()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell(now)
	p.running--
	return p.share - start
}

// tell shares out what was used since the last start or end. The kernel is asked before the lock is taken, or all runs
// would wait for one that loses its processor while it asks; who asked before the last one comes too late to add to it.
func (p *processor) tell(now time.Duration) {
	if now <= p.last {
		return
	}
	if p.running > 0 {
		p.share += (now - p.last) / time.Duration(p.running)
	}
	p.last = now
}

// processorTime is that of the process, of its own code and of the kernel's on its behalf.
func processorTime() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano())
}
