package icmp

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"strconv"
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

// dropped6 counts the packets of IPv6 that this host itself has dropped instead of sending them. Linux tells an ICMPv6
// datagram socket nothing of such a one (ping_v6_sendmsg). It counts one as well where a send fails with the ICMP error
// that came for an earlier packet (ip6_append_data): those are taken off again, see droppedBut.
type dropped6 struct{ file *os.File }

// droppedBut takes off what the kernel counts and nothing was lost by. What is taken off is read last, as it is counted
// last.
func droppedBut(dropped, others func() uint64) func() uint64 {
	return func() uint64 {
		all := dropped()
		return all - others()
	}
}

// openDropped6 opens the counters of the network namespace. Where there are none, none are dropped.
func openDropped6() dropped6 {
	file, _ := os.Open("/proc/thread-self/net/snmp6")
	return dropped6{file}
}

// now gives the present count.
func (d dropped6) now() uint64 {
	b := make([]byte, 16<<10)
	n, _ := d.file.ReadAt(b, 0) // what is there ends in an EOF; of no file nothing is read
	return outDiscards(b[:n])
}

// outDiscards finds the count among lines of a name and a number each.
func outDiscards(text []byte) uint64 {
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) == 2 && string(f[0]) == "Ip6OutDiscards" {
			count, _ := strconv.ParseUint(string(f[1]), 10, 64)
			return count
		}
	}
	return 0
}

func (d dropped6) close() { _ = d.file.Close() }
