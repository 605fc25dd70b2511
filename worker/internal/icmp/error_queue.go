package icmp

import (
	"encoding/binary"
	"net/netip"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/sys/unix"
)

// Where sock_extended_err (linux/errqueue.h) holds what is read of it, and where the sockaddr_in or sockaddr_in6 of the
// offender behind it holds the address.
const (
	errorOrigin     = 4
	errorType       = 5
	errorCode       = 6
	errorQuote      = 12 // two bytes: how long the quote behind its IP header is, before extensions (RFC 4884)
	errorLength     = 16
	offenderFamily  = errorLength
	offenderAddress = errorLength + 4
	offenderIPv6    = errorLength + 8
)

// errorSpace is room for the control messages of one error: the extended error with the longer address, a timestamp and
// a TTL.
var errorSpace = unix.CmsgSpace(errorLength+unix.SizeofSockaddrInet6) + oobSpace

// readError reads what the error queue gave: quote is the request from its ICMP header on, to the address to. It
// reports whether that is an ICMP error about an echo request.
func (a *arrived) readError(p datagramProtocol, quote, control []byte, to netip.Addr) bool {
	extended := findControl(control, int32(p.level), int32(p.errorOption))
	if len(extended) < errorLength || extended[errorOrigin] != p.origin {
		return false
	}
	a.source = offender(extended)
	a.ttl = a.kernel.hopLimit
	a.kind = p.kind(extended[errorType], extended[errorCode])
	a.quoted = to
	if a.kind == 0 || !a.source.IsValid() || !a.readEcho(quote, p.requestType) {
		return false
	}
	if a.kind != exchange.TooBig || p.requestType == v4EchoRequest {
		a.labels = p.labels(quote, int(binary.NativeEndian.Uint16(extended[errorQuote:])))
	}
	return true
}

// labels reads the label stack behind a quote without its IP header; length is where the kernel found the extension, 0
// where it found none.
func (p datagramProtocol) labels(quote []byte, length int) []exchange.Label {
	proof := length == 0
	if proof {
		length = quoteBeforeExtension - p.quotedHeader
	}
	if len(quote) < length {
		return nil
	}
	return readExtension(quote[length:], proof)
}

// offender is the router or host that sent the error (SO_EE_OFFENDER); the zero Addr where it is not told.
func offender(extended []byte) netip.Addr {
	if len(extended) < offenderFamily+2 {
		return netip.Addr{}
	}
	switch family := binary.NativeEndian.Uint16(extended[offenderFamily:]); {
	case family == unix.AF_INET && len(extended) >= offenderAddress+4:
		return netip.AddrFrom4([4]byte(extended[offenderAddress:]))
	case family == unix.AF_INET6 && len(extended) >= offenderIPv6+16:
		return netip.AddrFrom16([16]byte(extended[offenderIPv6:]))
	default:
		return netip.Addr{}
	}
}

// findControl gives the data of the first control message of a kind; nil where there is none.
func findControl(b []byte, level, typ int32) []byte {
	for len(b) >= unix.CmsgLen(0) {
		h, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			return nil
		}
		if h.Level == level && h.Type == typ {
			return data
		}
		b = rest
	}
	return nil
}

// address is that of a socket address; the zero Addr where it has none.
func address(a unix.Sockaddr) netip.Addr {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrFrom4(a.Addr)
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(a.Addr)
	default:
		return netip.Addr{}
	}
}
