//go:build lab

package labtest

import (
	"encoding/binary"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/net/ipv4"
)

// The parts of an ICMP error that quotes an echo request, in octets.
const (
	icmpHeader = 8
	header4    = 20
	header6    = 40
)

// Storm sends the source ICMP errors of a type and code, one for each identifier and each of the sequence numbers: as
// somebody elsewhere does who knows that dst is probed, and nothing else. Each quotes an echo request to dst up to the
// end of its ICMP header. It gives how many were sent.
func (c *Chain) Storm(t testing.TB, dst netip.Addr, typ, code byte, seqs ...uint16) (sent int) {
	t.Helper()
	conn, source := c.Attacker(t, dst.Is6())
	defer conn.Close()
	batches := ipv4.NewPacketConn(conn) // sends ICMPv6 just as well
	batch := make([]ipv4.Message, 0, 256)
	for range cap(batch) {
		batch = append(batch, ipv4.Message{Buffers: [][]byte{forgedError(dst, typ, code)}, Addr: source})
	}
	n := 0
	flush := func() {
		for left := batch[:n]; len(left) > 0; {
			written, err := batches.WriteBatch(left, 0)
			if err != nil {
				t.Fatal(err)
			}
			sent, left = sent+written, left[written:]
		}
		n = 0
	}
	for id := 1; id <= 0xffff; id++ {
		for _, seq := range seqs {
			fill(batch[n].Buffers[0], uint16(id), seq)
			if n++; n == len(batch) {
				flush()
			}
		}
	}
	flush()
	return sent
}

// Attacker opens a raw socket on the first router and gives the source's address.
func (c *Chain) Attacker(t testing.TB, v6 bool) (net.PacketConn, *net.IPAddr) {
	t.Helper()
	network, from, to := "ip4:icmp", "11.0.0.2", "11.0.0.1"
	if v6 {
		network, from, to = "ip6:ipv6-icmp", "2a10:0::2", "2a10:0::1"
	}
	var conn net.PacketConn
	var err error
	c.Routers[0].Do(func() { conn, err = net.ListenPacket(network, from) })
	if err != nil {
		t.Fatal(err)
	}
	return conn, &net.IPAddr{IP: net.ParseIP(to)}
}

// forgedError makes an error that lacks what differs from one to the next.
func forgedError(dst netip.Addr, typ, code byte) []byte {
	if dst.Is6() {
		b := make([]byte, icmpHeader+header6+icmpHeader)
		b[0], b[1] = typ, code
		quote := b[icmpHeader:]
		quote[0], quote[5], quote[6], quote[7] = 0x60, 40, 58, 1
		copy(quote[8:], netip.MustParseAddr("2a10::1").AsSlice())
		copy(quote[24:], dst.AsSlice())
		quote[header6] = 128
		return b
	}
	b := make([]byte, icmpHeader+header4+icmpHeader)
	b[0], b[1] = typ, code
	quote := b[icmpHeader:]
	quote[0], quote[3], quote[8], quote[9] = 0x45, header4+40, 1, 1
	copy(quote[12:], []byte{11, 0, 0, 1})
	copy(quote[16:], dst.AsSlice())
	quote[header4] = 8
	// The quoted checksum that fill writes balances identifier and sequence number, so that one checksum is right for all.
	fill(b, 0, 0)
	var sum uint32
	for i := 0; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(b[2:], ^uint16(sum))
	return b
}

// fill writes identifier and sequence number into the quote, and a checksum that is a guess like any other.
func fill(b []byte, id, seq uint16) {
	quoted := b[len(b)-icmpHeader:]
	sum := uint32(id) + uint32(seq)
	binary.BigEndian.PutUint16(quoted[2:], ^uint16(sum>>16+sum&0xffff))
	binary.BigEndian.PutUint16(quoted[4:], id)
	binary.BigEndian.PutUint16(quoted[6:], seq)
}
