package netpolicy

// narrowedParent is why an anycast or identifier block inside a non-global parent is refused although its own row calls
// it globally reachable: the nearest relay on our own path would answer, and reveal this host's network.
const narrowedParent = "lies in a block that is not globally reachable; the nearest box on the path would answer"

// ipv4Rows are the IANA IPv4 Special-Purpose Address Registry, multicast, and one address of our own, most specific
// first.
var ipv4Rows = []Row{
	refused("0.0.0.0/32", "This host on this network", "RFC 1122", IPv4Special, "the unspecified address"),
	refused("168.63.129.16/32", "Azure platform resource", "Azure documentation", Own,
		"an address reserved for a cloud platform's own machines"),
	refused("192.0.0.8/32", "IPv4 dummy address", "RFC 7600", IPv4Special, "a reserved address"),
	narrowed("192.0.0.9/32", "Port Control Protocol Anycast", "RFC 7723", IPv4Special,
		"an address of the local network's own services", narrowedParent),
	narrowed("192.0.0.10/32", "Traversal Using Relays around NAT Anycast", "RFC 8155", IPv4Special,
		"an address of the local network's own services", narrowedParent),
	refused("192.0.0.170/32", "NAT64/DNS64 Discovery", "RFC 8880", IPv4Special, "a reserved address"),
	refused("192.0.0.171/32", "NAT64/DNS64 Discovery", "RFC 8880", IPv4Special, "a reserved address"),
	refused("192.88.99.2/32", "6a44-relay anycast address", "RFC 6751", IPv4Special, "a relay address"),
	refused("255.255.255.255/32", "Limited Broadcast", "RFC 919", IPv4Special, "the broadcast address"),
	refused("192.0.0.0/29", "IPv4 Service Continuity Prefix", "RFC 7335", IPv4Special, "a reserved address"),
	refused("192.0.0.0/24", "IETF Protocol Assignments", "RFC 6890", IPv4Special, "a reserved address"),
	refused("192.0.2.0/24", "Documentation (TEST-NET-1)", "RFC 5737", IPv4Special, "a documentation address"),
	reachable("192.31.196.0/24", "AS112-v4", "RFC 7535", IPv4Special),
	reachable("192.52.193.0/24", "AMT", "RFC 7450", IPv4Special),
	notApplicable("192.88.99.0/24", "Deprecated (6to4 Relay Anycast)", "RFC 7526", IPv4Special, "a relay address"),
	reachable("192.175.48.0/24", "Direct Delegation AS112 Service", "RFC 7534", IPv4Special),
	refused("198.51.100.0/24", "Documentation (TEST-NET-2)", "RFC 5737", IPv4Special, "a documentation address"),
	refused("203.0.113.0/24", "Documentation (TEST-NET-3)", "RFC 5737", IPv4Special, "a documentation address"),
	refused("169.254.0.0/16", "Link Local", "RFC 3927", IPv4Special, "a link-local address"),
	refused("192.168.0.0/16", "Private-Use", "RFC 1918", IPv4Special, "a private address"),
	refused("198.18.0.0/15", "Benchmarking", "RFC 2544", IPv4Special, "a benchmarking address"),
	refused("172.16.0.0/12", "Private-Use", "RFC 1918", IPv4Special, "a private address"),
	refused("100.64.0.0/10", "Shared Address Space", "RFC 6598", IPv4Special, "a shared address behind a carrier's NAT"),
	refused("0.0.0.0/8", "This network", "RFC 791", IPv4Special, "an address of this network only"),
	refused("10.0.0.0/8", "Private-Use", "RFC 1918", IPv4Special, "a private address"),
	refused("127.0.0.0/8", "Loopback", "RFC 1122", IPv4Special, "a loopback address"),
	refused("224.0.0.0/4", "Multicast", "RFC 5771", IPv4Multicast, "a multicast address"),
	refused("240.0.0.0/4", "Reserved", "RFC 1112", IPv4Special, "a reserved address"),
}
