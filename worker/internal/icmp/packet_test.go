package icmp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"testing"
)

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
