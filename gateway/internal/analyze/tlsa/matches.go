package tlsa

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/hex"

	"diagnostics/gateway/internal/analyze/certs"
)

// The usages that bind an authority (RFC 6698 section 2.1.1).
const (
	pkixTA = 0
	daneTA = 2
)

// Matches reports whether the record holds for a chain, leaf first: usages 1 and 3 for its leaf, 0 and 2 for one of its
// authorities (RFC 7671 section 5). Usages 0 and 1 also require that the chain leads to a trusted root.
func (r Record) Matches(chain []*x509.Certificate, trusted bool) bool {
	data, err := hex.DecodeString(r.Data)
	if err != nil || len(chain) == 0 || r.Usage <= pkixEE && !trusted {
		return false
	}
	among := chain[1:]
	switch r.Usage {
	case pkixEE, daneEE:
		among = chain[:1]
	case pkixTA, daneTA:
	default:
		return false
	}
	for _, cert := range among {
		if r.isOf(cert, data) {
			return true
		}
	}
	return r.Usage == daneTA && r.Selector == 0 && r.Matching == whole && anchors(data, chain[len(chain)-1])
}

// isOf reports whether the data is that of the certificate or of its key (RFC 6698 section 2.1).
func (r Record) isOf(cert *x509.Certificate, data []byte) bool {
	selected := cert.Raw
	switch r.Selector {
	case 0:
	case publicKey:
		selected = cert.RawSubjectPublicKeyInfo
	default:
		return false
	}
	switch r.Matching {
	case whole:
		return bytes.Equal(data, selected)
	case digestSHA256:
		sum := sha256.Sum256(selected)
		return bytes.Equal(data, sum[:])
	case digestSHA512:
		sum := sha512.Sum512(selected)
		return bytes.Equal(data, sum[:])
	}
	return false
}

// anchors reports whether the authority that a record holds whole issued the last certificate of a chain: the server
// need not send it (RFC 7671 section 5.2.2).
func anchors(data []byte, top *x509.Certificate) bool {
	authority, err := x509.ParseCertificate(data)
	return err == nil && !certs.LongKey(authority) && top.CheckSignatureFrom(authority) == nil
}
