package shortage

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"diagnostics/shared/parallel"
)

const (
	// beat is how often the wait for the processor is measured.
	beat = 20 * time.Millisecond
	// leastDelay is the shortest delay that counts: those of a busy, healthy host are shorter.
	leastDelay = 25 * time.Millisecond
	// maxDelays covers the longest run, even if every beat is late.
	maxDelays = 1024
	// decisiveShare is the part of a wait that delays must reach before its timeout is this host's fault.
	decisiveShare = 4
)

// Processor measures how long this process waits for processor time, whatever takes it away: other programs, a control
// group's limit, a suspended virtual machine, or more runs than the processor can serve. It is safe for concurrent use.
type Processor struct {
	stop chan struct{}
	done *parallel.Pending[struct{}]

	mu     sync.Mutex
	due    time.Time         // when the beat under way should end
	delays [maxDelays]period // a ring
	next   int               // in delays
}

// period is a time in which this process was ready to run and did not.
type period struct{ from, to time.Time }

// WatchProcessor begins to measure, until Close.
func WatchProcessor() *Processor {
	p := &Processor{stop: make(chan struct{}), due: time.Now().Add(beat)}
	p.done = parallel.Start(p.watch)
	return p
}

// Close ends the measurement.
func (p *Processor) Close() {
	close(p.stop)
	p.done.Wait()
}

// watch measures one beat after another. The scheduler runs the goroutine of a timer first, and queues one whose socket
// has become readable behind all others. Gosched queues this one there too, so that its delay is that of a reply.
func (p *Processor) watch() (none struct{}) {
	timer := time.NewTimer(beat)
	defer timer.Stop()
	for {
		select {
		case <-p.stop:
			return none
		case <-timer.C:
		}
		runtime.Gosched()
		p.record(time.Now())
		timer.Reset(beat)
	}
}

// record ends a beat.
func (p *Processor) record(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.due) >= leastDelay {
		p.delays[p.next] = period{p.due, now}
		p.next = (p.next + 1) % maxDelays
	}
	p.due = now.Add(beat)
}

// Delay returns how much of the time since then this process has waited for the processor. A beat that is late at this
// moment counts too: the goroutine that noticed a timeout may run before that of the watch.
func (p *Processor) Delay(since time.Time) time.Duration { return p.delay(since, time.Now()) }

func (p *Processor) delay(since, now time.Time) (sum time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if late := now.Sub(p.due); late >= leastDelay {
		sum = min(late, now.Sub(since))
	}
	for i := range maxDelays {
		d := p.delays[(p.next+maxDelays-1-i)%maxDelays]
		if !d.to.After(since) { // also an unused one
			break
		}
		if d.from.Before(since) {
			d.from = since
		}
		sum += d.to.Sub(d.from)
	}
	return sum
}

// Delay returns how much of the time since then this process has waited for processor time; nil is never.
type Delay func(since time.Time) time.Duration

// Since returns the delay since then, also for nil.
func (d Delay) Since(since time.Time) time.Duration {
	if d == nil {
		return 0
	}
	return d(since)
}

// Starved reports whether a wait that began then and ends now says nothing about the other side: for so much of it did
// this process lack the processor that an answer may well have come in time.
func (d Delay) Starved(since time.Time) bool {
	delay := d.Since(since)
	return delay > 0 && decisiveShare*delay >= time.Since(since)
}

// Fault returns the failure to report if a wait that began then has ended in a timeout and was Starved, else nil.
func (d Delay) Fault(since time.Time, timeout error) error {
	if !d.Starved(since) {
		return nil
	}
	f := Fault(fmt.Errorf("no processor time for %v of %v: %w", d.Since(since), time.Since(since), timeout))
	f.Code = "OVERLOADED_HERE"
	return f
}
