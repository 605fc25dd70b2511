package probe

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// explanation finds what a trace shows, as facts that the gateway words: some on single hops, and some on the whole. It
// names hops by number alone, so nothing hidden can slip out.
type explanation struct {
	trace *trace
	rows  []row
	hops  []workerapi.Hop // as shown, with private ones hidden
	stop  string
	dst   netip.Addr
}

// args are the arguments of a fact.
type args = map[string]any

var refusals = map[exchange.Kind]string{
	exchange.NetUnreachable:      "REFUSAL_NETWORK",
	exchange.HostUnreachable:     "REFUSAL_HOST",
	exchange.ProtocolUnreachable: "REFUSAL_PROTOCOL",
	exchange.PortUnreachable:     "REFUSAL_PORT",
	exchange.Prohibited:          "REFUSAL_PROHIBITED",
}

// facts are those of the hops, and those on the whole trace, the most important first.
func (e explanation) facts() []workerapi.Fact {
	facts := e.ofHops()
	facts = append(facts, e.ending())
	for _, find := range []func() *workerapi.Fact{e.borrowed, e.loss, e.port, e.jump, e.slow, e.limited, e.before,
		e.silent, e.back, e.spread, e.hidden, e.loop} {
		if fact := find(); fact != nil {
			facts = append(facts, *fact)
		}
	}
	return facts
}

// ofTrace is a fact on the whole trace.
func ofTrace(code string, a args) *workerapi.Fact {
	return &workerapi.Fact{About: workerapi.AboutTrace, Code: code, Args: a}
}

// ofHops are the facts on each hop that something is to be said of.
func (e explanation) ofHops() (facts []workerapi.Fact) {
	for i, h := range e.hops {
		add := func(code string, a args) {
			facts = append(facts, workerapi.Fact{About: workerapi.AboutHop, TTL: h.TTL, Code: code, Args: a})
		}
		if h.Hidden {
			add("HOP_PRIVATE", nil)
		} else if len(e.rows[i].addresses()) > len(h.Addresses) {
			add("HOP_PARTLY_PRIVATE", nil)
		}
		if refusal := refusals[firstRefusal(e.rows[i].probes)]; refusal != "" {
			add("HOP_REFUSED", args{"refusal": refusal})
		}
		if e.rows[i].tooBig() {
			add("HOP_TOO_BIG", nil)
		}
		if h.TargetAddress {
			add("HOP_BORROWED", nil)
		}
		if e.rows[i].damaged() {
			add("HOP_DAMAGED", nil)
		}
		switch code := e.lossOf(i); code {
		case "":
		case silentHop:
			add(code, args{"within": e.within()})
		default:
			add(code, e.some(i))
		}
	}
	return facts
}

const silentHop = "HOP_SILENT"

// lossOf returns the code of what a hop left unanswered, or "".
func (e explanation) lossOf(i int) string {
	h := e.hops[i]
	switch {
	case h.Received == h.Sent:
		return ""
	case e.rows[i].destination:
		return "HOP_DESTINATION_LOSS"
	case h.Received == 0 && e.answersBeyond(i):
		return silentHop
	case h.Received > 0 && e.wholeBeyond(i):
		return "HOP_LIMITED"
	}
	return ""
}

// within is for how many seconds answers were waited for: a part of every fact about silence.
func (e explanation) within() float64 {
	const tenth = 100 * time.Millisecond
	return float64(e.trace.listening()/tenth) / 10
}

// some is how many probes of a hop were answered.
func (e explanation) some(i int) args {
	return args{"answered": e.hops[i].Received, "sent": e.hops[i].Sent, "within": e.within()}
}

// answersBeyond reports whether any probe that passed the hop was answered.
func (e explanation) answersBeyond(i int) bool {
	return e.stop == workerapi.StopReached ||
		slices.ContainsFunc(e.hops[i+1:], func(h workerapi.Hop) bool { return h.Received > 0 })
}

// wholeBeyond reports whether some later hop answered every probe, each of which had passed this one.
func (e explanation) wholeBeyond(i int) bool {
	return slices.ContainsFunc(e.hops[i+1:], func(h workerapi.Hop) bool { return h.Received == h.Sent })
}

