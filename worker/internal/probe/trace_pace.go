package probe

import (
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/echo"
)

// How a trace is timed.
const (
	// sendGap keeps probes apart, whatever their TTL.
	sendGap = time.Millisecond
	// roundGap keeps the probes of a router apart that has answered: it is near, and there is time.
	roundGap = 20 * time.Millisecond
	// unheardGap keeps the probes of a TTL apart whose first answer is still on its way, or lost. The far hops decide how
	// long a trace takes; the system's traceroute sends them all their probes at once.
	unheardGap = 5 * time.Millisecond
	// knockGap is for TTLs so far ahead of the farthest router known that they may well be past the destination.
	knockGap = 400 * time.Millisecond

	// window is how many TTLs past the farthest router known are asked once before any is asked again, and ahead how many
	// are asked again before they have been heard.
	window, ahead = 8, 6

	// Silence is final after one and a half times the largest round trip seen, and four times the unsteadiness of round
	// trips (as RFC 6298 allows four times their variation), within these bounds. Whoever answers later than that, of a
	// path whose end has been heard, is shown as not answering, which is how it treats who asks.
	shortTail, longTail = 100 * time.Millisecond, time.Second
	unsteadyTail        = 4
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
		if chosen == 0 || rank < best || best == rankUnheard && rank == rankUnheard {
			best, chosen = rank, ttl
		}
	}
	if chosen == 0 {
		return nil, at
	}
	round := t.ttls[chosen].sent
	return &request{seq: seqOf(round, chosen), ttl: chosen, flow: t.flow(round)}, now
}

// wants tells whether a TTL is to be sent another probe.
func (t *trace) wants(ttl int) bool {
	if t.ttls[ttl].sent == workerapi.ProbesPerHop {
		return false
	}
	return ttl != t.place() || len(t.arrivals(ttl)) < workerapi.ProbesPerHop
}

// The ranks of the probes that are due; the lowest goes first, and of one rank the nearest TTL. Only of the TTLs that
// have not been heard the farthest goes first: its last probe decides how long the trace takes.
const (
	rankFirst = iota
	rankUnheard
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
	case h.heard():
		return rankHeard
	default:
		return rankUnheard
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
	last := h.shots[h.sent-1].at
	switch {
	case h.heard():
		return last.Add(roundGap)
	case t.ended() || ttl <= t.farthest+ahead:
		return last.Add(unheardGap)
	default:
		return last.Add(knockGap)
	}
}

// patience is how long the answer to a probe of a round is waited for. Until the destination has answered nobody knows
// how long the way is: the routers seen so far may be a millisecond away and the rest behind a satellite. The first
// round finds that out for all.
func (t *trace) patience(round int) time.Duration {
	if round == 0 && !t.ended() && !t.reach.answered {
		return longTail
	}
	return min(max(shortTail, 3*t.longest/2+unsteadyTail*t.unsteady), longTail)
}

// silence is the moment at which the last open probe counts as unanswered; zero where none is open.
func (t *trace) silence(now time.Time) time.Time {
	var last time.Time
	for s, round := range t.awaited {
		if until := s.at.Add(t.patience(round)); until.After(now) && until.After(last) {
			last = until
		}
	}
	return last
}

// missing tells whether a probe within the path went unanswered.
func (t *trace) missing() bool {
	for range t.awaited {
		return true
	}
	return false
}

// awaited goes through the probes whose answer still matters and has not come, with their rounds.
func (t *trace) awaited(yield func(s *shot, round int) bool) {
	if !t.ended() && t.reach.pending() && !yield(&t.reach, 0) {
		return
	}
	place := t.place()
	for ttl := 1; ttl <= t.end(); ttl++ {
		if ttl == place {
			break
		}
		h := &t.ttls[ttl]
		for round := range h.sent {
			if s := &h.shots[round]; s.pending() && !yield(s, round) {
				return
			}
		}
	}
	if place == 0 {
		return
	}
	for _, s := range t.arrivals(place) {
		if s.pending() && !yield(s, workerapi.ProbesPerHop) {
			return
		}
	}
}

// widen moves the window on where all of it is silent although the destination answers: it must lie beyond, unless its
// answer says that it lies within.
func (t *trace) widen() bool {
	if t.ended() || !t.reach.answered || t.reach.kind != echo.Reply || t.end() == workerapi.MaxHops {
		return false
	}
	if p := t.implied(); p > 0 && p <= t.end() {
		return false
	}
	t.wider += workerapi.GapLimit
	return true
}
