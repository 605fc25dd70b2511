package probe

import (
	"time"

	"diagnostics/shared/workerapi"
)

// How a trace is timed.
const (
	// sendGap keeps probes apart, whatever their TTL.
	sendGap = time.Millisecond
	// roundGap keeps the probes of a router apart that has answered: it is near, and there is time.
	roundGap = 20 * time.Millisecond
	// unansweredGap keeps the probes of a TTL apart whose first answer is still on its way, or lost. The far hops decide
	// how long a trace takes; the system's traceroute sends them all their probes at once.
	unansweredGap = 5 * time.Millisecond
	// knockGap is for TTLs so far ahead of the farthest router known that they may well be past the destination: no more
	// is sent there before all but very distant ones would have answered.
	knockGap = 300 * time.Millisecond

	// window is how many TTLs past the farthest router known are asked once before any is asked again, and ahead how many
	// are asked again before they have answered.
	window, ahead = 8, 6
)

// choose gives the probe to send now. Where none is due, at is the moment at which one will be, or zero.
func (t *trace) choose(now time.Time) (r *request, at time.Time) {
	if t.reach.at.IsZero() {
		return &request{seq: reachSeq, ttl: reachTTL}, now
	}
	best, chosen := 0, 0
	for ttl := 1; ttl <= t.end(); ttl++ {
		if !t.wants(ttl) {
			continue
		}
		due := t.due(ttl)
		if due.After(now) {
			at = earlier(at, due)
			continue
		}
		rank := t.rank(ttl)
		if chosen == 0 || rank < best || best == rankUnanswered && rank == rankUnanswered {
			best, chosen = rank, ttl
		}
	}
	if chosen == 0 {
		return t.chooseRecheck(now, at)
	}
	round := t.ttls[chosen].sent
	return &request{seq: seqOf(round, chosen), ttl: chosen, flow: t.flow(round)}, now
}

// wants reports whether a TTL is to be sent another probe.
func (t *trace) wants(ttl int) bool {
	if t.ttls[ttl].sent == workerapi.ProbesPerHop {
		return false
	}
	return ttl != t.place() || len(t.arrivals(ttl)) < workerapi.ProbesPerHop
}

// The ranks of the probes that are due; the lowest goes first, and of one rank the nearest TTL. Only of the TTLs that
// have not answered the farthest goes first: its last probe decides how long the trace takes.
const (
	rankFirst = iota
	rankUnanswered
	rankHeard
	rankFarAhead
)

func (t *trace) rank(ttl int) int {
	h := &t.ttls[ttl]
	switch {
	case h.sent == 0 && ttl <= t.farthest+window:
		return rankFirst
	case h.sent == 0:
		return rankFarAhead
	case h.answered():
		return rankHeard
	default:
		return rankUnanswered
	}
}

// due is the earliest moment for the next probe of a TTL.
func (t *trace) due(ttl int) time.Time {
	h := &t.ttls[ttl]
	switch {
	case ttl == t.place():
		arrivals := t.arrivals(ttl)
		return arrivals[len(arrivals)-1].at.Add(roundGap)
	case h.sent == 0:
		return t.start
	}
	last := h.probes[h.sent-1].at
	switch {
	case h.answered():
		return last.Add(roundGap)
	case t.ended() || ttl <= t.farthest+ahead || h.sent > 1:
		return last.Add(unansweredGap)
	default:
		return last.Add(knockGap)
	}
}
