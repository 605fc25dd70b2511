package icmp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"unsafe"

	"diagnostics/worker/internal/exchange"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
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
		p := packet{data: fromHex(t, captured4[tt.name])}
		ok := p.splitIPv4(protocolICMP)
		if !ok || p.source != netip.MustParseAddr(tt.source) || p.ttl != tt.ttl {
			t.Errorf("%s: %v from %v with TTL %d", tt.name, ok, p.source, p.ttl)
		}
		if checksum(p.data) != 0 {
			t.Errorf("%s: wrong checksum", tt.name)
		}
		m, ok := parse4(p.data)
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
		p := packet{data: tt.packet}
		ok := p.splitIPv4(protocolICMP)
		if !ok {
			continue
		}
		if m, ok := parse4(p.data); ok {
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
	p := packet{data: outer}
	ok = p.splitIPv4(protocolICMP)
	if !ok || p.data[0] != v4TimeExceeded {
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
	tooBig := put8(put8(fromHex(f, captured4["timeExceeded"]), minIPv4Header, v4Unreachable), minIPv4Header+1, 4)
	f.Add(put8(tooBig, minIPv4Header+6, 5))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := packet{data: b}
		ok := p.splitIPv4(protocolICMP)
		if !ok {
			return
		}
		if !p.source.Is4() || len(p.data) > len(b)-minIPv4Header {
			t.Errorf("%+v", p)
		}
		m, ok := parse4(p.data)
		if ok {
			checkMessage(t, m, netip.Addr.Is4)
		}
	})
}

func FuzzParse6(f *testing.F) {
	for _, packet := range captured6 {
		f.Add(fromHex(f, packet)[ipv6Header:])
	}
	f.Add(put8(put8(fromHex(f, captured6["timeExceeded"])[ipv6Header:], 0, v6PacketTooBig), 4, 0xff))
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
	if m.mtu != 0 && m.kind != exchange.TooBig || m.mtu < 0 {
		t.Errorf("kind %d states an MTU of %d", m.kind, m.mtu)
	}
}

func TestChecksumOfKnownMessages(t *testing.T) {
	t.Parallel()
	// RFC 1071 section 3: the sum of 00 01 f2 03 f4 f5 f6 f7 is ddf2.
	if got := checksum([]byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}); got != ^uint16(0xddf2) {
		t.Errorf("%04x", got)
	}
	if got := checksum([]byte{0xff}); got != ^uint16(0xff00) {
		t.Errorf("odd length: %04x", got)
	}
	if got := checksum(nil); got != 0xffff {
		t.Errorf("nothing: %04x", got)
	}
}

