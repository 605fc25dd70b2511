// Package netpolicy decides what a public diagnostics service may reach: whether an address is public, whether a name
// may be looked up, whether an AS number can be assigned, and if not, why. It is pure: tables and functions on values,
// no I/O.
//
// The tables are the IANA special-purpose registries (RFC 6890, RFC 8190) as data, plus the blocks that those
// registries leave to others: multicast, site-local, everything outside the global unicast space. netip's own
// predicates are not a policy: IsGlobalUnicast calls 192.0.2.1, 100.64.0.1 and 10.0.0.1 global unicast.
package netpolicy

import (
	"net/netip"
	"slices"
)

// Verdict is whether an address is public and, if not, which rule refuses it and why.
type Verdict struct {
	Public bool
	// Prefix is the rule's block, the most specific that holds the address; the zero Prefix where no table row applies.
	Prefix netip.Prefix
	// Name is the block's name in its registry, such as "Private-Use".
	Name string
	// Source is the document behind the row, such as "RFC 1918".
	Source string
	// Reason completes the sentence "<address> is …", such as "a private address". Empty where Public.
	Reason string
}

// Judge decides whether an address may be the destination of a probe.
//
// The most specific row decides. A zoned, IPv4-mapped or invalid address is refused in every case: a caller that holds
// one has skipped a parser that would have refused it.
func Judge(a netip.Addr) Verdict { return addresses.judge(a) }

// addressTable is the rows of both families, most specific first.
type addressTable struct{ v4, v6 []Row }

var addresses = addressTable{ipv4Rows, ipv6Rows}

func (t addressTable) judge(a netip.Addr) Verdict {
	switch {
	case !a.IsValid():
		return Verdict{Reason: "no address"}
	case a.Zone() != "":
		return Verdict{Name: "Zoned address", Source: "RFC 4007", Reason: "an address of one link only"}
	case a.Is4():
		return t.judge4(a)
	}
	return t.judge6(a)
}

func (t addressTable) judge4(a netip.Addr) Verdict {
	if row := firstRow(t.v4, a); row != nil {
		return row.verdict()
	}
	return Verdict{Public: true, Name: "Global unicast", Source: "RFC 791"}
}

func (t addressTable) judge6(a netip.Addr) Verdict {
	v := t.block6(a)
	if !v.Public {
		return v
	}
	if v4, ok := isatap(a); ok && !t.judge4(v4).Public {
		return Verdict{Prefix: v.Prefix, Name: "ISATAP", Source: "RFC 5214",
			Reason: "a tunnel address that leads to a non-public IPv4 address"}
	}
	return v
}

// block6 judges by the prefix alone.
func (t addressTable) block6(a netip.Addr) Verdict {
	if row := firstRow(t.v6, a); row != nil {
		return row.verdict()
	}
	if !globalUnicast.Contains(a) {
		return Verdict{Name: "Reserved by IETF", Source: "RFC 4291", Reason: "an address outside the global unicast space"}
	}
	return Verdict{Public: true, Prefix: globalUnicast, Name: "Global unicast", Source: "RFC 4291"}
}

// isatap returns the IPv4 address that an ISATAP interface identifier embeds (RFC 5214 section 6.1): ::0:5efe:a.b.c.d,
// or ::200:5efe:a.b.c.d where the universal bit is set, under any prefix. Only a site's own router unpacks it, but that
// router would send it on to the embedded address.
func isatap(a netip.Addr) (netip.Addr, bool) {
	b := a.As16()
	if (b[8] != 0x00 && b[8] != 0x02) || b[9] != 0x00 || b[10] != 0x5e || b[11] != 0xfe {
		return netip.Addr{}, false
	}
	return netip.AddrFrom4([4]byte(b[12:16])), true
}

// Near reports whether an address is of this host or of a private network, as a proxy's or a worker's of our own is. It
// is no part of the policy for targets.
func Near(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || sharedSpace.Contains(a)
}

