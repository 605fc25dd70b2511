package icmp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"diagnostics/worker/internal/exchange"
)

func TestParseCapturedIPv4(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		kind   exchange.Kind
		id     uint16
		seq    uint16
		source string
		ttl    int
		quoted string
	}{
		{"reply", exchange.Reply, 0xba4e, 1, "11.0.100.1", 56, ""},
		{"timeExceeded", exchange.TimeExceeded, 0xba4e, 2, "11.0.0.2", 64, "11.0.100.1"},
		{"prohibited", exchange.Prohibited, 0x6a67, 0x41, "11.0.2.2", 62, "11.0.200.1"},
	} {
		p, ok := splitIPv4(fromHex(t, captured4[tt.name]))
		if !ok || p.source != netip.MustParseAddr(tt.source) || p.ttl != tt.ttl {
			t.Errorf("%s: %v from %v with TTL %d", tt.name, ok, p.source, p.ttl)
		}
		if checksum(p.icmp) != 0 {
			t.Errorf("%s: wrong checksum", tt.name)
		}
		m, ok := parse4(p.icmp)
		if !ok || m.kind != tt.kind || m.id != tt.id || m.seq != tt.seq {
			t.Errorf("%s: %v %+v", tt.name, ok, m)
		}
		if tt.quoted != "" && m.quoted.String() != tt.quoted {
			t.Errorf("%s: quotes %v", tt.name, m.quoted)
		}
	}
	if m, ok := parse4(fromHex(t, captured4["request"])[20:]); ok {
		t.Errorf("a request is taken for an answer: %+v", m)
	}
}

func TestParseCapturedIPv6(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		kind   exchange.Kind
		id     uint16
		seq    uint16
		quoted string
	}{
		{"reply", exchange.Reply, 0x942f, 1, ""},
		{"timeExceeded", exchange.TimeExceeded, 0x942f, 2, "2a10:100::1"},
		{"prohibited", exchange.Prohibited, 0x8b31, 1, "2a10:200::1"},
	} {
		m, ok := parse6(fromHex(t, captured6[tt.name])[ipv6Header:])
		if !ok || m.kind != tt.kind || m.id != tt.id || m.seq != tt.seq {
			t.Errorf("%s: %v %+v", tt.name, ok, m)
		}
		if tt.quoted != "" && m.quoted.String() != tt.quoted {
			t.Errorf("%s: quotes %v", tt.name, m.quoted)
		}
	}
	if m, ok := parse6(fromHex(t, captured6["request"])[ipv6Header:]); ok {
		t.Errorf("a request is taken for an answer: %+v", m)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	want4 := map[[2]byte]exchange.Kind{{11, 0}: exchange.TimeExceeded}
	for kind, codes := range map[exchange.Kind][]byte{
		exchange.NetUnreachable: {0, 5, 6, 8, 11}, exchange.HostUnreachable: {1, 7, 12}, exchange.ProtocolUnreachable: {2},
		exchange.PortUnreachable: {3}, exchange.TooBig: {4}, exchange.Prohibited: {9, 10, 13, 14, 15},
	} {
		for _, code := range codes {
			want4[[2]byte{3, code}] = kind
		}
	}
	want6 := map[[2]byte]exchange.Kind{
		{3, 0}: exchange.TimeExceeded,
		{1, 0}: exchange.NetUnreachable, {1, 1}: exchange.Prohibited, {1, 2}: exchange.NetUnreachable, {1, 3}: exchange.HostUnreachable,
		{1, 4}: exchange.PortUnreachable, {1, 5}: exchange.Prohibited, {1, 6}: exchange.Prohibited,
	}
	for typ := range 256 {
		for code := range 256 {
			key := [2]byte{byte(typ), byte(code)}
			if got := kind4(key[0], key[1]); got != want4[key] {
				t.Errorf("ICMP %d/%d: %v, want %v", typ, code, got, want4[key])
			}
			want := want6[key]
			if typ == 2 {
				want = exchange.TooBig
			}
			if got := kind6(key[0], key[1]); got != want {
				t.Errorf("ICMPv6 %d/%d: %v, want %v", typ, code, got, want)
			}
		}
	}
}

