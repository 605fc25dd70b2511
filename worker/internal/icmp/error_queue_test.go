package icmp

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"
	"unsafe"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/sys/unix"
)

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
		a := arrived{kernel: parseControl(tt.control)}
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
			a := arrived{kernel: parseControl(control)}
			if a.readError(p, quote, control, target4) && (a.kind == 0 || !a.source.IsValid() || len(quote) < headerLength) {
				t.Errorf("%+v", a)
			}
		}
	})
}