// NAT64 reports whether an address is in the well-known prefix of RFC 6052. An address in it is never public, but a
// DNS64 resolver adds one to the answers of every name that has only IPv4 addresses: a resolver's caller may drop
// those where an A record exists.
func NAT64(a netip.Addr) bool { return nat64.Contains(a) }

var (
	globalUnicast = netip.MustParsePrefix("2000::/3")
	nat64         = netip.MustParsePrefix("64:ff9b::/96")
	// sharedSpace is RFC 6598, which providers share among customers and some container platforms number their proxies
	// from.
	sharedSpace = netip.MustParsePrefix("100.64.0.0/10")
)

// Reachability is the registries' column "Globally Reachable" (RFC 8190).
type Reachability int

// The values of the column.
const (
	// ReachableFalse is "False": packets to the block are not to leave their administrative domain.
	ReachableFalse Reachability = iota
	// ReachableTrue is "True".
	ReachableTrue
	// ReachableNA is "N/A". It is treated as false.
	ReachableNA
)

// Registry is the source of a row.
type Registry string

// The registries.
const (
	IPv4Special   Registry = "IANA IPv4 Special-Purpose Address Registry"
	IPv6Special   Registry = "IANA IPv6 Special-Purpose Address Registry"
	IPv4Multicast Registry = "IANA IPv4 Multicast Address Space Registry"
	IPv6Space     Registry = "IANA IPv6 Address Space"
	// Own are rows of this service that no registry has.
	Own Registry = "this service"
)

// Row is one block of a registry.
type Row struct {
	Prefix netip.Prefix
	// Name and Source are the registry's own columns "Name" and "RFC".
	Name     string
	Source   string
	Registry Registry
	// Reachable is the registry's own column, before our opinion.
	Reachable Reachability
	// Narrowed is the reason why a block that the registry calls globally reachable is refused all the same; empty
	// elsewhere.
	Narrowed string
	// Kind completes the sentence "<address> is …".
	Kind string
}

// refused is a row of a table whose block the registry does not call globally reachable.
func refused(prefix, name, source string, from Registry, kind string) Row {
	return Row{Prefix: netip.MustParsePrefix(prefix), Name: name, Source: source, Registry: from,
		Reachable: ReachableFalse, Kind: kind}
}

// notApplicable is one that the registry marks N/A.
func notApplicable(prefix, name, source string, from Registry, kind string) Row {
	r := refused(prefix, name, source, from, kind)
	r.Reachable = ReachableNA
	return r
}

// reachable is one that the registry calls globally reachable.
func reachable(prefix, name, source string, from Registry) Row {
	r := refused(prefix, name, source, from, "")
	r.Reachable = ReachableTrue
	return r
}

// narrowed is one that it calls so and that is refused all the same.
func narrowed(prefix, name, source string, from Registry, kind, why string) Row {
	r := reachable(prefix, name, source, from)
	r.Kind, r.Narrowed = kind, why
	return r
}

// Public reports whether addresses of this very row may be probed.
func (r Row) Public() bool { return r.Reachable == ReachableTrue && r.Narrowed == "" }

func (r *Row) verdict() Verdict {
	v := Verdict{Public: r.Public(), Prefix: r.Prefix, Name: r.Name, Source: r.Source}
	if !v.Public {
		v.Reason = r.Kind
	}
	return v
}

// Rows returns a copy of every row, those of one family in the order in which they are judged: most specific first.
func Rows() []Row { return slices.Concat(ipv4Rows, ipv6Rows) }

// firstRow returns the first row that holds the address, nil where none does: the rows are in order of falling length.
func firstRow(rows []Row, a netip.Addr) *Row {
	for i := range rows {
		if rows[i].Prefix.Contains(a) {
			return &rows[i]
		}
	}
	return nil
}

// LastOf is the last address of a prefix.
func LastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(b)*8; bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}