func TestParseIPv4Refuses(t *testing.T) {
	t.Parallel()
	whole := fromHex(t, captured4["timeExceeded"])
	const icmp, quote = 20, 28
	for _, tt := range []struct {
		name   string
		packet []byte
	}{
		{"nothing", nil},
		{"half an IP header", whole[:19]},
		{"IPv6", put8(whole, 0, 0x65)},
		{"a header length of 16", put8(whole, 0, 0x44)},
		{"a header longer than the packet", put8(whole[:40], 0, 0x4f)},
		{"UDP", put8(whole, 9, 17)},
		{"a later fragment", put16(whole, 6, 1)},
		{"half an ICMP header", whole[:icmp+7]},
		{"no quote", whole[:quote]},
		{"a quote of 27 bytes", whole[:quote+27]},
		{"a quote of UDP", put8(whole, quote+9, 17)},
		{"a quote of IPv6", put8(whole, quote, 0x65)},
		{"a quote of a later fragment", put16(whole, quote+6, 185)},
		{"a quote of an echo reply", put8(whole, quote+20, 0)},
		{"a quote of a time exceeded", put8(whole, quote+20, 11)},
		{"a quote of an echo request with a code", put8(whole, quote+21, 1)},
		{"fragment reassembly time exceeded", put8(whole, icmp+1, 1)},
		{"a redirect", put8(whole, icmp, 5)},
		{"unreachable with an unknown code", put16(whole, icmp, 0x0310)},
	} {
		p, ok := splitIPv4(tt.packet)
		if !ok {
			continue
		}
		if m, ok := parse4(p.icmp); ok {
			t.Errorf("%s is taken: %+v", tt.name, m)
		}
	}
	reply := put8(fromHex(t, captured4["reply"]), icmp+1, 1)
	if m, ok := parse4(reply[icmp:]); ok {
		t.Errorf("an echo reply with a code is taken: %+v", m)
	}
}

// Routers may quote no more than the ICMP header (RFC 792), and the quoted packet may have IP options.
func TestParseIPv4Quotes(t *testing.T) {
	t.Parallel()
	whole := fromHex(t, captured4["timeExceeded"])
	const quote = 28
	short, ok := parse4(whole[20 : quote+20+8])
	if !ok || short.id != 0xba4e || short.seq != 2 || len(short.payload) != 0 {
		t.Errorf("a quote of 28 bytes: %v %+v", ok, short)
	}
	options := []byte{0x94, 0x04, 0, 0, 1, 1, 1, 0} // router alert, padding
	withOptions := bytes.Join([][]byte{whole[20 : quote+20], options, whole[quote+20:]}, nil)
	withOptions[8] = 0x47
	m, ok := parse4(withOptions)
	if !ok || m.id != 0xba4e || m.seq != 2 || m.quoted.String() != "11.0.100.1" {
		t.Errorf("a quote with options: %v %+v", ok, m)
	}
	outer := bytes.Join([][]byte{whole[:20], options, whole[20:]}, nil)
	outer[0] = 0x47
	p, ok := splitIPv4(outer)
	if !ok || p.icmp[0] != v4TimeExceeded {
		t.Errorf("a packet with options: %v", ok)
	}
}

// quote6 makes a time exceeded that quotes a packet with extension headers before the echo request.
func quote6(t *testing.T, next byte, extensions ...[]byte) []byte {
	t.Helper()
	whole := fromHex(t, captured6["timeExceeded"])[ipv6Header:]
	header := put8(whole[:headerLength+ipv6Header], headerLength+6, next)
	return bytes.Join([][]byte{header, bytes.Join(extensions, nil), whole[headerLength+ipv6Header:]}, nil)
}

