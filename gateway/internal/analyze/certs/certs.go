// Package certs judges the certificates that a server sent, after a handshake with verification off: time, chain
// and name each on its own, so that an expired certificate does not hide an untrusted root. Nothing is read or fetched.
package certs

import (
	"bytes"
	"crypto/rsa"
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
	// CodeCriticalExtension is a critical extension that this service does not implement (RFC 5280 section 4.2).
	CodeCriticalExtension = "UNHANDLED_CRITICAL_EXTENSION"
	// CodeInvalidCA is an issuer that is no certificate authority (RFC 5280 section 4.2.1.9).
	CodeInvalidCA = "INVALID_CA"
	// CodeWeakDigest is a signature over MD5 or SHA-1 below the root.
	CodeWeakDigest = "CA_MD_TOO_WEAK"
	// CodePathLength is a chain longer than one of its authorities allows (RFC 5280 section 4.2.1.9).
	CodePathLength = "PATH_LENGTH_EXCEEDED"
	// CodeRevoked is a certificate that its authority has revoked (RFC 5280 section 6.3). Check does not look for it.
	CodeRevoked = "CERT_REVOKED"
)

// Codes returns all of them.
func Codes() []string {
	return []string{
		CodeExpired, CodeNotYetValid, CodeSelfSigned, CodeSelfSignedInChain, CodeNoLocalIssuer, CodeUnverifiableLeaf,
		CodeNameMismatch, CodePurpose, CodeNotPermitted, CodeCriticalExtension, CodeInvalidCA, CodeWeakDigest, CodePathLength,
		CodeRevoked,
	}
}

// Verdict is the judgement of a chain.
type Verdict struct {
	// Authorized reports whether a client that trusts Roots would accept the chain for the host now.
	Authorized bool
	// Code is the first problem that holds, in the order time, chain, name; empty where Authorized.
	Code string
	// Codes are all problems that hold, in that order.
	Codes []string
	// Defects say why the chain of a CodeNoLocalIssuer was not verified; else empty.
	Defects []string
	// HostnameMatches reports whether the leaf names the host, whatever else is wrong.
	HostnameMatches bool
	// PublicWildcard is the name that would name the host if it were not a wildcard for a whole public suffix, such as
	// *.net.
	PublicWildcard string
	// ChainComplete reports whether the sent certificates lead to a trusted root at some time inside their validity.
	ChainComplete bool
	// Public reports whether browsers trust that root; an operator's own root is not public.
	Public bool
	// Exchange is the key exchange that the leaf was judged for.
	Exchange KeyExchange
	// Sent is how the certificates came.
	Sent Arrangement
	// Cut reports that more certificates came than are judged: one that is missing may be among them.
	Cut bool
	// Ends is when no path to a trusted root holds any more, the leaf's own end at the latest; zero without such a path.
	Ends time.Time
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
	// Public reports the roots that browsers trust; nil means the built-in list.
	Public func(*x509.Certificate) bool
	// Now gives the time of judgement; nil means time.Now.
	Now func() time.Time
	// constraint returns why a root is not trusted for a chain; nil means that there is none, or that of the built-in
	// list where that is used.
	constraint func(chain []*x509.Certificate) error
}

// Check judges the sent certificates, leaf first, for the host (a canonical name or an address literal) and the key
// exchange that they came with. Nothing sent is judged as a leaf whose issuer is unknown.
func (c Checker) Check(sent []*x509.Certificate, host string, exchange KeyExchange) Verdict {
	return c.check(sent, host, exchange, newWork(func(time.Duration) bool { return true }))
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
		Ends:          f.ends,
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

// timeCodes returns what is wrong with the validity of any certificate of the chain. Both ends of a validity are inside
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
	// DefectCostly is a chain that would take too much work to verify: for the ways in which its certificates lead to
	// one another, for their keys, or for what the run has verified before.
	DefectCostly = "CHAIN_TOO_COSTLY"
)

// LongKey reports whether no signature is verified by the certificate's key.
func LongKey(cert *x509.Certificate) bool {
	key, is := cert.PublicKey.(*rsa.PublicKey)
	return is && key.N.BitLen() > MaxKeyBits
}

// distinct drops repeats; the leaf stays first. cut reports whether there are more than may be judged.
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

// Refusal is the first code for which clients refuse the certificate. It is empty where they accept it, and where
// nothing is known against it but that its chain was not verified.
func (v Verdict) Refusal() string {
	if v.Authorized || len(v.Defects) == 0 {
		return v.Code
	}
	for _, code := range v.Codes {
		if code != CodeNoLocalIssuer {
			return code
		}
	}
	return ""
}

// NotVerified reports whether it is unknown if clients accept the certificate: this service did not verify its chain,
// for one of Defects, and found nothing else wrong. That is no fault of the server.
func (v Verdict) NotVerified() bool { return !v.Authorized && v.Refusal() == "" }