// ending is how the trace ended.
func (e explanation) ending() workerapi.Fact {
	switch e.stop {
	case workerapi.StopReached:
		if e.trace.replied == 0 {
			return *e.rationing()
		}
		last := e.hops[len(e.hops)-1]
		return *ofTrace("TRACE_REACHED", args{"hop": last.TTL, "took": *last.AverageMs})
	case workerapi.StopUnreachable, workerapi.StopProhibited:
		return *e.refusal()
	case workerapi.StopMaxHops:
		if e.trace.reach.pending() {
			return *ofTrace("TRACE_TOO_LONG", args{"most": workerapi.MaxHops, "within": e.within()})
		}
		return *ofTrace("TRACE_TOO_LONG", args{"most": workerapi.MaxHops})
	case workerapi.StopDeadline:
		return *ofTrace("TRACE_STOPPED", args{"seconds": workerapi.TracerouteLimit.Seconds()})
	}
	if e.trace.farthest == 0 {
		return *ofTrace("TRACE_ALL_SILENT", args{"within": e.within()})
	}
	return *ofTrace("TRACE_SILENT_BEYOND", args{"within": e.within(), "hop": e.trace.farthest})
}

// rationing is about a destination that answered the reach probe alone.
func (e explanation) rationing() *workerapi.Fact {
	a := args{"within": e.within()}
	if n := len(e.rows); n > 0 && e.rows[n-1].destination {
		a["hop"] = e.rows[n-1].ttl
	}
	return ofTrace("TRACE_RATIONED", a)
}

// portRefused is the fact that something before the destination refuses the port, which says nothing about the host.
const portRefused = "TRACE_PORT_REFUSED"

func (e explanation) refusal() *workerapi.Fact {
	if !e.trace.refusal() {
		if e.trace.reach.kind == exchange.PortUnreachable {
			return ofTrace(portRefused, nil)
		}
		return ofTrace("TRACE_REFUSED", args{"refusal": refusals[e.trace.reach.kind]})
	}
	kind, code := e.trace.refusalKind(), "TRACE_UNDELIVERABLE"
	switch {
	case e.rows[len(e.rows)-1].refusedBy(e.dst):
		code = "TRACE_REFUSED_BY_TARGET"
	case kind == exchange.PortUnreachable:
		return ofTrace(portRefused, args{"hop": e.trace.refused})
	case kind == exchange.Prohibited:
		code = "TRACE_BLOCKED"
	}
	return ofTrace(code, args{"hop": e.trace.refused, "refusal": refusals[kind]})
}

// borrowed names the hops that answer with the destination's address without being the destination.
func (e explanation) borrowed() *workerapi.Fact {
	return e.about("TRACE_BORROWED", nil, func(i int) bool { return e.hops[i].TargetAddress })
}

// slow names the routers that take much longer to answer than the destination, whose probes they forward in time.
func (e explanation) slow() *workerapi.Fact {
	const much = 30 // ms
	if e.stop != workerapi.StopReached || e.trace.replied == 0 {
		return nil
	}
	end := *e.hops[len(e.hops)-1].AverageMs
	return e.about("TRACE_SLOW_ROUTERS", nil, func(i int) bool {
		average := e.hops[i].AverageMs
		return average != nil && !e.rows[i].destination && *average > 2*end && *average > end+much
	})
}

func (e explanation) limited() *workerapi.Fact {
	return e.about("TRACE_LIMITED", args{"within": e.within()}, func(i int) bool {
		return e.hops[i].Received > 0 && e.hops[i].Received < e.hops[i].Sent && e.wholeBeyond(i)
	})
}

func (e explanation) silent() *workerapi.Fact {
	return e.about("TRACE_SILENT_ROUTERS", args{"within": e.within()},
		func(i int) bool { return e.hops[i].Received == 0 && e.answersBeyond(i) })
}

func (e explanation) spread() *workerapi.Fact {
	return e.about("TRACE_SPREAD", nil, func(i int) bool { return len(e.rows[i].addresses()) > 1 })
}

func (e explanation) hidden() *workerapi.Fact {
	return e.about("TRACE_HIDDEN", nil, func(i int) bool { return e.hops[i].Hidden })
}

