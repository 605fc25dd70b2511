package icmp

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"net/netip"

	"diagnostics/worker/internal/exchange"
)

const (
	udpHeader = 8
	tcpHeader = 20
	// tcpOptions are those of a Linux host's SYN, in its order: to filters a probe is a connection like any other.
	tcpOptions = 20
	tcpLength  = tcpHeader + tcpOptions

	// leastUDP is the payload of the shortest UDP probes; a flow's own are up to spreadUDP longer.
	leastUDP, spreadUDP = payloadLength, 64

	// sequenceGap lies between the sequence numbers of a flow's SYNs. They rise, as those of a new connection between the
	// same ports must (RFC 9293 section 3.4.3), or firewalls that follow connections drop them; and all lie within the
	// window of the first, so that a host that still waits for it to be closed answers the next (RFC 9293 section
	// 3.10.7.4).
	sequenceGap = 64

	// timestamp is where a SYN has its timestamp (RFC 7323), behind the options for segment size and selective ACKs.
	timestamp = tcpHeader + 4 + 2 + 2

	maxSegment4, maxSegment6 = 1460, 1440
)

// portIdentity is the unguessable part of the probes of a flow to a port. A probe is identified by its place in the
// flow: it determines a number in the IPv4 header, in the first octets of a UDP payload and so in the checksum, or the
// sequence number. ICMP errors quote the IP header and at least eight octets of a probe: the ports and, for UDP, length
// and checksum, or for TCP the sequence number. Most quote all of it, with the cookie: in TCP four octets of it, as the
// timestamp.
type portIdentity struct {
	protocol      exchange.Protocol
	local, remote uint16
	source, dst   netip.Addr // source is the zero Addr for IPv6, where the kernel does the checksum

	id       uint16
	tag      uint16
	sequence uint32
	cookie   cookie
	size     int // of a UDP payload
}

// newPortIdentity draws the rest for ports and addresses.
func newPortIdentity(p exchange.Probe, local uint16, source, dst netip.Addr) portIdentity {
	i := portIdentity{
		protocol: p.Protocol, local: local, remote: p.Port, source: source, dst: dst,
		// Past 0xffff a tag would have the checksum of another.
		id: uint16(random(1 << 16)), tag: uint16(random(1<<16 - 1<<10)), sequence: uint32(random(1 << 32)),
		size: leastUDP + random(spreadUDP),
	}
	if p.Size > 0 {
		i.size = p.Size - ipHeader(dst) - udpHeader
	}
	rand.Read(i.cookie[:])
	return i
}

// ipHeader is the length of the IP header of our packets to an address.
func ipHeader(dst netip.Addr) int {
	if dst.Is4() {
		return minIPv4Header
	}
	return ipv6Header
}

// ipID is the identification in the IPv4 header of a flow's nth probe. The kernel replaces 0.
func (i *portIdentity) ipID(n int) uint16 { return uint16(1 + (int(i.id)+n)%(1<<16-1)) }

// segment builds the nth probe of a flow, from the UDP or TCP header on. The checksum is filled in for IPv4; for IPv6
// the kernel does it, since it chooses the source address.
func (i *portIdentity) segment(n int) []byte {
	b, sum := i.datagram(n), 6
	if i.protocol == exchange.TCP {
		b, sum = i.syn(n), 16
	}
	binary.BigEndian.PutUint16(b, i.local)
	binary.BigEndian.PutUint16(b[2:], i.remote)
	if i.source.IsValid() {
		binary.BigEndian.PutUint16(b[sum:], i.checksum(b))
	}
	return b
}

// datagram builds a UDP probe but for ports and checksum (RFC 768).
func (i *portIdentity) datagram(n int) []byte {
	b := make([]byte, udpHeader+i.size)
	binary.BigEndian.PutUint16(b[4:], uint16(len(b)))
	binary.BigEndian.PutUint16(b[udpHeader:], i.tag+uint16(n))
	copy(b[udpHeader+2:], i.cookie[:])
	copy(b[udpHeader+provedLength:], signature[:])
	return b
}

