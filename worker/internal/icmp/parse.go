package icmp

import (
	"encoding/binary"
	"net/netip"

	"diagnostics/worker/internal/echo"
)

// message is what one received ICMP packet says about one echo request.
type message struct {
	kind    echo.Kind
	id, seq uint16
	// sum is the checksum that the message has, or that of the request which an ICMP error quotes.
	sum uint16
	// quoted is the destination of the request that an ICMP error quotes; the zero Addr for an echo reply.
	quoted netip.Addr
	// payload is that of an echo reply, or as much as an ICMP error quotes of the request's.
	payload []byte
	// labels is the MPLS label stack that an ICMP error tells (extensions.go).
	labels []echo.Label
}

// readEcho reports whether this is an echo message, and reads the part that both families share: the ICMP header of an
// echo message and what follows it.
func (m *message) readEcho(b []byte) bool {
	if len(b) < headerLength {
		return false
	}
	m.sum = binary.BigEndian.Uint16(b[2:])
	m.id = binary.BigEndian.Uint16(b[4:])
	m.seq = binary.BigEndian.Uint16(b[6:])
	m.payload = b[headerLength:]
	return true
}
