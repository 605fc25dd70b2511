package probe

import (
	"net/netip"
	"slices"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// result says what the trace saw, with the hops that are not public hidden.
func (t *trace) result(dst netip.Addr, raw bool) workerapi.Traced {
	rows := t.rows()
	stop := t.stopReason()
	hops := make([]workerapi.Hop, 0, len(rows))
	for _, r := range rows {
		h := r.hop()
		h.TargetAddress = r.borrows(dst)
		hops = append(hops, h)
	}
	r := workerapi.Traced{Traceroute: workerapi.Traceroute{
		Target:      dst.String(),
		Address:     dst.String(),
		Family:      workerapi.Family(dst),
		Reached:     stop == workerapi.StopReached,
		StopReason:  stop,
		Hops:        hops,
		Explanation: []string{},
		Protocol:    t.probe.Protocol.String(),
	}}
	if t.probe.Port != 0 {
		r.Port = new(int(t.probe.Port))
	}
	r.Facts = explanation{trace: t, rows: rows, hops: hops, stop: stop, dst: dst}.facts()
	if raw {
		r.Raw = new(rawTrace(dst, t.probe, rows))
	}
	return r
}

func (t *trace) stopReason() string {
	switch {
	case t.replied > 0:
		return workerapi.StopReached
	case t.refusal():
		return refusalReason(t.refusalKind())
	case t.late:
		return workerapi.StopDeadline
	case t.reach.replied() && t.farthest < workerapi.MaxHops:
		return workerapi.StopReached
	case t.reach.answered && t.reach.kind.Refuses():
		return refusalReason(t.reach.kind)
	case t.farthest+workerapi.GapLimit <= workerapi.MaxHops:
		return workerapi.StopGapLimit
	default:
		return workerapi.StopMaxHops
	}
}

func refusalReason(k exchange.Kind) string {
	if k == exchange.Prohibited {
		return workerapi.StopProhibited
	}
	return workerapi.StopUnreachable
}

// refusalKind returns the kind of the refusal that ends the path, of a probe of that TTL or of a recheck there.
func (t *trace) refusalKind() exchange.Kind {
	probes := slices.Clone(t.ttls[t.refused].probes[:])
	for _, r := range t.rechecks {
		if r.target == t.refused {
			probes = append(probes, r.sentProbe)
		}
	}
	return firstRefusal(probes)
}

// row is one TTL of the result: the probes that were sent with it, or those that went for the destination.
type row struct {
	ttl         int
	destination bool
	probes      []sentProbe
}

// rows returns the TTLs up to the last that says something. Where only the reach probe was refused, the silent TTLs
// behind the last router say nothing: they may lie before the host that refused it or be it.
func (t *trace) rows() []row {
	place := max(t.place(), t.guess())
	last := t.end()
	switch {
	case place > 0:
		last = place
	case !t.ended() && t.reach.answered && t.reach.kind.Ends():
		last = t.farthest
	}
	var rows []row
	for ttl := 1; ttl <= last && (ttl == place || t.ttls[ttl].sent > 0); ttl++ {
		r := row{ttl: ttl, probes: t.ttls[ttl].probes[:t.ttls[ttl].sent]}
		if ttl == place {
			r.destination, r.probes = true, nil
			for _, s := range t.arrivals(place) {
				r.probes = append(r.probes, *s)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// addresses returns the sources of the answers: the first round's first, the others in order.
func (r row) addresses() []netip.Addr {
	var all []netip.Addr
	for _, s := range r.probes {
		if s.answered && !slices.Contains(all, s.from) {
			all = append(all, s.from)
		}
	}
	if len(all) > 1 {
		slices.SortFunc(all[1:], netip.Addr.Compare)
	}
	return all
}

// labels returns the label stack of the first probe whose answer had one; nil for none.
func (r row) labels() []workerapi.Label {
	for _, s := range r.probes {
		if !s.answered || len(s.labels) == 0 {
			continue
		}
		stack := make([]workerapi.Label, len(s.labels))
		for i, l := range s.labels {
			stack[i] = workerapi.Label{Label: int(l.Value), TC: int(l.TC), Bottom: l.Bottom, TTL: int(l.TTL)}
		}
		return stack
	}
	return nil
}

// firstRefusal returns the kind of the first refusal of probes; 0 for none.
func firstRefusal(probes []sentProbe) exchange.Kind {
	for _, s := range probes {
		if s.answered && s.kind.Refuses() {
			return s.kind
		}
	}
	return 0
}

// tooBig reports whether a probe was called too big here.
func (r row) tooBig() bool {
	return slices.ContainsFunc(r.probes, func(s sentProbe) bool { return s.answered && s.kind == exchange.TooBig })
}

// borrows reports whether the row's answers have the destination's address without being its own: what ends a trace is
// the type of an answer, and none of these does. A router that translates the destination's address or port gives its
// address to errors from behind it, and anyone on the path may forge one.
func (r row) borrows(dst netip.Addr) bool {
	return !r.destination && !r.refusedBy(dst) &&
		slices.ContainsFunc(r.probes, func(s sentProbe) bool { return s.answered && s.from == dst && !s.kind.Ends() })
}

// refusedBy reports whether an address refused a probe.
func (r row) refusedBy(a netip.Addr) bool {
	return slices.ContainsFunc(r.probes, func(s sentProbe) bool { return s.answered && s.from == a && s.kind.Refuses() })
}

// damaged reports whether an echo reply came back damaged.
func (r row) damaged() bool {
	return slices.ContainsFunc(r.probes, func(s sentProbe) bool { return s.damaged })
}

func (r row) hop() workerapi.Hop {
	h := workerapi.Hop{
		TTL:       r.ttl,
		Addresses: []string{},
		Sent:      len(r.probes),
		RTTsMs:    make([]*float64, len(r.probes)),
	}
	all := r.addresses()
	for _, a := range all {
		if public(a) {
			h.Addresses = append(h.Addresses, a.String())
		}
	}
	if len(h.Addresses) > 0 {
		h.Address = &h.Addresses[0]
	}
	h.Hidden = len(all) > 0 && len(h.Addresses) == 0
	if !h.Hidden {
		h.Labels = r.labels()
	}
	var rtts []time.Duration
	for i, s := range r.probes {
		if s.answered {
			rtts = append(rtts, s.rtt)
			h.RTTsMs[i] = milliseconds(s.rtt)
		}
	}
	h.Received = len(rtts)
	h.LossPercent = lossPercent(h.Sent, h.Received)
	if len(rtts) > 0 {
		h.BestMs = milliseconds(slices.Min(rtts))
		h.AverageMs = milliseconds(mean(rtts))
		h.WorstMs = milliseconds(slices.Max(rtts))
	}
	return h
}