func TestRequestIsTheOneOnTheWire(t *testing.T) {
	t.Parallel()
	got := request(v4EchoRequest, 0xba4e, 1, cookie{0xbd, 0x51, 0x61, 0x64, 0xbb, 0x25, 0xfb, 0x1d})
	if want := fromHex(t, captured4["request"])[20:]; !bytes.Equal(got[:], want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}

// The checksum must be right, and the same for every sequence number: routers take it for part of the flow.
func TestRequestsOfAFlowShareTheirChecksum(t *testing.T) {
	t.Parallel()
	c := cookie{1, 2, 3, 4, 5, 6, 7, 8}
	first := request(v4EchoRequest, 0x1234, 0, c)
	for seq := range 1 << 16 {
		p := request(v4EchoRequest, 0x1234, uint16(seq), c)
		if checksum(p[:]) != 0 {
			t.Fatalf("sequence number %d: wrong checksum", seq)
		}
		if !bytes.Equal(p[:6], first[:6]) {
			t.Fatalf("sequence number %d: %x, others have %x", seq, p[:6], first[:6])
		}
	}
	other := request(v4EchoRequest, 0x1234, 0, cookie{8, 7, 6, 5, 4, 3, 2, 2})
	if bytes.Equal(other[2:4], first[2:4]) {
		t.Error("another flow has the same checksum")
	}
}

// For IPv6 the kernel fills the checksum in; what it adds up must be constant too.
func TestRequestsOfAnIPv6FlowAddUpAlike(t *testing.T) {
	t.Parallel()
	first := request(v6EchoRequest, 7, 0, cookie{9})
	for _, seq := range []uint16{1, 2, 255, 256, 65535} {
		p := request(v6EchoRequest, 7, seq, cookie{9})
		if p[2] != 0 || p[3] != 0 {
			t.Errorf("sequence number %d: checksum %x is filled in", seq, p[2:4])
		}
		if checksum(p[:]) != checksum(first[:]) {
			t.Errorf("sequence number %d adds up to %04x, 0 to %04x", seq, checksum(p[:]), checksum(first[:]))
		}
	}
}

func TestProvesReply(t *testing.T) {
	t.Parallel()
	c := cookie{1, 2, 3, 4, 5, 6, 7, 8}
	p := request(v4EchoRequest, 1, 42, c)
	payload := p[headerLength:]
	if !provesReply(payload, 42, c) || !provesReply(payload[:provedLength], 42, c) {
		t.Error("its own reply is refused")
	}
	for name, refused := range map[string]bool{
		"another sequence number": provesReply(payload, 43, c),
		"another cookie":          provesReply(payload, 42, cookie{1, 2, 3, 4, 5, 6, 7, 9}),
		"too short":               provesReply(payload[:provedLength-1], 42, c),
		"empty":                   provesReply(nil, 42, c),
	} {
		if refused {
			t.Errorf("%s is taken", name)
		}
	}
}

func fromHex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put16(b []byte, at int, value uint16) []byte {
	b = bytes.Clone(b)
	binary.BigEndian.PutUint16(b[at:], value)
	return b
}

func put8(b []byte, at int, value byte) []byte {
	b = bytes.Clone(b)
	b[at] = value
	return b
}

// The extension structure of RFC 4950, figure 1: version 2, one object of class 1 and type 1 with two entries, labels
// 24015 (TC 0, TTL 1) and 16 (TC 5, bottom of the stack, TTL 254). Its checksum was added up by hand.
const knownExtension = "2000dd15" + "000c0101" + "05dcf001" + "00010bfe"

var knownLabels = []exchange.Label{{Value: 24015, TTL: 1}, {Value: 16, TC: 5, Bottom: true, TTL: 254}}

func TestKnownExtension(t *testing.T) {
	t.Parallel()
	known := fromHex(t, knownExtension)
	if diff := cmp.Diff(knownLabels, readExtension(known, true)); diff != "" {
		t.Error(diff)
	}
}

// sealed puts the right checksum in an extension structure.
func sealed(b []byte) []byte {
	return put16(put16(b, 2, 0), 2, checksum(put16(b, 2, 0)))
}

// object makes an extension object.
func object(class, typ byte, data ...byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(objectHeader+len(data)))
	return append(append(b, class, typ), data...)
}

func extensionOf(objects ...[]byte) []byte {
	return sealed(append([]byte{0x20, 0, 0, 0}, bytes.Join(objects, nil)...))
}

func TestReadExtension(t *testing.T) {
	t.Parallel()
	stack := []byte{0x05, 0xdc, 0xf0, 0x01, 0x00, 0x01, 0x0b, 0xfe}
	mpls := object(mplsClass, mplsIncoming, stack...)
	known := fromHex(t, knownExtension)
	for _, tt := range []struct {
		name   string
		bytes  []byte
		sure   bool // labels where the length says that an extension follows
		proved bool // and where it does not
	}{
		{"one object", extensionOf(mpls), true, true},
		{"behind another object", extensionOf(object(2, 14, 1, 2, 3, 4), mpls), true, true},
		{"before another object", extensionOf(mpls, object(2, 14, 1, 2, 3, 4)), true, true},
		{"no checksum", put16(known, 2, 0), true, false},
		{"a wrong checksum", put16(known, 2, 0xdd16), false, false},
		{"a byte changed", put8(known, 11, 2), false, false},
		{"version 1", sealed(put8(known, 0, 0x10)), false, false},
		{"another class", extensionOf(object(2, 1, stack...)), false, false},
		{"another type", extensionOf(object(1, 2, stack...)), false, false},
		{"an empty stack", extensionOf(object(1, 1)), false, false},
		{"half an entry", extensionOf(object(1, 1, 1, 2, 3)), false, false},
		{"no object", extensionOf(), false, false},
		{"an object longer than what is left", sealed(put16(known, 4, 13)), false, false},
		{"an object shorter than its header", sealed(put16(known, 4, 3)), false, false},
		{"half a header", known[:3], false, false},
		{"nothing", nil, false, false},
	} {
		for proof, want := range map[bool]bool{false: tt.sure, true: tt.proved} {
			got := readExtension(tt.bytes, proof)
			if want && !cmp.Equal(got, knownLabels) || !want && got != nil {
				t.Errorf("%s, proof wanted %v: %v", tt.name, proof, got)
			}
		}
	}
	below := extensionOf(object(1, 1, append(bytes.Clone(stack), 0xff, 0xff, 0xff, 0xff)...))
	if got := readExtension(below, true); !cmp.Equal(got, knownLabels) {
		t.Errorf("entries below the bottom of the stack: %v", got)
	}
}

