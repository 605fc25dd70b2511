package probe

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// The sizes that are tried, largest first, with the IP header: those of Ethernet, PPPoE and tunnels, and the least that
// every host must receive (RFC 791, RFC 8200 section 5).
var (
	mtuSizes6 = []int{1500, 1492, 1480, 1460, 1452, 1420, 1400, leastMTU6}
	mtuSizes4 = append(slices.Clone(mtuSizes6), 576)
)

// The least MTU of a link (RFC 791, RFC 8200 section 5): a router that states less states nothing (RFC 8201 section 4).
const (
	leastMTU4 = workerapi.MinMTU
	leastMTU6 = 1280
)

const (
	// mtuTries is how often a size is lost before it counts as one that does not pass.
	mtuTries = 2
	// locateWidth is how many routers a size is sent to at once.
	locateWidth = 5
	// controlSize is the size of a probe that any path carries.
	controlSize = 128
	// mostReports bounds the messages that are kept.
	mostReports = 2 * workerapi.MaxMTUProbes
	// mtuStated bounds the sizes that are tried because a router states them.
	mtuStated = 4
	// mtuDemand is how many probes a measurement takes where a path narrows and routers report it.
	mtuDemand = 12
	// A lost probe is sent again after twice the slowest round trip, within these bounds.
	leastRetry, longestRetry = 300 * time.Millisecond, time.Second
	// confirmations is how often a size that vanishes is compared with one that passes, recheckGap apart: hosts and
	// routers limit their answers, and that must not look like a limit on size.
	confirmations = 2
)

// mtuRole is what a trial is for.
type mtuRole int

const (
	mtuControl mtuRole = iota // whether the destination answers echo requests at all
	mtuLadder                 // whether a size gets to the end
	mtuConfirm                // the same once more
	mtuLocate                 // how far a size gets
)

// mtuTrial is one size that is sent with one TTL, up to mtuTries times.
type mtuTrial struct {
	role      mtuRole
	size, ttl int
	due       time.Time // zero for at once
	sent      []time.Time
	passed    bool
	rejected  bool // an ICMP message came that it is too big
	lost      bool // so that it counts
	oversized bool // larger than what this host's link carries
}

func (t *mtuTrial) tries() int {
	if t.role == mtuConfirm {
		return 1
	}
	return mtuTries
}

// mtuReport is an ICMP message that a packet is too big.
type mtuReport struct {
	size int // of the packet
	from netip.Addr
	mtu  int // as stated
}

// mtuRouter is a router that answers probes with its TTL.
type mtuRouter struct {
	ttl       int
	addresses []netip.Addr
}

// mtuPlan is the plan of a measurement of the path MTU (RFC 8899): packets of falling size go to the destination, all
// in flight together. What is too large for a link is lost there, and the router reports it or not; a report counts
// only for where it comes from, and for a further size to try.
//
// The replies to echo requests are as large as the requests, so a size that gets no reply may have been lost on the way
// back. So it is also sent with the TTLs of routers: their answers are small. Only a size that does not get as far as
// a router that answers smaller packets is known to be lost on the way there.
//
// Where the destination answers no echo requests, the farthest router that answers stands in for it.
type mtuPlan struct {
	dst      netip.Addr
	deadline time.Time
	nextSend time.Time
	retry    time.Duration // until a lost probe is sent again
	silence  time.Duration // until the last one counts as lost

	routers []mtuRouter // in order of TTL
	// destination is the TTL of the destination; 0 where it is not known.
	destination int
	echoes      *bool // whether the destination answers; nil while not known
	trials      []*mtuTrial
	asked       *mtuTrial   // that next has returned last
	sends       []*mtuTrial // by sequence number less one
	reports     []mtuReport
	late        bool
	// arrives is set where a UDP datagram of a size without a reply was tried: whether the destination answered it.
	arrives *bool
}

