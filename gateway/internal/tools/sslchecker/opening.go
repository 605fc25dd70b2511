package sslchecker

import (
	"encoding/binary"
	"net"
)

// maxOpening is how much of what a server says first is kept: a ServerHello with the largest key share.
const maxOpening = 4 << 10

// openingRecorder keeps the first bytes that come in. It is read by one goroutine, the handshake's.
type openingRecorder struct {
	net.Conn
	opening []byte
}

func (r *openingRecorder) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.opening = append(r.opening, p[:min(n, maxOpening-len(r.opening))]...)
	return n, err
}

// opening is how a server began its answer to a ClientHello.
type opening struct {
	// version is what its ServerHello chose, 0 without one.
	version uint16
	// alert is the description of its fatal alert, -1 without one.
	alert int
}

// The record and handshake types that an answer to a ClientHello begins with (RFC 8446 sections 4 and 5.1).
const (
	recordAlert     = 21
	recordHandshake = 22
	helloFromServer = 2
	alertWarning    = 1
	alertCloseNow   = 0
	extVersions     = 43
)

// readOpening reads the records that came first. Anything that is not understood ends the reading.
func readOpening(b []byte) opening {
	var handshake []byte
	for len(b) >= 5 && (b[0] == recordAlert || b[0] == recordHandshake) {
		kind, length, body := b[0], int(binary.BigEndian.Uint16(b[3:5])), b[5:]
		body = body[:min(length, len(body))]
		switch {
		case kind == recordHandshake:
			handshake = append(handshake, body...)
		case len(handshake) == 0 && len(body) >= 2 && (body[0] != alertWarning || body[1] == alertCloseNow):
			return opening{alert: int(body[1])}
		}
		b = b[5+len(body):]
	}
	return opening{version: serverHelloVersion(handshake), alert: -1}
}

// serverHelloVersion gives the version that a ServerHello chose: the one of its supported_versions extension where it
// has one (RFC 8446 section 4.2.1), else its own; 0 where it is not complete.
func serverHelloVersion(b []byte) uint16 {
	const header, fixed = 4, 2 + 32 // type and length; version and random
	if len(b) < header || b[0] != helloFromServer {
		return 0
	}
	length := int(b[1])<<16 | int(b[2])<<8 | int(b[3])
	if b = b[header:]; length < fixed+1 || length > len(b) {
		return 0
	}
	b = b[:length]
	version := binary.BigEndian.Uint16(b)
	rest := b[fixed:]
	afterSession := 1 + int(rest[0]) + 2 + 1 // session id, suite, compression
	if len(rest) < afterSession+2 {
		return version
	}
	extensions := rest[afterSession+2:]
	for len(extensions) >= 4 {
		kind, length := binary.BigEndian.Uint16(extensions), int(binary.BigEndian.Uint16(extensions[2:]))
		extensions = extensions[4:]
		if length > len(extensions) {
			break
		}
		if kind == extVersions && length == 2 {
			return binary.BigEndian.Uint16(extensions)
		}
		extensions = extensions[length:]
	}
	return version
}