// syn builds a TCP probe but for ports and checksum (RFC 9293 section 3.1).
func (i *portIdentity) syn(n int) []byte {
	b := make([]byte, tcpLength)
	binary.BigEndian.PutUint32(b[4:], i.sequence+uint32(n)*sequenceGap)
	b[12], b[tcpFlags] = tcpLength/4<<4, flagSYN
	binary.BigEndian.PutUint16(b[14:], 64240) // window
	segment := uint16(maxSegment6)
	if i.dst.Is4() {
		segment = maxSegment4
	}
	copy(b[tcpHeader:], []byte{2, 4, byte(segment >> 8), byte(segment), 4, 2, 8, 10})
	copy(b[timestamp:], i.cookie[:4])
	copy(b[timestamp+8:], []byte{1, 3, 3, 7}) // behind no timestamp to echo, a window scale of 7
	return b
}

// number is that of the protocol in an IP header.
func (i *portIdentity) number() byte {
	if i.protocol == exchange.TCP {
		return protocolTCP
	}
	return protocolUDP
}

// checksum is that of a segment between the flow's addresses, 0 standing for none in UDP (RFC 768).
func (i *portIdentity) checksum(segment []byte) uint16 {
	source, dst := i.source.As4(), i.dst.As4()
	pseudo := append(append(make([]byte, 0, 12+len(segment)), source[:]...), dst[:]...)
	pseudo = append(pseudo, 0, i.number(), byte(len(segment)>>8), byte(len(segment)))
	sum := checksum(append(pseudo, segment...))
	if sum == 0 && i.protocol == exchange.UDP {
		return 0xffff
	}
	return sum
}

// packet4 puts the IPv4 header before the nth probe. The kernel fills in its length and checksum (raw(7)).
func (i *portIdentity) packet4(n, ttl int) []byte {
	b := make([]byte, minIPv4Header, minIPv4Header+udpHeader+leastUDP+spreadUDP)
	b[0] = plainIPv4
	binary.BigEndian.PutUint16(b[4:], i.ipID(n))
	b[6] = 0x40 // do not fragment
	b[8], b[9] = byte(ttl), i.number()
	source, dst := i.source.As4(), i.dst.As4()
	copy(b[12:], source[:])
	copy(b[16:], dst[:])
	return append(b, i.segment(n)...)
}

// prove returns which of the sent probes a message is about, and how well it proves that. In IPv6 nothing passes
// without the cookie; see message.prove.
func (i *portIdentity) prove(m portMessage, sent int) (n int, p proof) {
	if m.protocol != i.protocol || m.local != i.local || m.remote != i.remote || m.peer != i.dst {
		return 0, unproved
	}
	switch {
	case m.kind == exchange.Reply:
		n, p = i.proveReply(m.segment)
	case i.protocol == exchange.TCP:
		n, p = i.proveSYN(m)
	default:
		n, p = i.proveDatagram(m, sent)
	}
	if n < 0 || n >= sent {
		return 0, unproved
	}
	return n, p
}

// proveDatagram judges an error that quotes a UDP probe.
func (i *portIdentity) proveDatagram(m portMessage, sent int) (n int, p proof) {
	if len(m.segment) >= udpHeader+provedLength &&
		bytes.Equal(m.segment[udpHeader+2:udpHeader+provedLength], i.cookie[:]) {
		return int(binary.BigEndian.Uint16(m.segment[udpHeader:]) - i.tag), proved
	}
	if !i.dst.Is4() {
		return 0, unproved
	}
	for n := range sent {
		if i.ipID(n) == m.id && bytes.Equal(i.segment(n)[:udpHeader], m.segment[:udpHeader]) {
			return n, short
		}
	}
	return 0, unproved
}

// proveSYN judges an error that quotes a SYN.
func (i *portIdentity) proveSYN(m portMessage) (n int, p proof) {
	n = i.numbered(binary.BigEndian.Uint32(m.segment[4:]))
	switch {
	case n < 0:
		return 0, unproved
	case len(m.segment) >= timestamp+4 && bytes.Equal(m.segment[timestamp:timestamp+4], i.cookie[:4]):
		return n, proved
	case i.dst.Is4() && m.id == i.ipID(n):
		return n, short
	default:
		return 0, unproved
	}
}

