// Package certcheck judges the certificates that a server sent, after a handshake with verification off: time, chain and
// name each on its own, so that an expired certificate does not hide an untrusted root. It is pure: no I/O, nothing is
// fetched.
package certcheck

import (
	"crypto/x509"
	"time"
)

// The OpenSSL-style codes of CONTRACT.md section 7 (ssl-checker).
const (
	CodeExpired           = "CERT_HAS_EXPIRED"
	CodeNotYetValid       = "CERT_NOT_YET_VALID"
	CodeSelfSigned        = "DEPTH_ZERO_SELF_SIGNED_CERT"
	CodeSelfSignedInChain = "SELF_SIGNED_CERT_IN_CHAIN"
	CodeNoLocalIssuer     = "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"
	CodeUnverifiableLeaf  = "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
	CodeNameMismatch      = "ERR_TLS_CERT_ALTNAME_INVALID"
)

// Verdict is the judgement of a chain.
type Verdict struct {
	// Authorized tells whether a client that trusts Roots would accept the chain for the host now.
	Authorized bool
	// Code is the first problem that holds, in the order time, chain, name; empty where Authorized.
	Code string
	// Codes are all problems that hold, in that order.
	Codes []string
	// HostnameMatches tells whether the leaf names the host, whatever else is wrong.
	HostnameMatches bool
	// ChainComplete tells whether the sent certificates lead to a trusted root at some time inside their validity.
	ChainComplete bool
}

// Checker judges against a set of roots.
type Checker struct {
	// Roots are the trusted roots; nil means the system's (SSL_CERT_FILE and SSL_CERT_DIR are honoured).
	Roots *x509.CertPool
	// Now gives the time of judgement; nil means time.Now.
	Now func() time.Time
}

// Check judges the sent certificates, leaf first, for the host (a canonical name or an address literal).
func (c Checker) Check(sent []*x509.Certificate, host string) Verdict { panic("unwritten") }
