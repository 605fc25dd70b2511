package tlsscan

import (
	"bytes"
	"math/bits"

	"golang.org/x/crypto/cryptobyte"
)

// helloRetry is the random of a HelloRetryRequest (RFC 8446 section 4.1.3).
var helloRetry = []byte{
	0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
	0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
}

// serverHello is the content of one.
type serverHello struct {
	version Version
	suite   uint16
	// retry reports that it requests another hello, with a share of group.
	retry  bool
	group  uint16
	share  cryptobyte.String
	cookie cryptobyte.String
	alpn   string
	scts   [][]byte
}

// parseServerHello reads the body of a ServerHello. With ErrMalformed it returns the version where that is known.
func parseServerHello(body []byte) (h serverHello, err error) {
	s := cryptobyte.String(body)
	var random []byte
	var session, extensions cryptobyte.String
	var compression uint8
	if !s.ReadUint16((*uint16)(&h.version)) || !s.ReadBytes(&random, 32) || !s.ReadUint8LengthPrefixed(&session) ||
		!s.ReadUint16(&h.suite) || !s.ReadUint8(&compression) {
		return serverHello{}, ErrMalformed
	}
	h.retry = bytes.Equal(random, helloRetry)
	if s.Empty() {
		return h, nil
	}
	if !s.ReadUint16LengthPrefixed(&extensions) || !eachExtension(extensions, h.take) {
		return serverHello{version: h.version}, ErrMalformed
	}
	return h, nil
}

// eachExtension hands out the extensions of a list, and reports whether all of them make sense.
func eachExtension(list cryptobyte.String, take func(kind uint16, data cryptobyte.String) bool) bool {
	for !list.Empty() {
		var kind uint16
		var data cryptobyte.String
		if !list.ReadUint16(&kind) || !list.ReadUint16LengthPrefixed(&data) || !take(kind, data) {
			return false
		}
	}
	return true
}

// take reads an extension of a ServerHello, and reports whether it makes sense.
func (h *serverHello) take(kind uint16, data cryptobyte.String) (ok bool) {
	switch kind {
	case extVersions:
		return data.ReadUint16((*uint16)(&h.version))
	case extKeyShares:
		return data.ReadUint16(&h.group) && (h.retry || data.ReadUint16LengthPrefixed(&h.share))
	case extCookie:
		return data.ReadUint16LengthPrefixed(&h.cookie)
	case extALPN:
		h.alpn, ok = readALPN(data)
		return ok
	case extSCT:
		h.scts, ok = readSCTs(data)
		return ok
	}
	return true
}

func readALPN(data cryptobyte.String) (string, bool) {
	var list, name cryptobyte.String
	if !data.ReadUint16LengthPrefixed(&list) || !list.ReadUint8LengthPrefixed(&name) {
		return "", false
	}
	return string(name), true
}

// readSCTs reads a SignedCertificateTimestampList (RFC 6962 section 3.3).
func readSCTs(data cryptobyte.String) (all [][]byte, ok bool) {
	var list cryptobyte.String
	if !data.ReadUint16LengthPrefixed(&list) {
		return nil, false
	}
	for !list.Empty() {
		var sct cryptobyte.String
		if !list.ReadUint16LengthPrefixed(&sct) || sct.Empty() {
			return nil, false
		}
		all = append(all, sct)
	}
	return all, true
}

func parseEncryptedExtensions(body []byte) (alpn string, err error) {
	s := cryptobyte.String(body)
	var extensions cryptobyte.String
	take := func(kind uint16, data cryptobyte.String) (ok bool) {
		if kind != extALPN {
			return true
		}
		alpn, ok = readALPN(data)
		return ok
	}
	if !s.ReadUint16LengthPrefixed(&extensions) || !eachExtension(extensions, take) {
		return "", ErrMalformed
	}
	return alpn, nil
}

