package probe

import (
	"net/netip"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/echo"
)

// How a trace is timed.
const (
	// reachTTL is the TTL of the probe that asks the destination itself whether it answers.
	reachTTL = 64
	// sendGap keeps probes apart, whatever their TTL.
	sendGap = time.Millisecond
	// roundGap keeps the probes of one TTL apart, so that no router is asked faster.
	roundGap = 20 * time.Millisecond
	// Silence is final after three times the largest round trip seen, within these bounds.
	shortTail, longTail = 200 * time.Millisecond, time.Second
)

// shot is one probe of a trace and what became of it.
type shot struct {
	at       time.Time
	failed   bool // it could not leave
	answered bool
	kind     echo.Kind
	from     netip.Addr
	rtt      time.Duration
}

// pending tells whether an answer may still come.
func (s *shot) pending() bool { return !s.at.IsZero() && !s.failed && !s.answered }

// ttlShots is the probes of one TTL, one for each round.
type ttlShots struct {
	shots [workerapi.ProbesPerHop]shot
	sent  int
}

// trace is the plan of a traceroute.
//
// A reach probe with a full TTL goes first: if the destination answers it, its round trip bounds all waiting. Behind it
// the TTLs follow in flight together, up to a window past the farthest router that has answered. The second and third
// round fill the time in which the first has nothing to send, each round as a flow of its own, so that routers that
// spread load by flow show their other legs, while within a round all probes go the same way.
//
// What ends the trace is the type of an answer, never its address: destinations behind NAT and anycast answer from
// other addresses.
type trace struct {
	start    time.Time
	deadline time.Time
	nextSend time.Time

	reach shot
	ttls  [workerapi.MaxHops + 1]ttlShots // by TTL; 0 is not used

	replied  int // lowest TTL whose probe got an echo reply; 0 for none
	refused  int // lowest TTL whose probe was refused by an ICMP error; 0 for none
	farthest int // highest TTL that expired at a router
	longest  time.Duration
	wider    int  // by how much the window was widened
	late     bool // cut by the deadline
}

func newTrace(now time.Time) *trace {
	return &trace{start: now, deadline: now.Add(workerapi.TracerouteLimit), nextSend: now}
}

// The sequence number of a probe tells its round and TTL; the reach probe has the first.
const reachSeq = 1

func seqOf(round, ttl int) uint16 { return uint16(reachSeq + round*workerapi.MaxHops + ttl) }

// shotOf finds the probe of a sequence number; nil for one that was not sent.
func (t *trace) shotOf(seq uint16) (s *shot, ttl int) {
	if seq == reachSeq {
		return &t.reach, 0
	}
	n := int(seq) - reachSeq - 1
	if n < 0 || n >= workerapi.ProbesPerHop*workerapi.MaxHops {
		return nil, 0
	}
	round, ttl := n/workerapi.MaxHops, n%workerapi.MaxHops+1
	return &t.ttls[ttl].shots[round], ttl
}

func (t *trace) next(now time.Time) step {
	if !now.Before(t.deadline) {
		t.late = true
		return step{done: true}
	}
	r, at := t.choose(now)
	if r != nil {
		if now.Before(t.nextSend) {
			return step{again: t.nextSend}
		}
		return step{send: r}
	}
	at = earlier(at, t.silence(now))
	if !at.IsZero() {
		return step{again: earlier(at, t.deadline)}
	}
	if t.widen() {
		return t.next(now)
	}
	return step{done: true, missing: t.missing()}
}

// missing tells whether a probe within the path went unanswered.
func (t *trace) missing() bool {
	if !t.ended() && t.reach.pending() {
		return true
	}
	for ttl := 1; ttl <= t.end(); ttl++ {
		for i := range t.ttls[ttl].shots {
			if t.ttls[ttl].shots[i].pending() {
				return true
			}
		}
	}
	return false
}

// widen moves the window on where all of it is silent although the destination answers: it must lie beyond.
func (t *trace) widen() bool {
	if t.ended() || !t.reach.answered || t.reach.kind != echo.Reply || t.end() == workerapi.MaxHops {
		return false
	}
	t.wider += workerapi.GapLimit
	return true
}

