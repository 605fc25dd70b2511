package probe

import (
	"net/netip"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/echo"
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

// series is the plan of a ping: evenly spaced probes of one flow. It ends when each was answered or is late, and early
// where the first probes are all refused by ICMP errors: asking on would be knocking at a door that said no.
type series struct {
	shape    seriesShape
	start    time.Time
	deadline time.Time
	nextSend time.Time

	pings      []ping
	replies    int
	refusals   int
	refusal    echo.Kind // of the last refusal
	duplicates int
	lastReply  time.Time
	slowest    time.Duration
	late       bool // cut by the deadline
}

// ping is one probe of a series; its sequence number is its index plus one.
type ping struct {
	at      time.Time
	replied bool
	refused bool
	rtt     time.Duration
	ttl     int
}

// open tells whether a reply may still come in time.
func (p *ping) open(now time.Time) bool {
	return !p.replied && !p.refused && now.Before(p.at.Add(workerapi.LateAfter))
}

func newSeries(now time.Time, shape seriesShape) *series {
	return &series{shape: shape, start: now, deadline: now.Add(shape.limit), nextSend: now}
}

func (s *series) next(now time.Time) step {
	if !now.Before(s.deadline) {
		s.late = true
		return step{done: true, late: true}
	}
	if !s.refusedOutright() && len(s.pings) < s.shape.probes {
		return s.ask(now)
	}
	until := s.until(now)
	if !until.After(now) {
		return step{done: true, missing: s.replies+s.refusals < len(s.pings)}
	}
	return step{again: earlier(until, s.deadline)}
}

// ask sends the next probe when it is due, but for one that would leave too late to be listened to: the rest stays
// unsent.
func (s *series) ask(now time.Time) step {
	by := s.deadline.Add(-s.patience())
	switch {
	case now.After(by):
		return step{again: s.deadline}
	case now.Before(s.nextSend):
		return step{again: earlier(s.nextSend, s.deadline)}
	default:
		return step{send: &request{seq: uint16(len(s.pings) + 1), ttl: pingTTL}, by: by}
	}
}

// patience is for how long the last probe must be listened to: twice the slowest round trip, and for as long as an
// answer counts where there was none yet. A shorter one would call lost what is on its way.
func (s *series) patience() time.Duration {
	if s.replies == 0 {
		return workerapi.LateAfter
	}
	return min(max(2*s.slowest, leastPatience), workerapi.LateAfter)
}

func (s *series) limit() time.Time { return s.deadline }

// refusedOutright tells whether nothing but refusals came, and enough of them.
func (s *series) refusedOutright() bool { return s.replies == 0 && s.refusals >= refusalsEnd }

// until is when nothing that counts can come any more: the last open probe is late, and a duplicate of the last reply
// had its time.
func (s *series) until(now time.Time) time.Time {
	var last time.Time
	for i := range s.pings {
		if s.pings[i].open(now) && !s.refusedOutright() {
			last = s.pings[i].at.Add(workerapi.LateAfter)
		}
	}
	if last.IsZero() && s.replies > 0 {
		return s.lastReply.Add(linger)
	}
	return last
}

func (s *series) sent(_ request, at time.Time) {
	s.pings = append(s.pings, ping{at: at})
	s.nextSend = s.nextSend.Add(s.shape.gap)
	// Probes that a budget held back are not made good by a burst.
	if soonest := at.Add(s.shape.gap / 2); s.nextSend.Before(soonest) {
		s.nextSend = soonest
	}
}

func (s *series) answered(a echo.Answer) {
	index := int(a.Seq) - 1
	if index < 0 || index >= len(s.pings) {
		return
	}
	p := &s.pings[index]
	rtt := max(a.At.Sub(p.at), 0)
	switch {
	case a.Kind == echo.Reply && p.replied:
		s.duplicates++
		s.lastReply = a.At
	case a.Kind == echo.Reply && rtt <= workerapi.LateAfter:
		p.replied, p.rtt, p.ttl = true, rtt, a.TTL
		s.replies++
		s.lastReply, s.slowest = a.At, max(s.slowest, rtt)
	case a.Kind.Refuses() && !p.refused && !p.replied:
		p.refused = true
		s.refusals++
		s.refusal = a.Kind
	}
}

func (s *series) stopReason() string {
	switch {
	case s.replies == 0 && s.refusals > 0:
		return refusalReason(s.refusal)
	case s.late:
		return workerapi.StopDeadline
	default:
		return workerapi.StopCompleted
	}
}

func (s *series) result(dst netip.Addr, measuredAt time.Time, raw bool) workerapi.Ping {
	r := workerapi.Ping{
		Target:      dst.String(),
		Address:     dst.String(),
		Family:      family(dst),
		Sent:        len(s.pings),
		Received:    s.replies,
		Duplicates:  s.duplicates,
		LossPercent: lossPercent(len(s.pings), s.replies),
		Replies:     make([]workerapi.Reply, len(s.pings)),
		StopReason:  s.stopReason(),
		Measurement: workerapi.Measurement{MeasuredAt: measuredAt},
	}
	var rtts []time.Duration
	for i, p := range s.pings {
		r.Replies[i].Seq = i + 1
		if !p.replied {
			continue
		}
		rtts = append(rtts, p.rtt)
		r.Replies[i].RTTMs = milliseconds(p.rtt)
		if p.ttl > 0 {
			r.Replies[i].TTL = &s.pings[i].ttl
		}
	}
	addStatistics(&r, rtts)
	if raw {
		text := s.rawText(dst, r)
		r.Raw = &text
	}
	return r
}

func addStatistics(r *workerapi.Ping, rtts []time.Duration) {
	if len(rtts) == 0 {
		return
	}
	least, most := rtts[0], rtts[0]
	for _, d := range rtts {
		least, most = min(least, d), max(most, d)
	}
	r.MinMs, r.MaxMs = milliseconds(least), milliseconds(most)
	r.AverageMs, r.MedianMs = milliseconds(mean(rtts)), milliseconds(median(rtts))
	r.StddevMs = milliseconds(stddev(rtts))
	if len(rtts) > 1 {
		r.JitterMs = milliseconds(jitter(rtts))
	}
}

// bursts gives the runs of probes without a reply.
func (s *series) bursts() []workerapi.Burst {
	bursts := []workerapi.Burst{}
	run := 0
	for i, p := range s.pings {
		if p.replied {
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
