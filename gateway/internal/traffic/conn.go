package traffic

import (
	"context"
	"net"
	"sync/atomic"
)

// Conn is a connection whose bytes count for a run.
type Conn struct {
	net.Conn
	meter    *Meter
	overhead int
	held     bool
	refused  atomic.Bool // a write
}

// Count makes the bytes of a connection count for the run of the context. datagrams tells that each write is a packet.
func Count(ctx context.Context, over net.Conn, datagrams bool) net.Conn {
	m := meterOf(ctx)
	if m == nil {
		return over
	}
	c := &Conn{Conn: over, meter: m, overhead: tcpOverhead}
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

// Read fails with a *fault.Error of kind Upstream where too much has come, and of kind Limited after a write that did.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil && c.refused.Load() {
		return n, tooMuchSent()
	}
	if sum := c.meter.drawn.Add(int64(n)); c.held && sum > MaxDrawn {
		return 0, tooMuchDrawn()
	}
	return n, err
}
