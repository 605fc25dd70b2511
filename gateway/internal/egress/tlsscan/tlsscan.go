// Package tlsscan implements just enough of SSL 3.0 to TLS 1.3 to find out what a server accepts: its versions, cipher
// suites and groups, and the certificates that it shows. It writes ClientHellos and reads what comes back up to the
// point where a client would have to answer, so it needs none of the ciphers that it offers. crypto/tls is of no use
// here: it has no DHE, CCM, Camellia, ARIA or X448, and a server that has nothing else looks like one that speaks no
// TLS.
//
// Everything that a server sends is bounded, in octets, in records and in time.
package tlsscan

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// Version is a version of the protocol as it stands on the wire.
type Version uint16

// The versions that are known, oldest first.
const (
	SSL30 Version = 0x0300
	TLS10 Version = 0x0301
	TLS11 Version = 0x0302
	TLS12 Version = 0x0303
	TLS13 Version = 0x0304
)

// Versions are all that are known, newest first. Not to be changed.
var Versions = []Version{TLS13, TLS12, TLS11, TLS10, SSL30}

// String gives the usual name: "SSLv3", "TLSv1.0" to "TLSv1.3".
func (v Version) String() string {
	switch {
	case v == SSL30:
		return "SSLv3"
	case v >= TLS10 && v <= TLS13:
		return fmt.Sprintf("TLSv1.%d", v-TLS10)
	}
	return fmt.Sprintf("0x%04X", uint16(v))
}

// Dial opens a connection that is ready for a ClientHello. It gives ErrSpent when no more connections may be opened.
type Dial func(context.Context) (net.Conn, error)

var (
	// ErrSpent means that a scan may open no more connections.
	ErrSpent = errors.New("tlsscan: no more connections")
	// ErrNotTLS is an answer that is none of TLS.
	ErrNotTLS = errors.New("tlsscan: the answer is not TLS")
	// ErrTooLong is a server that sends more than MaxHandshake octets, or too many records, before its answer is
	// complete.
	ErrTooLong = errors.New("tlsscan: the handshake is too long")
	// ErrMalformed is TLS of which a message makes no sense.
	ErrMalformed = errors.New("tlsscan: a message of the handshake makes no sense")
	// ErrOtherVersion is a server that chose a version which was not offered; it refuses those that were.
	ErrOtherVersion = errors.New("tlsscan: the server chose a version that was not offered")
	// ErrNotOffered is a server that chose a suite or a group which was not offered.
	ErrNotOffered = errors.New("tlsscan: the server chose something that was not offered")
	// ErrNotComputed is a server that chose a group of TLS 1.3 in which no keys can be computed here: its certificates
	// cannot be read.
	ErrNotComputed = errors.New("tlsscan: the server chose a group that is not implemented")
)

// MaxHandshake is how many octets of a handshake are read (as package tlswire allows crypto/tls).
const MaxHandshake = 128 << 10

// Alert is an error: the alert by which a server ended a handshake (RFC 8446 section 6).
type Alert struct {
	Level       byte // 1 warning, 2 fatal
	Description byte
}

func (a Alert) Error() string {
	return fmt.Sprintf("tlsscan: alert %d of level %d", a.Description, a.Level)
}