// extended makes an ICMP error whose quote is padded to a length and followed by the known extension.
func extended(t *testing.T, whole []byte, padded int) []byte {
	t.Helper()
	b := append(bytes.Clone(whole), make([]byte, padded-(len(whole)-headerLength))...)
	return append(b, fromHex(t, knownExtension)...)
}

func TestLabelsOfErrors(t *testing.T) {
	t.Parallel()
	exceeded4 := fromHex(t, captured4["timeExceeded"])[minIPv4Header:]
	prohibited4 := fromHex(t, captured4["prohibited"])[minIPv4Header:]
	exceeded6 := fromHex(t, captured6["timeExceeded"])[ipv6Header:]
	prohibited6 := fromHex(t, captured6["prohibited"])[ipv6Header:]
	unproved := func(b []byte) []byte { return put16(b, len(b)-16+2, 0) }
	for _, tt := range []struct {
		name   string
		packet []byte
		parse  func([]byte) (message, bool)
		want   []exchange.Label
	}{
		{"v4 time exceeded", put8(extended(t, exceeded4, 128), 5, 32), parse4, knownLabels},
		{"v4 prohibited, quote of 160", put8(extended(t, prohibited4, 160), 5, 40), parse4, knownLabels},
		{"v4 without length", extended(t, exceeded4, 128), parse4, knownLabels},
		{"v4 without length, not at 128", extended(t, exceeded4, 132), parse4, nil},
		{"v4 without length and checksum", unproved(extended(t, exceeded4, 128)), parse4, nil},
		{"v4 length below 128", put8(extended(t, exceeded4, 124), 5, 31), parse4, nil},
		{"v4 length beyond the packet", put8(extended(t, exceeded4, 128), 5, 40), parse4, nil},
		{"v4 without extension", exceeded4, parse4, nil},
		{"v6 time exceeded", put8(extended(t, exceeded6, 128), 4, 16), parse6, knownLabels},
		{"v6 prohibited, quote of 136", put8(extended(t, prohibited6, 136), 4, 17), parse6, knownLabels},
		{"v6 without length", extended(t, exceeded6, 128), parse6, knownLabels},
		{"v6 length below 128", put8(extended(t, exceeded6, 120), 4, 15), parse6, nil},
		{"v6 packet too big", put8(extended(t, exceeded6, 128), 0, v6PacketTooBig), parse6, nil},
		{"v6 without extension", exceeded6, parse6, nil},
	} {
		m, ok := tt.parse(tt.packet)
		if !ok || m.seq == 0 || m.id == 0 {
			t.Errorf("%s: %v %+v", tt.name, ok, m)
		}
		if diff := cmp.Diff(tt.want, m.labels); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func FuzzExtension(f *testing.F) {
	f.Add(fromHex(f, knownExtension), 0)
	f.Add(append(make([]byte, 128), fromHex(f, knownExtension)...), 128)
	f.Fuzz(func(t *testing.T, b []byte, length int) {
		for i, l := range append(labels(b, length), readExtension(b, false)...) {
			if l.Value >= 1<<20 || l.TC > 7 || i >= len(b) {
				t.Errorf("%+v", l)
			}
		}
	})
}

// protocol4 and protocol6 are what the tests need of the two families.
var (
	protocol4 = datagramProtocol{level: unix.IPPROTO_IP, errorOption: unix.IP_RECVERR, origin: unix.SO_EE_ORIGIN_ICMP,
		requestType: v4EchoRequest, quotedHeader: minIPv4Header, kind: kind4}
	protocol6 = datagramProtocol{level: unix.IPPROTO_IPV6, errorOption: unix.IPV6_RECVERR, origin: unix.SO_EE_ORIGIN_ICMP6,
		requestType: v6EchoRequest, quotedHeader: ipv6Header, kind: kind6}
)

// extendedError makes the control message of the error queue: origin, type and code, then the offender.
func extendedError(p datagramProtocol, origin, typ, code byte, from netip.Addr) []byte {
	data := make([]byte, errorLength)
	data[errorOrigin], data[errorType], data[errorCode] = origin, typ, code
	if from.Is4() {
		data = append(binary.NativeEndian.AppendUint16(data, unix.AF_INET), 0, 0)
		data = append(append(data, from.AsSlice()...), make([]byte, 8)...)
	} else if from.Is6() {
		data = append(binary.NativeEndian.AppendUint16(data, unix.AF_INET6), make([]byte, 6)...)
		data = append(append(data, from.AsSlice()...), make([]byte, 4)...)
	}
	b := make([]byte, unix.CmsgSpace(len(data)))
	h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
	h.Level, h.Type = int32(p.level), int32(p.errorOption)
	h.SetLen(unix.CmsgLen(len(data)))
	copy(b[unix.CmsgLen(0):], data)
	return b
}

func TestReadError(t *testing.T) {
	t.Parallel()
	router4, router6 := netip.MustParseAddr("11.0.0.2"), netip.MustParseAddr("2a10::2")
	target6 := netip.MustParseAddr("2a10:100::1")
	p4 := request(v4EchoRequest, 7, 5, cookie{1})
	p6 := request(v6EchoRequest, 7, 5, cookie{1})
	const icmp, icmp6 = unix.SO_EE_ORIGIN_ICMP, unix.SO_EE_ORIGIN_ICMP6
	exceeded4 := extendedError(protocol4, icmp, v4TimeExceeded, 0, router4)
	for _, tt := range []struct {
		name     string
		protocol datagramProtocol
		quote    []byte
		control  []byte
		to, from netip.Addr
		want     exchange.Kind // 0: refused
	}{
		{"v4 time exceeded", protocol4, p4[:], exceeded4, target4, router4, exchange.TimeExceeded},
		{"v4 behind a TTL", protocol4, p4[:], append(ttlControl(unix.IPPROTO_IP, unix.IP_TTL, 61), exceeded4...), target4, router4, exchange.TimeExceeded},
		{"v4 header alone", protocol4, p4[:headerLength], exceeded4, target4, router4, exchange.TimeExceeded},
		{"v4 prohibited", protocol4, p4[:], extendedError(protocol4, icmp, v4Unreachable, 13, router4), target4, router4, exchange.Prohibited},
		{"v6 time exceeded", protocol6, p6[:], extendedError(protocol6, icmp6, v6TimeExceeded, 0, router6), target6, router6, exchange.TimeExceeded},
		{"v6 too big", protocol6, p6[:], extendedError(protocol6, icmp6, v6PacketTooBig, 0, router6), target6, router6, exchange.TooBig},
		{"half a header", protocol4, p4[:headerLength-1], exceeded4, target4, router4, 0},
		{"a quoted reply", protocol4, put8(p4[:], 0, v4EchoReply), exceeded4, target4, router4, 0},
		{"a quoted code", protocol4, put8(p4[:], 1, 1), exceeded4, target4, router4, 0},
		{"this host's own error", protocol4, p4[:], extendedError(protocol4, unix.SO_EE_ORIGIN_LOCAL, v4TimeExceeded, 0, router4), target4, router4, 0},
		{"the other family's origin", protocol6, p6[:], extendedError(protocol6, icmp, v6TimeExceeded, 0, router6), target6, router6, 0},
		{"the other family's message", protocol6, p6[:], exceeded4, target6, router6, 0},
		{"source quench", protocol4, p4[:], extendedError(protocol4, icmp, 4, 0, router4), target4, router4, 0},
		{"no offender", protocol4, p4[:], extendedError(protocol4, icmp, v4TimeExceeded, 0, netip.Addr{}), target4, router4, 0},
		{"no control message", protocol4, p4[:], nil, target4, router4, 0},
	} {
		a := arrived{packet: packet{kernel: parseControl(tt.control)}}
		ok := a.readError(tt.protocol, tt.quote, tt.control, tt.to)
		if ok != (tt.want != 0) {
			t.Errorf("%s: taken %v", tt.name, ok)
		}
		if ok && (a.kind != tt.want || a.source != tt.from || a.quoted != tt.to || a.id != 7 || a.seq != 5) {
			t.Errorf("%s: %+v", tt.name, a)
		}
	}
}

// An error that a flow's earlier packet brought back must not be taken for this host's own, and the other way round.
func TestPendingErrors(t *testing.T) {
	t.Parallel()
	for _, err := range []error{unix.EHOSTUNREACH, unix.ENETUNREACH, unix.ECONNREFUSED, unix.EACCES, unix.EINTR} {
		if !isPending(err) {
			t.Errorf("%v is not repeated", err)
		}
	}
	for _, err := range []error{nil, unix.EPERM, unix.EINVAL, unix.EAGAIN, unix.ENOBUFS, unix.EBADF} {
		if isPending(err) {
			t.Errorf("%v is repeated", err)
		}
	}
	if err := openError(unix.EMFILE); !errors.Is(err, exchange.ErrNoFlow) {
		t.Errorf("no descriptor left: %v", err)
	}
	if err := openError(unix.EACCES); errors.Is(err, exchange.ErrNoFlow) {
		t.Errorf("no right: %v", err)
	}
}

func FuzzReadError(f *testing.F) {
	p := request(v4EchoRequest, 7, 5, cookie{1})
	f.Add(p[:], extendedError(protocol4, unix.SO_EE_ORIGIN_ICMP, v4TimeExceeded, 0, netip.MustParseAddr("11.0.0.2")))
	f.Fuzz(func(t *testing.T, quote, control []byte) {
		for _, p := range []datagramProtocol{protocol4, protocol6} {
			a := arrived{packet: packet{kernel: parseControl(control)}}
			if a.readError(p, quote, control, target4) && (a.kind == 0 || !a.source.IsValid() || len(quote) < headerLength ||
				a.mtu != 0 && a.kind != exchange.TooBig) {
				t.Errorf("%+v", a)
			}
		}
	})
}

// Packets as they were captured on the veth of a network namespace behind which stood a chain of Linux routers.
// The first three of each family are of one flow: id ba4e to 11.0.100.1, and id 942f to 2a10:100::1.
var (
	captured4 = map[string]string{
		"request":      "4500003c8bdb4000400134e40b0000010b006401080006efba4e0001bd516164bb25fb1dfffe6e6574776f726b20646961676e6f7374696373202020",
		"reply":        "4500003c363a00003801d2850b0064010b00000100000eefba4e0001bd516164bb25fb1dfffe6e6574776f726b20646961676e6f7374696373202020",
		"timeExceeded": "45c000587eaf00004001e5330b0000020b0000010b00f4ff000000004500003c8bdc4000010173e30b0000010b006401080006efba4e0002bd516164bb25fb1dfffd6e6574776f726b20646961676e6f7374696373202020",
		"prohibited":   "45c00058c28700003e01a15b0b0002020b000001030dfcf2000000004500003c03b340000201970c0b0000010b00c80108008d886a670041dfa0658e8fccc94bffbe6e6574776f726b20646961676e6f7374696373202020",
	}
	captured6 = map[string]string{
		"request":      "6009bba100283a402a1000000000000000000000000000012a100100000000000000000000000001800042e3942f0001d95ef8cf7c0aa366fffe6e6574776f726b20646961676e6f7374696373202020",
		"reply":        "600c720600283a382a1001000000000000000000000000012a100000000000000000000000000001810041e3942f0001d95ef8cf7c0aa366fffe6e6574776f726b20646961676e6f7374696373202020",
		"timeExceeded": "6001bea400583a402a1000000000000000000000000000022a100000000000000000000000000001030052d8000000006009bba100283a012a1000000000000000000000000000012a100100000000000000000000000001800042e3942f0002d95ef8cf7c0aa366fffd6e6574776f726b20646961676e6f7374696373202020",
		"prohibited":   "6003227d00583a3e2a1000020000000000000000000000022a10000000000000000000000000000101014a7400000000600cc5c200283a3e2a1000000000000000000000000000012a100200000000000000000000000001800040738b3100010b4f79151b0d5c9cfffe6e6574776f726b20646961676e6f7374696373202020",
	}
)
