package traffic

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"syscall"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress/budget/processor"
)

// Conn is a connection whose bytes count for a run.
type Conn struct {
	net.Conn
	meter    *Meter
	work     *processor.Meter
	share    *share
	overhead int
	held     bool
	narrowed bool
	refused  atomic.Bool // what was to be sent
	closed   atomic.Bool

	// What the kernel has sent of its own is looked up from time to time.
	control syscall.RawConn // nil for datagrams, and where the kernel has no figures
	header  int64
	fresh   int // octets read since then
	reads   int
	mu      sync.Mutex
	counted int64 // packets
}

// The kernel is queried after so many octets, or so many reads.
const (
	octetsPerLook = 8 << 10
	readsPerLook  = 32
)

// Count makes the bytes of a connection count for the run of the context. datagrams means that each write is a packet.
func Count(ctx context.Context, over net.Conn, datagrams bool) net.Conn {
	m := meterOf(ctx)
	if m == nil {
		return over
	}
	part, _ := ctx.Value(shareKey{}).(*share)
	c := &Conn{Conn: over, meter: m, work: processor.Of(ctx), share: part, overhead: tcpOverhead}
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

// Hold makes a connection that counts fail once its run has sent or received too much. It is not for what several runs
// may wait for together, such as lookups: the bound of one would be the failure of all. It is called before the first
// byte.
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

// Close closes the connection, and counts the last of what the kernel has sent.
func (c *Conn) Close() error {
	c.look()
	if !c.closed.Swap(true) && c.held && c.share != nil {
		c.share.open.Add(-1)
	}
	return c.Conn.Close()
}

// lastWindow is what is offered to a server that may have sent all that is wanted of it.
const lastWindow = 16 << 10

// narrow offers no more than lastWindow from now on. Nothing that was offered is taken back, so nothing is lost. Where
// the system cannot, more is received.
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

// Write counts what it sends. It fails as Room does, and the reading then as well: a reader would wait for the answer
// to what was not sent.
func (c *Conn) Write(p []byte) (int, error) {
	packets := (len(p) + payload - 1) / payload
	cost := int64(len(p) + packets*c.overhead)
	if sum := c.meter.sent.Add(cost); c.held && (sum > MaxSent || sum+c.meter.answered.Load() > maxWire) {
		c.meter.sent.Add(-cost)
		c.refused.Store(true)
		_ = c.Close()
		return 0, tooMuchSent()
	}
	c.meter.totals.sent.Add(cost)
	return c.Conn.Write(p)
}

// Read fails with a *fault.Error of kind Upstream where too much has come, of kind Limited after a write that was
// refused, with that of WithShare, and with that of processor.Meter where the run has cost too much.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil && c.refused.Load() {
		return n, tooMuchSent()
	}
	if full := c.work.SpendTime(weight.Read.Cost + weight.Received.Of(n)); full != nil && c.held {
		return 0, full
	}
	c.meter.totals.received.Add(int64(n))
	if sum := c.meter.received.Add(int64(n)); c.held && sum > MaxReceived {
		return 0, tooMuchDrawn()
	}
	if c.answersTooMuch(n) {
		c.refused.Store(true)
		_ = c.Close()
		return 0, tooMuchSent()
	}
	if full := c.drawShare(n); full != nil {
		return 0, full
	}
	return n, err
}

// answersTooMuch reports whether what the kernel sends in answer to what is read passes the bound.
func (c *Conn) answersTooMuch(n int) bool {
	if c.fresh, c.reads = c.fresh+n, c.reads+1; c.fresh < octetsPerLook && c.reads < readsPerLook {
		return false
	}
	c.fresh, c.reads = 0, 0
	follows := c.look()
	return c.held && c.meter.sent.Load()+c.meter.answered.Load()+follows > maxWire
}

// drawShare counts what was read against WithShare's bound, and takes no more than it must near its end.
func (c *Conn) drawShare(n int) error {
	if !c.held || c.share == nil {
		return nil
	}
	last, full := c.share.draw(n)
	if full == nil && last && !c.narrowed {
		c.narrowed = true
		narrow(c.Conn)
	}
	return full
}

// look counts what the kernel has sent of its own since the last time, and returns how many bytes may follow if the
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
		c.meter.totals.sent.Add(more * c.header)
	}
	return seen.underWay * c.header
}

// kernel holds the kernel's figures of a connection.
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
