package icmp

import (
	"cmp"
	"encoding/binary"
	"net/netip"

	"diagnostics/worker/internal/exchange"
)

const (
	protocolICMP   = 1
	minIPv4Header  = 20
	fragmentOffset = 0x1fff // mask, RFC 791 section 3.1
)

// ipv4Header gives the length of an IPv4 header, options included, that carries the start of a protocol's packet.
func ipv4Header(b []byte, protocol byte) (int, bool) {
	if len(b) < minIPv4Header || b[0]>>4 != 4 || b[9] != protocol {
		return 0, false
	}
	header := int(b[0]&0x0f) * 4
	if header < minIPv4Header || header > len(b) {
		return 0, false
	}
	if binary.BigEndian.Uint16(b[6:])&fragmentOffset != 0 {
		return 0, false
	}
	return header, true
}

// icmpError is an ICMP error about a packet of some protocol, with what it quotes of that packet.
type icmpError struct {
	kind     exchange.Kind
	dst      netip.Addr // of the quoted packet
	id       uint16     // identification of the quoted IPv4 header
	protocol byte       // first next header of a quoted IPv6 packet
	inner    []byte     // the quote behind its IP header
	labels   []exchange.Label
	mtu      int // see exchange.Answer
}

// parseError4 reads an ICMP error (RFC 792) that quotes a packet of a protocol, or of any with a header without options
// where that is 0; ok is false for every other message.
func parseError4(b []byte, protocol byte) (e icmpError, ok bool) {
	if len(b) < headerLength+minIPv4Header {
		return e, false
	}
	quote := b[headerLength:]
	if protocol == 0 && quote[0] != plainIPv4 {
		return e, false
	}
	header, ok := ipv4Header(quote, cmp.Or(protocol, quote[9]))
	if !ok {
		return e, false
	}
	e = icmpError{
		kind: kind4(b[0], b[1]), dst: netip.AddrFrom4([4]byte(quote[16:20])), id: binary.BigEndian.Uint16(quote[4:]),
		protocol: quote[9], inner: quote[header:], labels: labels4(b),
	}
	if e.kind == exchange.TooBig {
		e.mtu = int(binary.BigEndian.Uint16(b[6:]))
	}
	return e, e.kind != 0
}

// parseError6 is parseError4 for ICMPv6 (RFC 4443), whatever the protocol.
func parseError6(b []byte) (e icmpError, ok bool) {
	if len(b) < headerLength+ipv6Header || b[headerLength]>>4 != 6 {
		return e, false
	}
	quote := b[headerLength:]
	e = icmpError{
		kind: kind6(b[0], b[1]), dst: netip.AddrFrom16([16]byte(quote[24:40])), protocol: quote[6],
		inner: quote[ipv6Header:], labels: labels6(b),
	}
	if e.kind == exchange.TooBig {
		e.mtu = int(binary.BigEndian.Uint32(b[4:]))
	}
	return e, e.kind != 0
}

// parse4 reads an ICMP message (RFC 792) that answers an echo request; ok is false for every other message.
func parse4(b []byte) (m message, ok bool) {
	if len(b) >= headerLength && b[0] == v4EchoReply {
		m.kind = exchange.Reply
		return m, m.readEcho(b, v4EchoReply)
	}
	e, ok := parseError4(b, protocolICMP)
	return e.about(v4EchoRequest, e.inner, ok)
}

// parse6 is parse4 for ICMPv6 (RFC 4443). The kernel gives the message without its IPv6 header and with its checksum
// verified.
func parse6(b []byte) (m message, ok bool) {
	if len(b) >= headerLength && b[0] == v6EchoReply {
		m.kind = exchange.Reply
		return m, m.readEcho(b, v6EchoReply)
	}
	e, ok := parseError6(b)
	if !ok {
		return m, false
	}
	inner, ok := skipExtensions(e.protocol, e.inner)
	return e.about(v6EchoRequest, inner, ok)
}

// about is the message that an error is about an echo request, which inner starts with.
func (e icmpError) about(requestType byte, inner []byte, ok bool) (message, bool) {
	m := message{kind: e.kind, quoted: e.dst, labels: e.labels, mtu: e.mtu}
	return m, ok && m.readEcho(inner, requestType)
}

// kind4 is what the type and code of an ICMP error mean; 0 for those that say nothing about a probe's way.
func kind4(typ, code byte) exchange.Kind {
	if typ == v4TimeExceeded && code == 0 {
		return exchange.TimeExceeded
	}
	if typ != v4Unreachable {
		return 0
	}
	switch code {
	case 0, 5, 6, 8, 11:
		return exchange.NetUnreachable
	case 1, 7, 12:
		return exchange.HostUnreachable
	case 2:
		return exchange.ProtocolUnreachable
	case 3:
		return exchange.PortUnreachable
	case 4:
		return exchange.TooBig
	case 9, 10, 13, 14, 15:
		return exchange.Prohibited
	default:
		return 0
	}
}

