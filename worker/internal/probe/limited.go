package probe

import (
	"time"

	"diagnostics/shared/workerapi"
)

// Many hosts and firewalls answer only so many echo requests a second. What they leave out is no loss on the way, and
// it does not look like that: limits (token buckets, or a count a second) let through a burst at first, then about
// the same number in every second, and keep silent for no second as a whole where a probe a second is within the limit.
// Loss by chance or by a busy link is neither so even nor so soon over.
//
// Of series that lose by chance up to one in 16 is as even as that with fifty probes, and one in two with ten. So a
// pattern is a suspicion, which the confirmation tests: a limit lets six probes a second apart through. With both,
// chance passes for a limit in one series of a hundred, or one of twenty (TestChanceRarelyLooksLimited).
const (
	// leastMissing is how many answers must be missing, and leastShare of how many since the first that is: fewer make no
	// pattern.
	leastMissing = 3
	leastShare   = 5 // one of so many
	// limitPeriod is how long hosts count answers before their limit on them begins anew.
	limitPeriod = time.Second
	// A second may hold so many answers more than another one: the longer the series and the closer its probes, the more
	// often the edges of a limit's second and of ours fall between two of them.
	unevenPing = 1
	unevenLoss = 2
)

// looksLimited reports whether the probes without an answer look as if the host answered only so many a second.
func (s *series) looksLimited() bool {
	var decided []ping
	for _, p := range s.pings {
		if p.refused {
			return false
		}
		if f := s.fateOf(p); f == answered || f == lost {
			decided = append(decided, p)
		}
	}
	limited, missing := sinceFirstMissing(decided)
	if missing < leastMissing || missing*leastShare < len(limited) || missing == len(decided) {
		return false
	}
	return s.neverSilentForLong(decided) && s.isEven(limited)
}

// sinceFirstMissing leaves out the burst that a limit lets through at first.
func sinceFirstMissing(pings []ping) (rest []ping, missing int) {
	for i, p := range pings {
		if p.replied {
			continue
		}
		if missing == 0 {
			rest = pings[i:]
		}
		missing++
	}
	return rest, missing
}

// neverSilentForLong reports whether the probes that were answered left no farther apart than under a limit of one a
// second.
func (s *series) neverSilentForLong(pings []ping) bool {
	most := limitPeriod + 3*s.shape.gap/2
	last := pings[0].at
	for _, p := range pings {
		if p.at.Sub(last) > most {
			return false
		}
		if p.replied {
			last = p.at
		}
	}
	return true
}

// isEven reports whether about as many probes were answered in any second as in any other. A second shows nothing where
// this host was late with a probe shortly before or in it: meanwhile a limit saves up answers for the next probes.
func (s *series) isEven(pings []ping) bool {
	uneven := unevenPing
	if s.shape.gap < workerapi.PingGap {
		uneven = unevenLoss
	}
	end := pings[len(pings)-1].at.Add(s.shape.gap / 2)
	least, most, skipped := len(pings), -1, false
	for i := range pings {
		until := pings[i].at.Add(limitPeriod - s.shape.gap/2)
		if until.After(end) {
			break
		}
		if s.lateBetween(pings[i].at.Add(-limitPeriod), until) {
			skipped = true
			continue
		}
		replied := 0
		for _, p := range pings[i:] {
			if !p.at.Before(until) {
				break
			}
			if p.replied {
				replied++
			}
		}
		least, most = min(least, replied), max(most, replied)
		if most-least > uneven {
			return false
		}
	}
	return most >= 0 || !skipped
}

// lateBetween reports whether a probe of that time left late.
func (s *series) lateBetween(from, until time.Time) bool {
	for i := 1; i < len(s.pings); i++ {
		at := s.pings[i].at
		if at.Sub(s.pings[i-1].at) > 3*s.shape.gap/2 && at.After(from) && at.Before(until) {
			return true
		}
	}
	return false
}

// confirming reports whether the confirmation has begun.
func (s *series) confirming() bool { return s.main > 0 }

// wantsConfirmation reports whether there is something to confirm, and time for all of it.
func (s *series) wantsConfirmation(now time.Time) bool {
	const takes = (workerapi.ConfirmationProbes-1)*workerapi.ConfirmationGap + workerapi.LateAfter
	return !s.confirming() && len(s.pings) == s.shape.probes && !now.Add(takes).After(s.deadline) && s.looksLimited()
}

// confirmation is what came of it; nil where there was none, or where not all of its probes could leave.
func (s *series) confirmation() *workerapi.Confirmation {
	if !s.confirming() || len(s.pings) < s.planned() {
		return nil
	}
	c := &workerapi.Confirmation{
		IntervalMs: float64(workerapi.ConfirmationGap / time.Millisecond),
		Sent:       workerapi.ConfirmationProbes,
	}
	open := 0
	for _, p := range s.pings[s.main:] {
		switch s.fateOf(p) {
		case answered:
			c.Received++
		case undecided, damaged:
			open++
		}
	}
	c.LossPercent = lossPercent(c.Sent-open, c.Received)
	return c
}
