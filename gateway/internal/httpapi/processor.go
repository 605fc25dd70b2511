package httpapi

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// processor tells what runs cost of processor time. The kernel counts it for the process alone, so what is used between
// two looks is shared evenly among the runs that are under way: exact for a run that is alone, but for what the process
// does besides. To look takes the kernel longer than many a run from memory, so it is done at the starts and ends of
// runs only where the last look is leastLook ago. A run that is shorter counts with the time that it took.
type processor struct {
	used func() time.Duration // by the process, since its start
	now  func() time.Time

	mu      sync.Mutex
	running int
	looked  time.Time
	last    time.Duration
	share   time.Duration // of a run that had been under way since the process began
}

// leastLook is half of the least bucket of the metric.
const leastLook = 250 * time.Microsecond

func newProcessor() *processor { return &processor{used: processorTime, now: time.Now} }

// started is the beginning of a run.
type started struct {
	at    time.Time
	share time.Duration
}

// begin gives the start of a run, which end takes.
func (p *processor) begin() started {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.shareOut()
	p.running++
	return started{now, p.share}
}

func (p *processor) end(s started) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.shareOut()
	p.running--
	if took := now.Sub(s.at); took < leastLook {
		return took
	}
	return p.share - s.share
}

// shareOut shares out what was used since the last look.
func (p *processor) shareOut() (now time.Time) {
	now = p.now()
	if now.Sub(p.looked) < leastLook {
		return now
	}
	used := p.used()
	if p.running > 0 {
		p.share += (used - p.last) / time.Duration(p.running)
	}
	p.last, p.looked = used, now
	return now
}

// processorTime is that of the process, of its own code and of the kernel's on its behalf.
func processorTime() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano())
}
