package conns

import (
	"container/list"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

type state int

const (
	fresh state = iota // not in the table yet
	waiting
	busy
	answering
	gone
)

// Conn is a connection of a Table.
type Conn struct {
	net.Conn
	table *Table
	// control is the socket itself, nil where there is none.
	control syscall.RawConn
	// from is the peer that it counts for; shared is true where the peer may carry many clients.
	from   netip.Prefix
	shared bool
	// until is the deadline that the server set for writing; nil is none.
	until atomic.Pointer[time.Time]
	// unknown is how much was written since the kernel last reported an empty queue.
	unknown int

	// These are the table's, under its lock. The elements are nil where the connection is not in the list.
	state                   state
	inState, ofPeer, inPart *list.Element
	received                int // bytes of the request that have arrived
}

// Read counts what has arrived of a request until it is complete.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.table.receive(c, n)
	}
	return n, err
}

// Receiving marks that a request is still on its way, though its headers are here: they count again, and the
// connection may have to make room.
func (c *Conn) Receiving() {
	if c != nil {
		c.table.becomeReading(c)
	}
}

// Received marks that the request is whole, and is worked on.
func (c *Conn) Received() {
	if c != nil {
		c.table.move(c, busy)
	}
}

// Answering marks that the answer is ready; it must be written within the limit.
func (c *Conn) Answering(limit time.Duration) {
	if c != nil {
		c.table.move(c, answering)
		_ = c.SetWriteDeadline(time.Now().Add(limit))
	}
}

// TakesAtOnce reports whether a write of n bytes does not block, whether the reader reads or not: what was written
// before and is not yet acknowledged leaves that much room in what the kernel takes. Where that cannot be determined
// it is false. Only the writer may call it.
func (c *Conn) TakesAtOnce(n int) bool {
	if c == nil || c.control == nil || n > mostAtOnce {
		return false
	}
	if c.unknown+n <= mostAtOnce {
		return true
	}
	if !acknowledged(c.control) {
		return false
	}
	c.unknown = 0
	return true
}

// mostAtOnce is what the kernel takes into an empty queue: Linux's send buffer begins with twice as much (tcp(7)), of
// which some is the kernel's own, for each write leastWrite.
const (
	mostAtOnce = 8 << 10
	leastWrite = 1 << 10
)

// Write writes all of p as long as the reader reads. A reader who takes nothing for Limits.Stall, or not all before the
// deadline, is cut off: the error is os.ErrDeadlineExceeded.
func (c *Conn) Write(p []byte) (int, error) {
	now := time.Now()
	written, progress := 0, now
	c.unknown += max(len(p), leastWrite)
	for {
		// Only when a deadline has passed is it seen whether the reader takes anything at all.
		deadline := now.Add(c.table.limits.Stall / 10)
		until := c.until.Load()
		if until != nil && until.Before(deadline) {
			deadline = *until
		}
		if err := c.Conn.SetWriteDeadline(deadline); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(p[written:])
		written += n
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return written, err
		}
		if now = time.Now(); n > 0 {
			progress = now
		}
		if now.Sub(progress) >= c.table.limits.Stall || until != nil && !now.Before(*until) {
			c.cut()
			return written, err
		}
	}
}

// cut makes the end of the connection drop at once what has not been read.
func (c *Conn) cut() {
	c.table.mu.Lock()
	c.table.counts.Cut++
	c.table.mu.Unlock()
	dropOnClose(c.Conn)
}

// SetWriteDeadline sets when an answer must be written at the latest.
func (c *Conn) SetWriteDeadline(at time.Time) error {
	if at.IsZero() {
		c.until.Store(nil)
	} else {
		c.until.Store(&at)
	}
	return nil
}

// SetDeadline sets both deadlines.
func (c *Conn) SetDeadline(at time.Time) error {
	_ = c.SetWriteDeadline(at) // which cannot fail
	return c.SetReadDeadline(at)
}

// CloseWrite ends our half of the connection, which net/http does before it drops a request's rest.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close ends the connection, and gives its place back.
func (c *Conn) Close() error {
	c.table.mu.Lock()
	c.table.remove(c)
	c.table.mu.Unlock()
	return c.Conn.Close()
}

// abort ends a connection with a reset: nothing is kept for it.
func abort(raw net.Conn) {
	dropOnClose(raw)
	_ = raw.Close()
}

func dropOnClose(raw net.Conn) {
	if tcp, ok := raw.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}
