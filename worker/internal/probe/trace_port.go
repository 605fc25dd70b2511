package probe

import (
	"iter"
	"net/netip"
	"slices"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// open starts a flow of some kind of probe.
func (p *Prober) open(probe exchange.Probe, dst netip.Addr, deliver func(exchange.Answer)) (exchange.Flow, error) {
	if probe.Protocol == exchange.ICMP {
		return p.network.Open(dst, deliver)
	}
	ports, ok := p.network.(exchange.PortNetwork)
	if !ok {
		return nil, exchange.ErrProtocol
	}
	return ports.OpenPort(probe, dst, deliver)
}

// flow is that of a round's probes. A reach probe of TCP has one of its own, the first: the rounds then go upwards, and
// the first SYN of each that gets to the destination is that of the destination's TTL.
func (t *trace) flow(round int) int {
	if t.probe.Protocol == exchange.TCP {
		return round + 1
	}
	return round
}

// bound gives the probes that must have got to a destination at a TTL if they were not lost: none whose flow
// goes a longer way, answered or not.
//
// Of SYNs it is only the first of each flow. The destination waits for that connection until the RST that ends it is
// there, a round trip later, and what it answers to another SYN between the same ports until then is up to its system:
// a RST (Linux), what it has answered to the first, or nothing. No answer is no loss then. Where no first one was
// answered, the first of the others that was goes along: a destination that is there has an address.
func (t *trace) bound(place int) []*sentProbe {
	bound := []*sentProbe{&t.reach}
	if t.probe.Protocol == exchange.TCP {
		return t.withSYNs(bound, place)
	}
	for _, s := range t.passing(place) {
		bound = append(bound, s)
	}
	for i := range t.rechecks {
		if r := &t.rechecks[i]; r.target >= place {
			bound = append(bound, &r.sentProbe)
		}
	}
	return bound
}

func (t *trace) withSYNs(bound []*sentProbe, place int) []*sentProbe {
	var answered *sentProbe
	firsts := map[int]*sentProbe{} // by round
	for round, s := range t.passing(place) {
		firsts[round] = sooner(firsts[round], s)
		if s.replied() {
			answered = sooner(answered, s)
		}
	}
	for _, s := range firsts {
		bound = append(bound, s)
	}
	if answered != nil && !slices.ContainsFunc(bound, (*sentProbe).replied) {
		bound = append(bound, answered)
	}
	return bound
}

// passing goes through the probes with a TTL from a place on, by round, that got past all the routers that are known on
// the way of their round.
func (t *trace) passing(place int) iter.Seq2[int, *sentProbe] {
	return func(yield func(int, *sentProbe) bool) {
		for ttl := place; ttl <= workerapi.MaxHops; ttl++ {
			for round := range t.ttls[ttl].sent {
				s := &t.ttls[ttl].probes[round]
				if (s.replied() || ttl > t.expired[round]) && !yield(round, s) {
					return
				}
			}
		}
	}
}

// sooner gives the one that was sent first; nil is none.
func sooner(known, s *sentProbe) *sentProbe {
	if known == nil || s.at.Before(known.at) {
		return s
	}
	return known
}
