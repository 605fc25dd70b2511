package probe

import (
	"net/netip"
	"slices"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// reachTTL is the TTL of the probe that asks the destination itself whether it answers.
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
// do not wait for the first (trace_pace.go). Each round is a flow of its own, so that routers that spread load by flow
// show their other legs, while within a round all probes go the same way.
//
// Then the trace listens for what is missing (trace_listen.go).
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
	// rechecks are the probes that ask a second later whether the destination stands at a TTL.
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

// The sequence number of a probe tells its round and TTL; the reach probe has the first, the rechecks the last.
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

// ask sends a probe, but for one that would leave too late to be listened to: the rest stays unsent.
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

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// earlier gives the earlier of two moments; a zero one is none.
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
	s.rtt = max(a.At.Sub(s.at), 0)
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

// lowest gives the lower of two TTLs; 0 is none.
func lowest(known, ttl int) int {
	if known == 0 {
		return ttl
	}
	return min(known, ttl)
}