// proveReply judges a SYN-ACK or a RST, which acknowledges the number behind the SYN's (RFC 9293 section 3.10.7). A
// SYN-ACK may give the timestamp back.
func (i *portIdentity) proveReply(segment []byte) (n int, p proof) {
	if segment[tcpFlags]&flagACK == 0 {
		return 0, unproved
	}
	n = i.numbered(binary.BigEndian.Uint32(segment[8:]) - 1)
	switch {
	case n < 0:
		return 0, unproved
	case bytes.Equal(echoedTimestamp(segment), i.cookie[:4]):
		return n, proved
	default:
		return n, short
	}
}

// numbered is the place in the flow of the SYN with a sequence number; -1 for none.
func (i *portIdentity) numbered(sequence uint32) int {
	if past := sequence - i.sequence; past%sequenceGap == 0 {
		return int(past / sequenceGap)
	}
	return -1
}

// portMessage is what one received packet says about one UDP or TCP probe.
type portMessage struct {
	kind     exchange.Kind
	protocol exchange.Protocol
	// local and remote are the ports of the probe.
	local, remote uint16
	// peer is the destination that an ICMP error quotes, or who sent a TCP segment.
	peer netip.Addr
	// id is the identification in the IPv4 header that an ICMP error quotes.
	id uint16
	// segment is the TCP segment that came, or as much of the probe as an ICMP error quotes: eight octets at least.
	segment []byte
	labels  []exchange.Label
}

// parsePort4 reads an ICMP error that quotes a UDP or TCP probe; ok is false for every other message.
func parsePort4(p packet) (m portMessage, ok bool) {
	e, ok := parseError4(p.data, 0)
	return e.aboutPort(ok)
}

// parsePort6 is parsePort4 for ICMPv6.
func parsePort6(p packet) (m portMessage, ok bool) {
	e, ok := parseError6(p.data)
	return e.aboutPort(ok)
}

// aboutPort is the message that an error is about a UDP or TCP probe.
func (e icmpError) aboutPort(ok bool) (portMessage, bool) {
	protocol, known := map[byte]exchange.Protocol{protocolUDP: exchange.UDP, protocolTCP: exchange.TCP}[e.protocol]
	if !ok || !known || len(e.inner) < udpHeader {
		return portMessage{}, false
	}
	return portMessage{
		kind: e.kind, protocol: protocol, peer: e.dst, id: e.id, segment: e.inner, labels: e.labels,
		local: binary.BigEndian.Uint16(e.inner), remote: binary.BigEndian.Uint16(e.inner[2:]),
	}, true
}

// parseSegment reads a SYN-ACK or a RST; ok is false for every other segment. Its checksum is no
// matter: one that comes from the same machine has none (the card would fill it in), and none is accepted that does not
// acknowledge a probe.
func parseSegment(p packet) (m portMessage, ok bool) {
	b := p.data
	if len(b) < tcpHeader {
		return m, false
	}
	if flags := b[tcpFlags]; flags&flagRST == 0 && flags&(flagSYN|flagACK) != flagSYN|flagACK {
		return m, false
	}
	return portMessage{
		kind: exchange.Reply, protocol: exchange.TCP, peer: p.source, segment: b,
		local: binary.BigEndian.Uint16(b[2:]), remote: binary.BigEndian.Uint16(b),
	}, true
}

// echoedTimestamp is the timestamp that a segment gives back (RFC 7323 section 3.2); nil for none.
func echoedTimestamp(segment []byte) []byte {
	const end, noOperation, timestamps = 0, 1, 8
	length := min(int(segment[12]>>4)*4, len(segment))
	if length < tcpHeader {
		return nil
	}
	for o := segment[tcpHeader:length]; len(o) > 0; {
		switch {
		case o[0] == end:
			return nil
		case o[0] == noOperation:
			o = o[1:]
		case len(o) < 2 || o[1] < 2 || int(o[1]) > len(o):
			return nil
		case o[0] == timestamps && o[1] == 10:
			return o[6:10]
		default:
			o = o[o[1]:]
		}
	}
	return nil
}
