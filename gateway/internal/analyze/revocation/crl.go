package revocation

import (
	"bytes"
	"crypto/x509"
	encoding "encoding/asn1"
	"io"
	"math/big"
	"slices"
	"time"

	"diagnostics/gateway/internal/analyze/certs"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
)

// List is what matters of a CRL for one certificate. None of it counts before Judge has verified it.
type List struct {
	issuer                 []byte // a Name in DER
	thisUpdate, nextUpdate time.Time
	found                  *listed // nil where the certificate is not in it
	point                  issuingPoint
	unusable               Problem // why no one may rely on it, however it is signed
	algorithm              algorithm
	digest, signature      []byte
}

// listed is a revoked certificate.
type listed struct {
	at     time.Time
	reason string
}

// The problems of a list that can be read.
const (
	errForeignList  Problem = "CRL_OF_OTHER_AUTHORITY"
	errMayNotSign   Problem = "CRL_SIGNER_MAY_NOT"
	errListSignSelf Problem = "CRL_NOT_SIGNED_BY_AUTHORITY"
	errListEarly    Problem = "CRL_NOT_YET_VALID"
	errListLate     Problem = "CRL_OUT_OF_DATE"
	errListEndless  Problem = "CRL_WITHOUT_END"
	errCritical     Problem = "CRL_CRITICAL_EXTENSION"
	errDelta        Problem = "CRL_IS_DELTA"
	errIndirect     Problem = "CRL_IS_INDIRECT"
	errScope        Problem = "CRL_DOES_NOT_COVER"
	errLongIssuer   Problem = "AUTHORITY_KEY_TOO_LONG"
)

// ReadCRL reads a list to its end, of at most MaxCRL octets, for a certificate of the serial number. Errors are a
// Problem, or that of the reader.
func ReadCRL(r io.Reader, serial *big.Int) (*List, error) {
	wanted, err := encoding.Marshal(serial)
	if err != nil {
		return nil, errNoList
	}
	s, l := newScanner(r), &List{}
	s.sequence(func() {
		s.signed = true
		var algorithm []byte
		s.sequence(func() { algorithm = l.read(s, wanted) })
		s.signed = false
		if outer := s.element(asn1.SEQUENCE); s.err == nil && !bytes.Equal(algorithm, outer) {
			s.fail(errNoList)
		}
		signature := cryptobyte.String(s.kept(asn1.BIT_STRING))
		if s.err == nil && !signature.ReadASN1BitStringAsBytes(&l.signature) {
			s.fail(errNoList)
		}
	})
	if s.err != nil {
		return nil, s.err
	}
	if _, err := s.in.Peek(1); err != io.EOF { //nolint:errorlint // as bufio gives it
		return nil, errNoList
	}
	l.digest = s.sum.Sum(nil)
	return l, nil
}

// read reads the content of a TBSCertList (RFC 5280 section 5.1), and returns its algorithm in DER.
func (l *List) read(s *scanner, serial []byte) (algorithm []byte) {
	if s.next() == asn1.INTEGER {
		if version := s.element(asn1.INTEGER); !bytes.Equal(version, []byte{2, 1, 1}) {
			s.fail(errNoList)
		}
	}
	algorithm = s.kept(asn1.SEQUENCE)
	if s.err != nil {
		return nil
	}
	var err error
	if l.algorithm, err = readAlgorithm(algorithm); err != nil {
		s.fail(err)
		return nil
	}
	s.hashWith(l.algorithm.hash.New())
	l.issuer = s.kept(asn1.SEQUENCE)
	if l.thisUpdate = s.time(); l.thisUpdate.IsZero() {
		s.fail(errNoList)
	}
	l.nextUpdate = s.time()
	if s.next() == asn1.SEQUENCE {
		s.sequence(func() {
			for s.next() != 0 {
				if entry := s.element(asn1.SEQUENCE); s.err == nil && !l.readEntry(entry, serial) {
					s.fail(errNoList)
				}
			}
		})
	}
	if explicit := asn1.Tag(0).ContextSpecific().Constructed(); s.next() == explicit {
		in := cryptobyte.String(s.element(explicit))
		if s.err == nil && !(in.ReadASN1(&in, explicit) && l.readExtensions(in)) {
			s.fail(errNoList)
		}
	}
	return algorithm
}

// readEntry reads an entry of revokedCertificates, and reports whether it is one. Where one has an extension that
// cannot be ignored, none may be relied on (section 5.3).
func (l *List) readEntry(entry cryptobyte.String, wanted []byte) bool {
	var in, serial, extensions cryptobyte.String
	var has bool
	if !entry.ReadASN1(&in, asn1.SEQUENCE) || !in.ReadASN1Element(&serial, asn1.INTEGER) {
		return false
	}
	match := l.found == nil && bytes.Equal(serial, wanted)
	var at time.Time
	if match {
		at = readTime(&in)
	} else if !in.SkipASN1(asn1.UTCTime) && !in.SkipASN1(asn1.GeneralizedTime) {
		return false
	}
	if match && at.IsZero() || !in.ReadOptionalASN1(&extensions, &has, asn1.SEQUENCE) || !in.Empty() {
		return false
	}
	reason := ""
	ok := eachExtension(extensions, func(id byte, critical bool, value cryptobyte.String) bool {
		var code int
		switch {
		case id == idReason:
			if !value.ReadASN1Enum(&code) {
				return false
			}
			reason = reasons[code]
		case critical && id == idCertificateIssuer:
			l.unusable = errIndirect
		case critical:
			l.unusable = errCritical
		}
		return true
	})
	if match {
		l.found = &listed{at: at, reason: reason}
	}
	return ok
}

