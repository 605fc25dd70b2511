package icmp

import (
	"encoding/binary"
	"net/netip"
	"time"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// arrived is a received message with what its IP header and the kernel tell of it.
type arrived struct {
	message
	source netip.Addr
	ttl    int
	kernel received
}

// dispatch gives one received packet to the flow that it answers.
func (s *socket) dispatch(now time.Time, m ipv4.Message) {
	s.counters.received.Add(1)
	a, ok := s.receive(s, m)
	s.counters.noteDropped(s.requestType, a.kernel.dropped)
	if !ok {
		s.counters.unmatched.Add(1)
		return
	}
	f, p := s.flows.owner(a.message)
	switch {
	case f == nil:
		s.counters.unmatched.Add(1)
		s.flows.unmatched(a.message, now)
	case !p.believed(now, f.forged, s.flows.forged):
		s.counters.doubted.Add(1)
	default:
		f.deliver(a.answer(f.identity, now))
	}
}

// answer is the message as the flow is told of it; now is the moment at which it was read.
func (a arrived) answer(i identity, now time.Time) exchange.Answer {
	return exchange.Answer{Seq: i.seq(a.seq), Kind: a.kind, From: a.source, TTL: a.ttl, At: arrival(now, a.kernel.stamp),
		Labels: a.labels}
}

// receive4 reads a packet of the IPv4 socket. A raw IPv4 socket is served before the kernel verifies the ICMP checksum
// (RFC 792), so that is done here, as far as the packet was read whole.
func (s *socket) receive4(m ipv4.Message) (arrived, bool) {
	a := arrived{kernel: parseControl(m.OOB[:m.NN])}
	p, ok := splitIPv4(m.Buffers[0][:m.N])
	if !ok || m.Flags&unix.MSG_TRUNC == 0 && checksum(p.icmp) != 0 {
		return a, false
	}
	a.source, a.ttl = p.source, p.ttl
	a.message, ok = parse4(p.icmp)
	return a, ok
}

// receive6 reads a packet of the IPv6 socket.
func (s *socket) receive6(m ipv4.Message) (arrived, bool) {
	a := arrived{kernel: parseControl(m.OOB[:m.NN])}
	var ok bool
	if a.source, ok = sender6(m); !ok {
		return a, false
	}
	a.ttl = a.kernel.hopLimit
	a.message, ok = parse6(m.Buffers[0][:m.N])
	return a, ok
}

// message is what one received ICMP packet says about one echo request.
type message struct {
	kind    exchange.Kind
	id, seq uint16
	// sum is the checksum that the message has, or that of the request which an ICMP error quotes.
	sum uint16
	// quoted is the destination of the request that an ICMP error quotes; the zero Addr for an echo reply.
	quoted netip.Addr
	// payload is that of an echo reply, or as much as an ICMP error quotes of the request's.
	payload []byte
	// labels is the MPLS label stack that an ICMP error tells (extensions.go).
	labels []exchange.Label
}

// readEcho reports whether this is an echo message of a type, and reads the part that both families share: the ICMP
// header of an echo message and what follows it.
func (m *message) readEcho(b []byte, typ byte) bool {
	if len(b) < headerLength || b[0] != typ || b[1] != 0 {
		return false
	}
	m.sum = binary.BigEndian.Uint16(b[2:])
	m.id = binary.BigEndian.Uint16(b[4:])
	m.seq = binary.BigEndian.Uint16(b[6:])
	m.payload = b[headerLength:]
	return true
}
