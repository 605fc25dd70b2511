package probe

import (
	"slices"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

const (
	pingTTL = 64
	// refusalsEnd is how many probes in a row, from the first on, must be refused for a series to end early.
	refusalsEnd = 3
	// linger is how long duplicates of the last reply are waited for.
	linger = 50 * time.Millisecond
	// leastPatience is for how long a probe is listened to at least that left late, behind others that were answered
	// sooner than that.
	leastPatience = 200 * time.Millisecond
)

// seriesShape is what tells a ping from a packet-loss run.
type seriesShape struct {
	probes int
	gap    time.Duration
	limit  time.Duration
}

// series is the plan of a ping: evenly spaced probes of one flow. It ends when each was answered, or was listened to
// for long enough, and early where the first probes are all refused by ICMP errors: asking on would be knocking at a
// door that said no. Where what is missing looks like a limit on answers (limited.go), a few more probes follow.
type series struct {
	shape    seriesShape
	deadline time.Time
	nextSend time.Time

	pings      []ping // those of the confirmation behind the others
	main       int    // how many of them are not of the confirmation, once that has begun; 0 before
	replies    int
	refusals   int
	refusal    exchange.Kind // of the last refusal
	duplicates int
	lastReply  time.Time
	slowest    time.Duration
	cut        bool // by the deadline, before all probes were sent and waited for
	end        time.Time
}

// ping is one probe of a series; its sequence number is its index plus one.
type ping struct {
	at      time.Time
	replied bool
	refused bool
	rtt     time.Duration
	ttl     int
}

// open reports whether nothing came for a probe.
func (p *ping) open() bool { return !p.replied && !p.refused }

// late reports whether its reply took longer than answers are waited for.
func (p *ping) late() bool { return p.replied && p.rtt > workerapi.LateAfter }

func newSeries(now time.Time, shape seriesShape) *series {
	return &series{shape: shape, deadline: now.Add(shape.limit), nextSend: now}
}

func (s *series) next(now time.Time) step {
	s.end = now
	if !now.Before(s.deadline) {
		s.cut = !s.confirming()
		return step{done: true, late: true}
	}
	if !s.refusedOutright() && len(s.pings) < s.planned() {
		return s.ask(now)
	}
	if until := s.until(); until.After(now) {
		return step{again: earlier(until, s.deadline)}
	}
	if s.wantsConfirmation(now) {
		s.main, s.nextSend = len(s.pings), now
		return s.ask(now)
	}
	return step{done: true, missing: s.replies+s.refusals < len(s.pings)}
}

// ask sends the next probe when it is due, but for one that would leave too late to be listened to: the rest stays
// unsent.
func (s *series) ask(now time.Time) step {
	by := s.deadline.Add(-s.listenTime())
	switch {
	case now.After(by):
		return step{again: s.deadline}
	case now.Before(s.nextSend):
		return step{again: earlier(s.nextSend, s.deadline)}
	default:
		return step{send: &request{seq: uint16(len(s.pings) + 1), ttl: pingTTL}, by: by}
	}
}

// planned is how many probes are to be sent, and gap how far apart, in the part of the series that is under way.
func (s *series) planned() int {
	if s.confirming() {
		return s.main + workerapi.ConfirmationProbes
	}
	return s.shape.probes
}

func (s *series) gap() time.Duration {
	if s.confirming() {
		return workerapi.ConfirmationGap
	}
	return s.shape.gap
}

// listenTime is for how long the last probe must be listened to: twice the slowest round trip, and for as long as
// answers are waited for where there was none yet. A shorter one would call lost what is on its way.
func (s *series) listenTime() time.Duration {
	if s.replies == 0 {
		return workerapi.LateAfter
	}
	return min(max(2*s.slowest, leastPatience), workerapi.LateAfter)
}

func (s *series) limit() time.Time { return s.deadline }

// refusedOutright reports whether nothing but refusals came, and enough of them.
func (s *series) refusedOutright() bool { return s.replies == 0 && s.refusals >= refusalsEnd }

// until is until when answers are waited for: where one is missing for as long after the last probe as an answer may
// take, since who is slow is slow with all of them; else while a duplicate of the last reply may come.
func (s *series) until() time.Time {
	under := s.pings[s.main:]
	if !s.refusedOutright() && slices.ContainsFunc(under, func(p ping) bool { return p.open() }) {
		return under[len(under)-1].at.Add(s.listening())
	}
	if s.replies > 0 {
		return s.lastReply.Add(linger)
	}
	return time.Time{}
}

// listening is for how long. The confirmation of a slow host has the time that its replies take: nothing follows that
// would tell whether the last of them come.
func (s *series) listening() time.Duration {
	if s.confirming() {
		return max(workerapi.LateAfter, s.slowestExpected())
	}
	return workerapi.LateAfter
}

func (s *series) sent(_ request, at time.Time) {
	s.pings = append(s.pings, ping{at: at})
	s.nextSend = s.nextSend.Add(s.gap())
	// Probes that a budget held back are not made good by a burst.
	if soonest := at.Add(s.gap() / 2); s.nextSend.Before(soonest) {
		s.nextSend = soonest
	}
}

func (s *series) answered(a exchange.Answer) {
	index := int(a.Seq) - 1
	if index < 0 || index >= len(s.pings) {
		return
	}
	p := &s.pings[index]
	rtt := max(a.At.Sub(p.at), 0)
	switch {
	case a.Kind == exchange.Reply && p.replied:
		// The confirmation is told by itself.
		if index < len(s.mainPings()) {
			s.duplicates++
		}
		s.lastReply = a.At
	case a.Kind == exchange.Reply:
		p.replied, p.rtt, p.ttl = true, rtt, a.TTL
		s.replies++
		s.lastReply, s.slowest = a.At, max(s.slowest, rtt)
	case a.Kind.Refuses() && p.open():
		p.refused = true
		s.refusals++
		s.refusal = a.Kind
	}
}

func (s *series) stopReason() string {
	switch {
	case s.replies == 0 && s.refusals > 0:
		return refusalReason(s.refusal)
	case s.cut:
		return workerapi.StopDeadline
	default:
		return workerapi.StopCompleted
	}
}
