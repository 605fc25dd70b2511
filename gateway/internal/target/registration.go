package target

import (
	"cmp"
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Registration is a query for registration data: a domain name or a public address, never both.
type Registration struct{ host Host }

// ParseRegistration takes a public domain name or a public address literal.
func ParseRegistration(s string) (Registration, error) {
	h, err := parseHost(s, advice{host: wantRegistration, addr: wantAddress})
	return Registration{host: h}, err
}

// IsAddr reports whether the query is about an address.
func (r Registration) IsAddr() bool { return r.host.IsAddr() }

// Addr is the address, the zero Addr for a domain.
func (r Registration) Addr() netip.Addr { return r.host.addr }

// Name is the domain as typed, canonical; empty for an address.
func (r Registration) Name() string { return r.host.name }

// Registrable is the part of the domain that a registry sells: one label below its public suffix. Empty for an address.
func (r Registration) Registrable() string {
	if r.IsAddr() {
		return ""
	}
	return registrable(r.host.name)
}

// IsSuffix reports whether names are registered below the domain, as below co.uk, and not the domain itself.
func (r Registration) IsSuffix() bool {
	return !r.IsAddr() && r.host.name == registrySuffix(r.host.name) && strings.Contains(r.host.name, ".")
}

// String is the address or the name as typed, canonical.
func (r Registration) String() string { return r.host.String() }

// LimitKey is the address or the registrable name: what is sent to the provider.
func (r Registration) LimitKey() string {
	return cmp.Or(r.Registrable(), r.host.String())
}

// DenyKey is the host that was typed, which an operator may refuse below a registrable name that is not refused.
func (r Registration) DenyKey() string { return r.host.String() }

// registrable reduces a canonical name by the ICANN section of the public suffix list. A name that is itself a suffix,
// such as co.uk, stays as it stands.
func registrable(name string) string {
	suffix := registrySuffix(name)
	if name == suffix {
		return name
	}
	below := strings.TrimSuffix(name, "."+suffix)
	return below[strings.LastIndexByte(below, '.')+1:] + "." + suffix
}

// registrableLabel is the label that a registry sells; the last one where the public suffix list has no rule for it.
func registrableLabel(name string) string {
	suffix := registrySuffix(name)
	if _, icann := publicsuffix.PublicSuffix(suffix); !icann {
		return suffix[strings.LastIndexByte(suffix, '.')+1:]
	}
	label, _, _ := strings.Cut(registrable(name), ".")
	return label
}

// registrySuffix is the longest suffix of the name under which a registry sells names. The list's private section
// (github.io, blogspot.com) names hosting companies, whose own registration is the one that a registry has; a longer
// private rule hides the ICANN rule that it lies under, so its parent is looked up too.
func registrySuffix(name string) string {
	for {
		suffix, icann := publicsuffix.PublicSuffix(name)
		// The library's flag is that of the deepest label in its tree, even where only a longer rule mentions that label
		// (dualstack.us-east-1.amazonaws.com); looked up by itself, the suffix has the flag of its own section.
		if itself, exact := publicsuffix.PublicSuffix(suffix); itself == suffix {
			icann = exact
		}
		_, parent, found := strings.Cut(suffix, ".")
		if icann || !found {
			return suffix
		}
		name = parent
	}
}
