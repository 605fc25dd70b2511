package probe

import (
	"slices"
	"time"

	"diagnostics/shared/workerapi"
)

// How long a trace listens for what is missing, after its last probe. Real routers answer ICMP on their slow path, many
// only after 250 to 800 ms; a destination may be farther away than anything before it. A trace that misses nothing ends
// at once.
const (
	listenRouters     = time.Second
	listenDestination = 2 * time.Second
)

// listening is how long the missing answers are listened for. Where the destination itself takes long, so may whatever
// is behind the same slow link.
func (t *trace) listening() time.Duration {
	if !t.ended() && !(t.reach.answered && t.reach.kind.Ends()) {
		return listenDestination
	}
	return min(max(listenRouters, 3*t.slowest/2), listenDestination)
}

// silence is the moment at which what is missing counts as unanswered; zero where nothing is or it has passed.
func (t *trace) silence(now time.Time) time.Time {
	var until time.Time
	if t.missing() {
		until = t.last.Add(t.listening())
	}
	if r := t.lastRecheck(); r != nil && r.pending() {
		until = later(until, r.at.Add(t.listenTime()))
	}
	if !until.After(now) {
		return time.Time{}
	}
	return until
}

// missing reports whether the answer to a probe that matters has not come: one of a router, of the destination's first
// three, or of the one that asks whether there is a destination.
func (t *trace) missing() bool {
	if !t.ended() && t.reach.pending() {
		return true
	}
	place := t.place()
	for ttl := 1; ttl <= t.end() && ttl != place; ttl++ {
		if h := &t.ttls[ttl]; slices.ContainsFunc(h.probes[:h.sent], sentProbe.pending) {
			return true
		}
	}
	return place > 0 && slices.ContainsFunc(t.arrivals(place), (*sentProbe).pending)
}

// listenTime is for how long a destination that has answered is believed to be on its way to answer again, before it is
// asked farther on. Routers are listened to for as long as ever.
func (t *trace) listenTime() time.Duration {
	return min(max(tracePatience, 3*t.slowest/2), listenDestination)
}

const tracePatience = 100 * time.Millisecond

// stall is when the window moves on because all of it has kept silent although the destination answers: it must lie
// beyond. Where the TTL of its reply says that it lies within, it is asked again first, if it may be. Zero where there
// is nothing to move, or before all of the window was asked.
func (t *trace) stall() time.Time {
	end := t.end()
	if t.ended() || !t.reach.replied() || end == workerapi.MaxHops || t.ttls[end].sent == 0 {
		return time.Time{}
	}
	at := t.ttls[end].probes[0].at
	if p := t.implied(); p > 0 && p <= end && t.mayRecheck() {
		r := t.lastRecheck()
		if r == nil {
			return time.Time{}
		}
		at = later(at, r.at)
	}
	return at.Add(t.listenTime())
}