// about is a fact on all the hops that fit; nil if none does.
func (e explanation) about(code string, more args, fits func(i int) bool) *workerapi.Fact {
	var numbers []string
	for i := range e.hops {
		if fits(i) {
			numbers = append(numbers, strconv.Itoa(e.hops[i].TTL))
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	a := args{"hops": numbers}
	maps.Copy(a, more)
	return ofTrace(code, a)
}

// loop reports a router that answers at three or more TTLs that are not neighbours: packets go round in a circle.
func (e explanation) loop() *workerapi.Fact {
	if e.stop == workerapi.StopReached {
		return nil
	}
	seen := map[netip.Addr]int{}
	last := map[netip.Addr]int{}
	for _, r := range e.rows {
		for _, a := range r.addresses() {
			if r.ttl-last[a] > 1 {
				seen[a]++
			}
			last[a] = r.ttl
			if seen[a] == 3 {
				return ofTrace("TRACE_LOOPS", args{"hop": r.ttl})
			}
		}
	}
	return nil
}

// loss speaks of the destination alone: what a router leaves unanswered is not lost traffic.
func (e explanation) loss() *workerapi.Fact {
	last := len(e.hops) - 1
	if e.trace.replied == 0 || e.hops[last].Received == e.hops[last].Sent {
		return nil
	}
	if e.rechecked() {
		return ofTrace("TRACE_LOSS_RECHECKED", e.some(last))
	}
	first, before := e.lossFrom(last)
	switch {
	case first < last:
		return ofTrace("TRACE_LOSS_FROM", args{"hop": e.hops[first].TTL})
	case before == last-1:
		return ofTrace("TRACE_LOSS_AT_END", e.some(last))
	}
	return ofTrace("TRACE_LOSS_SOMEWHERE", e.some(last))
}

// lossFrom is the first of the hops that left out some probes, as all behind it did that answered at all, and the last
// hop before it that answered; -1 for none. Silent hops show nothing.
func (e explanation) lossFrom(last int) (first, before int) {
	first, before = last, -1
	for i := last - 1; i >= 0; i-- {
		switch h := e.hops[i]; h.Received {
		case 0:
		case h.Sent:
			return first, i
		default:
			first = i
		}
	}
	return first, before
}

// rechecked reports whether the destination answered a recheck.
func (e explanation) rechecked() bool {
	r := e.trace.lastRecheck()
	return r != nil && r.replied()
}

// port says what silence of a destination means for UDP and TCP probes, where it is silent.
func (e explanation) port() *workerapi.Fact {
	last := len(e.hops) - 1
	lost := e.trace.replied > 0 && e.hops[last].Received < e.hops[last].Sent
	silent := e.stop == workerapi.StopGapLimit || e.stop == workerapi.StopMaxHops
	port := args{"port": e.trace.probe.Port}
	switch protocol := e.trace.probe.Protocol; {
	case protocol == exchange.UDP && lost:
		return ofTrace("TRACE_UDP_LIMITED", args{"within": e.within()})
	case protocol == exchange.UDP && silent:
		return ofTrace("TRACE_UDP_SILENT", port)
	case protocol == exchange.TCP && silent:
		return ofTrace("TRACE_TCP_SILENT", port)
	}
	return nil
}

// A jump of latency is reported from this much on, in milliseconds, where it is also this share of the whole.
const (
	jumpMs    = 10
	jumpShare = 0.25
)

// detourHops is by how many hops the way back must differ to be reported: one more or less is often a device that
// counts differently.
const detourHops = 2

// before reports silence right before a destination that answers, which looks like an end and is none.
func (e explanation) before() *workerapi.Fact {
	last := len(e.hops) - 1
	if last < 1 || !e.rows[last].destination || e.hops[last-1].Received > 0 {
		return nil
	}
	first := last - 1
	for first > 0 && e.hops[first-1].Received == 0 {
		first--
	}
	if first == 0 {
		return ofTrace("TRACE_NO_ROUTER", args{"within": e.within()})
	}
	return ofTrace("TRACE_SILENT_BEFORE_END", args{"within": e.within(), "hop": e.hops[first].TTL})
}

// jump reports between which two hops most time is added, where it is much and stays: a router that is merely slow to
// answer is followed by faster ones.
func (e explanation) jump() *workerapi.Fact {
	previous, from, to, most, slowest := -1, 0, 0, 0.0, 0.0
	for i, h := range e.hops {
		if h.BestMs == nil {
			continue
		}
		if previous >= 0 {
			if gain := e.leastFrom(i) - e.leastFrom(previous); gain > most {
				from, to, most = e.hops[previous].TTL, h.TTL, gain
			}
		}
		previous, slowest = i, max(slowest, *h.BestMs)
	}
	if most < jumpMs || most < jumpShare*slowest {
		return nil
	}
	return ofTrace("TRACE_LATENCY_RISES", args{"took": most, "nearer": from, "farther": to})
}

// leastFrom is the least time of a hop and all behind it: the links up to the hop take no longer.
func (e explanation) leastFrom(i int) float64 {
	least := *e.hops[i].BestMs
	for _, h := range e.hops[i:] {
		if h.BestMs != nil {
			least = min(least, *h.BestMs)
		}
	}
	return least
}

// back reports answers that come back over another number of hops than the probes went.
func (e explanation) back() *workerapi.Fact {
	for i := len(e.rows) - 1; i >= 0; i-- {
		for _, s := range e.rows[i].probes {
			if !s.answered || s.ttl == 0 || s.kind != exchange.Reply && s.kind != exchange.TimeExceeded {
				continue
			}
			there, back := e.rows[i].ttl, hopsBack(s.ttl)+1
			if there-back < detourHops && back-there < detourHops {
				return nil
			}
			return ofTrace("TRACE_RETURNS_OTHERWISE", args{"hop": there, "back": back})
		}
	}
	return nil
}
