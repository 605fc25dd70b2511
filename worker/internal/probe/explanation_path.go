package probe

import (
	"fmt"

	"diagnostics/worker/internal/exchange"
)

// A jump of latency is told from this much on, in milliseconds, where it is also this share of the whole.
const (
	jumpMs    = 10
	jumpShare = 0.25
)

// detourHops is by how many hops the way back must differ to be told: one more or less is often a device that counts
// differently.
const detourHops = 2

// before tells of silence right before a destination that answers, which looks like an end and is none.
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

// jump tells between which two hops most time is added, where it is much and stays: a router that is merely slow to
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

// back tells of answers that come back over another number of hops than the probes went.
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
