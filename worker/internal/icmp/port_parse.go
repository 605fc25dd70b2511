package icmp

import (
	"encoding/binary"
	"net/netip"

	"diagnostics/worker/internal/exchange"
)

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

// parsePort4 reads an ICMP error (RFC 792) that quotes a UDP or TCP probe; ok is false for every other message.
func parsePort4(b []byte) (m portMessage, ok bool) {
	if len(b) < quoteTransit4+udpHeader {
		return m, false
	}
	quote := b[headerLength:]
	if quote[0] != plainIPv4 || binary.BigEndian.Uint16(quote[6:])&fragmentOffset != 0 {
		return m, false
	}
	m.kind = kind4(b[0], b[1])
	m.id = binary.BigEndian.Uint16(quote[4:])
	m.peer = netip.AddrFrom4([4]byte(quote[16:20]))
	m.labels = labels4(b)
	return m, m.kind != 0 && m.quote(quote[9], quote[minIPv4Header:])
}

// parsePort6 is parsePort4 for ICMPv6 (RFC 4443).
func parsePort6(b []byte) (m portMessage, ok bool) {
	if len(b) < quoteTransit6+udpHeader || b[headerLength]>>4 != 6 {
		return m, false
	}
	quote := b[headerLength:]
	m.kind = kind6(b[0], b[1])
	m.peer = netip.AddrFrom16([16]byte(quote[24:40]))
	m.labels = labels6(b)
	return m, m.kind != 0 && m.quote(quote[6], quote[ipv6Header:])
}

// quote reads the quoted probe, and reports whether it is one.
func (m *portMessage) quote(protocol byte, segment []byte) bool {
	switch protocol {
	case protocolUDP:
		m.protocol = exchange.UDP
	case protocolTCP:
		m.protocol = exchange.TCP
	default:
		return false
	}
	m.local, m.remote = binary.BigEndian.Uint16(segment), binary.BigEndian.Uint16(segment[2:])
	m.segment = segment
	return true
}

// parseSegment reads a SYN-ACK or a RST from an address; ok is false for every other segment. Its checksum is no
// matter: one that comes from the same machine has none (the card would fill it in), and none is believed that does not
// acknowledge a probe.
func parseSegment(b []byte, from netip.Addr) (m portMessage, ok bool) {
	if len(b) < tcpHeader {
		return m, false
	}
	if flags := b[tcpFlags]; flags&flagRST == 0 && flags&(flagSYN|flagACK) != flagSYN|flagACK {
		return m, false
	}
	return portMessage{
		kind: exchange.Reply, protocol: exchange.TCP, peer: from, segment: b,
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
