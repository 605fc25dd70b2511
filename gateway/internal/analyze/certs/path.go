package certs

import (
	"bytes"
	"crypto/x509"
	"errors"
	"slices"
	"time"
)

// maxLinkSearch is how many links of a path are looked at for the one for which it was refused.
const maxLinkSearch = 4

// sentPath follows the issuers among the sent certificates as far as they lead, whatever their order: at each step the
// first issuer that holds now, else the first issuer, as OpenSSL does.
func sentPath(sent []*x509.Certificate, now time.Time, w *work) []*x509.Certificate {
	path := []*x509.Certificate{sent[0]}
	for {
		top := path[len(path)-1]
		if w.issued(top, top) {
			return path
		}
		var next *x509.Certificate
		for _, candidate := range sent {
			if slices.Contains(path, candidate) || !w.issued(candidate, top) {
				continue
			}
			if len(timeCodes([]*x509.Certificate{candidate}, now)) == 0 {
				next = candidate
				break
			}
			if next == nil {
				next = candidate
			}
		}
		if next == nil {
			return path
		}
		path = append(path, next)
	}
}

// issued reports whether parent's name and key made the certificate, leaving aside whether it was allowed to. A
// signature that is not verified, since its algorithm is too old or its key too long, counts as made.
func issued(parent, cert *x509.Certificate) bool {
	if !mayHaveIssued(parent, cert) {
		return false
	}
	if LongKey(parent) {
		return true // by its names alone
	}
	err := parent.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature)
	_, insecure := errors.AsType[x509.InsecureAlgorithmError](err)
	return err == nil || insecure || errors.Is(err, x509.ErrUnsupportedAlgorithm)
}

// mayHaveIssued reports whether parent's name and key identifier are those that the certificate names.
func mayHaveIssued(parent, cert *x509.Certificate) bool {
	return bytes.Equal(parent.RawSubject, cert.RawIssuer) && (len(cert.AuthorityKeyId) == 0 ||
		len(parent.SubjectKeyId) == 0 || bytes.Equal(cert.AuthorityKeyId, parent.SubjectKeyId))
}

// leadsNowhere says how a path ends that no trusted root is above.
func leadsNowhere(path []*x509.Certificate, w *work) found {
	top := path[len(path)-1]
	switch {
	case w.issued(top, top) && len(path) == 1:
		return untrusted(path, CodeSelfSigned)
	case w.issued(top, top):
		return untrusted(path, CodeSelfSignedInChain)
	case len(path) == 1:
		return untrusted(path, CodeUnverifiableLeaf)
	}
	return untrusted(path, CodeNoLocalIssuer)
}

// brokenLink tells a chain that is all there but was refused for one of its links from one that leads nowhere: some
// issuer in the path is itself trusted.
func (c Checker) brokenLink(path []*x509.Certificate, now time.Time, w *work) (found, bool) {
	for i := 1; i < len(path) && i <= maxLinkSearch; i++ {
		if _, err := c.relax(path[i:], w).verify(now, x509.ExtKeyUsageAny); err != nil {
			continue
		}
		below := path[:i+1]
		if slices.ContainsFunc(below[:i], unknownSignature) {
			return unverified(path, DefectUnfinished), true
		}
		return rootedChain(path, linkCode(below)), true
	}
	return found{}, false
}

// unknownSignature reports whether a signature is of a kind that cannot be verified here, such as Ed448's.
func unknownSignature(cert *x509.Certificate) bool {
	return cert.SignatureAlgorithm == x509.UnknownSignatureAlgorithm
}

// linkCode tells why a path whose last certificate is trusted was refused.
func linkCode(path []*x509.Certificate) string {
	for _, issuer := range path[1:] {
		if !issuer.BasicConstraintsValid || !issuer.IsCA ||
			issuer.KeyUsage != 0 && issuer.KeyUsage&x509.KeyUsageCertSign == 0 {
			return CodeInvalidCA
		}
	}
	if slices.ContainsFunc(path[:len(path)-1], WeakDigest) {
		return CodeWeakDigest
	}
	return CodePathLength
}

// WeakDigest reports whether the certificate is signed over MD2, MD5 or SHA-1.
func WeakDigest(cert *x509.Certificate) bool {
	return slices.Contains([]x509.SignatureAlgorithm{
		x509.MD2WithRSA, x509.MD5WithRSA, x509.SHA1WithRSA, x509.DSAWithSHA1, x509.ECDSAWithSHA1,
	}, cert.SignatureAlgorithm)
}
