package icmp

import (
	"net"
	"net/netip"
	"sync"
	"time"
	"unsafe"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/sys/unix"
)

// datagramFlow implements exchange.Flow on a datagram socket of its own.
type datagramFlow struct {
	network *datagrams
	dst     netip.Addr
	to      unix.Sockaddr
	identity
	label   []byte // control message of the IPv6 flow label; nil for IPv4
	deliver func(exchange.Answer)
	forged  *suspicion
	key     uint64 // in the poller

	// mu keeps the descriptor from being closed, and so from becoming another flow's, while it is used.
	mu     sync.Mutex
	fd     int
	ttl    int // as set on the socket; 0 for the system's own
	closed bool
}

// Close implements exchange.Flow.
func (f *datagramFlow) Close() {
	f.network.poller.remove(f)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.closed = true
	f.network.counters.droppedDatagrams.Add(uint64(drops(f.fd)))
	unix.Close(f.fd)
	f.network.pool.give(f.id)
}

// drops is how many packets a socket lost for want of room (SO_MEMINFO); 0 where the system does not tell. x/sys has no
// getsockopt for numbers in a row.
func drops(fd int) uint32 {
	var info [unix.SK_MEMINFO_VARS]uint32
	length := uint32(unsafe.Sizeof(info))
	_, _, failed := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&length)), 0) // #nosec G103 -- length is the size of info
	if failed != 0 {
		return 0
	}
	return info[unix.SK_MEMINFO_DROPS]
}

// Send implements exchange.Flow.
func (f *datagramFlow) Send(seq uint16, ttl int) (time.Time, error) {
	packet := f.request(f.network.protocol.requestType, seq)
	return f.network.counters.sendProbe(ttl, func() (time.Time, error) { return f.attempt(packet[:], ttl) })
}

// attempt sends a packet with a TTL. The TTL is the socket's, since kernels before 5.18 take none along with an IPv6
// packet.
func (f *datagramFlow) attempt(packet []byte, ttl int) (time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return time.Time{}, net.ErrClosed
	}
	if f.ttl != ttl {
		p := f.network.protocol
		if err := unix.SetsockoptInt(f.fd, p.level, p.ttlOption, ttl); err != nil {
			return time.Time{}, err
		}
		f.ttl = ttl
	}
	return sendLabelled(f.label, &f.network.unlabelled, func(label []byte) (time.Time, error) {
		return f.leave(packet, label)
	})
}

// leave sends a packet. Of IPv6 Linux counts a send that failed because of an error of an earlier packet as a packet
// that was dropped (see dropped6).
func (f *datagramFlow) leave(packet, control []byte) (time.Time, error) {
	at, past, err := sendPastErrors(f.fd, packet, control, f.to)
	if f.dst.Is6() {
		f.network.counters.past6.Add(past)
	}
	return at, err
}

// buffers hold one received packet.
type buffers struct{ data, control []byte }

func newBuffers() buffers {
	return buffers{make([]byte, packetSize), make([]byte, errorSpace)}
}

// datagram is what one call gave: data and control messages within the buffers.
type datagram struct {
	data, control []byte
	from          unix.Sockaddr
}

// receive reads what has come, first the error queue and then the replies, and delivers what answers the flow. What is
// left over after a batch makes the poller call again.
func (f *datagramFlow) receive(b buffers) {
	for _, flags := range []int{unix.MSG_ERRQUEUE, 0} {
		for range batchSize {
			d, got := f.take(b, flags)
			if !got {
				break
			}
			f.network.counters.received.Add(1)
			f.network.counters.guard(func() { f.dispatch(d, flags) })
		}
	}
}

// take reads one packet; got is false where there is none.
func (f *datagramFlow) take(b buffers, flags int) (d datagram, got bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return d, false
	}
	for range pendingTries {
		n, controls, _, from, err := unix.Recvmsg(f.fd, b.data, b.control, flags|unix.MSG_DONTWAIT)
		if isPending(err) {
			continue
		}
		if err != nil {
			return d, false
		}
		return datagram{b.data[:n], b.control[:controls], from}, true
	}
	return d, false
}

// dispatch delivers a packet that answers the flow.
func (f *datagramFlow) dispatch(d datagram, flags int) {
	now := time.Now()
	a, ok := f.network.protocol.read(d, flags)
	if !ok {
		f.network.counters.unmatched.Add(1)
		return
	}
	switch p := a.prove(f.dst, f.identity); {
	case p == unproved:
		f.network.counters.unmatched.Add(1)
		f.unmatched(a.message, now)
	case !p.believed(now, f.forged, f.network.forged):
		f.network.counters.doubted.Add(1)
	default:
		f.deliver(a.answer(f.identity, now))
	}
}

// unmatched takes note of a message that does not answer the flow.
func (f *datagramFlow) unmatched(m message, now time.Time) {
	if m.kind != exchange.Reply {
		f.forged.note(now)
		f.network.forged.note(now)
	}
}

// read reports whether a packet is an ICMP message that answers some request.
func (p datagramProtocol) read(d datagram, flags int) (a arrived, ok bool) {
	a.kernel = parseControl(d.control)
	if flags == unix.MSG_ERRQUEUE {
		ok = a.readError(p, d.data, d.control, address(d.from))
		return a, ok
	}
	a.source, a.ttl = address(d.from), a.kernel.hopLimit
	a.message, ok = p.parse(d.data)
	return a, ok && a.source.IsValid()
}
