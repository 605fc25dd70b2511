package netpolicy

import "net/netip"

// narrowedParent is why an anycast or identifier block inside a non-global parent is refused although its own row calls it
// globally reachable: the nearest box on our own path would answer, and tell a visitor about our network.
const narrowedParent = "lies in a block that is not globally reachable; the nearest box on the path would answer"

// ipv4Rows are the IANA IPv4 Special-Purpose Address Registry, multicast, and one address of our own, most specific first.
var ipv4Rows = []Row{
	{Prefix: netip.MustParsePrefix("0.0.0.0/32"), Name: "This host on this network", Source: "RFC 1122", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "the unspecified address"},
	{Prefix: netip.MustParsePrefix("168.63.129.16/32"), Name: "Azure platform resource", Source: "Azure documentation", Registry: Own, Reachable: ReachableFalse, Kind: "an address that a cloud platform keeps for its own machines"},
	{Prefix: netip.MustParsePrefix("192.0.0.8/32"), Name: "IPv4 dummy address", Source: "RFC 7600", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a reserved address"},
	{Prefix: netip.MustParsePrefix("192.0.0.9/32"), Name: "Port Control Protocol Anycast", Source: "RFC 7723", Registry: IPv4Special, Reachable: ReachableTrue, Narrowed: narrowedParent, Kind: "an address of the local network's own services"},
	{Prefix: netip.MustParsePrefix("192.0.0.10/32"), Name: "Traversal Using Relays around NAT Anycast", Source: "RFC 8155", Registry: IPv4Special, Reachable: ReachableTrue, Narrowed: narrowedParent, Kind: "an address of the local network's own services"},
	{Prefix: netip.MustParsePrefix("192.0.0.170/32"), Name: "NAT64/DNS64 Discovery", Source: "RFC 8880", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a reserved address"},
	{Prefix: netip.MustParsePrefix("192.0.0.171/32"), Name: "NAT64/DNS64 Discovery", Source: "RFC 8880", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a reserved address"},
	{Prefix: netip.MustParsePrefix("192.88.99.2/32"), Name: "6a44-relay anycast address", Source: "RFC 6751", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a relay address"},
	{Prefix: netip.MustParsePrefix("255.255.255.255/32"), Name: "Limited Broadcast", Source: "RFC 919", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "the broadcast address"},
	{Prefix: netip.MustParsePrefix("192.0.0.0/29"), Name: "IPv4 Service Continuity Prefix", Source: "RFC 7335", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a reserved address"},
	{Prefix: netip.MustParsePrefix("192.0.0.0/24"), Name: "IETF Protocol Assignments", Source: "RFC 6890", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a reserved address"},
	{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Name: "Documentation (TEST-NET-1)", Source: "RFC 5737", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a documentation address"},
	{Prefix: netip.MustParsePrefix("192.31.196.0/24"), Name: "AS112-v4", Source: "RFC 7535", Registry: IPv4Special, Reachable: ReachableTrue},
	{Prefix: netip.MustParsePrefix("192.52.193.0/24"), Name: "AMT", Source: "RFC 7450", Registry: IPv4Special, Reachable: ReachableTrue},
	{Prefix: netip.MustParsePrefix("192.88.99.0/24"), Name: "Deprecated (6to4 Relay Anycast)", Source: "RFC 7526", Registry: IPv4Special, Reachable: ReachableNA, Kind: "a relay address"},
	{Prefix: netip.MustParsePrefix("192.175.48.0/24"), Name: "Direct Delegation AS112 Service", Source: "RFC 7534", Registry: IPv4Special, Reachable: ReachableTrue},
	{Prefix: netip.MustParsePrefix("198.51.100.0/24"), Name: "Documentation (TEST-NET-2)", Source: "RFC 5737", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a documentation address"},
	{Prefix: netip.MustParsePrefix("203.0.113.0/24"), Name: "Documentation (TEST-NET-3)", Source: "RFC 5737", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a documentation address"},
	{Prefix: netip.MustParsePrefix("169.254.0.0/16"), Name: "Link Local", Source: "RFC 3927", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a link-local address"},
	{Prefix: netip.MustParsePrefix("192.168.0.0/16"), Name: "Private-Use", Source: "RFC 1918", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a private address"},
	{Prefix: netip.MustParsePrefix("198.18.0.0/15"), Name: "Benchmarking", Source: "RFC 2544", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a benchmarking address"},
	{Prefix: netip.MustParsePrefix("172.16.0.0/12"), Name: "Private-Use", Source: "RFC 1918", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a private address"},
	{Prefix: netip.MustParsePrefix("100.64.0.0/10"), Name: "Shared Address Space", Source: "RFC 6598", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a shared address behind a carrier's NAT"},
	{Prefix: netip.MustParsePrefix("0.0.0.0/8"), Name: "This network", Source: "RFC 791", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "an address of this network only"},
	{Prefix: netip.MustParsePrefix("10.0.0.0/8"), Name: "Private-Use", Source: "RFC 1918", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a private address"},
	{Prefix: netip.MustParsePrefix("127.0.0.0/8"), Name: "Loopback", Source: "RFC 1122", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a loopback address"},
	{Prefix: netip.MustParsePrefix("224.0.0.0/4"), Name: "Multicast", Source: "RFC 5771", Registry: IPv4Multicast, Reachable: ReachableFalse, Kind: "a multicast address"},
	{Prefix: netip.MustParsePrefix("240.0.0.0/4"), Name: "Reserved", Source: "RFC 1112", Registry: IPv4Special, Reachable: ReachableFalse, Kind: "a reserved address"},
}
