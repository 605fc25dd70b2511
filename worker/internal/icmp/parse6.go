package icmp

import (
	"encoding/binary"
	"net/netip"

	"diagnostics/worker/internal/exchange"
)

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

// parse6 reads an ICMPv6 message (RFC 4443) that answers an echo request; ok is false for every other message. The
// kernel gives the message without its IPv6 header and with its checksum verified.
func parse6(b []byte) (m message, ok bool) {
	if len(b) < headerLength {
		return message{}, false
	}
	if b[0] == v6EchoReply {
		m.kind = exchange.Reply
		return m, m.readEcho(b, v6EchoReply)
	}
	m.kind = kind6(b[0], b[1])
	if m.kind == 0 {
		return message{}, false
	}
	quote := b[headerLength:]
	if len(quote) < ipv6Header || quote[0]>>4 != 6 {
		return message{}, false
	}
	m.quoted = netip.AddrFrom16([16]byte(quote[24:40]))
	inner, ok := skipExtensions(quote[6], quote[ipv6Header:])
	if !ok {
		return message{}, false
	}
	m.labels = labels6(b)
	return m, m.readEcho(inner, v6EchoRequest)
}

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
