package target

import "net/netip"

// Denylist is what the operator refuses on top of the public-address rules: ranges and domain suffixes.
type Denylist struct {
	prefixes []netip.Prefix
	suffixes []string
}

// ParseDenylist reads the comma-separated CIDRs, addresses and domain suffixes of DENY_TARGETS.
func ParseDenylist(s string) (Denylist, error) { panic("unwritten") }

// DeniesAddr tells whether the address lies in a denied range.
func (d Denylist) DeniesAddr(a netip.Addr) bool { panic("unwritten") }

// DeniesName tells whether the canonical name is, or lies under, a denied suffix.
func (d Denylist) DeniesName(name string) bool { panic("unwritten") }

// DeniesKey judges a tool.Job's DenyKey: an address literal, a name, or something else (never denied).
func (d Denylist) DeniesKey(key string) bool { panic("unwritten") }
