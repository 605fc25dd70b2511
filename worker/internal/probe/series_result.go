package probe

import (
	"net/netip"
	"slices"
	"time"

	"diagnostics/shared/workerapi"
)

// fate is what became of a probe.
type fate int

const (
	answered fate = iota + 1
	lost
	// undecided is a probe that was unanswered at the end for a shorter time than replies may take.
	undecided
)

// slowestExpected is how long a reply may take: as long as the slowest one that was heard, and an eighth longer. Where
// each takes about as long as the others, the next is due at any moment and not lost.
func (s *series) slowestExpected() time.Duration { return s.slowest + s.slowest/8 }

// fateOf tells it for a probe of the series.
func (s *series) fateOf(p ping) fate {
	switch {
	case p.replied:
		return answered
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
		case answered:
			rtts = append(rtts, p.rtt)
			if reply.Late {
				r.Late++
			}
		}
	}
	r.Received = len(rtts)
	r.LossPercent = lossPercent(r.Sent-r.Undecided, r.Received)
	addStatistics(&r, rtts)
	if raw {
		r.Raw = new(s.rawText(dst, r))
	}
	return r
}

// replyTo tells of the probe with an index.
func replyTo(index int, p *ping) workerapi.Reply {
	r := workerapi.Reply{Seq: index + 1}
	if !p.replied {
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

// bursts gives the runs of lost probes. A probe about which nothing can be said is not among them, and ends a run.
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
