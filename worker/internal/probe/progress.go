package probe

import (
	"strconv"
	"time"

	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"
)

// The kinds of the steps of a job.
const (
	kindHop   = "hop"
	kindReply = "reply"
)

// everything is no probe's number.
const everything = 0

// announce adds the changes of an answer to the steps, where there is a subscriber. A late subscriber gets all earlier
// ones, at the next answer or the next call of the plan.
func (d *driver) announce(seq uint16) {
	if d.steps == nil || !d.steps.Watched() {
		d.announced = false
		return
	}
	if d.announced && seq == everything {
		return
	}
	if !d.announced {
		d.announced, seq = true, everything
	}
	d.plan.parts(seq, func(kind string, number int, value any) {
		d.steps.Add(progress.Step{Kind: kind, Key: strconv.Itoa(number), Value: value, At: time.Now()})
	})
}

// parts passes on hops. The destination's has the lowest TTL that it answered so far, those behind it are left out:
// only at the end is it known which of them count.
func (t *trace) parts(seq uint16, report func(kind string, number int, value any)) {
	first, last := 1, workerapi.MaxHops
	if seq != everything {
		_, _, ttl := t.shotOf(seq)
		first, last = ttl, ttl
	}
	if t.replied > 0 {
		last = min(last, t.replied)
	}
	for ttl := max(first, 1); ttl <= last; ttl++ {
		if h := &t.ttls[ttl]; h.answered() {
			report(kindHop, ttl, row{ttl: ttl, probes: h.probes[:h.sent]}.hop())
		}
	}
}

// parts passes on replies; what is not answered yet is no step.
func (s *series) parts(seq uint16, report func(kind string, number int, value any)) {
	for i := range s.mainPings() {
		if p := &s.pings[i]; (p.replied || p.damaged) && (seq == everything || int(seq) == i+1) {
			report(kindReply, i+1, replyTo(i, p))
		}
	}
}
