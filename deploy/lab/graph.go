package lab

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// graph answers who is next to whom, and derives every route from it. Names are kept in order, so that the routes, and
// with them the truth, are the same in every lab.
type graph struct {
	nodes map[string]node
	order []string
	peers map[string][]string
	// ways are the links that one node alone uses, by the node that they end at and by the other.
	ways map[string][]link
}

func newGraph(nodes []node, links []link) *graph {
	g := &graph{nodes: map[string]node{}, peers: map[string][]string{}, ways: map[string][]link{}}
	for _, n := range nodes {
		g.nodes[n.name] = n
		g.order = append(g.order, n.name)
	}
	for _, l := range links {
		if l.own {
			g.ways[l.a], g.ways[l.b] = append(g.ways[l.a], l), append(g.ways[l.b], l)
			continue
		}
		g.peers[l.a] = append(g.peers[l.a], l.b)
		g.peers[l.b] = append(g.peers[l.b], l.a)
	}
	return g
}

// path is the shortest way, both ends included; between equals the first named link wins.
func (g *graph) path(from, to string) []string {
	before := map[string]string{from: from}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range g.peers[queue[0]] {
			if _, seen := before[next]; !seen {
				before[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	path := []string{to}
	for at := to; at != from; at = before[at] {
		path = append([]string{before[at]}, path...)
	}
	return path
}

// owner is the node that an address is routed to, and whether it answers there.
func (g *graph) owner(a netip.Addr) (name string, alive bool) {
	for _, name := range g.order {
		n := g.nodes[name]
		for _, p := range n.reachable() {
			if p.Contains(a) {
				return name, true
			}
		}
		for _, p := range n.dead {
			if p.Contains(a) {
				return name, false
			}
		}
	}
	return "", false
}

// nearest is the node with a range that is the fewest links away.
func (g *graph) nearest(from string, p netip.Prefix) (nearest string) {
	least := len(g.order)
	for _, name := range g.order {
		if slices.Contains(g.nodes[name].local, p) {
			if links := len(g.path(from, name)); nearest == "" || links < least {
				nearest, least = name, links
			}
		}
	}
	return nearest
}

// reachable are all ranges that answer at the node.
func (n node) reachable() []netip.Prefix {
	all := []netip.Prefix{netip.PrefixFrom(n.v4, 32), netip.PrefixFrom(n.v6, 128)}
	for _, a := range n.extra {
		all = append(all, netip.PrefixFrom(a, a.BitLen()))
	}
	return append(all, n.local...)
}

// device is the name of the interface towards a peer.
func device(node, peer string) string {
	if node == ServiceHost {
		return "uplink"
	}
	return "to-" + peer
}

// device is the name of the link's interface at one of its ends.
func (l link) device(at string) string {
	peer := l.a
	if at == l.a {
		peer = l.b
	}
	if l.own {
		return "own-" + peer
	}
	return device(at, peer)
}

// setup is the ip(8) batch that gives a node its addresses and routes, once its devices exist.
func (g *graph) setup(name string) string {
	n := g.nodes[name]
	var b strings.Builder
	b.WriteString("link set lo up\n")
	own := "lo"
	if name == ServiceHost {
		own = device(name, g.peers[name][0])
	}
	for i, peer := range g.peers[name] {
		// Equal hardware addresses and no ARP: there is no neighbour discovery, so no first packet is late, and the
		// uplink carries only what the service sends.
		fmt.Fprintf(&b, "link set %s up\n", device(name, peer))
		if i == 0 {
			fmt.Fprintf(&b, "address add %s/32 dev %s\naddress add %s/128 dev %s nodad\n", n.v4, own, n.v6, own)
		}
	}
	for _, l := range g.ways[name] {
		fmt.Fprintf(&b, "link set %s up\n", l.device(name))
	}
	for _, a := range n.extra {
		fmt.Fprintf(&b, "address add %s/%d dev lo%s\n", a, a.BitLen(), map[bool]string{true: " nodad"}[a.Is6()])
	}
	for _, p := range n.local {
		fmt.Fprintf(&b, "route add local %s dev lo\n", p)
	}
	g.routes(&b, name)
	return b.String()
}

func (g *graph) routes(b *strings.Builder, name string) {
	for _, l := range g.ways[name] {
		if l.b == name {
			g.routeOver(b, name, l.a, l.device(name), fmt.Sprintf(" table %d", ownTable), everywhere...)
		}
	}
	if peers := g.peers[name]; len(peers) == 1 {
		g.route(b, name, peers[0], "", everywhere...)
		return
	}
	for _, other := range g.order {
		if other == name {
			continue
		}
		o := g.nodes[other]
		own := slices.DeleteFunc(append(o.reachable(), o.dead...), func(p netip.Prefix) bool {
			return (p == anycast4 || p == anycast6) && g.nearest(name, p) != other
		})
		g.route(b, name, g.path(name, other)[1], "", own...)
	}
	// A dead range needs a way onward: without one the kernel would answer for itself before the filter's turn.
	if dead := g.nodes[name].dead; dead != nil {
		g.route(b, name, "far", "", dead...)
	}
	if name == spreader {
		g.route(b, name, "a6", fmt.Sprintf(" table %d", pathTable+path1Mark), wild4, wild6)
		g.route(b, name, "b6", fmt.Sprintf(" table %d", pathTable+path2Mark), wild4, wild6)
	}
}

var everywhere = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}

func (g *graph) route(b *strings.Builder, name, next, table string, to ...netip.Prefix) {
	g.routeOver(b, name, next, device(name, next), table, to...)
}

func (g *graph) routeOver(b *strings.Builder, name, next, dev, table string, to ...netip.Prefix) {
	for _, p := range to {
		mtu := ""
		if next == limitedHost && narrow[p] > 0 {
			mtu = fmt.Sprintf(" mtu lock %d", narrow[p])
		}
		fmt.Fprintf(b, "route add %s via %s dev %s onlink src %s%s%s\n", p, g.nodes[next].address(p.Addr().Is4()),
			dev, g.nodes[name].address(p.Addr().Is4()), mtu, table)
	}
}

// rules is the ip(8) batch of a node's routing rules, empty where it has none; the same for both families, which the
// command must be given.
func (g *graph) rules(name string) string {
	if name == spreader {
		return markRules()
	}
	for _, l := range g.ways[name] {
		if l.b == name {
			return fmt.Sprintf("rule add iif lo table %d\n", ownTable)
		}
	}
	return ""
}

// markRules route marked packets by the table of their leg.
func markRules() string {
	var b strings.Builder
	for _, mark := range []int{path1Mark, path2Mark} {
		fmt.Fprintf(&b, "rule add fwmark %d table %d\n", mark, pathTable+mark)
	}
	return b.String()
}
