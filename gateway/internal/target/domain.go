package target

import (
	"net/netip"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/netpolicy"
)

const wantDomain = "Enter a public domain name, such as example.com."

// Domain is a DNS owner name (A-labels, lower case, no trailing dot).
type Domain struct{ name string }

// ParseDomain takes a public domain name; underscores reports whether `_` labels are allowed, as dns-lookup and
// dns-resolver-check do. Addresses are Invalid, and the reverse names of addresses that are not public are Refused.
func ParseDomain(s string, underscores bool) (Domain, error) {
	if _, err := netip.ParseAddr(s); err == nil {
		return Domain{}, fail(fault.Invalid, wantDomain, "%s is an IP address.", show(s))
	}
	if err := lookAlike(s, wantDomain); err != nil {
		return Domain{}, err
	}
	name, err := netpolicy.ParseName(s, underscores)
	if err != nil {
		return Domain{}, nameFault(s, err, wantDomain)
	}
	if err := permitReverse(s, name); err != nil {
		return Domain{}, err
	}
	return Domain{name: name}, nil
}

// String is the name.
func (d Domain) String() string { return d.name }

// LimitKey is the name.
func (d Domain) LimitKey() string { return d.name }
