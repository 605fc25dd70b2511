package traffic

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

// Conn is a connection whose bytes count for a run.
type Conn struct {
	net.Conn
	meter    *Meter
	overhead int
	held     bool
	refused  atomic.Bool // what was to be sent

	// What the kernel has sent of its own is looked up from time to time.
	control syscall.RawConn // nil for datagrams, and where the kernel does not tell
	header  int64
	fresh   int // octets read since then
	reads   int
	mu      sync.Mutex
	counted int64 // packets
}

// The kernel is asked after so many octets, or so many reads.
const (
	octetsPerLook = 8 << 10
	readsPerLook  = 32
)

// Count makes the bytes of a connection count for the run of the context. datagrams tells that each write is a packet.
func Count(ctx context.Context, over net.Conn, datagrams bool) net.Conn {
	m := meterOf(ctx)
	if m == nil {
		return over
	}
	c := &Conn{Conn: over, meter: m, overhead: tcpOverhead}
	if datagrams {
		c.overhead = udpOverhead
		return c
	}
	if socket, ok := over.(syscall.Conn); ok {
		c.control, _ = socket.SyscallConn()
		c.header = headerOf(over.RemoteAddr())
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
	if sum := c.meter.sent.Add(cost); c.held && (sum > MaxSent || sum+c.meter.answered.Load() > maxWire) {
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
	if c.fresh, c.reads = c.fresh+n, c.reads+1; c.fresh >= octetsPerLook || c.reads >= readsPerLook {
		c.fresh, c.reads = 0, 0
		if follows := c.look(); c.held && c.meter.sent.Load()+c.meter.answered.Load()+follows > maxWire {
			c.refused.Store(true)
			_ = c.Close()
			return 0, tooMuchSent()
		}
	}
	return n, err
}

// Close counts the last of what the kernel has sent.
func (c *Conn) Close() error {
	c.look()
	return c.Conn.Close()
}

// look counts what the kernel has sent of its own since the last time, and tells how many bytes may follow if the
// connection ends now: a packet for each that is under way. Small ones are many.
func (c *Conn) look() (follows int64) {
	if c.control == nil {
		return 0
	}
	seen, ok := kernelOf(c.control)
	if !ok {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if more := seen.answers - dialPackets - c.counted; more > 0 {
		c.counted += more
		c.meter.answered.Add(more * c.header)
	}
	return seen.underWay * c.header
}

// kernel is what the kernel tells of a connection.
type kernel struct {
	answers  int64 // packets sent without data: acknowledgements, mostly
	underWay int64 // packets that the other side may have sent and that have not come, at their usual size
}

// headerOf is the length of a packet without data: the headers of IP, and of TCP with timestamps.
func headerOf(remote net.Addr) int64 {
	if tcp, ok := remote.(*net.TCPAddr); ok && tcp.IP.To4() != nil {
		return 52
	}
	return 72
}
