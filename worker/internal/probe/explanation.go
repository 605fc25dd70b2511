package probe

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/echo"
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

var refusalWords = map[echo.Kind]string{
	echo.NetUnreachable:      "network unreachable",
	echo.HostUnreachable:     "host unreachable",
	echo.ProtocolUnreachable: "protocol unreachable",
	echo.PortUnreachable:     "port unreachable",
	echo.Prohibited:          "administratively prohibited",
}

// annotate puts a note on each hop that needs one.
func (s explanation) annotate() {
	for i := range s.hops {
		var notes []string
		if s.hops[i].Hidden {
			notes = append(notes, "This router has a private address, which is hidden.")
		} else if len(s.rows[i].addresses()) > len(s.hops[i].Addresses) {
			notes = append(notes, "Another address of this hop is private and hidden.")
		}
		if word := refusalWords[s.rows[i].refusal()]; word != "" {
			notes = append(notes, fmt.Sprintf("Refused the probe: %s.", word))
		}
		if s.rows[i].tooBig() {
			notes = append(notes, "Says that the packet is too big for its next link; the trace goes on.")
		}
		if note := s.lossNote(i); note != "" {
			notes = append(notes, note)
		}
		if len(notes) > 0 {
			note := strings.Join(notes, " ")
			s.hops[i].Note = &note
		}
	}
}

func (s explanation) lossNote(i int) string {
	h := s.hops[i]
	switch {
	case h.Received == h.Sent:
		return ""
	case s.isDestination(i):
		return fmt.Sprintf("The destination answered %s.", s.some(i))
	case h.Received == 0 && s.answersBeyond(i):
		return fmt.Sprintf("Did not answer %s, but forwards traffic.", s.within())
	case h.Received > 0 && s.wholeBeyond(i):
		return fmt.Sprintf("Answered only %s; routers limit ICMP, so this is not loss of your traffic.", s.some(i))
	default:
		return ""
	}
}

// within is for how long answers were waited for, as part of every sentence about silence.
func (s explanation) within() string {
	const tenth = 100 * time.Millisecond
	return fmt.Sprintf("within %g s", float64(s.trace.listening()/tenth)/10)
}

// some is how many probes of a hop were answered.
func (s explanation) some(i int) string {
	return fmt.Sprintf("%d of %d probes %s", s.hops[i].Received, s.hops[i].Sent, s.within())
}

func (s explanation) isDestination(i int) bool { return s.rows[i].destination }

// answersBeyond reports whether any probe that passed the hop was answered.
func (s explanation) answersBeyond(i int) bool {
	return s.stop == workerapi.StopReached ||
		slices.ContainsFunc(s.hops[i+1:], func(h workerapi.Hop) bool { return h.Received > 0 })
}

// wholeBeyond reports whether some later hop answered every probe, each of which had passed this one.
func (s explanation) wholeBeyond(i int) bool {
	return slices.ContainsFunc(s.hops[i+1:], func(h workerapi.Hop) bool { return h.Received == h.Sent })
}

// explanation gives the sentences on the whole trace, the most important first.
func (s explanation) explanation() []string {
	sentences := []string{s.ending()}
	for _, more := range []string{s.loss(), s.port(), s.jump(), s.limited(), s.before(), s.silent(), s.back(), s.spread(),
		s.hidden(), s.loop()} {
		if more != "" {
			sentences = append(sentences, more)
		}
	}
	return sentences
}

func (s explanation) ending() string {
	switch s.stop {
	case workerapi.StopReached:
		if s.trace.replied == 0 {
			return s.rationing()
		}
		last := s.hops[len(s.hops)-1]
		return fmt.Sprintf("The destination answered at hop %d, in %s on average.", last.TTL, inWords(*last.AverageMs))
	case workerapi.StopUnreachable, workerapi.StopProhibited:
		return s.refusal()
	case workerapi.StopMaxHops:
		if s.trace.reach.pending() {
			return fmt.Sprintf("The destination was not reached within %d hops, and did not answer %s.", workerapi.MaxHops,
				s.within())
		}
		return fmt.Sprintf("The destination was not reached within %d hops.", workerapi.MaxHops)
	case workerapi.StopDeadline:
		return fmt.Sprintf("The trace was stopped after %d seconds, before it was complete.",
			int(workerapi.TracerouteLimit.Seconds()))
	}
	if s.trace.farthest == 0 {
		return fmt.Sprintf("Nothing answered %s, neither routers nor the destination. A firewall may drop the probes near "+
			"where they start.", s.within())
	}
	return fmt.Sprintf("Nothing answered %s beyond hop %d, the destination included. It may be down, or a firewall drops "+
		"the probes; other traffic may still get through.", s.within(), s.trace.farthest)
}

// rationing is about a destination that answered the reach probe alone.
func (s explanation) rationing() string {
	answers := fmt.Sprintf("The destination answers, but %s not to the probes that would show how far away it is: it "+
		"limits how often it answers", s.within())
	if len(s.rows) == 0 || !s.rows[len(s.rows)-1].destination {
		return answers + ", or it is very far away."
	}
	return fmt.Sprintf("%s. It is shown at hop %d, where the TTL of its reply or the last router puts it.", answers,
		s.rows[len(s.rows)-1].ttl)
}

func (s explanation) refusal() string {
	if !s.trace.refusal() {
		return fmt.Sprintf("A router or firewall on the way refuses the probes: %s.", refusalWords[s.trace.reach.kind])
	}
	ttl, kind := s.trace.refused, s.trace.refusalKind()
	if slices.Contains(s.rows[len(s.rows)-1].addresses(), s.dst) {
		return fmt.Sprintf("The destination itself, at hop %d, refuses the probes: %s. Packets do get there.", ttl,
			refusalWords[kind])
	}
	if kind == echo.Prohibited {
		return fmt.Sprintf("A firewall at hop %d blocks the probes: %s.", ttl, refusalWords[kind])
	}
	return fmt.Sprintf("The router at hop %d cannot deliver to the destination: %s.", ttl, refusalWords[kind])
}

func (s explanation) limited() string {
	return s.about(func(i int) bool {
		return s.hops[i].Received > 0 && s.hops[i].Received < s.hops[i].Sent && s.wholeBeyond(i)
	},
		"%s only some probes "+s.within()+" while later hops answered all: routers limit ICMP, so this is not loss.",
		"answered", "answered")
}

func (s explanation) silent() string {
	return s.about(func(i int) bool { return s.hops[i].Received == 0 && s.answersBeyond(i) },
		"%s "+s.within()+" but forwarded traffic, which is common.", "did not answer", "did not answer")
}

func (s explanation) spread() string {
	return s.about(func(i int) bool { return len(s.rows[i].addresses()) > 1 },
		"%s from several addresses: the traffic is spread over several paths.", "answers", "answer")
}

func (s explanation) hidden() string {
	return s.about(func(i int) bool { return s.hops[i].Hidden },
		"%s a private address, which is hidden.", "has", "have")
}

// about says a sentence of all the hops that fit; empty where none does.
func (s explanation) about(fits func(i int) bool, format, one, many string) string {
	var numbers []string
	for i := range s.hops {
		if fits(i) {
			numbers = append(numbers, fmt.Sprint(s.hops[i].TTL))
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
func (s explanation) loop() string {
	if s.stop == workerapi.StopReached {
		return ""
	}
	seen := map[netip.Addr]int{}
	last := map[netip.Addr]int{}
	for _, r := range s.rows {
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