func newMTUPlan(now, deadline time.Time, dst netip.Addr, t *trace) *mtuPlan {
	m := &mtuPlan{
		dst: dst, deadline: deadline, nextSend: now, destination: t.place(),
		retry:   min(max(2*t.slowest, leastRetry), longestRetry),
		silence: min(max(2*t.slowest, listenRouters), listenDestination),
	}
	for ttl := 1; ttl <= workerapi.MaxHops && (t.place() == 0 || ttl < t.place()); ttl++ {
		r := mtuRouter{ttl: ttl}
		for _, s := range t.ttls[ttl].probes {
			if s.answered && s.kind == exchange.TimeExceeded {
				r.addresses = append(r.addresses, s.from)
			}
		}
		if len(r.addresses) > 0 {
			m.routers = append(m.routers, r)
		}
	}
	if t.probe.Protocol == exchange.ICMP {
		m.echoes = new(t.replied > 0 || t.reach.replied())
	}
	return m
}

// TracerouteMTU is Traceroute, and then measures the path MTU with echo requests. It ends within
// workerapi.TracerouteMTULimit. What keeps that measurement from being made is no error, but a fact.
func (p *Prober) TracerouteMTU(
	ctx context.Context, dst netip.Addr, probe exchange.Probe,
) (workerapi.Traced, error) {
	began := time.Now()
	t, r, err := p.traceroute(ctx, dst, probe)
	if err != nil {
		return r, err
	}
	m := newMTUPlan(time.Now(), began.Add(workerapi.TracerouteMTULimit), dst, t)
	_, err = p.drive(ctx, dst, exchange.Probe{}, m)
	if err == nil && m.isAmbiguous() && probe.Protocol == exchange.UDP {
		err = p.testArrival(ctx, probe, m)
	}
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	path := m.result(err)
	r.MTU, r.Facts = &path.MTU, append(r.Facts, path.facts...)
	return r, nil
}

func (m *mtuPlan) sizes() []int {
	if m.dst.Is4() {
		return mtuSizes4
	}
	return mtuSizes6
}

func (m *mtuPlan) leastMTU() int {
	if m.dst.Is4() {
		return leastMTU4
	}
	return leastMTU6
}

// end is the TTL with which packets go to the end of what is measured: the destination, or the farthest router.
func (m *mtuPlan) end() int {
	if *m.echoes {
		return reachTTL
	}
	return m.routers[len(m.routers)-1].ttl
}

func (m *mtuPlan) next(now time.Time) step {
	if !now.Before(m.deadline) {
		m.late = true
		return step{done: true, late: true}
	}
	for _, t := range m.trials {
		t.lost = t.lost || len(t.sent) > 0 && !m.waits(t).After(now) && (t.rejected || len(t.sent) == t.tries())
	}
	m.extend(now)
	trial, at := m.choose(now)
	by := m.deadline.Add(-m.silence)
	switch {
	case trial == nil && at.IsZero():
		return step{done: true, missing: m.isMissing()}
	case trial == nil:
		return step{again: earlier(at, m.deadline)}
	case now.After(by):
		return step{again: m.deadline}
	case now.Before(m.nextSend):
		return step{again: earlier(m.nextSend, m.deadline)}
	}
	m.asked = trial
	return step{send: &request{seq: uint16(len(m.sends) + 1), ttl: trial.ttl, size: trial.size}, by: by}
}

// waits returns until when the answer to a trial's last probe is waited for. Where a message came that it is too big,
// which may be forged, that is for as long as a reply usually takes.
func (m *mtuPlan) waits(t *mtuTrial) time.Time {
	last := t.sent[len(t.sent)-1]
	if t.rejected || len(t.sent) < t.tries() {
		return last.Add(m.retry)
	}
	return last.Add(m.silence)
}

// choose returns the trial to send now; else at is when there is something to do, zero for never.
func (m *mtuPlan) choose(now time.Time) (trial *mtuTrial, at time.Time) {
	for _, t := range m.trials {
		if m.isSettled(t) {
			continue
		}
		due := t.due
		if len(t.sent) > 0 {
			due = m.waits(t)
		}
		if due.After(now) {
			at = earlier(at, due)
		} else if len(m.sends) < workerapi.MaxMTUProbes {
			return t, now
		}
	}
	return nil, at
}

// isSettled reports whether no more is to be sent or expected for a trial.
func (m *mtuPlan) isSettled(t *mtuTrial) bool {
	return t.passed || t.lost || t.oversized || m.isMoot(t)
}

