package probe

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// explanation explains a trace to a person: a note on single hops, and a few sentences on the whole. It names
// hops by number alone, so nothing hidden can slip out.
type explanation struct {
	trace *trace
	rows  []row
	hops  []workerapi.Hop // as shown, with private ones hidden
	stop  string
	dst   netip.Addr
}

var refusalWords = map[exchange.Kind]string{
	exchange.NetUnreachable:      "network unreachable",
	exchange.HostUnreachable:     "host unreachable",
	exchange.ProtocolUnreachable: "protocol unreachable",
	exchange.PortUnreachable:     "port unreachable",
	exchange.Prohibited:          "administratively prohibited",
}

// annotate puts a note on each hop that needs one.
func (e explanation) annotate() {
	for i := range e.hops {
		var notes []string
		if e.hops[i].Hidden {
			notes = append(notes, "This router has a private address, which is hidden.")
		} else if len(e.rows[i].addresses()) > len(e.hops[i].Addresses) {
			notes = append(notes, "Another address of this hop is private and hidden.")
		}
		if word := refusalWords[firstRefusal(e.rows[i].probes)]; word != "" {
			notes = append(notes, fmt.Sprintf("Refused the probe: %s.", word))
		}
		if e.rows[i].tooBig() {
			notes = append(notes, "Says that the packet is too big for its next link; the trace goes on.")
		}
		if e.hops[i].TargetAddress {
			notes = append(notes, "Answers with the destination's address but is not the destination: a router translates "+
				"addresses there, or the answer is forged.")
		}
		if e.rows[i].damaged() {
			notes = append(notes, "Its echo replies come back damaged: cut short or changed.")
		}
		if note := e.lossNote(i); note != "" {
			notes = append(notes, note)
		}
		if len(notes) > 0 {
			e.hops[i].Note = new(strings.Join(notes, " "))
		}
	}
}

func (e explanation) lossNote(i int) string {
	h := e.hops[i]
	switch {
	case h.Received == h.Sent:
		return ""
	case e.rows[i].destination:
		return fmt.Sprintf("The destination answered %s.", e.some(i))
	case h.Received == 0 && e.answersBeyond(i):
		return fmt.Sprintf("Did not answer %s, but forwards traffic.", e.within())
	case h.Received > 0 && e.wholeBeyond(i):
		return fmt.Sprintf("Answered only %s; routers limit ICMP, so this is not loss of your traffic.", e.some(i))
	default:
		return ""
	}
}

// within is for how long answers were waited for, as part of every sentence about silence.
func (e explanation) within() string {
	const tenth = 100 * time.Millisecond
	return fmt.Sprintf("within %g s", float64(e.trace.listening()/tenth)/10)
}

