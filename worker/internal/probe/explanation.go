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

// explanation tells a person what to make of a trace: a note on single hops, and a few sentences on the whole. It names
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

// explanation gives the sentences on the whole trace, the most important first.
func (e explanation) explanation() []string {
	sentences := []string{e.ending()}
	for _, more := range []string{e.loss(), e.port(), e.jump(), e.limited(), e.before(), e.silent(), e.back(), e.spread(),
		e.hidden(), e.loop()} {
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
	if slices.Contains(e.rows[len(e.rows)-1].addresses(), e.dst) {
		return fmt.Sprintf("The destination itself, at hop %d, refuses the probes: %s. Packets do get there.", ttl,
			refusalWords[kind])
	}
	if kind == exchange.Prohibited {
		return fmt.Sprintf("A firewall at hop %d blocks the probes: %s.", ttl, refusalWords[kind])
	}
	return fmt.Sprintf("The router at hop %d cannot deliver to the destination: %s.", ttl, refusalWords[kind])
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

// loop tells of a router that answers at three or more TTLs that are not neighbours: packets go round in a circle.
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

// inWords gives milliseconds as precisely as a person cares to know.
func inWords(ms float64) string {
	if ms < 1 {
		return fmt.Sprintf("%.2f ms", ms)
	}
	return fmt.Sprintf("%.1f ms", ms)
}
