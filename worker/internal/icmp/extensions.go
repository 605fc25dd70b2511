package icmp

import (
	"encoding/binary"

	"diagnostics/worker/internal/exchange"
)

// ICMP extensions (RFC 4884): behind the quote, an ICMP error may carry a header of four bytes and objects, of which
// the one for MPLS (RFC 4950) tells with what label stack the probe came.
const (
	extensionVersion = 2
	extensionHeader  = 4
	objectHeader     = 4
	mplsClass        = 1 // MPLS Label Stack Class
	mplsIncoming     = 1 // Incoming MPLS Label Stack
	labelLength      = 4

	// quoteBeforeExtension is the least length of a quote, padded with zeros, before extensions (RFC 4884 section 3).
	// Routers from before that RFC write no length and always have this one (section 5.5).
	quoteBeforeExtension = 128
	wordLength4          = 4 // unit of the quote's length in ICMP
	wordLength6          = 8 // and in ICMPv6
)

// labels4 reads the label stack that an ICMP error tells; nil where there is none.
func labels4(b []byte) []exchange.Label {
	if b[0] != v4TimeExceeded && b[0] != v4Unreachable {
		return nil
	}
	return labels(b[headerLength:], int(b[5])*wordLength4)
}

// labels6 reads the label stack that an ICMPv6 error tells; nil where there is none. A packet too big has no room for
// the length, and so no extensions.
func labels6(b []byte) []exchange.Label {
	if b[0] != v6TimeExceeded && b[0] != v6Unreachable {
		return nil
	}
	return labels(b[headerLength:], int(b[4])*wordLength6)
}

// labels reads the label stack behind a quote of a length. Where the length is 0, it may be a router from before RFC
// 4884; that what stands there is an extension must then be proved by a checksum.
func labels(quote []byte, length int) []exchange.Label {
	proof := length == 0
	if proof {
		length = quoteBeforeExtension
	}
	if length < quoteBeforeExtension || len(quote) < length {
		return nil
	}
	return readExtension(quote[length:], proof)
}

// readExtension reads an extension structure. Its checksum (RFC 1071) covers all of it; 0 means that none was sent,
// which is not enough where proof is wanted.
func readExtension(b []byte, proof bool) []exchange.Label {
	if len(b) < extensionHeader || b[0]>>4 != extensionVersion {
		return nil
	}
	if sum := binary.BigEndian.Uint16(b[2:]); sum != 0 && checksum(b) != 0 || sum == 0 && proof {
		return nil
	}
	for b = b[extensionHeader:]; len(b) >= objectHeader; {
		length := int(binary.BigEndian.Uint16(b))
		if length < objectHeader || length > len(b) {
			return nil
		}
		if b[2] == mplsClass && b[3] == mplsIncoming {
			return readStack(b[objectHeader:length])
		}
		b = b[length:]
	}
	return nil
}

// readStack reads the entries of a label stack (RFC 3032 section 2.1), down to the bottom.
func readStack(b []byte) []exchange.Label {
	var stack []exchange.Label
	for ; len(b) >= labelLength; b = b[labelLength:] {
		word := binary.BigEndian.Uint32(b)
		l := exchange.Label{Value: word >> 12, TC: uint8(word >> 9 & 7), Bottom: word>>8&1 == 1, TTL: uint8(word)}
		stack = append(stack, l)
		if l.Bottom {
			break
		}
	}
	return stack
}
