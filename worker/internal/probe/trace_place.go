package probe

import (
	"slices"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// end is the highest TTL worth a probe, as far as is known.
func (t *trace) end() int {
	if p := t.place(); p > 0 {
		return p
	}
	if t.refusal() {
		return t.refused
	}
	return min(t.farthest+workerapi.GapLimit+t.wider, workerapi.MaxHops)
}

// ended reports whether the TTL at which the way ends is known.
func (t *trace) ended() bool { return t.replied > 0 || t.refusal() }

// refusal reports whether the way ends in a refusal. One that comes from nearer than the farthest router does not speak
// for the whole way: only one of several legs is broken, or was for a moment.
func (t *trace) refusal() bool { return t.replied == 0 && t.refused > t.farthest }

// place is the TTL at which the destination stands, the lowest that it answered; 0 while no probe of a TTL has got
// there. What the TTL of a reply implies never overrides that: the way back is often shorter than the way there, and
// the probes that expired at a silent router before the destination would count as lost.
func (t *trace) place() int { return t.replied }

// guess is where the destination is shown that answered the reach probe alone; 0 where it did not, or lies too far.
func (t *trace) guess() int {
	if t.ended() || !t.reach.replied() {
		return 0
	}
	if p := t.implied(); p > 0 && p <= workerapi.MaxHops {
		return p
	}
	if t.farthest == workerapi.MaxHops {
		return 0
	}
	return t.farthest + 1
}

// implied is the TTL of the destination according to the TTL with which its reply came in, compared with that of the
// last router's answers; 0 where that says nothing. The way back may be another than the way there, so it is only good
// for asking again (trace_recheck.go) and for a guess.
func (t *trace) implied() int {
	reply, router := t.replyTTL(), t.lastRouter()
	if reply == 0 {
		return 0
	}
	if router == 0 {
		return hopsBack(reply) + 1
	}
	back := t.backOf(router)
	if back < 0 {
		return 0
	}
	return max(router+hopsBack(reply)-back, router+1)
}

// replyTTL is the TTL with which a reply of the destination came in; 0 where none did or told.
func (t *trace) replyTTL() int {
	if t.reach.replied() {
		return t.reach.ttl
	}
	for _, s := range t.ttls[t.replied].probes {
		if s.replied() {
			return s.ttl
		}
	}
	return 0
}

// lastRouter is the highest TTL below the destination's that expired at a router; 0 for none.
func (t *trace) lastRouter() int {
	if t.replied == 0 || t.farthest < t.replied {
		return t.farthest
	}
	for ttl := t.replied - 1; ttl > 0; ttl-- {
		if t.ttls[ttl].answered() {
			return ttl
		}
	}
	return 0
}

// backOf is how many routers the answers of a TTL passed on their way back; -1 where they do not tell.
func (t *trace) backOf(ttl int) int {
	for _, s := range t.ttls[ttl].probes {
		if s.answered && s.ttl > 0 {
			return hopsBack(s.ttl)
		}
	}
	return -1
}

// hopsBack is how many routers a packet has passed that arrived with a TTL: systems start at 64, 128 or 255.
func hopsBack(ttl int) int {
	for _, first := range []int{64, 128} {
		if ttl <= first {
			return first - ttl
		}
	}
	return 255 - ttl
}

// arrivals are the first three probes, in the order of sending, that got to a destination at a TTL or were lost on the
// way there, whatever became of them. One whose flow goes a longer way expired at a router, answered or not, and is no
// loss of the destination. Where none of the three was answered, the first that was stands for the last of them: a
// destination that is there has an address.
func (t *trace) arrivals(place int) []*sentProbe {
	first := make([]*sentProbe, 0, workerapi.ProbesPerHop+1)
	var answered *sentProbe
	for _, s := range t.bound(place) {
		if s.at.IsZero() || s.answered && s.kind != exchange.Reply {
			continue
		}
		if s.answered {
			answered = sooner(answered, s)
		}
		i := len(first)
		for i > 0 && s.at.Before(first[i-1].at) {
			i--
		}
		if i < workerapi.ProbesPerHop {
			first = slices.Insert(first, i, s)
			first = first[:min(len(first), workerapi.ProbesPerHop)]
		}
	}
	if last := len(first) - 1; answered != nil && answered.at.After(first[last].at) {
		first[last] = answered
	}
	return first
}
