package icmp

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/sys/unix"
)

// Requests of every size of a flow have one checksum, which routers spread load by, and prove themselves as others do.
func TestSizedRequests(t *testing.T) {
	t.Parallel()
	for _, dst := range []netip.Addr{target4, netip.MustParseAddr("2a10:100::1")} {
		i := newIdentity(7, dst)
		typ, header := byte(v4EchoRequest), minIPv4Header
		if dst.Is6() {
			typ, header = v6EchoRequest, ipv6Header
		}
		small := i.request(typ, 3)
		want := pseudoSum(small[:])
		for _, size := range []int{header + len(small) + 2, header + len(small) + 3, 576, 1280, 1433, exchange.MaxSize} {
			b, err := i.sizedRequest(typ, 3, dst, size)
			if err != nil || len(b) != size-header {
				t.Fatalf("%v, %d: %d octets, %v", dst, size, len(b), err)
			}
			got := checksum(b)
			if dst.Is6() {
				got = pseudoSum(b)
			}
			if dst.Is4() && got != 0 || dst.Is6() && got != want {
				t.Errorf("%v, %d: checksum %#x", dst, size, got)
			}
			m := message{kind: exchange.Reply, sender: dst}
			if !m.readEcho(b, typ) || m.prove(dst, i, 4) != proved || !i.returns(m.payload, m.seq) {
				t.Errorf("%v, %d: does not prove itself", dst, size)
			}
		}
		for _, size := range []int{0, header + len(small) + 1, exchange.MaxSize + 1} {
			if _, err := i.sizedRequest(typ, 3, dst, size); err == nil {
				t.Errorf("%v, %d: no error", dst, size)
			}
		}
	}
}

// pseudoSum is the checksum over a message and its length (RFC 8200 section 8.1).
func pseudoSum(b []byte) uint16 {
	return checksum(append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...))
}

// The next-hop MTU is passed on as it is stated.
func TestNextHopMTU(t *testing.T) {
	t.Parallel()
	four := put8(fromHex(t, captured4["timeExceeded"])[minIPv4Header:], 0, v4Unreachable)
	six := fromHex(t, captured6["timeExceeded"])[ipv6Header:]
	for _, c := range []struct {
		name string
		b    []byte
		kind exchange.Kind
		mtu  int
	}{
		{"IPv4", put16(put8(four, 1, 4), 6, 1400), exchange.TooBig, 1400},
		{"IPv4, none", put16(put8(four, 1, 4), 6, 0), exchange.TooBig, 0},
		{"IPv4, most", put16(put8(four, 1, 4), 6, 0xffff), exchange.TooBig, 0xffff},
		{"IPv4, of another code", put16(put8(four, 1, 1), 6, 1400), exchange.HostUnreachable, 0},
		{"IPv6", put16(put8(six, 0, v6PacketTooBig), 6, 1280), exchange.TooBig, 1280},
		{"IPv6, more than 16 bits", put16(put8(six, 0, v6PacketTooBig), 4, 1), exchange.TooBig, 1 << 16},
		{"IPv6, of another type", put16(six, 6, 1280), exchange.TimeExceeded, 0},
	} {
		parse := parse4
		if c.name[3] == '6' {
			parse = parse6
		}
		m, ok := parse(c.b)
		if !ok || m.kind != c.kind || m.mtu != c.mtu {
			t.Errorf("%s: %t, %+v", c.name, ok, m)
		}
	}
	p := request(v4EchoRequest, 7, 5, cookie{1})
	for _, mtu := range []uint32{0, 68, 1400, 1 << 31} {
		control := extendedError(protocol4, unix.SO_EE_ORIGIN_ICMP, v4Unreachable, 4, netip.MustParseAddr("11.0.0.2"))
		binary.NativeEndian.PutUint32(control[unix.CmsgLen(0)+errorInfo:], mtu)
		a := arrived{}
		if !a.readError(protocol4, p[:], control, target4) || a.kind != exchange.TooBig || a.mtu != int(mtu) {
			t.Errorf("%d from the error queue: %+v", mtu, a)
		}
	}
}

func TestSizeErrors(t *testing.T) {
	t.Parallel()
	if err := sendError(unix.EMSGSIZE); !errors.Is(err, exchange.ErrSize) {
		t.Errorf("%v", err)
	}
}