// earlier gives the earlier of two moments; a zero one is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// choose gives the probe to send now: the lowest round first, then the lowest TTL. Where none is due, at is the moment
// at which one will be, or zero.
func (t *trace) choose(now time.Time) (r *request, at time.Time) {
	if t.reach.at.IsZero() {
		return &request{seq: reachSeq, ttl: reachTTL}, now
	}
	round, ttl := workerapi.ProbesPerHop, 0
	for candidate := 1; candidate <= t.end(); candidate++ {
		sent := t.ttls[candidate].sent
		if sent >= round {
			continue
		}
		due := t.due(candidate)
		if due.After(now) {
			at = earlier(at, due)
			continue
		}
		round, ttl = sent, candidate
	}
	if ttl == 0 {
		return nil, at
	}
	return &request{seq: seqOf(round, ttl), ttl: ttl, flow: round}, now
}

// due is the earliest moment for the next probe of a TTL. Beyond the hop after the farthest router known, a TTL may be
// the destination's or more, and asking again would only be knocking: there the first probe must have been silent for a
// while.
func (t *trace) due(ttl int) time.Time {
	h := &t.ttls[ttl]
	if h.sent == 0 {
		return t.start
	}
	last := h.shots[h.sent-1].at
	if t.ended() || ttl <= t.farthest+1 {
		return last.Add(roundGap)
	}
	return last.Add(shortTail)
}

// end is the highest TTL worth a probe, as far as is known.
func (t *trace) end() int {
	if t.replied > 0 {
		return t.replied
	}
	if t.refusal() {
		return t.refused
	}
	return min(t.farthest+workerapi.GapLimit+t.wider, workerapi.MaxHops)
}

// ended tells whether the TTL at which the way ends is known.
func (t *trace) ended() bool { return t.replied > 0 || t.refusal() }

// refusal tells whether the way ends in a refusal. One that comes from nearer than the farthest router does not speak
// for the whole way: only one of several legs is broken, or was for a moment.
func (t *trace) refusal() bool { return t.refused > t.farthest }

// tail is how long an answer is waited for. Until the destination has answered nobody knows how long the way is: the
// routers seen so far may be a millisecond away and the rest behind a satellite.
func (t *trace) tail() time.Duration {
	if !t.ended() && !t.reach.answered {
		return longTail
	}
	return min(max(shortTail, 3*t.longest), longTail)
}

// silence is the moment at which the last open probe counts as unanswered; zero where none is open.
func (t *trace) silence(now time.Time) time.Time {
	var last time.Time
	tail := t.tail()
	wait := func(s *shot) {
		if until := s.at.Add(tail); s.pending() && until.After(now) && until.After(last) {
			last = until
		}
	}
	if !t.ended() {
		wait(&t.reach)
	}
	for ttl := 1; ttl <= t.end(); ttl++ {
		for round := range t.ttls[ttl].sent {
			wait(&t.ttls[ttl].shots[round])
		}
	}
	return last
}

func (t *trace) sent(r request, at time.Time, failed bool) {
	s, ttl := t.shotOf(r.seq)
	s.at, s.failed = at, failed
	if ttl > 0 {
		t.ttls[ttl].sent++
	}
	// A late wake-up is made good by a shorter gap, but not by a burst.
	t.nextSend = t.nextSend.Add(sendGap)
	if oldest := at.Add(-sendGap); t.nextSend.Before(oldest) {
		t.nextSend = oldest
	}
}

func (t *trace) answered(a echo.Answer) {
	s, ttl := t.shotOf(a.Seq)
	if s == nil || !s.pending() {
		return
	}
	s.answered, s.kind, s.from = true, a.Kind, a.From
	s.rtt = max(a.At.Sub(s.at), 0)
	t.longest = max(t.longest, s.rtt)
	switch {
	case ttl == 0:
	case a.Kind == echo.Reply:
		t.replied = lowest(t.replied, ttl)
	case a.Kind.Refuses():
		t.refused = lowest(t.refused, ttl)
	default:
		t.farthest = max(t.farthest, ttl)
	}
}

// lowest gives the lower of two TTLs; 0 is none.
func lowest(known, ttl int) int {
	if known == 0 {
		return ttl
	}
	return min(known, ttl)
}
