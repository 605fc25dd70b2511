package probe

import (
	"time"

	"diagnostics/worker/internal/exchange"
)

// A destination that limits its answers leaves the probes of its own TTL unanswered, and would stand at a later one, or
// nowhere: a trace sends it a dozen probes within a moment. So it is asked again where the TTL of its reply puts it.
// What that implies is no proof, an answer is.
const (
	// recheckGap is how long the destination is left alone before: many answer one ping a second.
	recheckGap = listenRouters + 50*time.Millisecond
	// mostRechecks is how many TTLs are asked again, upwards, since the way back is often a hop or two shorter.
	mostRechecks = 3
)

type recheck struct {
	sentProbe
	target int // the TTL that it was sent with
}

func (t *trace) lastRecheck() *recheck {
	if len(t.rechecks) == 0 {
		return nil
	}
	return &t.rechecks[len(t.rechecks)-1]
}

// chooseRecheck gives the probe that asks again, once that is due; at is when another probe will be, zero for never.
func (t *trace) chooseRecheck(now, at time.Time) (*request, time.Time) {
	ttl := t.doubtful()
	if ttl == 0 {
		return nil, at
	}
	h := &t.ttls[ttl]
	due := later(t.last.Add(recheckGap), h.probes[h.sent-1].at.Add(t.listenTime()))
	if r := t.lastRecheck(); r != nil {
		due = later(due, r.at.Add(recheckGap))
	}
	if due.After(now) {
		return nil, earlier(at, due)
	}
	return &request{seq: uint16(recheckSeq + len(t.rechecks)), ttl: ttl}, now
}

// mayRecheck reports whether a TTL may be asked again at all. With TCP each round has one SYN for it and no more, and
// hosts seldom limit how often they answer those.
func (t *trace) mayRecheck() bool { return t.probe.Protocol != exchange.TCP }

// doubtful is the silent TTL that is worth another probe; 0 for none. There is none where the destination answers all
// that gets there: then the silence before it is a router's. While no TTL has got there one is enough, and what lies
// beyond the window is next.
func (t *trace) doubtful() int {
	ttl, most, below := t.implied(), mostRechecks, t.replied
	if ttl == 0 || t.refusal() || !t.mayRecheck() {
		return 0
	}
	if t.replied == 0 {
		most, below = 1, t.end()+1
	}
	if r := t.lastRecheck(); r != nil {
		ttl = max(ttl, r.target+1)
	}
	if len(t.rechecks) == most || ttl >= below || t.ttls[ttl].sent < len(t.ttls[ttl].probes) || t.ttls[ttl].answered() ||
		t.replied > 0 && !t.leavesOut() {
		return 0
	}
	return ttl
}

// leavesOut reports whether the destination has left any probe unanswered that got there.
func (t *trace) leavesOut() bool {
	if t.reach.pending() {
		return true
	}
	for _, s := range t.passing(t.replied) {
		if s.pending() {
			return true
		}
	}
	return false
}