// isMoot reports whether the outcome of a trial follows from that of others.
func (m *mtuPlan) isMoot(t *mtuTrial) bool {
	switch t.role {
	case mtuLadder:
		return t.size < m.passing()
	case mtuLocate:
		reached, lost := m.located(t.size)
		i := m.indexOf(t.ttl)
		return i <= reached || i >= lost
	}
	return false
}

// passing is the largest size that got to the end; 0 for none.
func (m *mtuPlan) passing() int {
	most := 0
	for _, t := range m.trials {
		if t.passed && (t.role == mtuLadder || t.role == mtuConfirm && t.size > controlSize) {
			most = max(most, t.size)
		}
	}
	return most
}

// failing is the smallest size above the passing ones that did not get to the end; 0 for none.
func (m *mtuPlan) failing() int {
	least, passing := 0, m.passing()
	for _, t := range m.trials {
		if t.role == mtuLadder && t.size > passing && !t.oversized && (least == 0 || t.size < least) {
			least = t.size
		}
	}
	return least
}

// extend adds the trials for which what has come by now is the reason.
func (m *mtuPlan) extend(now time.Time) {
	if m.echoes == nil {
		m.testEcho()
	}
	switch {
	case m.echoes == nil, !*m.echoes && len(m.routers) == 0:
	case !m.has(func(t *mtuTrial) bool { return t.role == mtuLadder }):
		for _, size := range m.sizes() {
			m.trials = append(m.trials, &mtuTrial{role: mtuLadder, size: size, ttl: m.end()})
		}
	case m.has(func(t *mtuTrial) bool { return t.role == mtuLadder && !m.isSettled(t) }), m.failing() == 0:
	default:
		m.confirm(now)
		if !m.has(func(t *mtuTrial) bool { return t.role == mtuLocate && !m.isSettled(t) }) {
			m.locate()
		}
	}
}

// has reports whether there is such a trial.
func (m *mtuPlan) has(is func(*mtuTrial) bool) bool { return slices.ContainsFunc(m.trials, is) }

// testEcho finds whether the destination answers echo requests.
func (m *mtuPlan) testEcho() {
	if len(m.trials) == 0 {
		m.trials = append(m.trials, &mtuTrial{role: mtuControl, size: controlSize, ttl: reachTTL})
	} else if t := m.trials[0]; t.passed || t.lost || t.oversized {
		m.echoes = new(t.passed)
	}
}

// compared is the size that one that vanishes is compared with: the largest that passes.
func (m *mtuPlan) compared() int { return max(m.passing(), controlSize) }

// confirm compares a size that vanishes with one that passes, which goes last: the answer to it must not be the reason
// why a host that limits its answers leaves the other one out.
func (m *mtuPlan) confirm(now time.Time) {
	failing := m.failing()
	if m.isReported(failing) || len(m.confirmed(failing)) > 0 {
		return
	}
	for i := range confirmations {
		due := now.Add(time.Duration(i) * recheckGap)
		for _, size := range []int{failing, m.compared()} {
			m.trials = append(m.trials, &mtuTrial{role: mtuConfirm, size: size, ttl: m.end(), due: due})
		}
	}
}

// confirmed returns the trials that confirm a size.
func (m *mtuPlan) confirmed(size int) []*mtuTrial {
	var all []*mtuTrial
	for _, t := range m.trials {
		if t.role == mtuConfirm && t.size == size {
			all = append(all, t)
		}
	}
	return all
}

// isFirm reports whether a size vanishes while one that passes gets through, each time.
func (m *mtuPlan) isFirm(failing int) bool {
	lost, passed := m.confirmed(failing), m.confirmed(m.compared())
	sent := func(t *mtuTrial) bool { return len(t.sent) > 0 }
	return len(lost) >= confirmations && len(passed) >= confirmations &&
		!slices.ContainsFunc(lost, func(t *mtuTrial) bool { return !sent(t) || t.passed }) &&
		!slices.ContainsFunc(passed, func(t *mtuTrial) bool { return !t.passed })
}

// wanting returns the size whose loss is to be placed; 0 for none: one that vanishes, or whose reports come from a
// router that is not in the trace.
func (m *mtuPlan) wanting() int {
	failing := m.failing()
	if !m.isReported(failing) || m.reporter(failing) == 0 {
		return failing
	}
	if top := m.top(); !m.hasReport(top) {
		return top
	}
	return 0
}

