package ratelimit

import (
	"math/big"
	"slices"
	"time"
)

// model is a Limiter as docs/contract.md#limits and the comments of this package describe it, in exact arithmetic:
// nothing is rounded before it is returned.
type model struct {
	levels map[string]*level
	// seen is every thing that passed, by key, in order.
	seen map[string][]seenValue
	now  int64 // µs
}

// level is how many requests had not leaked away at a moment.
type level struct {
	requests *big.Rat
	at       int64
}

func newModel() *model { return &model{levels: map[string]*level{}, seen: map[string][]seenValue{}} }

// take gives the decision of every bucket that is looked at.
func (m *model) take(stages ...Stage) []Decision {
	var all []Decision
	for _, stage := range stages {
		passes := true
		for _, c := range stage {
			if c.Limit.Requests <= 0 || c.Limit.Window <= 0 {
				continue
			}
			d := m.charge(c)
			all = append(all, d)
			passes = passes && d.Allowed
		}
		if !passes {
			break
		}
	}
	return all
}

func (m *model) charge(c Charge) Decision {
	if c.Item != 0 {
		return m.takeDistinct(c)
	}
	n := big.NewRat(int64(c.Limit.Requests), 1)
	window := big.NewRat(c.Limit.Window.Microseconds(), 1)
	perMicro := new(big.Rat).Quo(n, window)
	l := m.levels[c.Key]
	if l == nil {
		l = &level{requests: new(big.Rat), at: m.now}
		m.levels[c.Key] = l
	}
	leaked := new(big.Rat).Mul(big.NewRat(m.now-l.at, 1), perMicro)
	l.requests, l.at = new(big.Rat).Sub(l.requests, leaked), m.now
	if l.requests.Sign() < 0 {
		l.requests = new(big.Rat)
	}
	after := new(big.Rat).Add(l.requests, big.NewRat(int64(min(max(c.Times, 1), c.Limit.Requests)), 1))
	d := Decision{Limit: c.Limit.Requests}
	if after.Cmp(n) > 0 {
		d.RetryAfter = roundedUp(new(big.Rat).Quo(new(big.Rat).Sub(after, n), perMicro))
	} else {
		l.requests, d.Allowed = after, true
		d.Remaining = roundedDown(new(big.Rat).Sub(n, after))
	}
	d.ResetAfter = roundedUp(new(big.Rat).Quo(l.requests, perMicro))
	return d
}

func roundedDown(r *big.Rat) int { return int(new(big.Int).Div(r.Num(), r.Denom()).Int64()) }

func roundedUp(us *big.Rat) time.Duration {
	return -time.Duration(roundedDown(new(big.Rat).Neg(us))) * time.Microsecond
}

// takeDistinct is the rule on distinct values, read off the list of all that passed.
func (m *model) takeDistinct(c Charge) Decision {
	window, n := c.Limit.Window.Microseconds(), c.Limit.Requests
	others := m.othersAt(c, m.now)
	last := m.lastSeen(c.Key, c.Item)
	known := last >= 0 && m.now-last < window
	if !known && len(others) >= n {
		newest := slices.Max(others)
		for _, at := range others {
			if len(m.othersAt(c, at+window)) < n {
				return Decision{Limit: n, RetryAfter: micro(at + window - m.now), ResetAfter: micro(newest + window - m.now)}
			}
		}
	}
	m.seen[c.Key] = append(m.seen[c.Key], seenValue{item: c.Item, at: m.now})
	return Decision{Allowed: true, Limit: n, Remaining: n - len(others) - 1, ResetAfter: micro(window)}
}

// othersAt are the times at which the other values of the last window were seen last, in ascending order.
func (m *model) othersAt(c Charge, now int64) []int64 {
	latest := map[uint16]int64{}
	for _, s := range m.seen[c.Key] {
		if s.item != c.Item && now-s.at < c.Limit.Window.Microseconds() {
			latest[s.item] = s.at
		}
	}
	var times []int64
	for _, at := range latest {
		times = append(times, at)
	}
	slices.Sort(times)
	return times
}

func (m *model) lastSeen(key string, item uint16) int64 {
	last := int64(-1)
	for _, s := range m.seen[key] {
		if s.item == item {
			last = s.at
		}
	}
	return last
}

func micro(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// agrees reports whether a decision is that of the tightest of the buckets that the model looked at. The stores round a
// time up from a floating-point number, so that it may be a microsecond more.
func agrees(got Decision, model []Decision) bool {
	if len(model) == 0 {
		return got == Decision{Allowed: true}
	}
	near := func(a, b time.Duration) bool { return (a - b).Abs() <= time.Microsecond }
	return slices.ContainsFunc(model, func(d Decision) bool {
		return got.Allowed == d.Allowed && got.Limit == d.Limit && got.Remaining == d.Remaining &&
			near(got.ResetAfter, d.ResetAfter) && near(got.RetryAfter, d.RetryAfter)
	}) && !slices.ContainsFunc(model, func(d Decision) bool {
		d.RetryAfter -= min(d.RetryAfter, time.Microsecond)
		d.ResetAfter -= min(d.ResetAfter, time.Microsecond)
		return d.tighter(got)
	})
}
