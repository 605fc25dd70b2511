package target

import (
	"net/netip"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/netpolicy"
)

// Domain is a DNS owner name (A-labels, lower case, no trailing dot).
type Domain struct{ name string }

// ParseDomain takes a public domain name: the name of a host, or where anyOwner is set any name that can own records,
// such as _dmarc.com. Addresses are Invalid, and the reverse names of addresses that are not public are Refused.
func ParseDomain(s string, anyOwner bool) (Domain, error) {
	if _, err := netip.ParseAddr(s); err == nil {
		return Domain{}, fail(fault.Invalid, wantDomain, "NAME_IS_ADDRESS", finding.Args{"name": show(s)})
	}
	if err := lookAlike(s, wantDomain); err != nil {
		return Domain{}, err
	}
	name, err := parseDomainName(s, anyOwner)
	if err != nil {
		return Domain{}, err
	}
	if err := permitReverse(s, name); err != nil {
		return Domain{}, err
	}
	return Domain{name: name}, nil
}

func parseDomainName(s string, anyOwner bool) (string, error) {
	if !anyOwner {
		return parseHostname(s, wantDomain)
	}
	name, err := netpolicy.ParseName(s, true)
	if err != nil {
		return "", nameFault(s, err, wantDomain)
	}
	return name, nil
}

// String is the name.
func (d Domain) String() string { return d.name }

// LimitKey is the name.
func (d Domain) LimitKey() string { return d.name }
