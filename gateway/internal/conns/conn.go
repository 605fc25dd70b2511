package conns

import (
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
	// from is whom it counts for; shared is a peer that may carry many visitors.
	from   netip.Prefix
	shared bool
	// until is the deadline that the server set for writing, by Table.clock; 0 is none.
	until atomic.Int64
	// armed is the deadline that the socket has for writing, by Table.clock; one writes at a time.
	armed int64
	// unknown is how much was written since the kernel was last known to have none of it.
	unknown int
	reading readDeadline

	// These are the table's, under its lock.
	state state
	links [orders]links
	// received is how much of a request is here; begun tells that it counts, while more is awaited.
	received int
	begun    bool
}

// Read counts what is here of a request until it is whole.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.read(p)
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
		c.until.Store(c.table.clock(time.Now().Add(limit)))
	}
}

// TakesAtOnce reports whether a write of n bytes waits for nobody: what was written before and is still on its way to
// the reader leaves that much room in what the kernel takes, whether the reader reads or not. Where that cannot be
// known it is false. Whoever writes calls it.
func (c *Conn) TakesAtOnce(n int) bool {
	if c == nil || c.control == nil || n > mostAtOnce {
		return false
	}
	if c.unknown+n <= mostAtOnce {
		return true // without asking the kernel, which takes as long as much of a small answer
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

// Write writes all of p as long as the reader reads. One who takes nothing for Limits.Stall, or not all until the
// deadline, is cut off: the error is os.ErrDeadlineExceeded.
func (c *Conn) Write(p []byte) (int, error) {
	now := time.Now()
	written, progress := 0, now
	c.unknown += max(len(p), leastWrite)
	for {
		n, err := c.writeFor(p[written:], c.table.limits.Stall/10, now)
		written += n
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return written, err
		}
		if now = time.Now(); n > 0 {
			progress = now
		}
		if now.Sub(progress) >= c.table.limits.Stall || c.late(now) {
			c.cut()
			return written, err
		}
	}
}

// writeFor is one part of the wait: only between two parts is it seen whether the reader takes anything at all. Most
// writes wait for nobody, so a deadline that is far enough ahead serves the next ones too: the part is shorter then.
func (c *Conn) writeFor(p []byte, part time.Duration, now time.Time) (int, error) {
	at := c.table.clock(now)
	deadline := at + int64(part)
	if until := c.until.Load(); until != 0 {
		deadline = min(deadline, until)
	}
	if c.armed > deadline || c.armed < min(deadline, at+int64(part/2)) {
		if err := c.Conn.SetWriteDeadline(c.table.began.Add(time.Duration(deadline))); err != nil {
			return 0, err
		}
		c.armed = deadline
	}
	return c.Conn.Write(p)
}

func (c *Conn) late(now time.Time) bool {
	until := c.until.Load()
	return until != 0 && c.table.clock(now) >= until
}

// cut makes the end of the connection one that drops at once what nobody reads.
func (c *Conn) cut() {
	c.table.mu.Lock()
	c.table.counts.Cut++
	c.table.mu.Unlock()
	dropOnClose(c.Conn)
}

// SetWriteDeadline sets when an answer must be written at the latest.
func (c *Conn) SetWriteDeadline(at time.Time) error {
	if at.IsZero() {
		c.until.Store(0)
		return nil
	}
	c.until.Store(c.table.clock(at))
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
