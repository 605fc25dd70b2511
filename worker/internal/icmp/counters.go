package icmp

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"diagnostics/shared/parallel"
	"diagnostics/shared/redact"
)

// Counters are how many packets there have been since the start.
type Counters struct {
	Sent       uint64
	SendErrors uint64
	Received   uint64
	Unmatched  uint64 // received, but no answer to a live flow
	Doubted    uint64 // received, but quoted too little to be believed while forged ones came
	Dropped    uint64 // lost by the kernel for want of room in the sockets
	Panics     uint64 // panics while packets were read
}

type counters struct {
	sent, sendErrors, received, unmatched, doubted atomic.Uint64
	dropped4, dropped6                             atomic.Uint32
	// droppedDatagrams is of the flows that were closed.
	droppedDatagrams atomic.Uint64
	// past6 is how many sends of IPv6 datagrams met an error of an earlier packet and were repeated.
	past6 atomic.Uint64

	panics     atomic.Uint64
	firstPanic sync.Once
	log        *slog.Logger
}

// guard calls what reads one packet. A packet that makes it panic is dropped and counted; the reader goes on, for all
// other flows depend on it. Only the first is logged: whoever sends one can send a thousand a second.
func (c *counters) guard(read func()) {
	if p := parallel.Catch(read); p != nil {
		c.note(p)
	}
}

// keepReading runs a family's one reader until it is closed. A panic outside of a packet must not end it: every flow
// would hear nothing from then on, and take that for loss.
func (c *counters) keepReading(read func()) {
	for {
		p := parallel.Catch(read)
		if p == nil {
			return
		}
		c.note(p)
		time.Sleep(readPause)
	}
}

func (c *counters) note(p *parallel.Panic) {
	c.panics.Add(1)
	c.firstPanic.Do(func() {
		c.log.Error("reading packets panicked; the next time is only counted",
			"panic", redact.Text(fmt.Sprint(p.Value)), "stack", string(p.Stack))
	})
}

// noteDropped keeps a socket's own count, which the kernel attaches to packets only once it is above zero.
func (c *counters) noteDropped(requestType byte, dropped uint32) {
	if dropped == 0 {
		return
	}
	if requestType == v4EchoRequest {
		c.dropped4.Store(dropped)
		return
	}
	c.dropped6.Store(dropped)
}

// Counters gives the present counts.
func (e *Engine) Counters() Counters {
	c := &e.counters
	return Counters{
		Sent:       c.sent.Load(),
		SendErrors: c.sendErrors.Load(),
		Received:   c.received.Load(),
		Unmatched:  c.unmatched.Load(),
		Doubted:    c.doubted.Load(),
		Dropped:    uint64(c.dropped4.Load()) + uint64(c.dropped6.Load()) + c.droppedDatagrams.Load() + e.ports.dropped(),
		Panics:     c.panics.Load(),
	}
}
