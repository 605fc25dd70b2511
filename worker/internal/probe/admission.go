package probe

import (
	"net/netip"
	"time"

	"golang.org/x/time/rate"
)

// A series that is slowed down until its time is over measures nothing that a client asked for. So a job is admitted
// only if the budget can send all the probes of every admitted series in time, the job's own included. A trace has no
// such claim: it ends with what it has seen.
//
// Jobs reserve one packet ahead and then wait for their next turn, so until a job has had its last packet, every other
// job gets at most one more than it.

// demand is what a job still needs of the budget.
type demand struct {
	dst netip.Addr
	// left is the number of probes that no packet is reserved for yet.
	left int
	// by is when the last of them must leave; zero where there is no such moment.
	by time.Time
	// gap is the pause between two probes.
	gap time.Duration
}

// usualTrace is how many probes a trace usually takes.
const usualTrace = 31

// admit adds a job to the budget. Where the budget has not enough packets, ok is false and free is the time after which
// it may have.
func (b *Budget) admit(now time.Time, d *demand) (free time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	target := b.of(d.dst, now)
	// A job that is too large for the limits themselves is slowed down, unless others run.
	d.left = min(d.left, d.alone(now, b.all), d.alone(now, target))
	all, same := []*demand{d}, []*demand{d}
	for other := range b.jobs {
		all = append(all, other)
		if other.dst == d.dst {
			same = append(same, other)
		}
	}
	free = max(shortfall(now, b.all, all, d), shortfall(now, target, same, d))
	if free > 0 {
		return free, false
	}
	b.jobs[d] = struct{}{}
	return 0, true
}

// alone returns how many probes the job could send in its time if it were the only one.
func (d *demand) alone(now time.Time, l *rate.Limiter) int {
	if l.Limit() == rate.Inf || d.by.IsZero() {
		return d.left
	}
	return l.Burst() + int(float64(l.Limit())*d.by.Add(-d.gap).Sub(now).Seconds())
}

// shortfall returns how much later the new job could be admitted; at most zero where it can be now.
func shortfall(now time.Time, l *rate.Limiter, jobs []*demand, admitted *demand) (free time.Duration) {
	if l.Limit() == rate.Inf {
		return 0
	}
	tokens := l.TokensAt(now)
	if allInTime(now, tokens, l.Limit(), jobs) {
		return 0
	}
	for _, j := range jobs {
		if j.by.IsZero() || j.left == 0 {
			continue
		}
		late := j.ends(now, tokens, l.Limit(), jobs).Sub(j.by)
		switch {
		case late <= 0:
		case j == admitted:
			free = max(free, late)
		default:
			free = max(free, j.by.Sub(now), time.Millisecond)
		}
	}
	return free
}

// allInTime reports whether the packets of all jobs can leave before any job must have its last one. Mostly they can,
// and no job has to be compared with the others.
func allInTime(now time.Time, tokens float64, perSecond rate.Limit, jobs []*demand) bool {
	packets, gap, first := 0, time.Duration(0), time.Time{}
	for _, j := range jobs {
		packets += j.left
		if !j.by.IsZero() && j.left > 0 {
			gap, first = max(gap, j.gap), earlier(first, j.by)
		}
	}
	wait := max(0, (float64(packets)-tokens)/float64(perSecond))
	return first.IsZero() || !now.Add(gap+time.Duration(wait*float64(time.Second))).After(first)
}

// ends returns when the last probe of the job leaves at the latest.
func (d *demand) ends(now time.Time, tokens float64, perSecond rate.Limit, jobs []*demand) time.Time {
	packets := d.left
	for _, other := range jobs {
		if other != d {
			packets += min(other.left, d.left+1)
		}
	}
	wait := max(0, (float64(packets)-tokens)/float64(perSecond))
	return now.Add(d.gap + time.Duration(wait*float64(time.Second)))
}

// reserved records that a packet is reserved for a job.
func (b *Budget) reserved(d *demand) {
	if d == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d.left = max(0, d.left-1)
}
