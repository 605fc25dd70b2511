package tlsprobe

import (
	"context"
	"net"
)

// Hello is what is asked in a handshake.
type Hello struct {
	// ServerName is sent as the name of the host (SNI), "" sends none.
	ServerName string
	// Versions are those that are offered; TLS 1.0 to 1.3 where there are none. SSL 3.0 is offered alone or not at all.
	Versions []Version
	// Authentication is the kind of certificate that is asked for: "RSA", "ECDSA" (any on a curve, Ed25519 too), "" any.
	Authentication string
	// ALPN are the protocols on top that are offered.
	ALPN []string
}

// Flight is what a server says at first.
type Flight struct {
	Version Version
	Suite   Suite
	// Group is what keys are exchanged in; 0 without, or where the server's DH parameters are its own.
	Group uint16
	// DHBits is the size of the prime of finite-field DH, 0 without.
	DHBits int
	// Certificates are as they were encoded, leaf first. Anonymous suites have none.
	Certificates [][]byte
	// Staple is an OCSP response, nil without.
	Staple []byte
	// SCTs are those of the handshake, not those inside of certificates.
	SCTs [][]byte
	// ClientRequested tells that the server asks for a client certificate.
	ClientRequested bool
	// ALPN is the protocol that the server chose, "" where it chose none.
	ALPN string
}

// ReadHandshake asks for a handshake on a connection and reads the server's part up to where a client would answer with
// keys. It leaves the connection open and of no further use. Once the certificates have come there is no error, whatever
// comes after them. Errors are an Alert, ErrNotTLS, ErrTooLong, ErrMalformed, ErrOtherVersion, ErrNotOffered, those of
// the connection (io.EOF where the server closed it) and the context's.
func ReadHandshake(ctx context.Context, conn net.Conn, hello Hello) (Flight, error) {
	return Flight{}, ErrNotTLS
}
