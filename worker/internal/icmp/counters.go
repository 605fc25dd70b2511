package icmp

import "sync/atomic"

// Counters are how many packets there have been since the start.
type Counters struct {
	Sent       uint64
	SendErrors uint64
	Received   uint64
	Unmatched  uint64 // received, but no answer to a live flow
	Dropped    uint64 // lost by the kernel for want of room in the sockets
}

type counters struct {
	sent, sendErrors, received, unmatched atomic.Uint64
	dropped4, dropped6                    atomic.Uint32
	// droppedDatagrams is of the flows that were closed.
	droppedDatagrams atomic.Uint64
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
		Dropped:    uint64(c.dropped4.Load()) + uint64(c.dropped6.Load()) + c.droppedDatagrams.Load(),
	}
}
