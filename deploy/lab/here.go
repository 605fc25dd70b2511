package lab

import (
	"context"
	"net/netip"

	"diagnostics/lab/internal/netns"
)

// Here runs the lab's web and mail servers, registries and resolvers (not those of internal/tlsserver) in the network
// namespace of this process, for a container in a network made by another. The process must have the
// addresses of HereNeeds, or may bind to any. dir is for the root's certificate.
func Here(ctx context.Context, dir string) (*Lab, error) {
	nodes, links := topology()
	l := &Lab{reg: &registration{dir: dir}, graph: newGraph(nodes, links), links: links, ns: map[string]*netns.NS{}}
	for _, n := range nodes {
		l.ns[n.name] = netns.Own()
	}
	return l, l.startServers(ctx)
}

// HereNeeds are the ranges in which the servers of Here and the ends of the lab's paths have their addresses.
func HereNeeds() []netip.Prefix {
	ranges := []netip.Prefix{web4, near4, clean4, wild4, mute4, names4,
		netip.PrefixFrom(netip.MustParseAddr(resolver4), 32)}
	for _, both := range PublicResolvers {
		ranges = append(ranges, netip.PrefixFrom(both[0], 32))
	}
	return ranges
}
