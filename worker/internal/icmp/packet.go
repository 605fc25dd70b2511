package icmp

import (
	"bytes"
	"encoding/binary"
)

// ICMP types and codes of RFC 792 and RFC 4443 that the engine sends or reads.
const (
	v4EchoReply    = 0
	v4Unreachable  = 3
	v4EchoRequest  = 8
	v4TimeExceeded = 11

	v6Unreachable  = 1
	v6PacketTooBig = 2
	v6TimeExceeded = 3
	v6EchoRequest  = 128
	v6EchoReply    = 129

	headerLength = 8 // of an ICMP echo message: type, code, checksum, identifier, sequence number
)

// The payload of a probe: a cookie that proves an answer to be one's own, the complement of the sequence number, and a
// word to whoever looks at the packet.
const (
	cookieLength  = 8
	provedLength  = cookieLength + 2
	payloadLength = 32
)

var signature = [payloadLength - provedLength]byte([]byte("network diagnostics   "))

type cookie [cookieLength]byte

// request builds an echo request (ICMP header and payload; RFC 792, RFC 4443 section 4.1).
//
// Routers that spread load over several paths hash the first bytes of what follows the IP header, the checksum
// included. The sequence number changes from probe to probe, so the payload carries its one's complement: together they
// always add 0xffff, and the checksum is the same for every probe of a flow, as Paris traceroute has it.
//
// The checksum is filled in for IPv4; for IPv6 the kernel does it, since it knows the source address.
func request(typ byte, id, seq uint16, c cookie) [headerLength + payloadLength]byte {
	var p [headerLength + payloadLength]byte
	p[0] = typ
	binary.BigEndian.PutUint16(p[4:], id)
	binary.BigEndian.PutUint16(p[6:], seq)
	copy(p[headerLength:], c[:])
	binary.BigEndian.PutUint16(p[headerLength+cookieLength:], ^seq)
	copy(p[headerLength+provedLength:], signature[:])
	if typ == v4EchoRequest {
		binary.BigEndian.PutUint16(p[2:], checksum(p[:]))
	}
	return p
}

// provesReply reports whether the payload of an echo reply is the one sent as seq under the cookie.
func provesReply(payload []byte, seq uint16, c cookie) bool {
	return len(payload) >= provedLength &&
		bytes.Equal(payload[:cookieLength], c[:]) &&
		binary.BigEndian.Uint16(payload[cookieLength:]) == ^seq
}

// checksum is the Internet checksum (RFC 1071) of b. Over a message with a right checksum in place it is 0.
func checksum(b []byte) uint16 {
	var sum uint32
	for ; len(b) >= 2; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
