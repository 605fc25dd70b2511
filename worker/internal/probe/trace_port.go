package probe

import (
	"iter"
	"net/netip"
	"slices"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/echo"
)

// open starts a flow of some kind of probe.
func (p *Prober) open(probe echo.Probe, dst netip.Addr, deliver func(echo.Answer)) (echo.Flow, error) {
	if probe.Protocol == echo.ICMP {
		return p.network.Open(dst, deliver)
	}
	ports, ok := p.network.(echo.PortNetwork)
	if !ok {
		return nil, echo.ErrProtocol
	}
	return ports.OpenPort(probe, dst, deliver)
}

// flow is that of a round's probes. A reach probe of TCP has one of its own, the first: the rounds then go upwards, and
// the first SYN of each that gets to the destination is that of the destination's TTL.
func (t *trace) flow(round int) int {
	if t.probe.Protocol == echo.TCP {
		return round + 1
	}
	return round
}

// bound goes through the probes that must have got to a destination at a TTL if they were not lost: none whose flow
// goes a longer way, answered or not.
//
// Of SYNs it is only the first of each flow. The destination waits for that connection until the RST that ends it is
// there, a round trip later, and what it answers to another SYN between the same ports until then is up to its system:
// a RST (Linux), what it has answered to the first, or nothing. No answer is no loss then. Where no first one was
// answered, the first of the others that was goes along: a destination that is there has an address.
func (t *trace) bound(place int) iter.Seq[*sentProbe] {
	if t.probe.Protocol == echo.TCP {
		return slices.Values(t.boundSYNs(place))
	}
	return t.boundAll(place)
}

func (t *trace) boundAll(place int) iter.Seq[*sentProbe] {
	return func(yield func(*sentProbe) bool) {
		if !yield(&t.reach) {
			return
		}
		for ttl := place; ttl <= workerapi.MaxHops; ttl++ {
			h := &t.ttls[ttl]
			for round := range h.sent {
				if s := &h.probes[round]; t.passed(s, round, ttl) && !yield(s) {
					return
				}
			}
		}
		for i := range t.rechecks {
			if r := &t.rechecks[i]; r.target >= place && !yield(&r.sentProbe) {
				return
			}
		}
	}
}

func (t *trace) boundSYNs(place int) []*sentProbe {
	bound := []*sentProbe{&t.reach}
	var answered *sentProbe
	firsts := map[int]*sentProbe{} // by round
	for ttl := place; ttl <= workerapi.MaxHops; ttl++ {
		h := &t.ttls[ttl]
		for round := range h.sent {
			s := &h.probes[round]
			if !t.passed(s, round, ttl) {
				continue
			}
			firsts[round] = sooner(firsts[round], s)
			if s.replied() {
				answered = sooner(answered, s)
			}
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

// passed reports whether a probe got past all the routers that are known on the way of its round.
func (t *trace) passed(s *sentProbe, round, ttl int) bool {
	return s.replied() || ttl > t.expired[round]
}

// sooner gives the one that was sent first; nil is none.
func sooner(known, s *sentProbe) *sentProbe {
	if known == nil || s.at.Before(known.at) {
		return s
	}
	return known
}