// some is how many probes of a hop were answered.
func (e explanation) some(i int) string {
	return fmt.Sprintf("%d of %d probes %s", e.hops[i].Received, e.hops[i].Sent, e.within())
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

// explanation returns the sentences on the whole trace, the most important first.
func (e explanation) explanation() []string {
	sentences := []string{e.ending()}
	for _, more := range []string{e.borrowed(), e.loss(), e.port(), e.jump(), e.limited(), e.before(), e.silent(),
		e.back(), e.spread(), e.hidden(), e.loop()} {
		if more != "" {
			sentences = append(sentences, more)
		}
	}
	return sentences
}

func (e explanation) ending() string {
	switch e.stop {
	case workerapi.StopReached:
		if e.trace.replied == 0 {
			return e.rationing()
		}
		last := e.hops[len(e.hops)-1]
		return fmt.Sprintf("The destination answered at hop %d, in %s on average.", last.TTL, inWords(*last.AverageMs))
	case workerapi.StopUnreachable, workerapi.StopProhibited:
		return e.refusal()
	case workerapi.StopMaxHops:
		if e.trace.reach.pending() {
			return fmt.Sprintf("The destination was not reached within %d hops, and did not answer %s.", workerapi.MaxHops,
				e.within())
		}
		return fmt.Sprintf("The destination was not reached within %d hops.", workerapi.MaxHops)
	case workerapi.StopDeadline:
		return fmt.Sprintf("The trace was stopped after %d seconds, before it was complete.",
			int(workerapi.TracerouteLimit.Seconds()))
	}
	if e.trace.farthest == 0 {
		return fmt.Sprintf("Nothing answered %s, neither routers nor the destination. A firewall may drop the probes near "+
			"where they start.", e.within())
	}
	return fmt.Sprintf("Nothing answered %s beyond hop %d, the destination included. It may be down, or a firewall drops "+
		"the probes; other traffic may still get through.", e.within(), e.trace.farthest)
}

// rationing is about a destination that answered the reach probe alone.
func (e explanation) rationing() string {
	answers := fmt.Sprintf("The destination answers, but %s not to the probes that would show how far away it is: it "+
		"limits how often it answers", e.within())
	if len(e.rows) == 0 || !e.rows[len(e.rows)-1].destination {
		return answers + ", or it is very far away."
	}
	return fmt.Sprintf("%s. It is shown at hop %d, where the TTL of its reply or the last router puts it.", answers,
		e.rows[len(e.rows)-1].ttl)
}

func (e explanation) refusal() string {
	if !e.trace.refusal() {
		return fmt.Sprintf("A router or firewall on the way refuses the probes: %s.", refusalWords[e.trace.reach.kind])
	}
	ttl, kind := e.trace.refused, e.trace.refusalKind()
	if e.rows[len(e.rows)-1].refusedBy(e.dst) {
		return fmt.Sprintf("The destination itself, at hop %d, refuses the probes: %s. Packets do get there.", ttl,
			refusalWords[kind])
	}
	if kind == exchange.Prohibited {
		return fmt.Sprintf("A firewall at hop %d blocks the probes: %s.", ttl, refusalWords[kind])
	}
	return fmt.Sprintf("The router at hop %d cannot deliver to the destination: %s.", ttl, refusalWords[kind])
}

// borrowed names the hops that answer with the destination's address without being the destination.
func (e explanation) borrowed() string {
	return e.about(func(i int) bool { return e.hops[i].TargetAddress },
		"%s with the destination's address, but probes go on from there: a router translates addresses, or the answers are "+
			"forged.", "answers", "answer")
}

func (e explanation) limited() string {
	return e.about(func(i int) bool {
		return e.hops[i].Received > 0 && e.hops[i].Received < e.hops[i].Sent && e.wholeBeyond(i)
	},
		"%s only some probes "+e.within()+" while later hops answered all: routers limit ICMP, so this is not loss.",
		"answered", "answered")
}

func (e explanation) silent() string {
	return e.about(func(i int) bool { return e.hops[i].Received == 0 && e.answersBeyond(i) },
		"%s "+e.within()+" but forwarded traffic, which is common.", "did not answer", "did not answer")
}

func (e explanation) spread() string {
	return e.about(func(i int) bool { return len(e.rows[i].addresses()) > 1 },
		"%s from several addresses: the traffic is spread over several paths.", "answers", "answer")
}

func (e explanation) hidden() string {
	return e.about(func(i int) bool { return e.hops[i].Hidden },
		"%s a private address, which is hidden.", "has", "have")
}

// about says a sentence of all the hops that fit; empty where none does.
func (e explanation) about(fits func(i int) bool, format, one, many string) string {
	var numbers []string
	for i := range e.hops {
		if fits(i) {
			numbers = append(numbers, fmt.Sprint(e.hops[i].TTL))
		}
	}
	switch len(numbers) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(format, "Hop "+numbers[0]+" "+one)
	default:
		last := len(numbers) - 1
		return fmt.Sprintf(format, "Hops "+strings.Join(numbers[:last], ", ")+" and "+numbers[last]+" "+many)
	}
}

// loop reports a router that answers at three or more TTLs that are not neighbours: packets go round in a circle.
func (e explanation) loop() string {
	if e.stop == workerapi.StopReached {
		return ""
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
				return fmt.Sprintf("The router at hop %d appeared twice before: packets are looping there.", r.ttl)
			}
		}
	}
	return ""
}

