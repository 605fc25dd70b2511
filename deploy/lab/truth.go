package lab

import "net/netip"

// Hop is the lab's truth about one step of a path.
type Hop struct {
	// Addresses are those that may answer here: one, or two at the step that spreads.
	Addresses []netip.Addr
	Temper    Temper
}

// PathTo is the truth about the way from the service to an address: its hops in order, the destination last. A
// destination in a dead range is not among the hops: the last hop is the router that turns it away.
func (l *Lab) PathTo(to netip.Addr) []Hop {
	at, alive := l.graph.owner(to)
	if at == "" {
		return nil
	}
	var hops []Hop
	for _, name := range l.graph.path(ServiceHost, at)[1:] {
		if name == at && alive {
			return append(hops, Hop{Addresses: []netip.Addr{to}, Temper: Answers})
		}
		n := l.graph.nodes[name]
		hop := Hop{Addresses: []netip.Addr{n.address(to.Is4())}, Temper: n.temper}
		if twin, ok := twins[name]; ok {
			hop.Addresses = append(hop.Addresses, l.graph.nodes[twin].address(to.Is4()))
		}
		hops = append(hops, hop)
	}
	return hops
}

func (n node) address(v4 bool) netip.Addr {
	if v4 {
		return n.v4
	}
	return n.v6
}
