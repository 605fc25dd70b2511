//go:build e2e

package e2e

import (
	"crypto/x509"
	wire "encoding/binary"
	"fmt"
	"io"
	"math/big"
	"net"
	"slices"
	"testing"

	"diagnostics/lab/internal/site"
)

// mazeRevoked is a server whose certificate, and whose authority's, name two lists of revoked certificates each, all
// almost as long as what is read of one, and signed by another.
const mazeRevoked = "maze." + revokedZone

func revokingMaze(t *testing.T) {
	t.Helper()
	r := newRevoking(t)
	var urls []string
	for i := range 4 {
		urls = append(urls, listURL(fmt.Sprintf("maze-%d", i)))
	}
	authority := r.authority("Lab Maze", urls[:2]...)
	serials := make([]*big.Int, 85_000)
	for i := range serials {
		serials[i] = new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 120), big.NewInt(int64(i)))
	}
	long, err := authority.List(site.SignedByStranger, x509.RevocationList{}, serials...)
	if err != nil || len(long) < 39<<20/10 || len(long) > 4<<20 {
		t.Fatalf("%d octets, %v", len(long), err)
	}
	for i := range 4 {
		r.at("crl", fmt.Sprintf("maze-%d", i), r.sends(long, nil))
	}
	r.site(authority, "maze", true, urls[2:], nil)
}

// mazeSuites are suites with whose ServerHello and certificates a server has said all (RSA key transport).
var mazeSuites = []uint16{
	0x0001, 0x0002, 0x0004, 0x0005, 0x0007, 0x0009, 0x000A, 0x002F, 0x0035, 0x003B, 0x003C, 0x003D, 0x0041, 0x0084,
	0x0096, 0x009C, 0x009D, 0x00BA, 0x00C0, 0xC03C, 0xC03D, 0xC050, 0xC051, 0xC07A, 0xC07B, 0xC09C, 0xC09D, 0xC0A0, 0xC0A1,
}

// mazeCertificates is how long a list of certificates is, below what is read of a handshake.
const mazeCertificates = 110 << 10

// takeEverything is a TLS server that takes every one of many suites in every version from SSL 3.0 to TLS 1.2, and
// shows its certificate again and again each time.
func takeEverything(certificate []byte) func(net.Conn) {
	var list []byte
	for len(list) < mazeCertificates {
		list = append(list, prefixed(3, certificate)...)
	}
	certificates := tlsMessage(11, prefixed(3, list))
	return func(c net.Conn) {
		version, offered := readClientHello(c)
		chosen := slices.IndexFunc(mazeSuites, func(id uint16) bool { return slices.Contains(offered, id) })
		if chosen < 0 {
			_, _ = c.Write(tlsRecords(21, version, []byte{2, 40}))
			return
		}
		hello := wire.BigEndian.AppendUint16(nil, version)
		hello = append(hello, make([]byte, 32+1)...) // a random that is none, no session
		hello = append(wire.BigEndian.AppendUint16(hello, mazeSuites[chosen]), 0)
		flight := slices.Concat(tlsMessage(2, hello), certificates, tlsMessage(14, nil))
		if _, err := c.Write(tlsRecords(22, version, flight)); err == nil {
			_, _ = io.Copy(io.Discard, c)
		}
	}
}

// readClientHello gives the version and the suites of a ClientHello, none of one that it cannot read.
func readClientHello(c net.Conn) (version uint16, offered []uint16) {
	header := make([]byte, 5)
	if _, err := io.ReadFull(c, header); err != nil {
		return 0, nil
	}
	b := make([]byte, wire.BigEndian.Uint16(header[3:]))
	const fixed = 4 + 2 + 32 // type and length, version, random
	if _, err := io.ReadFull(c, b); err != nil || len(b) <= fixed {
		return 0, nil
	}
	version = wire.BigEndian.Uint16(b[4:])
	b = b[fixed:]
	b = b[min(1+int(b[0]), len(b)):] // without the session
	for i := 2; i+1 < len(b) && i < 2+int(wire.BigEndian.Uint16(b)); i += 2 {
		offered = append(offered, wire.BigEndian.Uint16(b[i:]))
	}
	return version, offered
}

// prefixed puts the length before some bytes, in so many octets.
func prefixed(octets int, b []byte) []byte {
	return append(wire.BigEndian.AppendUint32(nil, uint32(len(b)))[4-octets:], b...)
}

func tlsMessage(kind byte, body []byte) []byte { return append([]byte{kind}, prefixed(3, body)...) }

func tlsRecords(kind byte, version uint16, b []byte) (records []byte) {
	for part := range slices.Chunk(b, 1<<14) {
		records = append(records, kind, byte(version>>8), byte(version))
		records = append(records, prefixed(2, part)...)
	}
	return records
}
