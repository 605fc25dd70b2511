package certs

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// KeyExchange is what the server's own key did in a handshake, which its certificate has to allow (RFC 5280 section
// 4.2.1.3, RFC 8446 section 4.4.2.2).
type KeyExchange uint8

const (
	// Signing is of a key that signs an ephemeral exchange: DHE, ECDHE, and all of TLS 1.3.
	Signing KeyExchange = iota
	// Transport is of an RSA key that the client encrypts the secret to.
	Transport
	// Agreement is of a fixed Diffie-Hellman key.
	Agreement
)

// ExchangeOf gives the key exchange of a cipher suite by its registered name, such as TLS_RSA_WITH_AES_128_CBC_SHA.
func ExchangeOf(suite string) KeyExchange {
	switch {
	case hasAnyPrefix(suite, "TLS_RSA_WITH_", "TLS_RSA_EXPORT", "TLS_RSA_PSK_WITH_"):
		return Transport
	case hasAnyPrefix(suite, "TLS_DH_RSA_", "TLS_DH_DSS_", "TLS_ECDH_RSA_", "TLS_ECDH_ECDSA_"):
		return Agreement
	}
	return Signing
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(s, prefix) })
}

// fits reports whether the leaf says nothing against what it is used for.
func fits(leaf *x509.Certificate, exchange KeyExchange) bool {
	return KeyUsageFits(leaf, exchange) && ServesTLS(leaf)
}

// oidKeyUsage is the extension keyUsage.
var oidKeyUsage = asn1.ObjectIdentifier{2, 5, 29, 15}

// needs are what the exchanges take.
var needs = map[KeyExchange]x509.KeyUsage{
	Signing: x509.KeyUsageDigitalSignature, Transport: x509.KeyUsageKeyEncipherment, Agreement: x509.KeyUsageKeyAgreement,
}

// KeyUsageFits reports whether the certificate allows its key what the exchange takes. One without the extension allows
// everything.
func KeyUsageFits(leaf *x509.Certificate, exchange KeyExchange) bool {
	if !slices.ContainsFunc(leaf.Extensions, func(e pkix.Extension) bool { return e.Id.Equal(oidKeyUsage) }) {
		return true
	}
	return leaf.KeyUsage&needs[exchange] != 0
}

// ServesTLS reports whether the certificate is for servers, or for any purpose.
func ServesTLS(leaf *x509.Certificate) bool {
	if len(leaf.ExtKeyUsage)+len(leaf.UnknownExtKeyUsage) == 0 {
		return true
	}
	return slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageServerAuth) || AnyPurposeOnly(leaf)
}

// AnyPurposeOnly reports whether the certificate is for any purpose and does not name that of a server.
func AnyPurposeOnly(leaf *x509.Certificate) bool {
	return slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageAny) &&
		!slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
}

// matchHost reports whether the certificate names the host. Where it does so only by a wildcard for a whole public
// suffix, it does not, and that name is returned.
func matchHost(leaf *x509.Certificate, host string) (matches bool, wildcard string) {
	if leaf.VerifyHostname(host) != nil {
		return false, ""
	}
	left := x509.Certificate{IPAddresses: leaf.IPAddresses}
	for _, name := range leaf.DNSNames {
		if !isPublicWildcard(name) {
			left.DNSNames = append(left.DNSNames, name)
			continue
		}
		alone := x509.Certificate{DNSNames: []string{name}}
		if wildcard == "" && alone.VerifyHostname(host) == nil {
			wildcard = name
		}
	}
	if left.VerifyHostname(host) == nil {
		return true, ""
	}
	return false, wildcard
}

// isPublicWildcard reports whether a name is a wildcard for all names under a top-level domain, or under another suffix
// of the public suffix list's ICANN section: no one owns all its names, and clients accept none of them. Those of its
// private section, such as *.github.io, are their owner's.
func isPublicWildcard(name string) bool {
	below, is := strings.CutPrefix(strings.ToLower(name), "*.")
	if !is {
		return false
	}
	suffix, icann := publicsuffix.PublicSuffix(below)
	return !strings.Contains(below, ".") || icann && suffix == below
}