// certificates is what a Certificate message holds; the staple and the SCTs are those of the first one, in TLS 1.3.
type certificates struct {
	all    [][]byte
	staple []byte
	scts   [][]byte
}

// parseCertificates reads the body of a Certificate message. In TLS 1.3 (RFC 8446 section 4.4.2) a context comes first,
// and each certificate has extensions. With ErrMalformed it returns the certificates that precede the error: the body
// may be the first part of a message.
func parseCertificates(body []byte, v Version) (c certificates, err error) {
	s := cryptobyte.String(body)
	var request, length cryptobyte.String
	if v == TLS13 && !s.ReadUint8LengthPrefixed(&request) || !s.ReadBytes((*[]byte)(&length), 3) {
		return certificates{}, ErrMalformed
	}
	list := s
	whole := uint24(length) <= len(s)
	if whole {
		list = s[:uint24(length)]
	}
	for !list.Empty() {
		var der, extensions cryptobyte.String
		if !list.ReadUint24LengthPrefixed(&der) || der.Empty() {
			return c, ErrMalformed
		}
		c.all = append(c.all, der)
		if v == TLS13 && !list.ReadUint16LengthPrefixed(&extensions) {
			return c, ErrMalformed
		}
		if len(c.all) == 1 && !eachExtension(extensions, c.takeExtension) {
			return c, ErrMalformed
		}
	}
	if !whole {
		return c, ErrMalformed
	}
	return c, nil
}

func uint24(b []byte) int { return int(b[0])<<16 | int(b[1])<<8 | int(b[2]) }

// takeExtension reads one of the first certificate, and reports whether it makes sense.
func (c *certificates) takeExtension(kind uint16, data cryptobyte.String) (ok bool) {
	switch kind {
	case extStatusRequest:
		c.staple, ok = readStatus(data)
	case extSCT:
		c.scts, ok = readSCTs(data)
	default:
		ok = true
	}
	return ok
}

// readStatus reads a CertificateStatus (RFC 6066 section 8); nil where it is none of OCSP's.
func readStatus(data cryptobyte.String) (staple []byte, ok bool) {
	const ocsp = 1
	var kind uint8
	var response cryptobyte.String
	if !data.ReadUint8(&kind) {
		return nil, false
	}
	if kind != ocsp {
		return nil, true
	}
	if !data.ReadUint24LengthPrefixed(&response) {
		return nil, false
	}
	return response, true
}

// keyExchange is what a ServerKeyExchange shows of the exchange.
type keyExchange struct {
	group  uint16
	dhBits int
}

// parseKeyExchange reads the body of a ServerKeyExchange for a suite. Exchanges without a group are left alone.
func parseKeyExchange(suite Suite, body []byte) (keyExchange, error) {
	s := cryptobyte.String(body)
	switch suite.KeyExchange {
	case "ECDHE_PSK", "DHE_PSK": // a hint comes first (RFC 4279 section 3, RFC 5489 section 2)
		var hint cryptobyte.String
		if !s.ReadUint16LengthPrefixed(&hint) {
			return keyExchange{}, ErrMalformed
		}
	}
	switch suite.KeyExchange {
	case "ECDHE", "ECDHE_PSK":
		return readCurve(s)
	case "DHE", "DHE_PSK":
		return readPrime(s)
	}
	return keyExchange{}, nil
}

// readCurve reads the curve of RFC 8422 section 5.4; curves without a number have none here.
func readCurve(s cryptobyte.String) (x keyExchange, err error) {
	const named = 3
	var kind uint8
	if !s.ReadUint8(&kind) || kind == named && !s.ReadUint16(&x.group) {
		return keyExchange{}, ErrMalformed
	}
	return x, nil
}