// inWords formats milliseconds with the precision that a person needs.
func inWords(ms float64) string {
	if ms < 1 {
		return fmt.Sprintf("%.2f ms", ms)
	}
	return fmt.Sprintf("%.1f ms", ms)
}

// loss speaks of the destination alone: what a router leaves unanswered is not lost traffic.
func (e explanation) loss() string {
	last := len(e.hops) - 1
	if e.trace.replied == 0 || e.hops[last].Received == e.hops[last].Sent {
		return ""
	}
	if e.rechecked() {
		return fmt.Sprintf("The destination answered %s, and one more after a second's pause: it may limit how often it "+
			"answers. Measure it with more probes before you call it loss.", e.some(last))
	}
	first, before := e.lossFrom(last)
	switch {
	case first < last:
		return fmt.Sprintf("Loss begins at hop %d and continues to the destination: packets may be lost from there on. "+
			"Measure the destination with more probes to be sure.", e.hops[first].TTL)
	case before == last-1:
		return fmt.Sprintf("Loss begins at the destination itself: it answered %s, the hop before it all of them. Measure "+
			"it with more probes before you call it loss.", e.some(last))
	default:
		return fmt.Sprintf("The destination answered %s. Where the others were lost is unknown, because the hops right "+
			"before it did not answer. Measure it with more probes before you call it loss.", e.some(last))
	}
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
func (e explanation) port() string {
	last := len(e.hops) - 1
	lost := e.trace.replied > 0 && e.hops[last].Received < e.hops[last].Sent
	silent := e.stop == workerapi.StopGapLimit || e.stop == workerapi.StopMaxHops
	port := e.trace.probe.Port
	switch e.trace.probe.Protocol {
	case exchange.UDP:
		if lost {
			return fmt.Sprintf("Hosts limit how often they report a closed UDP port: probes that the destination did not "+
				"answer %s need not be lost.", e.within())
		}
		if silent {
			return fmt.Sprintf("A service on UDP port %d may ignore the probes, which looks the same as a firewall that "+
				"drops them.", port)
		}
	case exchange.TCP:
		if silent {
			return fmt.Sprintf("A firewall may drop only what goes to TCP port %d: a port that the host serves is more "+
				"likely to answer.", port)
		}
	}
	return ""
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
func (e explanation) before() string {
	last := len(e.hops) - 1
	if last < 1 || !e.rows[last].destination || e.hops[last-1].Received > 0 {
		return ""
	}
	first := last - 1
	for first > 0 && e.hops[first-1].Received == 0 {
		first--
	}
	if first == 0 {
		return fmt.Sprintf("No router on the way answered %s, but the destination did: a firewall near the start blocks "+
			"their answers, not your traffic.", e.within())
	}
	return fmt.Sprintf("Right before the destination nothing answered %s (from hop %d on), often because of a silent "+
		"firewall there; the destination answered, so the path works.", e.within(), e.hops[first].TTL)
}

// jump reports between which two hops most time is added, where it is much and stays: a router that is merely slow to
// answer is followed by faster ones.
func (e explanation) jump() string {
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
		return ""
	}
	return fmt.Sprintf("The largest rise in latency, %s, is between hop %d and hop %d and persists from there on: a "+
		"long link, or a busy one.",
		inWords(most), from, to)
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
func (e explanation) back() string {
	for i := len(e.rows) - 1; i >= 0; i-- {
		for _, s := range e.rows[i].probes {
			if !s.answered || s.ttl == 0 || s.kind != exchange.Reply && s.kind != exchange.TimeExceeded {
				continue
			}
			there, back := e.rows[i].ttl, hopsBack(s.ttl)+1
			if there-back < detourHops && back-there < detourHops {
				return ""
			}
			return fmt.Sprintf("Hop %d is %d hops away, but its answers seem to come back over %d: the return path differs "+
				"from the forward path, so a delay or a loss may be on either.", there, there, back)
		}
	}
	return ""
}
