package netpolicy

import "net/netip"

// ipv6Rows are the IANA IPv6 Special-Purpose Address Registry and the refused parts of the IPv6 address space, most specific
// first. What no row holds is judged by 2000::/3.
var ipv6Rows = []Row{
	{Prefix: netip.MustParsePrefix("::/128"), Name: "Unspecified Address", Source: "RFC 4291", Registry: IPv6Special, Reachable: ReachableFalse, Kind: "the unspecified address"},
	{Prefix: netip.MustParsePrefix("::1/128"), Name: "Loopback Address", Source: "RFC 4291", Registry: IPv6Special, Reachable: ReachableFalse, Kind: "a loopback address"},
	{Prefix: netip.MustParsePrefix("2001:1::1/128"), Name: "Port Control Protocol Anycast", Source: "RFC 7723", Registry: IPv6Special, Reachable: ReachableTrue, Narrowed: narrowedParent, Kind: "an address of the local network's own services"},
	{Prefix: netip.MustParsePrefix("2001:1::2/128"), Name: "Traversal Using Relays around NAT Anycast", Source: "RFC 8155", Registry: IPv6Special, Reachable: ReachableTrue, Narrowed: narrowedParent, Kind: "an address of the local network's own services"},
	{Prefix: netip.MustParsePrefix("2001:1::3/128"), Name: "DNS-SD Service Registration Protocol Anycast", Source: "RFC 9665", Registry: IPv6Special, Reachable: ReachableTrue, Narrowed: narrowedParent, Kind: "an address of the local network's own services"},
	{Prefix: netip.MustParsePrefix("::ffff:0:0/96"), Name: "IPv4-mapped Address", Source: "RFC 4291", Registry: IPv6Special, Reachable: ReachableFalse, Kind: "an IPv4-mapped address"},
	{Prefix: netip.MustParsePrefix("::ffff:0:0:0/96"), Name: "IPv4-translated Address", Source: "RFC 2765", Registry: Own, Reachable: ReachableFalse, Kind: "an IPv4-translated address"},
	{Prefix: netip.MustParsePrefix("::/96"), Name: "IPv4-compatible Address (deprecated)", Source: "RFC 4291", Registry: IPv6Space, Reachable: ReachableFalse, Kind: "an IPv4-compatible address"},
	{Prefix: netip.MustParsePrefix("64:ff9b::/96"), Name: "IPv4-IPv6 Translat.", Source: "RFC 6052", Registry: IPv6Special, Reachable: ReachableTrue, Narrowed: "a translator of our own network would decide where it leads", Kind: "a NAT64 address"},
	{Prefix: netip.MustParsePrefix("100::/64"), Name: "Discard-Only Address Block", Source: "RFC 6666", Registry: IPv6Special, Reachable: ReachableFalse, Kind: "a discard-only address"},
	{Prefix: netip.MustParsePrefix("100:0:0:1::/64"), Name: "Dummy IPv6 Prefix", Source: "RFC 9780", Registry: IPv6Special, Reachable: ReachableFalse, Kind: "a reserved address"},
	{Prefix: netip.MustParsePrefix("64:ff9b:1::/48"), Name: "IPv4-IPv6 Translat.", Source: "RFC 8215", Registry: IPv6Special, Reachable: ReachableFalse, Kind: "a NAT64 address"},
	{Prefix: netip.MustParsePrefix("2001:2::/48"), Name: "Benchmarking", Source: "RFC 5180", Registry: IPv6Special, Reachable: ReachableFalse, Kind: "a benchmarking address"},
	{Prefix: netip.MustParsePrefix("2001:4:112::/48"), Name: "AS112-v6", Source: "RFC 7535", Registry: IPv6Special, Reachable: ReachableTrue, Narrowed: narrowedParent, Kind: "a reserved address"},
	{Prefix: netip.MustParsePrefix("2620:4f:8000::/48"), Name: "Direct Delegation AS112 Service", Source: "RFC 7534", Registry: IPv6Special, Reachable: ReachableTrue},
	{Prefix: netip.MustParsePrefix("2001::/32"), Name: "TEREDO", Source: "RFC 4380", Registry: IPv6Special, Reachable: ReachableNA, Kind: "a Teredo address"},
	{Prefix: netip.MustParsePrefix("2001:3::/32"), Name: "AMT", Source: "RFC 7450", Registry: IPv6Special, Reachable: ReachableTrue, Narrowed: narrowedParent, Kind: "a reserved address"},
	{Prefix: netip.MustParsePrefix("2001:db8::/32"), Name: "Documentation", Source: "RFC 3849", Registry: IPv6Special, Reachable: ReachableFalse, Kind: "a documentation address"},
	{Prefix: netip.MustParsePrefix("2001:10::/28"), Name: "Deprecated (previously ORCHID)", Source: "RFC 4843", Registry: IPv6Special, Reachable: ReachableNA, Kind: "an identifier and not an address"},
	{Prefix: netip.MustParsePrefix("2001:20::/28"), Name: "ORCHIDv2", Source: "RFC 7343", Registry: IPv6Special, Reachable: ReachableTrue, Narrowed: narrowedParent, Kind: "an identifier and not an address"},
	{Prefix: netip.MustParsePrefix("2001:30::/28"), Name: "Drone Remote ID Protocol Entity Tags (DETs) Prefix", Source: "RFC 9374", Registry: IPv6Special, Reachable: ReachableTrue, Narrowed: narrowedParent, Kind: "an identifier and not an address"},
	{Prefix: netip.MustParsePrefix("2001::/23"), Name: "IETF Protocol Assignments", Source: "RFC 2928", Registry: IPv6Special, Reachable: ReachableFalse, Kind: "a reserved address"},
	{Prefix: netip.MustParsePrefix("3fff::/20"), Name: "Documentation", Source: "RFC 9637", Registry: IPv6Special, Reachable: ReachableFalse, Kind: "a documentation address"},
	{Prefix: netip.MustParsePrefix("2002::/16"), Name: "6to4", Source: "RFC 3056", Registry: IPv6Special, Reachable: ReachableNA, Kind: "a 6to4 address"},
	{Prefix: netip.MustParsePrefix("5f00::/16"), Name: "Segment Routing (SRv6) SIDs", Source: "RFC 9602", Registry: IPv6Special, Reachable: ReachableFalse, Kind: "a segment routing address"},
	{Prefix: netip.MustParsePrefix("fe80::/10"), Name: "Link-Local Unicast", Source: "RFC 4291", Registry: IPv6Special, Reachable: ReachableFalse, Kind: "a link-local address"},
	{Prefix: netip.MustParsePrefix("fec0::/10"), Name: "Site-Local Unicast (deprecated)", Source: "RFC 3879", Registry: IPv6Space, Reachable: ReachableFalse, Kind: "a site-local address"},
	{Prefix: netip.MustParsePrefix("ff00::/8"), Name: "Multicast", Source: "RFC 4291", Registry: IPv6Space, Reachable: ReachableFalse, Kind: "a multicast address"},
	{Prefix: netip.MustParsePrefix("fc00::/7"), Name: "Unique-Local", Source: "RFC 4193", Registry: IPv6Special, Reachable: ReachableFalse, Kind: "a private address"},
}