// The extensions of lists and of their entries (RFC 5280 sections 5.2 and 5.3), by the end of their identifiers, which
// are 2.5.29.n.
const (
	idIssuerNames       = 18
	idNumber            = 20
	idReason            = 21
	idDelta             = 27
	idIssuingPoint      = 28
	idCertificateIssuer = 29
	idAuthorityKey      = 35
	idFreshest          = 46
)

// eachExtension reads the content of an Extensions, and reports whether it is one and each took its part. The id is 0
// where it is not 2.5.29.n.
func eachExtension(in cryptobyte.String, each func(id byte, critical bool, value cryptobyte.String) bool) bool {
	for !in.Empty() {
		var one, oid, value cryptobyte.String
		critical := false
		if !in.ReadASN1(&one, asn1.SEQUENCE) || !one.ReadASN1(&oid, asn1.OBJECT_IDENTIFIER) ||
			one.PeekASN1Tag(asn1.BOOLEAN) && !one.ReadASN1Boolean(&critical) ||
			!one.ReadASN1(&value, asn1.OCTET_STRING) || !one.Empty() {
			return false
		}
		var id byte
		if len(oid) == 3 && oid[0] == 2*40+5 && oid[1] == 29 {
			id = oid[2]
		}
		if !each(id, critical, value) {
			return false
		}
	}
	return true
}

func (l *List) readExtensions(in cryptobyte.String) bool {
	if !in.ReadASN1(&in, asn1.SEQUENCE) {
		return false
	}
	return eachExtension(in, func(id byte, critical bool, value cryptobyte.String) bool {
		switch id {
		case idIssuingPoint:
			return l.point.read(value)
		case idDelta:
			l.unusable = errDelta
		case idIssuerNames, idNumber, idAuthorityKey, idFreshest: // which change nothing here
		default:
			if critical {
				l.unusable = errCritical
			}
		}
		return true
	})
}

// issuingPoint is an IssuingDistributionPoint (RFC 5280 section 5.2.5), the zero one where there is none.
type issuingPoint struct {
	named                                           bool
	urls                                            []string
	users, authorities, someReasons, indirect, attr bool
}

func (p *issuingPoint) read(in cryptobyte.String) bool {
	var content cryptobyte.String
	if !in.ReadASN1(&content, asn1.SEQUENCE) || !in.Empty() {
		return false
	}
	field := func(n uint8) asn1.Tag { return asn1.Tag(n).ContextSpecific() }
	var name cryptobyte.String
	if !content.ReadOptionalASN1(&name, &p.named, field(0).Constructed()) || p.named && !p.readNames(name) {
		return false
	}
	for _, f := range []struct {
		tag uint8
		to  *bool
	}{{1, &p.users}, {2, &p.authorities}, {3, &p.someReasons}, {4, &p.indirect}, {5, &p.attr}} {
		var value cryptobyte.String
		var has bool
		if !content.ReadOptionalASN1(&value, &has, field(f.tag)) {
			return false
		}
		*f.to = has && (f.tag == 3 || !bytes.Equal(value, []byte{0}))
	}
	return content.Empty()
}

// readNames reads the URLs of a fullName, and reports whether it is one; any other kind of name fits no certificate.
func (p *issuingPoint) readNames(in cryptobyte.String) bool {
	full := asn1.Tag(0).ContextSpecific().Constructed()
	if !in.PeekASN1Tag(full) {
		return true
	}
	if !in.ReadASN1(&in, full) {
		return false
	}
	for !in.Empty() {
		var value cryptobyte.String
		var tag asn1.Tag
		if !in.ReadAnyASN1(&value, &tag) {
			return false
		}
		if tag == asn1.Tag(6).ContextSpecific() {
			p.urls = append(p.urls, string(value))
		}
	}
	return true
}

// covers reports whether the list may have the certificate: that of a partition has those alone that name it as their
// distribution point (section 6.3.3, step b).
func (p *issuingPoint) covers(cert *x509.Certificate) bool {
	isCA := cert.BasicConstraintsValid && cert.IsCA
	shared := slices.ContainsFunc(p.urls, func(u string) bool { return slices.Contains(cert.CRLDistributionPoints, u) })
	return (!p.named || shared) && !p.attr && !(p.users && isCA) && !(p.authorities && !isCA)
}

// Judge verifies the list by the certificate's issuer, and returns what it says about the certificate.
func (l *List) Judge(cert, issuer *x509.Certificate, now time.Time) Verdict {
	v := Verdict{Status: Unknown, Source: CRL, ProducedAt: l.thisUpdate, NextUpdate: l.nextUpdate}
	if problem := l.problem(cert, issuer, now); problem != "" {
		v.Why = problem.why()
		return v
	}
	if l.found == nil {
		v.Status = Good
		return v
	}
	v.Status, v.RevokedAt, v.Reason = Revoked, l.found.at, l.found.reason
	return v
}

func (l *List) problem(cert, issuer *x509.Certificate, now time.Time) Problem {
	switch {
	case certs.LongKey(issuer):
		return errLongIssuer
	case !bytes.Equal(l.issuer, issuer.RawSubject):
		return errForeignList
	case issuer.KeyUsage != 0 && issuer.KeyUsage&x509.KeyUsageCRLSign == 0:
		return errMayNotSign
	case !l.algorithm.verifies(issuer.PublicKey, l.digest, l.signature):
		return errListSignSelf
	case l.unusable != "":
		return l.unusable
	case l.point.indirect:
		return errIndirect
	case !l.point.covers(cert), l.point.someReasons && l.found == nil:
		return errScope
	case l.nextUpdate.IsZero():
		return errListEndless
	case early(l.thisUpdate, now):
		return errListEarly
	case late(l.nextUpdate, now):
		return errListLate
	}
	return ""
}
