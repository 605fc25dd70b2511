package probe

import (
	"net/netip"
	"slices"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// reachTTL is the TTL of the probe for the destination itself.
const reachTTL = 64

// sentProbe is one probe of a trace and what became of it.
type sentProbe struct {
	at       time.Time
	answered bool
	kind     exchange.Kind
	from     netip.Addr
	ttl      int // with which the answer arrived; 0 where unknown
	rtt      time.Duration
	labels   []exchange.Label
	damaged  bool // the echo reply was
}

// pending reports whether an answer may still come.
func (s sentProbe) pending() bool { return !s.at.IsZero() && !s.answered }

// replied reports whether the destination itself answered.
func (s sentProbe) replied() bool { return s.answered && s.kind == exchange.Reply }

// hopProbes is the probes of one TTL, one for each round.
type hopProbes struct {
	probes [workerapi.ProbesPerHop]sentProbe
	sent   int
}

// answered reports whether any probe of the TTL was answered.
func (h *hopProbes) answered() bool {
	return slices.ContainsFunc(h.probes[:h.sent], func(s sentProbe) bool { return s.answered })
}

// trace is the plan of a traceroute.
//
// A reach probe with a full TTL goes first: if the destination answers it, there is an end to look for. Behind it the
// TTLs follow in flight together, up to a window past the farthest router that has answered. The second and third round
// do not wait for the first. Each round is a flow of its own, so that routers that spread load by flow
// show their other legs, while within a round all probes go the same way.
//
// Then the trace listens for what is missing.
//
// The reach probe and those of TTLs past the destination's arrive at the destination as surely as its own; its row is
// the first three of them all, in the order of sending (trace_place.go).
//
// What ends the trace is the type of an answer, never its address: destinations behind NAT and anycast answer from
// other addresses.
type trace struct {
	probe    exchange.Probe // what is sent
	start    time.Time
	deadline time.Time
	nextSend time.Time

	reach sentProbe
	ttls  [workerapi.MaxHops + 1]hopProbes // by TTL; 0 is not used
	// rechecks are the probes that check, a second later, whether the destination is at a TTL.
	rechecks []recheck

	replied  int // lowest TTL whose probe got an echo reply; 0 for none
	refused  int // lowest TTL whose probe was refused by an ICMP error; 0 for none
	farthest int // highest TTL that expired at a router
	// expired is the highest TTL of each round that expired at a router: its flow's way is longer than that.
	expired [workerapi.ProbesPerHop]int
	last    time.Time     // when the last probe of a round left
	slowest time.Duration // largest round trip of the destination
	wider   int           // by how much the window was widened
	late    bool          // cut by the deadline
}

func newTrace(now time.Time) *trace {
	return &trace{start: now, deadline: now.Add(workerapi.TracerouteLimit), nextSend: now}
}

// The sequence number of a probe encodes its round and TTL; the reach probe has the first, the rechecks the last.
const (
	reachSeq   = 1
	recheckSeq = reachSeq + workerapi.ProbesPerHop*workerapi.MaxHops + 1
)

func seqOf(round, ttl int) uint16 { return uint16(reachSeq + round*workerapi.MaxHops + ttl) }

// shotOf finds the probe of a sequence number; nil for one that was not sent.
func (t *trace) shotOf(seq uint16) (s *sentProbe, round, ttl int) {
	if seq == reachSeq {
		return &t.reach, 0, 0
	}
	if i := int(seq) - recheckSeq; i >= 0 && i < len(t.rechecks) {
		return &t.rechecks[i].sentProbe, 0, t.rechecks[i].target
	}
	n := int(seq) - reachSeq - 1
	if n < 0 || n >= workerapi.ProbesPerHop*workerapi.MaxHops {
		return nil, 0, 0
	}
	round, ttl = n/workerapi.MaxHops, n%workerapi.MaxHops+1
	return &t.ttls[ttl].probes[round], round, ttl
}

func (t *trace) next(now time.Time) step {
	if !now.Before(t.deadline) {
		t.late = true
		return step{done: true, late: true}
	}
	r, at := t.choose(now)
	if r != nil {
		return t.ask(r, now)
	}
	if stall := t.stall(); !stall.IsZero() {
		if !stall.After(now) {
			t.wider += workerapi.GapLimit
			return t.next(now)
		}
		at = earlier(at, stall)
	}
	at = earlier(at, t.silence(now))
	if !at.IsZero() {
		return step{again: earlier(at, t.deadline)}
	}
	return step{done: true, missing: t.missing()}
}

// ask sends a probe, unless it would leave too late for its answer to be received: the rest stays unsent.
func (t *trace) ask(r *request, now time.Time) step {
	by := t.deadline.Add(-t.listening())
	switch {
	case now.After(by):
		return step{again: t.deadline}
	case now.Before(t.nextSend):
		return step{again: t.nextSend}
	default:
		return step{send: r, by: by}
	}
}

func (t *trace) limit() time.Time { return t.deadline }

func (t *trace) demand() demand { return demand{left: usualTrace} }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// earlier returns the earlier of two moments; a zero one is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

func (t *trace) sent(r request, at time.Time) {
	if r.seq >= recheckSeq {
		t.rechecks = append(t.rechecks, recheck{sentProbe: sentProbe{at: at}, target: r.ttl})
	} else {
		s, _, ttl := t.shotOf(r.seq)
		s.at, t.last = at, at
		if ttl > 0 {
			t.ttls[ttl].sent++
		}
	}
	// A late wake-up is made good by a shorter gap, but not by a burst.
	t.nextSend = t.nextSend.Add(sendGap)
	if oldest := at.Add(-sendGap); t.nextSend.Before(oldest) {
		t.nextSend = oldest
	}
}

func (t *trace) answered(a exchange.Answer) {
	s, round, ttl := t.shotOf(a.Seq)
	if s == nil || !s.pending() {
		return
	}
	s.answered, s.kind, s.from, s.ttl, s.labels = true, a.Kind, a.From, a.TTL, a.Labels
	s.rtt, s.damaged = max(a.At.Sub(s.at), 0), a.Damaged
	if a.Kind == exchange.Reply {
		t.slowest = max(t.slowest, s.rtt)
	}
	switch {
	case ttl == 0:
	case a.Kind == exchange.Reply:
		t.replied = lowest(t.replied, ttl)
	case a.Kind.Refuses():
		t.refused = lowest(t.refused, ttl)
	default:
		t.farthest = max(t.farthest, ttl)
		t.expired[round] = max(t.expired[round], ttl)
	}
}

// lowest returns the lower of two TTLs; 0 is none.
func lowest(known, ttl int) int {
	if known == 0 {
		return ttl
	}
	return min(known, ttl)
}

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

	// window is how many TTLs past the farthest known router are probed once before any is probed again, and ahead how
	// many are probed again before they have answered.
	window, ahead = 8, 6
)

// choose returns the probe to send now. Where none is due, at is the moment at which one will be, or zero.
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
// three, or the one at full TTL.
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

// listenTime is how long a destination that has answered is expected to take for another answer, before farther TTLs
// are probed. Routers always have the whole time.
func (t *trace) listenTime() time.Duration {
	return min(max(tracePatience, 3*t.slowest/2), listenDestination)
}

const tracePatience = 100 * time.Millisecond

// stall returns when the window moves on because all of it is silent although the destination answers: it must be
// beyond. Where the TTL of its reply puts it within, it is probed again first, if allowed. Zero where nothing is to be
// moved, or before all of the window was probed.
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
