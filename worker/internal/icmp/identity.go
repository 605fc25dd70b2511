package icmp

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"net/netip"

	"diagnostics/worker/internal/exchange"
)

// identity is what the requests of a flow carry and nobody can know who does not see them: 16 bits each of identifier,
// first sequence number and checksum, and a cookie of 64.
type identity struct {
	id     uint16
	first  uint16 // sequence number on the wire of the probe 0
	cookie cookie
	// sum is the checksum of each of the flow's IPv4 requests; it follows from the rest, of which the cookie makes it
	// anything. IPv6 requests get theirs from the kernel, and this is 0.
	sum uint16
}

// newIdentity draws the rest for an identifier.
func newIdentity(id uint16, dst netip.Addr) identity {
	i := identity{id: id, first: uint16(random(1 << 16))}
	rand.Read(i.cookie[:])
	if dst.Is4() {
		p := i.request(v4EchoRequest, 0)
		i.sum = binary.BigEndian.Uint16(p[2:])
	}
	return i
}

// request builds the echo request for a probe of the flow.
func (i identity) request(typ byte, seq uint16) [headerLength + payloadLength]byte {
	return request(typ, i.id, i.first+seq, i.cookie)
}

// seq is the probe that has a sequence number on the wire.
func (i identity) seq(wire uint16) uint16 { return wire - i.first }

// proof is how well a message shows that whoever sent it saw a request of a flow.
type proof int

// The proofs.
const (
	// unproved: it did not, or this does not show.
	unproved proof = iota
	// short: an error quotes what the flow's requests begin with, but not the cookie. RFC 792 asks for no more than eight
	// octets of a packet behind its IP header, and there are routers still that leave it at that.
	short
	// proved: it quotes the cookie.
	proved
)

// prove judges a message about requests of a flow to dst. An echo reply proves itself by the payload, whatever its
// source. An error does by the destination that it quotes, and by the payload as far as it is quoted: what of it is
// not, routers leave off or fill with zeros.
//
// Without the cookie, identifier and checksum must be right, and the sequence number is for the probes to judge. In
// IPv6 nothing passes without it: there an error has always had to quote as much of a packet as fits into 576 octets
// at least (RFC 1885, and RFC 4443 section 2.4), which holds the whole of ours.
func (m message) prove(dst netip.Addr, i identity) proof {
	if m.id != i.id {
		return unproved
	}
	if m.kind == exchange.Reply {
		if provesReply(m.payload, m.seq, i.cookie) {
			return proved
		}
		return unproved
	}
	if m.quoted != dst {
		return unproved
	}
	agreed, whole := quoted(m.payload, m.seq, i.cookie)
	switch {
	case !whole:
		return unproved
	case agreed >= cookieLength:
		return proved
	case dst.Is4() && m.sum == i.sum:
		return short
	default:
		return unproved
	}
}

// quoted tells how many octets of a request's proof an ICMP error quotes, and whether nothing but zeros follows them as
// far as the proof would go.
func quoted(payload []byte, seq uint16, c cookie) (agreed int, whole bool) {
	var sent [provedLength]byte
	copy(sent[:], c[:])
	binary.BigEndian.PutUint16(sent[cookieLength:], ^seq)
	payload = payload[:min(len(payload), len(sent))]
	for agreed < len(payload) && payload[agreed] == sent[agreed] {
		agreed++
	}
	return agreed, len(bytes.Trim(payload[agreed:], "\x00")) == 0
}

// random gives a number from 0 up to n, which is at most 2^32, that nobody can guess.
func random(n int) int {
	var b [8]byte
	rand.Read(b[:])
	return int(binary.BigEndian.Uint64(b[:]) % uint64(n))
}
