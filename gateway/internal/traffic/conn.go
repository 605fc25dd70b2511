package traffic

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"
)

// Conn is a connection whose bytes count for a run.
type Conn struct {
	net.Conn
	meter    *Meter
	share    *share
	overhead int
	held     bool
	narrowed bool
	refused  atomic.Bool // a write
	closed   atomic.Bool
}

// Count makes the bytes of a connection count for the run of the context. datagrams tells that each write is a packet.
func Count(ctx context.Context, over net.Conn, datagrams bool) net.Conn {
	m := meterOf(ctx)
	if m == nil {
		return over
	}
	part, _ := ctx.Value(shareKey{}).(*share)
	c := &Conn{Conn: over, meter: m, share: part, overhead: tcpOverhead}
	if datagrams {
		c.overhead = udpOverhead
	}
	return c
}

// Hold makes a connection that counts fail once its run has sent or drawn too much. It is not for what several runs may
// wait for together, such as lookups: the bound of one would be the failure of all. It is called before the first byte.
func Hold(conn net.Conn) {
	if over, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = over.NetConn()
	}
	if c, ok := conn.(*Conn); ok {
		c.held = true
		if c.share != nil {
			c.share.open.Add(1)
		}
	}
}

// Close closes the connection.
func (c *Conn) Close() error {
	if !c.closed.Swap(true) && c.held && c.share != nil {
		c.share.open.Add(-1)
	}
	return c.Conn.Close()
}

// lastWindow is what is offered to a server that may have sent all that is wanted of it.
const lastWindow = 16 << 10

// narrow offers no more than lastWindow from now on. Nothing that was offered is taken back, so nothing is lost. Where
// the system cannot, more is drawn.
func narrow(conn net.Conn) {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return
	}
	if control, err := socket.SyscallConn(); err == nil {
		_ = control.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, windowClamp, lastWindow)
		})
	}
}

// Write counts what it sends. It fails as Room does, and the reading then as well: whoever reads would wait for what
// the other side was to be told.
func (c *Conn) Write(p []byte) (int, error) {
	packets := (len(p) + payload - 1) / payload
	cost := int64(len(p) + packets*c.overhead)
	if sum := c.meter.sent.Add(cost); c.held && sum > MaxSent {
		c.meter.sent.Add(-cost)
		c.refused.Store(true)
		_ = c.Close()
		return 0, tooMuchSent()
	}
	return c.Conn.Write(p)
}

// Read fails with a *fault.Error of kind Upstream where too much has come, of kind Limited after a write that was
// refused, and with that of WithShare.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil && c.refused.Load() {
		return n, tooMuchSent()
	}
	if sum := c.meter.drawn.Add(int64(n)); c.held && sum > MaxDrawn {
		return 0, tooMuchDrawn()
	}
	if c.held && c.share != nil {
		last, full := c.share.draw(n)
		if full != nil {
			return 0, full
		}
		if last && !c.narrowed {
			c.narrowed = true
			narrow(c.Conn)
		}
	}
	return n, err
}