// Next-header values of RFC 8200 and the IANA registry of IPv6 extension header types.
const (
	nextHopByHop    = 0
	nextRouting     = 43
	nextFragment    = 44
	nextAH          = 51
	nextICMPv6      = 58
	nextDestination = 60
	nextMobility    = 135
	nextHIP         = 139
	nextShim6       = 140

	ipv6Header = 40
	// maxExtensions bounds the walk through a quoted packet's extension headers; each occurs once (RFC 8200 section
	// 4.1), destination options twice.
	maxExtensions = 10
)

// skipExtensions walks over extension headers to the ICMPv6 message; ok is false where there is none, or only a later
// fragment of it.
func skipExtensions(next byte, b []byte) (inner []byte, ok bool) {
	for range maxExtensions {
		if next == nextICMPv6 {
			return b, true
		}
		if len(b) < 8 {
			return nil, false
		}
		var length int
		switch next {
		case nextHopByHop, nextRouting, nextDestination, nextMobility, nextHIP, nextShim6:
			length = (int(b[1]) + 1) * 8
		case nextAH:
			length = (int(b[1]) + 2) * 4 // RFC 4302 section 2.2
		case nextFragment:
			if binary.BigEndian.Uint16(b[2:])>>3 != 0 {
				return nil, false
			}
			length = 8
		default:
			return nil, false
		}
		if length > len(b) {
			return nil, false
		}
		next, b = b[0], b[length:]
	}
	return nil, false
}

// kind6 is what the type and code of an ICMPv6 error mean; 0 for those that say nothing about a probe's way.
func kind6(typ, code byte) exchange.Kind {
	switch typ {
	case v6TimeExceeded:
		if code == 0 {
			return exchange.TimeExceeded
		}
		return 0
	case v6PacketTooBig:
		return exchange.TooBig
	case v6Unreachable:
	default:
		return 0
	}
	switch code {
	case 0, 2:
		return exchange.NetUnreachable
	case 1, 5, 6:
		return exchange.Prohibited
	case 3:
		return exchange.HostUnreachable
	case 4:
		return exchange.PortUnreachable
	default:
		return 0
	}
}

// ICMP extensions (RFC 4884): behind the quote, an ICMP error may carry a header of four bytes and objects, of which
// the one for MPLS (RFC 4950) has the label stack of the probe.
const (
	extensionVersion = 2
	extensionHeader  = 4
	objectHeader     = 4
	mplsClass        = 1 // MPLS Label Stack Class
	mplsIncoming     = 1 // Incoming MPLS Label Stack
	labelLength      = 4

	// quoteBeforeExtension is the least length of a quote, padded with zeros, before extensions (RFC 4884 section 3).
	// Routers from before that RFC write no length and always have this one (section 5.5).
	quoteBeforeExtension = 128
	wordLength4          = 4 // unit of the quote's length in ICMP
	wordLength6          = 8 // and in ICMPv6
)

// labels4 reads the label stack of an ICMP error; nil where there is none.
func labels4(b []byte) []exchange.Label {
	if b[0] != v4TimeExceeded && b[0] != v4Unreachable {
		return nil
	}
	return labels(b[headerLength:], int(b[5])*wordLength4)
}

// labels6 reads the label stack of an ICMPv6 error; nil where there is none. A packet too big has no room for
// the length, and so no extensions.
func labels6(b []byte) []exchange.Label {
	if b[0] != v6TimeExceeded && b[0] != v6Unreachable {
		return nil
	}
	return labels(b[headerLength:], int(b[4])*wordLength6)
}

// labels reads the label stack behind a quote of a length. Where the length is 0, it may be a router from before RFC
// 4884; that what stands there is an extension must then be proved by a checksum.
func labels(quote []byte, length int) []exchange.Label {
	proof := length == 0
	if proof {
		length = quoteBeforeExtension
	}
	if length < quoteBeforeExtension || len(quote) < length {
		return nil
	}
	return readExtension(quote[length:], proof)
}

// readExtension reads an extension structure. Its checksum (RFC 1071) covers all of it; 0 means that none was sent,
// which is not enough where proof is wanted.
func readExtension(b []byte, proof bool) []exchange.Label {
	if len(b) < extensionHeader || b[0]>>4 != extensionVersion {
		return nil
	}
	if sum := binary.BigEndian.Uint16(b[2:]); sum != 0 && checksum(b) != 0 || sum == 0 && proof {
		return nil
	}
	for b = b[extensionHeader:]; len(b) >= objectHeader; {
		length := int(binary.BigEndian.Uint16(b))
		if length < objectHeader || length > len(b) {
			return nil
		}
		if b[2] == mplsClass && b[3] == mplsIncoming {
			return readStack(b[objectHeader:length])
		}
		b = b[length:]
	}
	return nil
}

// readStack reads the entries of a label stack (RFC 3032 section 2.1), down to the bottom.
func readStack(b []byte) []exchange.Label {
	var stack []exchange.Label
	for ; len(b) >= labelLength; b = b[labelLength:] {
		word := binary.BigEndian.Uint32(b)
		l := exchange.Label{Value: word >> 12, TC: uint8(word >> 9 & 7), Bottom: word>>8&1 == 1, TTL: uint8(word)}
		stack = append(stack, l)
		if l.Bottom {
			break
		}
	}
	return stack
}
