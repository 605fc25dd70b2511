// Package netpolicy decides what a public diagnostics service may touch: is this address public, may this name be
// looked up, can this AS number be assigned, and if not, why. It is pure: tables and functions on values, no I/O.
//
// The tables are the IANA special-purpose registries (RFC 6890, RFC 8190) as data, plus the blocks that those
// registries leave to others: multicast, site-local, everything outside the global unicast space. netip's own
// predicates are not a policy: IsGlobalUnicast calls 192.0.2.1, 100.64.0.1 and 10.0.0.1 global unicast.
package netpolicy

import "net/netip"

// Verdict says whether an address is public and, if not, which rule refuses it and why.
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

// Judge decides whether an address may be the destination of a probe. It allocates nothing.
//
// The most specific row decides. A zoned, IPv4-mapped or invalid address is refused in every case: a caller that holds
// one has skipped a parser that would have refused it.
func Judge(a netip.Addr) Verdict { return addresses.judge(a) }

// addressTable is the rows of both families in the form in which they are looked up.
type addressTable struct{ v4, v6 []span }

var addresses = newAddressTable(ipv4Rows, ipv6Rows)

func newAddressTable(v4, v6 []Row) addressTable { return addressTable{spansOf(v4), spansOf(v6)} }

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
	if row := find(t.v4, a); row != nil {
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
	if row := find(t.v6, a); row != nil {
		return row.verdict()
	}
	if !globalUnicast.Contains(a) {
		return Verdict{Name: "Reserved by IETF", Source: "RFC 4291", Reason: "an address outside the global unicast space"}
	}
	return Verdict{Public: true, Prefix: globalUnicast, Name: "Global unicast", Source: "RFC 4291"}
}

// isatap gives the IPv4 address that an ISATAP interface identifier embeds (RFC 5214 section 6.1): ::0:5efe:a.b.c.d, or
// ::200:5efe:a.b.c.d where the universal bit is set, under any prefix. Only a site's own router unpacks it, but that
// router would send it on to the embedded address.
func isatap(a netip.Addr) (netip.Addr, bool) {
	b := a.As16()
	if (b[8] != 0x00 && b[8] != 0x02) || b[9] != 0x00 || b[10] != 0x5e || b[11] != 0xfe {
		return netip.Addr{}, false
	}
	return netip.AddrFrom4([4]byte(b[12:16])), true
}

// Near reports whether an address is of this host or of a private network, as a proxy's or a worker's of our own is. It
// says nothing about what a visitor may reach.
func Near(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || sharedSpace.Contains(a)
}

// NAT64 reports whether an address is in the well-known prefix of RFC 6052. An address in it is never public, but a
// DNS64 resolver adds one to the answers of every name that has only IPv4 addresses: whoever resolves a name may drop
// those where an A record exists.
func NAT64(a netip.Addr) bool { return nat64.Contains(a) }

var (
	globalUnicast = netip.MustParsePrefix("2000::/3")
	nat64         = netip.MustParsePrefix("64:ff9b::/96")
	// sharedSpace is RFC 6598, which providers share among customers and some container platforms number their proxies
	// from.
	sharedSpace = netip.MustParsePrefix("100.64.0.0/10")
)
