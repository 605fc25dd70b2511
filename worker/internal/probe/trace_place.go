package probe

import (
	"iter"
	"net/netip"
	"slices"
	"time"

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

// implied returns the TTL of the destination according to the TTL with which its reply came in, compared with that of
// the last router's answers; 0 where that says nothing. The return path may differ, so it only serves for a recheck and
// a guess.
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

// replyTTL is the TTL with which a reply of the destination came in; 0 where none did or had one.
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

// backOf is how many routers the answers of a TTL passed on their way back; -1 where unknown.
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

// open starts a flow of some kind of probe.
func (p *Prober) open(probe exchange.Probe, dst netip.Addr, deliver func(exchange.Answer)) (exchange.Flow, error) {
	if probe.Protocol == exchange.ICMP {
		return p.network.Open(dst, deliver)
	}
	ports, ok := p.network.(exchange.PortNetwork)
	if !ok {
		return nil, exchange.ErrProtocol
	}
	return ports.OpenPort(probe, dst, deliver)
}

// flow is that of a round's probes. A reach probe of TCP has one of its own, the first: the rounds then go upwards, and
// the first SYN of each that gets to the destination is that of the destination's TTL.
func (t *trace) flow(round int) int {
	if t.probe.Protocol == exchange.TCP {
		return round + 1
	}
	return round
}

// bound returns the probes that must have got to a destination at a TTL if they were not lost: none whose flow
// goes a longer way, answered or not.
//
// Of SYNs it is only the first of each flow. The destination waits for that connection until the RST that ends it is
// there, a round trip later, and what it answers to another SYN between the same ports until then is up to its system:
// a RST (Linux), what it has answered to the first, or nothing. No answer is no loss then. Where no first one was
// answered, the first of the others that was goes along: a destination that is there has an address.
func (t *trace) bound(place int) []*sentProbe {
	bound := []*sentProbe{&t.reach}
	if t.probe.Protocol == exchange.TCP {
		return t.withSYNs(bound, place)
	}
	for _, s := range t.passing(place) {
		bound = append(bound, s)
	}
	for i := range t.rechecks {
		if r := &t.rechecks[i]; r.target >= place {
			bound = append(bound, &r.sentProbe)
		}
	}
	return bound
}

func (t *trace) withSYNs(bound []*sentProbe, place int) []*sentProbe {
	var answered *sentProbe
	firsts := map[int]*sentProbe{} // by round
	for round, s := range t.passing(place) {
		firsts[round] = sooner(firsts[round], s)
		if s.replied() {
			answered = sooner(answered, s)
		}
	}
	for _, s := range firsts {
		bound = append(bound, s)
	}
	if answered != nil && !slices.ContainsFunc(bound, (*sentProbe).replied) {
		bound = append(bound, answered)
	}
	return bound
}

// passing goes through the probes with a TTL from a place on, by round, that got past all the routers that are known on
// the way of their round.
func (t *trace) passing(place int) iter.Seq2[int, *sentProbe] {
	return func(yield func(int, *sentProbe) bool) {
		for ttl := place; ttl <= workerapi.MaxHops; ttl++ {
			for round := range t.ttls[ttl].sent {
				s := &t.ttls[ttl].probes[round]
				if (s.replied() || ttl > t.expired[round]) && !yield(round, s) {
					return
				}
			}
		}
	}
}

// sooner returns the one that was sent first; nil is none.
func sooner(known, s *sentProbe) *sentProbe {
	if known == nil || s.at.Before(known.at) {
		return s
	}
	return known
}

// A destination that limits its answers leaves the probes of its own TTL unanswered, and would be placed at a later
// one, or nowhere: a trace sends it a dozen probes at once. So it is probed again where the TTL of its reply puts it.
// The implied place is no proof, an answer is.
const (
	// recheckGap is how long the destination is left alone before: many answer one ping a second.
	recheckGap = listenRouters + 50*time.Millisecond
	// mostRechecks is how many TTLs are probed again, upwards, since the return path is often a hop or two shorter.
	mostRechecks = 3
)

type recheck struct {
	sentProbe
	target int // the TTL that it was sent with
}

func (t *trace) lastRecheck() *recheck {
	if len(t.rechecks) == 0 {
		return nil
	}
	return &t.rechecks[len(t.rechecks)-1]
}

// chooseRecheck returns the next recheck, once it is due; at is when another one will be, zero for never.
func (t *trace) chooseRecheck(now, at time.Time) (*request, time.Time) {
	ttl := t.doubtful()
	if ttl == 0 {
		return nil, at
	}
	h := &t.ttls[ttl]
	due := later(t.last.Add(recheckGap), h.probes[h.sent-1].at.Add(t.listenTime()))
	if r := t.lastRecheck(); r != nil {
		due = later(due, r.at.Add(recheckGap))
	}
	if due.After(now) {
		return nil, earlier(at, due)
	}
	return &request{seq: uint16(recheckSeq + len(t.rechecks)), ttl: ttl}, now
}

// mayRecheck reports whether a TTL may be probed again at all. With TCP each round has one SYN for it and no more, and
// hosts seldom limit their answers to those.
func (t *trace) mayRecheck() bool { return t.probe.Protocol != exchange.TCP }

// doubtful is the silent TTL that is worth another probe; 0 for none. There is none where the destination answers all
// that gets there: then the silence before it is a router's. While no TTL has got there one is enough, and what lies
// beyond the window is next.
func (t *trace) doubtful() int {
	ttl, most, below := t.implied(), mostRechecks, t.replied
	if ttl == 0 || t.refusal() || !t.mayRecheck() {
		return 0
	}
	if t.replied == 0 {
		most, below = 1, t.end()+1
	}
	if r := t.lastRecheck(); r != nil {
		ttl = max(ttl, r.target+1)
	}
	if len(t.rechecks) == most || ttl >= below || t.ttls[ttl].sent < len(t.ttls[ttl].probes) || t.ttls[ttl].answered() ||
		t.replied > 0 && !t.leavesOut() {
		return 0
	}
	return ttl
}

// leavesOut reports whether the destination has left any probe unanswered that got there.
func (t *trace) leavesOut() bool {
	if t.reach.pending() {
		return true
	}
	for _, s := range t.passing(t.replied) {
		if s.pending() {
			return true
		}
	}
	return false
}
