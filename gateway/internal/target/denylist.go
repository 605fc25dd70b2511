package target

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/shared/ascii"
	"diagnostics/shared/netpolicy"
)

// Denylist is what the operator refuses on top of the public-address rules: ranges and domain suffixes.
type Denylist struct {
	prefixes []netip.Prefix
	suffixes []string
}

// ParseDenylist reads the comma-separated CIDRs, addresses and domain suffixes of DENY_TARGETS. A suffix may start with
// a dot. Empty entries are skipped; the error names the first entry that is none of these.
func ParseDenylist(s string) (Denylist, error) {
	var d Denylist
	for entry := range strings.SplitSeq(s, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		if err := d.Add(entry); err != nil {
			return Denylist{}, err
		}
	}
	return d, nil
}

// Add adds a CIDR, an address or a domain suffix; the error names an entry that is none of these.
func (d *Denylist) Add(entry string) error {
	if p, ok := parseRange(entry); ok {
		d.prefixes = append(d.prefixes, p)
		return nil
	}
	name, err := netpolicy.CanonicalName(strings.TrimPrefix(entry, "."), true)
	if err != nil || endsInNumber(name) {
		return fmt.Errorf("%q is not a CIDR such as 192.0.2.0/24, an address or a domain suffix such as example.com", entry)
	}
	d.suffixes = append(d.suffixes, name)
	return nil
}

// parseRange takes a CIDR or a bare address. The host bits of a CIDR are dropped, and an IPv4-mapped one is the IPv4
// range.
func parseRange(entry string) (netip.Prefix, bool) {
	if a, err := netip.ParseAddr(entry); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	p, err := netip.ParsePrefix(entry)
	if err != nil {
		return netip.Prefix{}, false
	}
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), true
}

// endsInNumber reports whether a suffix is a malformed address, which would otherwise be a suffix that never matches.
func endsInNumber(name string) bool { return ascii.IsDigit(name[strings.LastIndexByte(name, '.')+1]) }

// With returns a list of the entries of both.
func (d Denylist) With(more Denylist) Denylist {
	return Denylist{
		prefixes: slices.Concat(d.prefixes, more.prefixes), suffixes: slices.Concat(d.suffixes, more.suffixes),
	}
}

// DeniesAddr reports whether the address lies in a denied range.
func (d Denylist) DeniesAddr(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(d.prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}

// DeniesName reports whether the canonical name is, or lies under, a denied suffix.
func (d Denylist) DeniesName(name string) bool {
	return slices.ContainsFunc(d.suffixes, func(suffix string) bool {
		above, ok := strings.CutSuffix(name, suffix)
		return ok && (above == "" || strings.HasSuffix(above, "."))
	})
}

// DeniesKey reports whether the list denies a tool.Job's DenyKey: an address literal, a name, or something else (never
// denied).
func (d Denylist) DeniesKey(key string) bool {
	if a, err := netip.ParseAddr(key); err == nil {
		return d.DeniesAddr(a)
	}
	return d.DeniesName(key)
}
