package certs

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"slices"
)

// What a server may have judged. Real chains have less than ten certificates and a few KiB, and no public authority
// signs RSA keys of more than 8,192 bits; each signature by one costs as much as many others.
const (
	MaxCertificates = 10
	MaxOctets       = 64 << 10 // of their encodings; the first may have more
	MaxKeyBits      = 8192
	// maxNamesakes are the certificates of one name: cross-signed ones have two or three. With each the ways to go on
	// multiply.
	maxNamesakes = 3
)

// The defects of a chain that was not verified. Its code is CodeNoLocalIssuer.
const (
	// DefectLongKey is a chain with an RSA key of more than MaxKeyBits.
	DefectLongKey = "KEY_TOO_LONG"
	// DefectUnfinished is a chain of which not all is known, since not all of it could be read.
	DefectUnfinished = "CHAIN_NOT_READ"
	// DefectCostly is a chain that would take too much work to verify: for the ways in which its certificates lead to one
	// another, for their keys, or for what the run has verified before.
	DefectCostly = "CHAIN_TOO_COSTLY"
)

// LongKey reports whether no signature is verified by the certificate's key.
func LongKey(cert *x509.Certificate) bool {
	key, is := cert.PublicKey.(*rsa.PublicKey)
	return is && key.N.BitLen() > MaxKeyBits
}

// distinct drops repeats; the leaf stays first. cut tells that there are more than may be judged.
func distinct(sent []*x509.Certificate) (out []*x509.Certificate, cut bool) {
	octets := 0
	for i, cert := range sent {
		if i == MaxCertificates {
			return out, true
		}
		if cert == nil || slices.ContainsFunc(out, cert.Equal) {
			continue
		}
		if octets += len(cert.Raw); len(out) > 0 && octets > MaxOctets {
			return out, true
		}
		if namesakes(out, cert) == maxNamesakes {
			cut = true
			continue
		}
		out = append(out, cert)
	}
	return out, cut
}

func namesakes(certs []*x509.Certificate, of *x509.Certificate) (n int) {
	for _, cert := range certs {
		if bytes.Equal(cert.RawSubject, of.RawSubject) {
			n++
		}
	}
	return n
}

// Unverified is the verdict without what the search for a chain found.
func (v Verdict) Unverified(defect string) Verdict {
	codes := slices.DeleteFunc(slices.Clone(v.Codes), func(code string) bool {
		return code != CodeExpired && code != CodeNotYetValid
	})
	codes = append(codes, CodeNoLocalIssuer)
	if len(v.Chain) > 0 && !fits(v.Chain[0], v.Exchange) {
		codes = append(codes, CodePurpose)
	}
	if slices.Contains(v.Codes, CodeNameMismatch) {
		codes = append(codes, CodeNameMismatch)
	}
	v.Codes = codes
	v.Code, v.Defects = v.Codes[0], []string{defect}
	v.Authorized, v.ChainComplete, v.Public, v.Sent = false, false, false, Arrangement{}
	return v
}
