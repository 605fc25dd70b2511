package probe

import (
	"math"
	"net/netip"
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

// seriesShape is in what a ping and a packet-loss run differ.
type seriesShape struct {
	probes int
	gap    time.Duration
	limit  time.Duration
}

// series is the plan of a ping: evenly spaced probes of one flow. It ends when each was answered, or was listened to
// for long enough, and early where the first probes are all refused by ICMP errors: further probes would show no more.
// Where the losses look like a limit on answers (limited.go), a few more probes follow.
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
	damaged bool // a damaged reply came
	rtt     time.Duration
	ttl     int
}

// open reports whether a whole reply may still come. A damaged one may be forged, so it does not end the wait.
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

// ask sends the next probe when it is due, unless it would leave too late for its answer to be received: the rest stays
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

// demand is that of a series whose answers may take as long as they are waited for.
func (s *series) demand() demand {
	return demand{left: s.shape.probes, by: s.deadline.Add(-workerapi.LateAfter), gap: s.shape.gap}
}

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
// would show whether the last of them come.
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
	case a.Damaged:
		p.damaged = true
	case a.Kind == exchange.Reply && p.replied:
		// The confirmation is reported by itself.
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

// fate is what became of a probe.
type fate int

const (
	answered fate = iota + 1
	lost
	// damaged is a probe of which no other than a damaged reply came.
	damaged
	// undecided is a probe that was unanswered at the end for a shorter time than replies may take.
	undecided
)

// slowestExpected is how long a reply may take: as long as the slowest one so far and an eighth longer. Where all take
// about as long, the next one may still come at any moment and is not lost.
func (s *series) slowestExpected() time.Duration { return s.slowest + s.slowest/8 }

// fateOf returns the fate of a probe of the series.
func (s *series) fateOf(p ping) fate {
	switch {
	case p.replied:
		return answered
	case p.damaged:
		return damaged
	case p.open() && s.end.Sub(p.at) < s.slowestExpected():
		return undecided
	default:
		return lost
	}
}

// mainPings are the probes that the result is about: all but those of the confirmation.
func (s *series) mainPings() []ping {
	if s.confirming() {
		return s.pings[:s.main]
	}
	return s.pings
}

func (s *series) result(dst netip.Addr, measuredAt time.Time, raw bool) workerapi.Ping {
	pings := s.mainPings()
	r := workerapi.Ping{
		Target:       dst.String(),
		Address:      dst.String(),
		Family:       workerapi.Family(dst),
		Sent:         len(pings),
		Duplicates:   s.duplicates,
		Replies:      make([]workerapi.Reply, len(pings)),
		StopReason:   s.stopReason(),
		Confirmation: s.confirmation(),
		Measurement:  workerapi.Measurement{MeasuredAt: measuredAt},
	}
	var rtts []time.Duration
	for i := range pings {
		p := &pings[i]
		reply := &r.Replies[i]
		*reply = replyTo(i, p)
		switch s.fateOf(*p) {
		case undecided:
			reply.Undecided = true
			r.Undecided++
		case damaged:
			r.Damaged++
		case answered:
			rtts = append(rtts, p.rtt)
			if reply.Late {
				r.Late++
			}
		}
	}
	r.Received = len(rtts)
	r.LossPercent = lossPercent(r.Sent-r.Undecided-r.Damaged, r.Received)
	addStatistics(&r, rtts)
	if raw {
		r.Raw = new(s.rawText(dst, r))
	}
	return r
}

// replyTo describes the probe with an index.
func replyTo(index int, p *ping) workerapi.Reply {
	r := workerapi.Reply{Seq: index + 1}
	if !p.replied {
		r.Damaged = p.damaged
		return r
	}
	r.RTTMs, r.Late = milliseconds(p.rtt), p.late()
	if p.ttl > 0 {
		r.TTL = new(p.ttl)
	}
	return r
}

func addStatistics(r *workerapi.Ping, rtts []time.Duration) {
	if len(rtts) == 0 {
		return
	}
	r.MinMs, r.MaxMs = milliseconds(slices.Min(rtts)), milliseconds(slices.Max(rtts))
	r.AverageMs, r.MedianMs = milliseconds(mean(rtts)), milliseconds(median(rtts))
	r.StddevMs = milliseconds(stddev(rtts))
	if len(rtts) > 1 {
		r.JitterMs = milliseconds(jitter(rtts))
	}
}

// bursts returns the runs of lost probes. A probe about which nothing can be said is not among them, and ends a run.
func (s *series) bursts() []workerapi.Burst {
	bursts := []workerapi.Burst{}
	run := 0
	for i, p := range s.mainPings() {
		if s.fateOf(p) != lost {
			run = 0
			continue
		}
		run++
		if run == 1 {
			bursts = append(bursts, workerapi.Burst{StartSeq: i + 1})
		}
		bursts[len(bursts)-1].Length = run
	}
	return bursts
}

// milliseconds returns a duration in milliseconds, to the microsecond.
func milliseconds(d time.Duration) *float64 {
	return new(float64(d.Round(time.Microsecond).Microseconds()) / 1000)
}

// lossPercent is the share of probes without an answer, to a hundredth of a percent; 0 where none was sent.
func lossPercent(sent, received int) float64 {
	if sent == 0 {
		return 0
	}
	return math.Round(float64(sent-received)/float64(sent)*10000) / 100
}

func mean(d []time.Duration) time.Duration {
	var sum time.Duration
	for _, x := range d {
		sum += x
	}
	return sum / time.Duration(len(d))
}

// median is the middle value, or the mean of the two in the middle.
func median(d []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// stddev is the standard deviation of the values themselves (divided by their number).
func stddev(d []time.Duration) time.Duration {
	var sum float64
	m := float64(mean(d))
	for _, x := range d {
		sum += (float64(x) - m) * (float64(x) - m)
	}
	return time.Duration(math.Sqrt(sum / float64(len(d))))
}

// jitter is the mean absolute difference of consecutive values; it takes two.
func jitter(d []time.Duration) time.Duration {
	var sum time.Duration
	for i := 1; i < len(d); i++ {
		sum += (d[i] - d[i-1]).Abs()
	}
	return sum / time.Duration(len(d)-1)
}