// readPrime reads the prime of RFC 5246 section 7.4.3.
func readPrime(s cryptobyte.String) (x keyExchange, err error) {
	var prime cryptobyte.String
	if !s.ReadUint16LengthPrefixed(&prime) {
		return keyExchange{}, ErrMalformed
	}
	p := bytes.TrimLeft(prime, "\x00")
	if len(p) == 0 {
		return keyExchange{}, ErrMalformed
	}
	x.dhBits = 8*(len(p)-1) + bits.Len8(p[0])
	if bytes.HasPrefix(p, ffdhePrefix) {
		x.group = ffdheGroups[x.dhBits]
	}
	return x, nil
}

// ffdhePrefix is how the primes of RFC 7919 begin: ones, and the digits of e. Those of RFC 3526 go on with pi's.
var ffdhePrefix = []byte{
	0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
	0xAD, 0xF8, 0x54, 0x58, 0xA2, 0xBB, 0x4A, 0x9A, 0xAF, 0xDC, 0x56, 0x20, 0x27, 0x3D, 0x3C, 0xF1,
}

// ffdheGroups are its groups by the bits of their primes.
var ffdheGroups = map[int]uint16{
	2048: groupFFDHE2048, 3072: groupFFDHE3072, 4096: groupFFDHE4096, 6144: groupFFDHE6144, 8192: groupFFDHE8192,
}

// flight is what has come of a server's first flight.
type flight struct {
	gotServerHello bool // a ServerHello
	hello          serverHello
	suite          Suite

	certified bool // a Certificate message
	certificates
	keyExchange keyExchange
	requested   bool
	done        bool
}

// take reads a message of the flight up to TLS 1.2, or of TLS 1.3 once its records are open.
func (f *flight) take(m message) (err error) {
	if !f.gotServerHello && m.kind != messageServerHello {
		return ErrMalformed
	}
	switch m.kind {
	case messageServerHello:
		if f.gotServerHello {
			return ErrMalformed
		}
		f.hello, err = parseServerHello(m.body)
		if f.gotServerHello = err == nil; f.gotServerHello {
			f.suite, _ = SuiteByID(f.hello.suite)
			f.scts = f.hello.scts
		}
	case messageEncryptedExtensions:
		f.hello.alpn, err = parseEncryptedExtensions(m.body)
	case messageCertificate:
		err = f.takeCertificates(m.body)
	case messageCertificateStatus:
		var ok bool
		if f.staple, ok = readStatus(m.body); !ok {
			err = ErrMalformed
		}
	case messageKeyExchange:
		f.keyExchange, err = parseKeyExchange(f.suite, m.body)
	case messageCertificateRequest:
		f.requested = true
	case messageHelloDone:
		f.done = true
	}
	return err
}

func (f *flight) takeCertificates(body []byte) error {
	c, err := parseCertificates(body, f.hello.version)
	if err != nil {
		return err
	}
	if f.hello.version != TLS13 {
		c.scts = f.scts
	}
	f.certificates, f.certified = c, true
	return nil
}

// readUntil reads messages until enough has come.
func (f *flight) readUntil(r *reader, enough func(*flight) bool) error {
	for !enough(f) {
		m, err := r.next()
		if err != nil {
			return err
		}
		if err := f.take(m); err != nil {
			return err
		}
	}
	return nil
}

// hasKeyExchange reports whether enough has come where the group or the prime matters too.
func hasKeyExchange(f *flight) bool {
	if !f.gotServerHello || f.done || f.hello.version == TLS13 {
		return f.gotServerHello
	}
	switch f.suite.KeyExchange {
	case "ECDHE", "DHE", "ECDHE_PSK", "DHE_PSK":
		return f.keyExchange != keyExchange{}
	}
	return true
}

// shown returns the flight as far as it has come.
func (f *flight) shown() Flight {
	return Flight{
		Version: f.hello.version, Suite: f.suite, Group: f.group(), DHBits: f.keyExchange.dhBits,
		Certificates: f.all, Staple: f.staple, SCTs: f.scts,
		ClientRequested: f.requested, ALPN: f.hello.alpn,
	}
}
