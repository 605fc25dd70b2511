package probe

import (
	"fmt"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

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
// hop before it that answered; -1 for none. Hops that keep silent tell nothing.
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

// rechecked reports whether the destination answered when it was asked again.
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
