package revocation

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	encoding "encoding/asn1"
	"errors"
	"slices"
	"time"

	"diagnostics/gateway/internal/analyze/certs"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
	"golang.org/x/crypto/ocsp"
)

// The problems of OCSP answers.
const (
	errNoAnswer      Problem = "OCSP_UNREADABLE"
	errOtherCert     Problem = "OCSP_OF_OTHER_CERTIFICATE"
	errStranger      Problem = "OCSP_NOT_SIGNED_BY_AUTHORITY"
	errNotNow        Problem = "OCSP_TRY_LATER"
	errOtherIssuer   Problem = "OCSP_OF_OTHER_AUTHORITY"
	errNoResponder   Problem = "OCSP_SIGNER_MAY_NOT"
	errAnswerEarly   Problem = "OCSP_NOT_YET_VALID"
	errAnswerLate    Problem = "OCSP_OUT_OF_DATE"
	errNotRecorded   Problem = "OCSP_NOT_RECORDED"
	errLongResponder Problem = "OCSP_KEY_TOO_LONG"
)

// ReadOCSP reads an answer about a certificate and verifies it by the certificate's issuer (RFC 6960 section 3.2). The
// error is a Problem. The answer is there besides where it is only out of its time, or of one who may not give it.
func ReadOCSP(der []byte, cert, issuer *x509.Certificate, now time.Time) (*ocsp.Response, error) {
	if certs.LongKey(issuer) {
		return nil, errLongIssuer
	}
	if signer := signerIn(der); signer != nil && certs.LongKey(signer) {
		return nil, errLongResponder
	}
	answer, err := ocsp.ParseResponseForCert(der, cert, issuer)
	switch {
	case err != nil:
		return nil, problemOf(err, der, cert)
	case !isResponder(answer.Certificate, issuer, now):
		return answer, errNoResponder
	case !isAbout(answer, issuer):
		return answer, errOtherIssuer
	case early(answer.ThisUpdate, now):
		return answer, errAnswerEarly
	case !answer.NextUpdate.IsZero() && late(answer.NextUpdate, now): // without one it has no end
		return answer, errAnswerLate
	}
	return answer, nil
}

// problemOf is why an answer could not be verified.
func problemOf(err error, der []byte, cert *x509.Certificate) Problem {
	if _, is := errors.AsType[ocsp.ResponseError](err); is {
		return errNotNow
	}
	if _, err := ocsp.ParseResponseForCert(der, cert, nil); err == nil {
		return errStranger
	}
	if _, err := ocsp.ParseResponse(der, nil); err == nil {
		return errOtherCert
	}
	return errNoAnswer
}

// JudgeOCSP is the verdict of ReadOCSP.
func JudgeOCSP(der []byte, cert, issuer *x509.Certificate, source Source, now time.Time) Verdict {
	v := Verdict{Status: Unknown, Source: source}
	answer, err := ReadOCSP(der, cert, issuer, now)
	if answer != nil {
		v.ProducedAt, v.NextUpdate = answer.ProducedAt, answer.NextUpdate
	}
	switch {
	case err != nil:
		v.Why = []Why{{Code: err.Error()}}
	case answer.Status == ocsp.Good:
		v.Status = Good
	case answer.Status == ocsp.Revoked:
		v.Status, v.RevokedAt, v.Reason = Revoked, answer.RevokedAt, reasons[answer.RevocationReason]
	default:
		v.Why = errNotRecorded.why()
	}
	return v
}

// signerIn gives the first certificate that an answer carries, by which the library verifies it, or nil.
func signerIn(der []byte) *x509.Certificate {
	var response struct {
		Status encoding.Enumerated
		Basic  struct {
			Type encoding.ObjectIdentifier
			DER  []byte
		} `asn1:"explicit,tag:0,optional"`
	}
	if _, err := encoding.Unmarshal(der, &response); err != nil {
		return nil
	}
	var basic struct {
		Data, Algorithm encoding.RawValue
		Signature       encoding.BitString
		Certificates    []encoding.RawValue `asn1:"explicit,tag:0,optional"`
	}
	if _, err := encoding.Unmarshal(response.Basic.DER, &basic); err != nil || len(basic.Certificates) == 0 {
		return nil
	}
	signer, _ := x509.ParseCertificate(basic.Certificates[0].FullBytes)
	return signer
}

// isResponder reports whether the certificate that signed the answer may: the issuer itself (nil, where the answer
// carries none), or one that the issuer made for that purpose. The library checks the signatures, not the purpose.
func isResponder(signer, issuer *x509.Certificate, now time.Time) bool {
	if signer == nil || signer.Equal(issuer) {
		return true
	}
	return slices.Contains(signer.ExtKeyUsage, x509.ExtKeyUsageOCSPSigning) &&
		!now.Before(signer.NotBefore) && !now.After(signer.NotAfter)
}

// isAbout reports whether the first answer for the serial number, which is the one that the library gives, is about a
// certificate of the issuer: one responder may serve several authorities, and the library compares the number alone.
func isAbout(answer *ocsp.Response, issuer *x509.Certificate) bool {
	name, key, ok := authorityIn(answer)
	hash := answer.IssuerHash
	if !ok || !hash.Available() {
		return false
	}
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       encoding.BitString
	}
	if _, err := encoding.Unmarshal(issuer.RawSubjectPublicKeyInfo, &info); err != nil {
		return false
	}
	return bytes.Equal(name, digest(hash, issuer.RawSubject)) &&
		bytes.Equal(key, digest(hash, info.Key.RightAlign()))
}

func digest(hash crypto.Hash, octets []byte) []byte {
	h := hash.New()
	_, _ = h.Write(octets)
	return h.Sum(nil)
}

// authorityIn gives the hashes of the authority's name and key in the answer for the serial number (RFC 6960 section
// 4.2.1).
func authorityIn(answer *ocsp.Response) (name, key []byte, ok bool) {
	in := cryptobyte.String(answer.TBSResponseData)
	field := func(n uint8) asn1.Tag { return asn1.Tag(n).ContextSpecific().Constructed() }
	var responder, all cryptobyte.String
	var tag asn1.Tag
	if !in.ReadASN1(&in, asn1.SEQUENCE) || !in.SkipOptionalASN1(field(0)) || !in.ReadAnyASN1(&responder, &tag) ||
		!in.SkipASN1(asn1.GeneralizedTime) || !in.ReadASN1(&all, asn1.SEQUENCE) {
		return nil, nil, false
	}
	wanted, err := encoding.Marshal(answer.SerialNumber)
	for err == nil && !all.Empty() {
		var one, id, nameHash, keyHash, serial cryptobyte.String
		if !all.ReadASN1(&one, asn1.SEQUENCE) || !one.ReadASN1(&id, asn1.SEQUENCE) || !id.SkipASN1(asn1.SEQUENCE) ||
			!id.ReadASN1(&nameHash, asn1.OCTET_STRING) || !id.ReadASN1(&keyHash, asn1.OCTET_STRING) ||
			!id.ReadASN1Element(&serial, asn1.INTEGER) {
			return nil, nil, false
		}
		if bytes.Equal(serial, wanted) {
			return nameHash, keyHash, true
		}
	}
	return nil, nil, false
}
