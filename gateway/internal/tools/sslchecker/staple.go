package sslchecker

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/revocation"
	"diagnostics/gateway/internal/tools/internal/format"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/ocsp"
)

// The statuses of a stapled OCSP response. stapleInvalid is one that a client must not take: not readable, not signed
// for this certificate, or not of this time.
const (
	stapleGood    = "good"
	stapleRevoked = "revoked"
	stapleUnknown = "unknown"
	stapleInvalid = "invalid"
)

// staplingState is the OCSP response that came with the handshake (RFC 6066 section 8). Status is nil without one, and
// where the issuer that could vouch for it is not known.
type staplingState struct {
	Present    bool    `json:"present"`
	Status     *string `json:"status"`
	ThisUpdate *string `json:"thisUpdate,omitempty"`
	NextUpdate *string `json:"nextUpdate,omitempty"`
}

// judgedStaple is a staple with what its one response carries besides.
type judgedStaple struct {
	staplingState
	extensions []pkix.Extension
}

// readStaple judges a staple for the first certificate of the chain, by the second (RFC 6960 section 3.2).
func readStaple(der []byte, chain []*x509.Certificate, now time.Time) judgedStaple {
	if len(der) == 0 {
		return judgedStaple{}
	}
	out := judgedStaple{staplingState: staplingState{Present: true}}
	if len(chain) == 0 {
		return out
	}
	issuer := issuerIn(chain)
	if issuer == nil || certs.LongKey(issuer) {
		return out
	}
	response, err := revocation.ReadOCSP(der, chain[0], issuer, now)
	if response != nil {
		out.ThisUpdate, out.NextUpdate = moment(response.ThisUpdate), moment(response.NextUpdate)
	}
	switch {
	case err != nil:
		out.Status = new(stapleInvalid)
		return out
	case response.Status == ocsp.Good:
		out.Status = new(stapleGood)
	case response.Status == ocsp.Revoked:
		out.Status = new(stapleRevoked)
	default:
		out.Status = new(stapleUnknown)
	}
	out.extensions = response.Extensions
	return out
}

// revoked reports whether the certificate was revoked by it.
func (s judgedStaple) revoked() bool { return s.Status != nil && *s.Status == stapleRevoked }

// issuerIn returns the issuer of the leaf: the next in its chain, itself where it is self-signed, nil where unknown.
func issuerIn(chain []*x509.Certificate) *x509.Certificate {
	switch {
	case len(chain) > 1:
		return chain[1]
	case len(chain) == 1 && bytes.Equal(chain[0].RawIssuer, chain[0].RawSubject):
		return chain[0]
	}
	return nil
}

func moment(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(format.RFC3339(t))
}

// timestamps counts the signed certificate timestamps (RFC 6962 section 3.3) by the way they came. They are not
// verified: that needs the list of logs, which changes.
type timestamps struct {
	Count   int      `json:"count"`
	Sources []string `json:"sources"`
}

// The extensions that carry timestamps in a certificate and in an OCSP response.
var (
	oidSCTsInCertificate = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11129, 2, 4, 2}
	oidSCTsInOCSP        = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11129, 2, 4, 5}
)

func countSCTs(cert *x509.Certificate, fromTLS [][]byte, fromOCSP []pkix.Extension) timestamps {
	out := timestamps{Sources: []string{}}
	for _, source := range []struct {
		name  string
		count int
	}{
		{"certificate", sctsInExtension(extension(cert.Extensions, oidSCTsInCertificate))},
		{"tls", len(fromTLS)},
		{"ocsp", sctsInExtension(extension(fromOCSP, oidSCTsInOCSP))},
	} {
		if source.count > 0 {
			out.Count += source.count
			out.Sources = append(out.Sources, source.name)
		}
	}
	return out
}

// sctsInExtension counts the entries of a SignedCertificateTimestampList inside an OCTET STRING; one that cannot be
// read to its end has none.
func sctsInExtension(value []byte) int {
	var octets []byte
	if rest, err := asn1.Unmarshal(value, &octets); err != nil || len(rest) > 0 {
		return 0
	}
	in := cryptobyte.String(octets)
	var list, entry cryptobyte.String
	if !in.ReadUint16LengthPrefixed(&list) || !in.Empty() {
		return 0
	}
	count := 0
	for ; !list.Empty(); count++ {
		if !list.ReadUint16LengthPrefixed(&entry) || entry.Empty() {
			return 0
		}
	}
	return count
}
