package tlsscan

import (
	"cmp"
	"context"
	"net"
	"slices"

	"diagnostics/shared/parallel"
)

// readable are the suites of TLS 1.3 that are offered: those of protections.
var readable = []uint16{0x1302, 0x1301, 0x1303, 0x1304, 0x1305}

// Hello is what a handshake offers.
type Hello struct {
	// ServerName is sent as the name of the host (SNI), "" sends none.
	ServerName string
	// Versions are those that are offered; TLS 1.0 to 1.3 where there are none. SSL 3.0 is offered alone or not at all.
	// TLS 1.3 alone is offered with all its groups, also those in which no keys can be computed here.
	Versions []Version
	// Authentication is the kind of certificate that is requested: "RSA", "ECDSA" (any on a curve, Ed25519 too), ""
	// any.
	Authentication string
	// ALPN are the protocols on top that are offered.
	ALPN []string
}

// Flight is a server's first flight.
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
	// ClientRequested reports that the server requests a client certificate.
	ClientRequested bool
	// ALPN is the protocol that the server chose, "" where it chose none.
	ALPN string
}

// ReadHandshake begins a handshake on a connection and reads the server's part up to where a client would answer with
// keys; in TLS 1.3 up to the certificates. It leaves the connection open and of no further use. Once the certificates
// have come there is no error, whatever comes after them. Errors are an Alert, ErrNotTLS, ErrTooLong, ErrMalformed,
// ErrOtherVersion, ErrNotOffered, ErrNotComputed (with the group), those of the connection (io.EOF where the server
// closed it without an answer) and the context's.
func ReadHandshake(ctx context.Context, conn net.Conn, hello Hello) (Flight, error) {
	defer parallel.Interrupt(ctx, conn)()
	h := handshake{conn: conn, reader: reader{from: conn}, offer: hello.compose()}
	err := h.run()
	switch {
	case h.certified:
		err = nil // what matters has come
	case err != nil && ctx.Err() != nil:
		err = ctx.Err() // which is why it failed
	}
	return h.shown(), err
}

// compose writes the hello of a handshake.
func (h Hello) compose() clientHello {
	versions := slices.Clone(h.Versions)
	if len(versions) == 0 {
		versions = []Version{TLS13, TLS12, TLS11, TLS10}
	}
	slices.SortFunc(versions, func(a, b Version) int { return cmp.Compare(b, a) })
	newest, oldest := versions[0], versions[len(versions)-1]
	c := newHello(newest)
	c.versions = versions
	c.serverName, c.alpn, c.extras = h.ServerName, h.ALPN, true
	c.signatures, c.anyChain = signaturesOf(h.Authentication), h.Authentication != ""
	if newest == TLS13 {
		c.suites, c.groups = slices.Clone(readable), slices.Clone(agreeable)
	}
	if oldest == TLS13 {
		c.groups = append(c.groups, without(offeredGroups(TLS13), agreeable)...)
	}
	if oldest < TLS13 {
		c.groups = slices.DeleteFunc(c.groups, isFiniteField) // for the reason that offeredGroups has
		before13 := versions[slices.IndexFunc(versions, func(v Version) bool { return v < TLS13 })]
		c.suites = append(c.suites, h.suitesFor(before13)...)
		c.groups = append(c.groups, without(offeredGroups(before13), append(c.groups, offeredGroups(TLS13)...))...)
		if newest < TLS13 {
			c.groups = offeredGroups(newest)
		}
	}
	return c
}

// suitesFor are those of a version that come with a certificate of the kind, as many as one hello has.
func (h Hello) suitesFor(v Version) []uint16 {
	ids := only(inOrder, func(s Suite) bool {
		return s.fits(v) && (h.Authentication == "" || s.Authentication == h.Authentication)
	})
	return ids[:min(len(ids), mostSuites(v))]
}

// handshake is one that is under way.
type handshake struct {
	flight
	conn      net.Conn
	reader    reader
	offer     clientHello
	agreement agreement
	// transcript is what both have sent; answerAt is where in it the last ServerHello begins.
	transcript []byte
	answerAt   int
}

func (h *handshake) run() error {
	if h.offer.version == TLS13 {
		if err := h.agree(agreeable[0]); err != nil {
			return err
		}
	}
	if err := h.sendHello(h.offer.recordVersion()); err != nil {
		return err
	}
	if h.hello.version < TLS13 {
		return h.readUntil(&h.reader, func(f *flight) bool { return f.done })
	}
	if h.hello.retry {
		if err := h.retryHello(); err != nil {
			return err
		}
	}
	if err := h.enableDecryption(); err != nil {
		return err
	}
	return h.readUntil(&h.reader, func(f *flight) bool { return f.certified })
}

// maxCookie is the longest cookie that is sent back; with it a hello still fits in one record.
const maxCookie = 8 << 10

// agree makes a share of a group.
func (h *handshake) agree(group uint16) (err error) {
	h.agreement, err = newAgreement(group)
	h.offer.shares = []keyShare{h.agreement.share}
	return err
}

// sendHello sends the hello, and compares the answer with what was offered.
func (h *handshake) sendHello(v Version) error {
	ours := h.offer.marshal()
	h.transcript = append(h.transcript, ours...)
	if _, err := h.conn.Write(inRecord(v, recordHandshake, ours)); err != nil {
		return err
	}
	m, err := h.reader.next()
	if err != nil {
		return err
	}
	h.answerAt = len(h.transcript)
	h.transcript = append(h.transcript, m.raw...)
	if err := h.take(m); err != nil {
		return err
	}
	switch {
	case !slices.Contains(h.offer.versions, h.hello.version):
		return ErrOtherVersion
	case !slices.Contains(h.offer.suites, h.hello.suite), h.suite.fits(TLS13) != (h.hello.version == TLS13):
		return ErrNotOffered
	}
	return nil
}

// retryHello sends a hello with a share of the group that the server requests (RFC 8446 section 4.1.4). The first hello
// then stands in the transcript as its hash.
func (h *handshake) retryHello() error {
	retry := h.hello
	switch {
	case !slices.Contains(h.offer.groups, retry.group):
		return ErrNotOffered
	case !slices.Contains(agreeable, retry.group):
		return ErrNotComputed
	case len(retry.cookie) > maxCookie:
		return ErrTooLong
	}
	if err := h.agree(retry.group); err != nil {
		return err
	}
	suite, known := protections[retry.suite]
	if !known {
		return ErrNotOffered
	}
	sum := suite.sum(h.transcript[:h.answerAt])
	replaced := append([]byte{messageHash, 0, 0, byte(len(sum))}, sum...) // #nosec G115 -- that of a hash
	h.transcript = append(replaced, h.transcript[h.answerAt:]...)
	h.offer.cookie = retry.cookie
	h.flight = flight{}
	if err := h.sendHello(TLS12); err != nil {
		return err
	}
	if h.hello.version != TLS13 || h.hello.retry || h.hello.suite != retry.suite {
		return ErrMalformed
	}
	return nil
}

// enableDecryption opens what the server sends from now on.
func (h *handshake) enableDecryption() error {
	if h.hello.group != h.agreement.share.group {
		return ErrNotOffered
	}
	secret, err := h.agreement.finish(h.hello.share)
	if err != nil {
		return err
	}
	if len(h.reader.handshake) > 0 {
		return ErrMalformed // what comes after the hello is protected
	}
	suite, known := protections[h.hello.suite]
	if !known {
		return ErrNotOffered
	}
	h.reader.in, err = suite.handshake(secret, h.transcript)
	return err
}
