package icmp

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"net/netip"
	"sync"
	"sync/atomic"

	"diagnostics/worker/internal/exchange"
)

// identity is what the requests of a flow carry and a host that does not see them cannot know: 16 bits each of
// identifier, first sequence number and checksum, and a cookie of 64.
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

// proof is how well a message shows that its sender saw a request of a flow.
type proof int

// The proofs.
const (
	// unproved: it did not, or this does not show.
	unproved proof = iota
	// short: an error quotes what the flow's requests begin with, but not the cookie. RFC 792 requires no more than eight
	// octets of a packet behind its IP header, and there are routers still that leave it at that. Or the destination sent
	// an echo reply to a probe without the cookie.
	short
	// proved: it quotes the cookie.
	proved
)

// prove judges a message about requests of a flow to dst, of which so many sequence numbers were sent. An echo reply
// proves itself by the payload, whatever its source. An error does by the destination that it quotes, and by the
// payload as far as it is quoted: what of it is not, routers leave off or fill with zeros.
//
// Without the cookie, identifier and checksum must be right, and the sequence number is for the probes to judge. In
// IPv6 no error passes without it: there an error has always had to quote as much of a packet as fits into 576 octets
// at least (RFC 1885, and RFC 4443 section 2.4), which holds the whole of ours.
func (m message) prove(dst netip.Addr, i identity, sent int) proof {
	if m.id != i.id {
		return unproved
	}
	if m.kind == exchange.Reply {
		return m.proveReply(dst, i, sent)
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

// proveReply judges an echo reply. One that was cut short, or whose payload was blanked, must come from the destination
// and have the sequence number of a sent probe.
func (m message) proveReply(dst netip.Addr, i identity, sent int) proof {
	if provesReply(m.payload, m.seq, i.cookie) {
		return proved
	}
	_, whole := quoted(m.payload, m.seq, i.cookie)
	if whole && m.sender == dst && int(i.seq(m.seq)) < sent {
		return short
	}
	return unproved
}

// bare reports whether a message has no payload but zeros.
func (m message) bare() bool { return len(bytes.Trim(m.payload, "\x00")) == 0 }

// returns reports whether an echo reply has the whole payload of the request with a sequence number on the wire.
func (i identity) returns(payload []byte, wire uint16) bool {
	sent := request(0, 0, wire, i.cookie)
	return bytes.HasPrefix(payload, sent[headerLength:])
}

// sequences counts the sequence numbers of a flow: one more than the highest that was sent. It is safe for concurrent
// use.
type sequences struct{ next atomic.Int64 }

func (s *sequences) add(seq uint16) {
	for {
		old := s.next.Load()
		if old > int64(seq) || s.next.CompareAndSwap(old, int64(seq)+1) {
			return
		}
	}
}

func (s *sequences) count() int { return int(s.next.Load()) }

// quoted returns how many octets of a request's proof an ICMP error quotes, and whether nothing but zeros follows them
// as far as the proof would go.
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

// random returns an unpredictable number from 0 up to n, which is at most 2^32.
func random(n int) int {
	var b [8]byte
	rand.Read(b[:])
	return int(binary.BigEndian.Uint64(b[:]) % uint64(n))
}

const identifiers = 1 << 16

// identifierPool hands out ICMP identifiers, each to one flow at a time. They cannot be predicted, even by a host that
// saw many of those before: each is drawn from the half that was given back longest ago, so that one comes round again
// only when answers to its last flow are long dead.
type identifierPool struct {
	mu sync.Mutex
	// free is a ring: drawn from its older half, given back at the tail.
	free []uint16
	head int
	size int
}

// newIdentifierPool makes a pool of all identifiers but 0, which some devices take for absent.
func newIdentifierPool() *identifierPool { return newPool(1, identifiers-1) }

// newPool makes a pool of so many numbers from the first on.
func newPool(first uint16, size int) *identifierPool {
	p := &identifierPool{free: make([]uint16, size), size: size}
	for i := range p.free {
		p.free[i] = first + uint16(i)
	}
	return p
}

// take returns a free identifier; ok is false where there is none.
func (p *identifierPool) take() (id uint16, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size == 0 {
		return 0, false
	}
	drawn := (p.head + random((p.size+1)/2)) % len(p.free)
	id = p.free[drawn]
	p.free[drawn] = p.free[p.head]
	p.head = (p.head + 1) % len(p.free)
	p.size--
	return id, true
}

// give takes an identifier back.
func (p *identifierPool) give(id uint16) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free[(p.head+p.size)%len(p.free)] = id
	p.size++
}

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
// text for readers of packet captures.
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
// The checksum is filled in for IPv4; for IPv6 the kernel does it, since it chooses the source address.
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
