package sslchecker

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"

	"diagnostics/gateway/internal/tlswire"
	"diagnostics/shared/parallel"
)

// versions are the versions that are probed, in the order of the result.
var versions = []uint16{tls.VersionTLS10, tls.VersionTLS11, tls.VersionTLS12, tls.VersionTLS13}

// maxOpening is how much of what a server says first is kept: a ServerHello with the largest key share.
const maxOpening = 4 << 10

// probeVersions asks for every version at once, but the one that is known already. A nil is one that could not be told.
func (s checker) probeVersions(ctx context.Context, to netip.AddrPort, host string, known uint16) map[string]*bool {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	taken := make([]*bool, len(versions))
	var probes parallel.Group
	for i, version := range versions {
		if version == known {
			yes := true
			taken[i] = &yes
			continue
		}
		probes.Go(func() { taken[i] = s.probeVersion(ctx, to, host, version) })
	}
	probes.Wait()
	result := make(map[string]*bool, len(versions))
	for i, version := range versions {
		result[protocolName(version)] = taken[i]
	}
	return result
}

func (s checker) probeVersion(ctx context.Context, to netip.AddrPort, host string, version uint16) *bool {
	conn, err := s.egress.Dial(ctx, to)
	if err != nil {
		return nil
	}
	defer func() { _ = conn.Close() }()
	defer interruptOn(ctx, conn)()
	if protocol, ok := starttlsByPort[to.Port()]; ok {
		if err := startTLS(conn, protocol); err != nil {
			return nil
		}
	}
	heard := &openingRecorder{Conn: tlswire.Watch(conn)}
	config := clientConfig(host)
	config.MinVersion, config.MaxVersion = version, version
	err = tls.Client(heard, config).HandshakeContext(ctx)
	if err == nil {
		yes := true
		return &yes
	}
	return readOpening(heard.opening).takes(version, err)
}

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
	// silent tells that it said nothing at all.
	silent bool
}

// takes judges a failed handshake that offered one version: true, false, or nil where it cannot be told.
func (o opening) takes(version uint16, err error) *bool {
	answer := false
	switch {
	case o.version != 0:
		answer = o.version == version
	case o.alert >= 0:
		// Whatever the alert: the same hello with another version was taken a moment ago. OpenSSL 3 says internal_error
		// where its security level leaves a version without signatures.
	case !(o.silent && errors.Is(err, io.EOF)):
		// An orderly end in place of an answer is how some servers refuse; a reset or silence may come from anywhere.
		return nil
	}
	return &answer
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
	o := opening{alert: -1, silent: len(b) == 0}
	var handshake []byte
	for len(b) >= 5 {
		kind, length := b[0], int(binary.BigEndian.Uint16(b[3:5]))
		body := b[5:]
		body = body[:min(length, len(body))]
		switch kind {
		case recordAlert:
			if len(handshake) == 0 && len(body) >= 2 && (body[0] != alertWarning || body[1] == alertCloseNow) {
				o.alert = int(body[1])
				return o
			}
		case recordHandshake:
			handshake = append(handshake, body...)
		default:
			o.version = serverHelloVersion(handshake)
			return o
		}
		b = b[5+len(body):]
	}
	o.version = serverHelloVersion(handshake)
	return o
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
