package icmp

import (
	"bytes"
	"encoding/binary"
	"testing"

	"diagnostics/worker/internal/exchange"

	"github.com/google/go-cmp/cmp"
)

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
