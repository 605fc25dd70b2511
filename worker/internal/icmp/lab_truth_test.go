//go:build lab

package icmp

import (
	"bytes"
	"net"
	"net/netip"
	"testing"

	"diagnostics/worker/internal/exchange"
	"diagnostics/worker/internal/labtest"

	"github.com/google/go-cmp/cmp"
)

// forger sends what a router would, byte for byte.
type forger struct {
	t    *testing.T
	conn net.PacketConn
	to   *net.IPAddr
}

// newForger opens a raw socket on the first router of a chain.
func newForger(t *testing.T, chain *labtest.Chain, v6 bool) forger {
	t.Helper()
	conn, to := chain.Attacker(t, v6)
	f := forger{t: t, conn: conn, to: to}
	t.Cleanup(func() { f.conn.Close() })
	return f
}

// send sends an ICMP message; the kernel adds the checksum of ICMPv6.
func (f forger) send(parts ...[]byte) {
	f.t.Helper()
	b := bytes.Join(parts, nil)
	if f.to.IP.To4() != nil {
		b = put16(b, 2, checksum(put16(b, 2, 0)))
	}
	if _, err := f.conn.WriteTo(b, f.to); err != nil {
		f.t.Fatal(err)
	}
}

// padded is the quote of a packet, filled up to the length before which no extension may stand.
func padded(header, packet []byte) []byte {
	b := append(bytes.Clone(header), packet...)
	return append(b, make([]byte, quoteBeforeExtension-len(b))...)
}

// quoteOf makes the IP header of a quoted request to dst. For IPv6, extensions stand between header and request.
func quoteOf(dst netip.Addr, next byte) []byte {
	if dst.Is4() {
		ip := make([]byte, minIPv4Header)
		ip[0], ip[3], ip[8], ip[9] = 0x45, minIPv4Header+headerLength+payloadLength, 1, protocolICMP
		copy(ip[12:], []byte{11, 0, 0, 1})
		copy(ip[16:], dst.AsSlice())
		return ip
	}
	ip := make([]byte, ipv6Header)
	ip[0], ip[5], ip[6], ip[7] = 0x60, headerLength+payloadLength, next, 1
	copy(ip[8:], netip.MustParseAddr("2a10::1").AsSlice())
	copy(ip[24:], dst.AsSlice())
	return ip
}

// silent makes a chain whose destination answers nothing, so that only forged answers come.
func silent(t *testing.T) *labtest.Chain {
	t.Helper()
	chain := labtest.NewChain(t, 1)
	chain.Destination.Sysctl("net.ipv4.icmp_echo_ignore_all=1", "net.ipv6.icmp.echo_ignore_all=1")
	return chain
}

func TestLabelsOnTheWire(t *testing.T) { inEachMode(t, checkLabelsOnTheWire) }

func checkLabelsOnTheWire(t *testing.T, m Mode) {
	chain := silent(t)
	e := openIn(t, chain.Source, m)
	known := fromHex(t, knownExtension)
	for _, tt := range []struct {
		name   string
		dst    string
		header []byte
	}{
		{"v4", "11.0.1.2", []byte{v4TimeExceeded, 0, 0, 0, 0, 32, 0, 0}},
		{"v4 without length", "11.0.1.2", []byte{v4TimeExceeded, 0, 0, 0, 0, 0, 0, 0}},
		{"v4 prohibited", "11.0.1.2", []byte{v4Unreachable, 13, 0, 0, 0, 32, 0, 0}},
		{"v6", "2a10:1::2", []byte{v6TimeExceeded, 0, 0, 0, 16, 0, 0, 0}},
		{"v6 without length", "2a10:1::2", []byte{v6TimeExceeded, 0, 0, 0, 0, 0, 0, 0}},
		{"v6 prohibited", "2a10:1::2", []byte{v6Unreachable, 1, 0, 0, 16, 0, 0, 0}},
	} {
		dst := netip.MustParseAddr(tt.dst)
		f, in := openFlow(t, e, dst)
		if _, err := f.Send(9, 64); err != nil {
			t.Fatal(err)
		}
		own := identityOf(f)
		typ := byte(v4EchoRequest)
		if dst.Is6() {
			typ = v6EchoRequest
		}
		packet := own.request(typ, 9)
		newForger(t, chain, dst.Is6()).send(tt.header, padded(quoteOf(dst, nextICMPv6), packet[:]), known)
		a := in.next(t)
		if diff := cmp.Diff(knownLabels, a.Labels); diff != "" || a.Seq != 9 || a.TTL != 64 {
			t.Errorf("%s: %+v\n%s", tt.name, a, diff)
		}
	}
}

