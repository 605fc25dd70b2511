package certs

import (
	"crypto/x509"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// matchHost reports whether the certificate names the host. Where it does so only by a wildcard for a whole public
// suffix, it does not, and that name is told.
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
// of the public suffix list's ICANN section: nobody has them all, and clients take none of them. Those of its private
// section, such as *.github.io, are their owner's.
func isPublicWildcard(name string) bool {
	below, is := strings.CutPrefix(strings.ToLower(name), "*.")
	if !is {
		return false
	}
	suffix, icann := publicsuffix.PublicSuffix(below)
	return !strings.Contains(below, ".") || icann && suffix == below
}
