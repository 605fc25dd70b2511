package tlsserver

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"

	"diagnostics/lab/internal/site"
)

// spoken is a server whose first flight is written by hand, for what no program speaks any more: SSL 3.0, export
// suites. It gets as far as ServerHelloDone (RFC 5246 section 7.4, RFC 6101 section 5.6) and no further, as no one has
// to finish a handshake to see it.
type spoken struct {
	oldest, newest uint16
	suites         []uint16 // in the server's order
	// exchange are the bodies of ServerKeyExchange, for the suites that have one.
	exchange map[uint16][]byte
}

// The versions and the messages on the wire.
const (
	wireSSL3, wireTLS10 = 0x0300, 0x0301

	recordAlert, recordHandshake = 21, 22

	clientHello, serverHello, certificateMessage, serverKeyExchange, helloDone = 1, 2, 11, 12, 14

	alertHandshakeFailure, alertProtocolVersion = 40, 70
)

// Suites without a name in Go. They are those of RFC 2246 appendix A.5.
const (
	exportRC4  = 0x0003 // TLS_RSA_EXPORT_WITH_RC4_40_MD5
	rc4MD5     = 0x0004 // TLS_RSA_WITH_RC4_128_MD5
	rc4SHA     = 0x0005 // TLS_RSA_WITH_RC4_128_SHA
	exportRC2  = 0x0006 // TLS_RSA_EXPORT_WITH_RC2_CBC_40_MD5
	exportDES  = 0x0008 // TLS_RSA_EXPORT_WITH_DES40_CBC_SHA
	singleDES  = 0x0009 // TLS_RSA_WITH_DES_CBC_SHA
	tripleDES  = 0x000a // TLS_RSA_WITH_3DES_EDE_CBC_SHA
	exportBits = 512
)

// exportKey is a ServerKeyExchange with an RSA key of the 512 bits that exported suites allow (RFC 2246 section 7.4.3),
// and a signature that no client can have verified: it is not one.
func exportKey() []byte {
	modulus := make([]byte, exportBits/8)
	_, _ = rand.Read(modulus)
	modulus[0] |= 0x80
	modulus[len(modulus)-1] |= 1
	body := append(counted(2, modulus), counted(2, []byte{1, 0, 1})...)
	return append(body, counted(2, make([]byte, 256))...)
}

func spokenServer(p spoken) func(*workshop, Server) error {
	return func(w *workshop, s Server) error {
		made, err := w.ca.Make(s.order(site.Order{Key: "rsa"}))
		if err != nil {
			return err
		}
		return w.serve(s.at(0), func(_ context.Context, c net.Conn) { p.talk(c, made.Certificate) })
	}
}

func (p spoken) talk(c net.Conn, chain [][]byte) {
	version, offered, err := readHello(c)
	if err != nil {
		return
	}
	alert := func(version uint16, description byte) {
		_, _ = c.Write(record(recordAlert, version, []byte{2, description}))
	}
	if version < p.oldest {
		alert(p.oldest, alertProtocolVersion)
		return
	}
	version = min(version, p.newest)
	chosen := slices.IndexFunc(p.suites, func(id uint16) bool { return slices.Contains(offered, id) })
	if chosen < 0 {
		alert(version, alertHandshakeFailure)
		return
	}
	suite := p.suites[chosen]
	flight := message(serverHello, helloBody(version, suite))
	flight = append(flight, message(certificateMessage, certificateBody(chain))...)
	if exchange := p.exchange[suite]; exchange != nil {
		flight = append(flight, message(serverKeyExchange, exchange)...)
	}
	flight = append(flight, message(helloDone, nil)...)
	if _, err := c.Write(record(recordHandshake, version, flight)); err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, c)
}

func helloBody(version, suite uint16) []byte {
	body := binary.BigEndian.AppendUint16(nil, version)
	body = append(body, make([]byte, 32)...)
	_, _ = rand.Read(body[2:])
	body = append(body, 0) // no session
	body = binary.BigEndian.AppendUint16(body, suite)
	return append(body, 0) // no compression
}

func certificateBody(chain [][]byte) []byte {
	var list []byte
	for _, der := range chain {
		list = append(list, counted(3, der)...)
	}
	return counted(3, list)
}

// counted is the bytes behind their number, which has so many octets.
func counted(octets int, b []byte) []byte {
	n := binary.BigEndian.AppendUint32(nil, uint32(len(b)))
	return append(n[4-octets:], b...)
}

func message(kind byte, body []byte) []byte { return append([]byte{kind}, counted(3, body)...) }

func record(kind byte, version uint16, body []byte) []byte {
	return append([]byte{kind, byte(version >> 8), byte(version)}, counted(2, body)...)
}

// readHello reads a ClientHello as servers of that age did: the version and the suites, and no extensions.
func readHello(c io.Reader) (version uint16, offered []uint16, err error) {
	body, err := readMessage(c)
	if err != nil {
		return 0, nil, err
	}
	if len(body) < 35 || body[34] > 32 || len(body) < 37+int(body[34]) {
		return 0, nil, errNoHello
	}
	version = binary.BigEndian.Uint16(body)
	body = body[35+int(body[34]):]
	n := int(binary.BigEndian.Uint16(body))
	if len(body) < 2+n {
		return 0, nil, errNoHello
	}
	for i := 2; i+1 < 2+n; i += 2 {
		offered = append(offered, binary.BigEndian.Uint16(body[i:]))
	}
	return version, offered, nil
}

var errNoHello = errors.New("not a ClientHello")

// readMessage reads the body of a ClientHello out of one or more records.
func readMessage(c io.Reader) ([]byte, error) {
	var all []byte
	for len(all) < 4 || len(all) < 4+wanted(all) {
		head := make([]byte, 5)
		if _, err := io.ReadFull(c, head); err != nil {
			return nil, err
		}
		if head[0] != recordHandshake || head[1] != 3 {
			return nil, errNoHello
		}
		body := make([]byte, binary.BigEndian.Uint16(head[3:]))
		if _, err := io.ReadFull(c, body); err != nil {
			return nil, err
		}
		all = append(all, body...)
	}
	if all[0] != clientHello {
		return nil, errNoHello
	}
	return all[4 : 4+wanted(all)], nil
}

// wanted is the length that a message's header says.
func wanted(message []byte) int { return int(message[1])<<16 | int(message[2])<<8 | int(message[3]) }