func TestForgedIPv6Errors(t *testing.T) { inEachMode(t, checkForgedIPv6Errors) }

func checkForgedIPv6Errors(t *testing.T, m Mode) {
	chain := silent(t)
	e := openIn(t, chain.Source, m)
	dst := netip.MustParseAddr("2a10:1::2")
	f, in := openFlow(t, e, dst)
	if _, err := f.Send(5, 64); err != nil {
		t.Fatal(err)
	}
	own := identityOf(f)
	right := own.request(v6EchoRequest, 5)
	wrongID := put16(right[:], 4, own.id+1)
	wrongCookie := put8(right[:], headerLength, right[headerLength]+1)
	exceeded := []byte{v6TimeExceeded, 0, 0, 0, 0, 0, 0, 0}
	forger := newForger(t, chain, true)
	forger.send(exceeded, quoteOf(dst.Next(), nextICMPv6), right[:])
	forger.send(exceeded, quoteOf(dst, 17), right[:])
	forger.send(exceeded, quoteOf(dst, nextICMPv6), wrongID)
	forger.send(exceeded, quoteOf(dst, nextICMPv6), wrongCookie)
	forger.send(exceeded, quoteOf(dst, nextICMPv6), put8(right[:], 0, v6EchoReply))
	in.checkEmpty(t)
	if c := e.Counters(); c.Unmatched < 2 {
		t.Errorf("%d unmatched: the forged packets did not come", c.Unmatched)
	}
	// A router on the way has put extension headers before the request.
	forger.send(exceeded, quoteOf(dst, nextHopByHop), extension(nextDestination, 1), extension(nextICMPv6, 2), right[:])
	if a := in.next(t); a.Seq != 5 || a.Kind != exchange.TimeExceeded || a.From.String() != "2a10::2" {
		t.Errorf("%+v", a)
	}
}

// A destination behind an address translator answers from another address than was asked.
func TestTranslatedReplies(t *testing.T) { inEachMode(t, checkTranslatedReplies) }

func checkTranslatedReplies(t *testing.T, m Mode) {
	chain := labtest.NewChain(t, 1)
	nft := chain.Destination.Command("nft", `add table inet t; add chain inet t c { type filter hook output priority -300; };
		add rule inet t c icmp type echo-reply ip saddr set 11.0.77.7;
		add rule inet t c icmpv6 type echo-reply ip6 saddr set 2a10:77::7`)
	if out, err := nft.CombinedOutput(); err != nil {
		t.Fatalf("nft: %v\n%s", err, out)
	}
	e := openIn(t, chain.Source, m)
	for dst, from := range map[string]string{"11.0.1.2": "11.0.77.7", "2a10:1::2": "2a10:77::7"} {
		f, in := openFlow(t, e, netip.MustParseAddr(dst))
		if _, err := f.Send(3, 64); err != nil {
			t.Fatal(err)
		}
		if a := in.next(t); a.Seq != 3 || a.Kind != exchange.Reply || a.From.String() != from || a.TTL != 63 {
			t.Errorf("%s: %+v, want a reply from %s", dst, a, from)
		}
	}
}
