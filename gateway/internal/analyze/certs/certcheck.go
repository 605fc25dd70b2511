// Package certs judges the certificates that a server sent, after a handshake with verification off: time, chain
// and name each on its own, so that an expired certificate does not hide an untrusted root. Nothing is read or fetched.
package certs

import (
	"crypto/x509"
	"slices"
	"time"
)

// The codes of ssl-checker, named as OpenSSL and Node.js name them.
const (
	CodeExpired           = "CERT_HAS_EXPIRED"
	CodeNotYetValid       = "CERT_NOT_YET_VALID"
	CodeSelfSigned        = "DEPTH_ZERO_SELF_SIGNED_CERT"
	CodeSelfSignedInChain = "SELF_SIGNED_CERT_IN_CHAIN"
	CodeNoLocalIssuer     = "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"
	CodeUnverifiableLeaf  = "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
	CodeNameMismatch      = "ERR_TLS_CERT_ALTNAME_INVALID"
	// CodePurpose is a certificate or chain that may not do what it does: authenticate a server (RFC 5280 section
	// 4.2.1.12) in the key exchange that came about (section 4.2.1.3).
	CodePurpose = "INVALID_PURPOSE"
)

// The codes of OpenSSL for chains that lead to a trusted root and are refused all the same, for one of their links.
const (
	// CodeNotPermitted is a name that a name constraint of the chain excludes (RFC 5280 section 4.2.1.10).
	CodeNotPermitted = "PERMITTED_VIOLATION"
	// CodeCriticalExtension is a critical extension that nobody here understands (RFC 5280 section 4.2).
	CodeCriticalExtension = "UNHANDLED_CRITICAL_EXTENSION"
	// CodeInvalidCA is an issuer that is no certificate authority (RFC 5280 section 4.2.1.9).
	CodeInvalidCA = "INVALID_CA"
	// CodeWeakDigest is a signature over MD5 or SHA-1 below the root.
	CodeWeakDigest = "CA_MD_TOO_WEAK"
	// CodePathLength is a chain longer than one of its authorities allows (RFC 5280 section 4.2.1.9).
	CodePathLength = "PATH_LENGTH_EXCEEDED"
)

// Verdict is the judgement of a chain.
type Verdict struct {
	// Authorized tells whether a client that trusts Roots would accept the chain for the host now.
	Authorized bool
	// Code is the first problem that holds, in the order time, chain, name; empty where Authorized.
	Code string
	// Codes are all problems that hold, in that order.
	Codes []string
	// Defects say why the chain of a CodeNoLocalIssuer was not verified; else empty.
	Defects []string
	// HostnameMatches tells whether the leaf names the host, whatever else is wrong.
	HostnameMatches bool
	// PublicWildcard is the name that would name the host if it were not a wildcard for a whole public suffix, such as
	// *.net.
	PublicWildcard string
	// ChainComplete tells whether the sent certificates lead to a trusted root at some time inside their validity.
	ChainComplete bool
	// Public tells whether that root is one that browsers trust, and no operator's own.
	Public bool
	// Exchange is the key exchange that the leaf was judged for.
	Exchange KeyExchange
	// Sent is how the certificates came.
	Sent Arrangement
	// Cut tells that more certificates came than are judged: one that is missing may be among them.
	Cut bool
	// Chain is the path that was judged, leaf first: up to and with the root where one was reached, else as far as
	// the sent certificates lead.
	Chain []*x509.Certificate
}

// Checker judges against a set of roots.
type Checker struct {
	// Roots are the trusted roots; nil means the built-in list.
	Roots *x509.CertPool
	// Trust describes Roots, where they are given.
	Trust TrustStore
	// Public tells the roots that browsers trust; nil means the built-in list.
	Public func(*x509.Certificate) bool
	// Now gives the time of judgement; nil means time.Now.
	Now func() time.Time
	// constraint returns why a root is not trusted for a chain; nil means that there is none, or that of the built-in list
	// where that is used.
	constraint func(chain []*x509.Certificate) error
}

// Check judges the sent certificates, leaf first, for the host (a canonical name or an address literal) and the key
// exchange that they came with. Nothing sent is judged as a leaf whose issuer is unknown.
func (c Checker) Check(sent []*x509.Certificate, host string, exchange KeyExchange) Verdict {
	return c.check(sent, host, exchange, newWork(maxCheckWork))
}

func (c Checker) check(came []*x509.Certificate, host string, exchange KeyExchange, w *work) Verdict {
	sent, cut := distinct(came)
	if len(sent) == 0 {
		return Verdict{Code: CodeUnverifiableLeaf, Codes: []string{CodeUnverifiableLeaf}}
	}
	now := c.now()
	leaf := sent[0]
	f := c.findChain(sent, now, w)
	v := Verdict{
		ChainComplete: f.rooted,
		Public:        f.rooted && c.isPublic(f.chain[len(f.chain)-1]),
		Chain:         f.chain,
		Defects:       f.defects,
		Codes:         append(timeCodes(f.chain, now), f.codes...),
		Exchange:      exchange,
		Sent:          arrange(came, sent, cut, f, w),
		Cut:           cut,
	}
	v.HostnameMatches, v.PublicWildcard = matchHost(leaf, host)
	if !fits(leaf, exchange) && !slices.Contains(v.Codes, CodePurpose) {
		v.Codes = append(v.Codes, CodePurpose)
	}
	if !v.HostnameMatches {
		v.Codes = append(v.Codes, CodeNameMismatch)
	}
	v.Authorized = len(v.Codes) == 0
	if !v.Authorized {
		v.Code = v.Codes[0]
	}
	return v
}

func (c Checker) isPublic(root *x509.Certificate) bool {
	if c.Public == nil {
		return publicRoot(root)
	}
	return c.Public(root)
}

func (c Checker) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// SelfSigned reports whether the certificate is its own issuer: by its signature, or by its names and key identifiers
// alone where the signature's algorithm is too old to be checked, or its key too long.
func SelfSigned(cert *x509.Certificate) bool { return issued(cert, cert) }

// timeCodes tells what is wrong with the validity of any certificate of the chain. Both ends of a validity are inside
// it (RFC 5280 section 4.1.2.5).
func timeCodes(chain []*x509.Certificate, now time.Time) []string {
	var codes []string
	if slices.ContainsFunc(chain, func(cert *x509.Certificate) bool { return now.After(cert.NotAfter) }) {
		codes = append(codes, CodeExpired)
	}
	if slices.ContainsFunc(chain, func(cert *x509.Certificate) bool { return now.Before(cert.NotBefore) }) {
		codes = append(codes, CodeNotYetValid)
	}
	return codes
}