// extension makes an extension header of a length in units of eight bytes.
func extension(next byte, units int) []byte {
	b := make([]byte, units*8)
	b[0], b[1] = next, byte(units-1)
	return b
}

func fragment(next byte, offset uint16) []byte {
	b := extension(next, 1)
	b[1] = 0
	binary.BigEndian.PutUint16(b[2:], offset<<3|1)
	return b
}

func TestParseIPv6Quotes(t *testing.T) {
	t.Parallel()
	authentication := extension(nextICMPv6, 3)
	authentication[1] = 4 // in units of four bytes, less two (RFC 4302)
	for _, tt := range []struct {
		name  string
		bytes []byte
		taken bool
	}{
		{"plain", quote6(t, nextICMPv6), true},
		{"hop-by-hop options", quote6(t, nextHopByHop, extension(nextICMPv6, 1)), true},
		{"destination options of 24 bytes", quote6(t, nextDestination, extension(nextICMPv6, 3)), true},
		{"hop-by-hop, routing, destination", quote6(t, nextHopByHop, extension(nextRouting, 1), extension(nextDestination, 2), extension(nextICMPv6, 1)), true},
		{"a first fragment", quote6(t, nextFragment, fragment(nextICMPv6, 0)), true},
		{"an authentication header", quote6(t, nextAH, authentication), true},
		{"a later fragment", quote6(t, nextFragment, fragment(nextICMPv6, 1)), false},
		{"UDP", quote6(t, 17), false},
		{"UDP behind options", quote6(t, nextHopByHop, extension(17, 1)), false},
		{"no next header", quote6(t, 59), false},
		{"an extension longer than the quote", quote6(t, nextHopByHop, extension(nextICMPv6, 1))[:headerLength+ipv6Header+4], false},
		{"endless extensions", quote6(t, nextHopByHop, bytes.Repeat(extension(nextHopByHop, 1), 50)), false},
		{"a truncated IPv6 header", quote6(t, nextICMPv6)[:headerLength+ipv6Header-1], false},
		{"seven bytes of the request", quote6(t, nextICMPv6)[:headerLength+ipv6Header+7], false},
		{"eight bytes of the request", quote6(t, nextICMPv6)[:headerLength+ipv6Header+8], true},
		{"IPv4", put8(quote6(t, nextICMPv6), headerLength, 0x45), false},
		{"an echo reply", put8(quote6(t, nextICMPv6), headerLength+ipv6Header, 129), false},
	} {
		m, ok := parse6(tt.bytes)
		if ok != tt.taken {
			t.Errorf("%s: taken %v: %+v", tt.name, ok, m)
		}
		if ok && (m.id != 0x942f || m.seq != 2 || m.quoted.String() != "2a10:100::1") {
			t.Errorf("%s: %+v", tt.name, m)
		}
	}
}

func FuzzParse4(f *testing.F) {
	for _, packet := range captured4 {
		f.Add(fromHex(f, packet))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, ok := splitIPv4(b)
		if !ok {
			return
		}
		if !p.source.Is4() || len(p.icmp) > len(b)-minIPv4Header {
			t.Errorf("%+v", p)
		}
		m, ok := parse4(p.icmp)
		if ok {
			checkMessage(t, m, netip.Addr.Is4)
		}
	})
}

func FuzzParse6(f *testing.F) {
	for _, packet := range captured6 {
		f.Add(fromHex(f, packet)[ipv6Header:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, ok := parse6(b)
		if ok {
			checkMessage(t, m, netip.Addr.Is6)
		}
	})
}

func checkMessage(t *testing.T, m message, family func(netip.Addr) bool) {
	t.Helper()
	if m.kind == 0 {
		t.Error("no kind")
	}
	if m.kind == exchange.Reply && m.quoted.IsValid() {
		t.Error("an echo reply quotes")
	}
	if m.kind != exchange.Reply && !family(m.quoted) {
		t.Error(fmt.Sprint("quotes ", m.quoted))
	}
}