// top is the largest size that could be sent.
func (m *mtuPlan) top() int {
	most := 0
	for _, t := range m.trials {
		if t.role == mtuLadder && !t.oversized {
			most = max(most, t.size)
		}
	}
	return most
}

// locate sends a size with the TTLs of a few routers, of those between which it may be lost.
func (m *mtuPlan) locate() {
	size := m.wanting()
	if size == 0 {
		return
	}
	reached, lost := m.located(size)
	between := lost - reached - 1
	width := min(locateWidth, between)
	for i := range width {
		at := reached + 1 + (2*i+1)*between/(2*width)
		m.trials = append(m.trials, &mtuTrial{role: mtuLocate, size: size, ttl: m.routers[at].ttl})
	}
}

// within is how many routers lie before the end.
func (m *mtuPlan) within() int {
	if *m.echoes {
		return len(m.routers)
	}
	return len(m.routers) - 1
}

// located returns the indices of the last router that a size is known to reach and of the first that it does not; -1
// and within where there is none.
func (m *mtuPlan) located(size int) (reached, lost int) {
	reached, lost = -1, m.within()
	for _, t := range m.trials {
		if t.role == mtuLocate && t.size >= size && t.passed {
			reached = max(reached, m.indexOf(t.ttl))
		}
	}
	for _, t := range m.trials {
		if i := m.indexOf(t.ttl); t.role == mtuLocate && t.size <= size && !t.passed && t.lost && i > reached {
			lost = min(lost, i)
		}
	}
	return reached, lost
}

func (m *mtuPlan) indexOf(ttl int) int {
	return slices.IndexFunc(m.routers, func(r mtuRouter) bool { return r.ttl == ttl })
}

// ttlAt is the TTL of a router by its index; 0 for -1.
func (m *mtuPlan) ttlAt(index int) int {
	if index < 0 {
		return 0
	}
	return m.routers[index].ttl
}

func (m *mtuPlan) sent(_ request, at time.Time) {
	m.asked.sent = append(m.asked.sent, at)
	m.sends = append(m.sends, m.asked)
	m.nextSend = at.Add(roundGap)
}

// oversized reports that this host's link does not carry the packet.
func (m *mtuPlan) oversized(request) { m.asked.oversized = true }

func (m *mtuPlan) answered(a exchange.Answer) {
	i := int(a.Seq) - 1
	if i < 0 || i >= len(m.sends) {
		return
	}
	switch t := m.sends[i]; a.Kind {
	case exchange.Reply:
		if a.Damaged {
			return
		}
		t.passed = true
		if t.ttl != reachTTL && m.echoes != nil && *m.echoes {
			t.ttl, t.role = reachTTL, mtuConfirm // the path has become shorter: it got to the destination
		}
	case exchange.TimeExceeded:
		t.passed = t.passed || t.ttl != reachTTL
	case exchange.TooBig:
		m.report(t, a)
	}
}

// report notes that a packet is too big for a link. A size that the message states is tried: it is a claim.
func (m *mtuPlan) report(t *mtuTrial, a exchange.Answer) {
	t.rejected = true
	r := mtuReport{size: t.size, from: a.From, mtu: a.MTU}
	if slices.Contains(m.reports, r) || len(m.reports) == mostReports {
		return
	}
	m.reports = append(m.reports, r)
	known, stated := false, 0
	for _, o := range m.trials {
		if o.role == mtuLadder {
			known = known || o.size == r.mtu
			if !slices.Contains(m.sizes(), o.size) {
				stated++
			}
		}
	}
	if m.states(r) && !known && stated < mtuStated {
		m.trials = append(m.trials, &mtuTrial{role: mtuLadder, size: r.mtu, ttl: m.end()})
	}
}

func (m *mtuPlan) limit() time.Time { return m.deadline }

func (m *mtuPlan) demand() demand { return demand{left: mtuDemand} }

func (m *mtuPlan) parts(uint16, func(kind string, number int, value any)) {}

// isMissing reports whether the answer to a probe that matters has not come.
func (m *mtuPlan) isMissing() bool {
	return slices.ContainsFunc(m.trials, func(t *mtuTrial) bool {
		return len(t.sent) > 0 && t.lost && !t.passed && !t.rejected
	})
}
