package icmp

import (
	"encoding/binary"
	"net/netip"

	"diagnostics/worker/internal/exchange"
)

const (
	protocolICMP   = 1
	minIPv4Header  = 20
	fragmentOffset = 0x1fff // mask, RFC 791 section 3.1
)

// packet4 is a received IPv4 packet: where it came from, with what TTL, and its ICMP message.
type packet4 struct {
	source netip.Addr
	ttl    int
	icmp   []byte
}

// splitIPv4 parts a received packet into header and ICMP message. It refuses anything that is not one whole IPv4 packet
// of protocol ICMP. Raw sockets give the header along (raw(7)).
func splitIPv4(b []byte) (packet4, bool) {
	header, ok := ipv4Header(b, protocolICMP)
	if !ok {
		return packet4{}, false
	}
	return packet4{
		source: netip.AddrFrom4([4]byte(b[12:16])),
		ttl:    int(b[8]),
		icmp:   b[header:],
	}, true
}

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

// parse4 reads an ICMP message (RFC 792) that answers an echo request; ok is false for every other message.
func parse4(b []byte) (m message, ok bool) {
	if len(b) < headerLength {
		return message{}, false
	}
	if b[0] == v4EchoReply {
		m.kind = exchange.Reply
		return m, m.readEcho(b, v4EchoReply)
	}
	m.kind = kind4(b[0], b[1])
	if m.kind == 0 {
		return message{}, false
	}
	quote := b[headerLength:]
	header, ok := ipv4Header(quote, protocolICMP)
	if !ok {
		return message{}, false
	}
	m.quoted = netip.AddrFrom4([4]byte(quote[16:20]))
	m.labels = labels4(b)
	return m, m.readEcho(quote[header:], v4EchoRequest)
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
