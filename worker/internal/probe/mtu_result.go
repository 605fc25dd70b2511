package probe

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/shared/workerapi"
)

// states reports whether a message states an MTU that can be one: not 0, as routers from before RFC 1191 do, not less
// than the least of the family, and less than the packet.
func (m *mtuPlan) states(r mtuReport) bool { return r.mtu >= m.leastMTU() && r.mtu < r.size }

// holds reports whether what a message states was measured: packets of that size pass that router.
func (m *mtuPlan) holds(r mtuReport) bool {
	tried := func(t *mtuTrial) bool { return t.role == mtuLadder && t.size == r.mtu && len(t.sent) > 0 }
	if !m.states(r) || m.passing() == 0 || r.mtu < m.passing() || !m.has(tried) {
		return false
	}
	return !slices.ContainsFunc(m.reports, func(o mtuReport) bool { return o.from == r.from && o.size <= r.mtu })
}

// hasReport reports whether a message came that a size is too big.
func (m *mtuPlan) hasReport(size int) bool {
	return slices.ContainsFunc(m.reports, func(r mtuReport) bool { return r.size == size })
}

// isReported reports whether the loss of a size is: routers limit how often they report, so what a message says of a
// larger packet counts too.
func (m *mtuPlan) isReported(size int) bool {
	return m.hasReport(size) ||
		slices.ContainsFunc(m.reports, func(r mtuReport) bool { return r.mtu < size && m.holds(r) })
}

// reporter is the TTL of the router that reports the loss of a size; 0 where it is not known.
func (m *mtuPlan) reporter(size int) int {
	for _, r := range m.reports {
		if ttl := m.ttlOf(r.from); ttl > 0 && (r.size == size || r.mtu < size && m.holds(r)) {
			return ttl
		}
	}
	return 0
}

// ttlOf is the TTL of the router that has an address; 0 for none.
func (m *mtuPlan) ttlOf(a netip.Addr) int {
	i := slices.IndexFunc(m.routers, func(r mtuRouter) bool { return slices.Contains(r.addresses, a) })
	return m.ttlAt(i)
}

// place is where a size is lost: the TTL of the last router that it reaches, 0 where that is none, and of the first
// that it does not, 0 where that is the end. ok is false where that was not found.
func (m *mtuPlan) place(size int) (reached, lost int, ok bool) {
	from, to := m.located(size)
	if to < m.within() {
		lost = m.routers[to].ttl
	} else if !*m.echoes {
		lost = m.end()
	}
	return m.ttlAt(from), lost, to-from == 1
}

// isAmbiguous reports whether a size vanishes that reaches every router, so that it may be its reply that is lost.
func (m *mtuPlan) isAmbiguous() bool {
	failing := m.failing()
	if m.echoes == nil || !*m.echoes || failing == 0 || m.isReported(failing) || !m.isFirm(failing) {
		return false
	}
	_, lost, ok := m.place(failing)
	return ok && lost == 0
}

// result reports what the measurement has come to; err is why it ended early, or nil.
func (m *mtuPlan) result(err error) *workerapi.MTU {
	r := &workerapi.MTU{HopMTUs: []workerapi.HopMTU{}}
	var notes []string
	say := func(format string, arguments ...any) { notes = append(notes, fmt.Sprintf(format, arguments...)) }
	switch {
	case err != nil:
		say("%s", mtuFailure(err))
	case m.echoes == nil:
		say("The time ran out before anything was measured.")
	case !*m.echoes && len(m.routers) == 0:
		say("Nothing answers that could show which sizes pass.")
	case m.failing() == 0:
		m.unlimited(r, say)
	default:
		m.limited(r, say)
	}
	if len(notes) > 0 {
		r.Note = new(strings.Join(notes, " "))
	}
	return r
}

func mtuFailure(err error) string {
	if busy := (*BusyError)(nil); errors.As(err, &busy) {
		return "It was not measured: the worker is already sending as many probes as it may."
	}
	return "It was not measured: the worker's own host could not send the probes."
}

// unlimited is for a path that carries all that could be sent.
func (m *mtuPlan) unlimited(r *workerapi.MTU, say func(string, ...any)) {
	passing := m.passing()
	if least := m.leastOversized(); least > 0 {
		say("The link of the worker's own host does not carry packets of %s, so larger ones could not be tried.",
			octets(least))
	}
	switch {
	case passing == 0:
	case *m.echoes:
		r.Path = &passing
	default:
		say("The destination answers no echo requests; packets of %s get as far as hop %d.", octets(passing), m.end())
	}
}

// limited is for a path on which some sizes get no answer.
func (m *mtuPlan) limited(r *workerapi.MTU, say func(string, ...any)) {
	passing, failing := m.passing(), m.failing()
	if passing > 0 {
		r.Path = &passing
	}
	if !*m.echoes {
		say("The destination answers no echo requests, so this is the path as far as hop %d.", m.end())
	}
	switch {
	case m.isReported(failing):
		m.reported(r, say)
	case m.late:
		r.Path = nil
		say("The time ran out before the sizes that get no answer were distinguished from other loss.")
	case !m.isFirm(failing):
		r.Path = nil
		say("Packets of %s got no answer, but too few of any size were answered to tell a limit on size from other loss.",
			octets(failing))
	case m.isAmbiguous():
		m.ambiguous(r, say)
	default:
		m.vanished(r, failing, say)
	}
	m.addStated(r)
	r.HopMTUs = inOrder(r.HopMTUs)
}

// addStated adds what routers state and measurements do not contradict.
func (m *mtuPlan) addStated(r *workerapi.MTU) {
	for _, report := range m.reports {
		ttl := m.ttlOf(report.from)
		if ttl == 0 && r.LimitedAt != nil && report.mtu == m.passing() {
			ttl = *r.LimitedAt
		}
		if m.holds(report) && ttl > 0 {
			r.HopMTUs = append(r.HopMTUs, workerapi.HopMTU{TTL: ttl, MTU: report.mtu})
		}
	}
}

// reported is for a limit that ICMP messages report.
func (m *mtuPlan) reported(r *workerapi.MTU, say func(string, ...any)) {
	failing := m.failing()
	at := m.reporter(failing)
	if reached, lost, ok := m.place(failing); at == 0 && ok && max(lost, m.destination) > 0 {
		// It is not the router that is reached, which has other addresses, unless none is between.
		at = min(reached+1, cmp.Or(lost, m.destination)-1)
	}
	if at > 0 {
		r.LimitedAt = &at
	}
	r.Reported = new(true)
	m.vanishedBefore(r, at, say)
	isWrong := func(r mtuReport) bool { return !m.states(r) || m.passing() > 0 && !m.holds(r) }
	if wrong := slices.IndexFunc(m.reports, isWrong); wrong >= 0 {
		say("A message said that packets may have %s, which is wrong: only measured sizes count here.",
			octets(m.reports[wrong].mtu))
	}
}

// vanishedBefore is for larger packets that vanish at a router nearer than the one that limits the path.
func (m *mtuPlan) vanishedBefore(r *workerapi.MTU, at int, say func(string, ...any)) {
	top := m.top()
	reached, lost, ok := m.place(top)
	if m.hasReport(top) || !ok || reached == 0 || lost == 0 || at > 0 && lost > at {
		return
	}
	r.Reported = new(false)
	past := m.passing()
	for _, report := range m.reports {
		if report.size < top {
			past = max(past, report.size)
		}
	}
	r.HopMTUs = append(r.HopMTUs, workerapi.HopMTU{TTL: reached, MTU: past})
	say("Packets of %s vanish behind hop %d before that, without a message.", octets(top), reached)
}

// vanished is for a size that is lost on the way without a message.
func (m *mtuPlan) vanished(r *workerapi.MTU, failing int, say func(string, ...any)) {
	reached, lost, ok := m.place(failing)
	if !ok {
		say("Where larger packets are lost was not found in time.")
		return
	}
	r.Reported = new(false)
	switch {
	case reached == 0:
		say("Packets of %s vanish before hop %d.", octets(failing), lost)
	case lost-reached == 1:
		say("Packets of %s vanish behind hop %d.", octets(failing), reached)
	default:
		say("Packets of %s vanish between hop %d and hop %d.", octets(failing), reached, lost)
	}
	if reached == 0 {
		return
	}
	r.LimitedAt = &reached
	if passing := m.passing(); passing > 0 {
		r.HopMTUs = append(r.HopMTUs, workerapi.HopMTU{TTL: reached, MTU: passing})
	}
}

// ambiguous is for a size that reaches every router and gets no echo reply.
func (m *mtuPlan) ambiguous(r *workerapi.MTU, say func(string, ...any)) {
	failing := m.failing()
	switch {
	case m.arrives == nil:
		say("Packets of %s reach the last router that answers, but get no echo reply: the last link is narrower, the "+
			"reply, which is as large, is lost on its way back, or a firewall drops large echo requests.", octets(failing))
	case *m.arrives:
		r.Path = new(m.top())
		say("Packets of %s arrive, but echo replies of more than %s do not come back: the way back is narrower, or a "+
			"firewall drops large echo requests.", octets(m.top()), octets(m.passing()))
	default:
		say("Packets of %s get neither an echo reply nor, as UDP datagrams, the short answer that smaller ones get: they "+
			"vanish right before the destination.", octets(failing))
		r.Reported = new(false)
		if n := len(m.routers); n > 0 && m.passing() > 0 {
			last := m.routers[n-1].ttl
			r.LimitedAt = &last
			r.HopMTUs = append(r.HopMTUs, workerapi.HopMTU{TTL: last, MTU: m.passing()})
		}
	}
}

// leastOversized is the smallest size that this host's link does not carry; 0 for none.
func (m *mtuPlan) leastOversized() int {
	least := 0
	for _, t := range m.trials {
		if t.oversized && (least == 0 || t.size < least) {
			least = t.size
		}
	}
	return least
}

// inOrder sorts by TTL, and keeps the least MTU of each.
func inOrder(hops []workerapi.HopMTU) []workerapi.HopMTU {
	slices.SortFunc(hops, func(a, b workerapi.HopMTU) int {
		if a.TTL != b.TTL {
			return a.TTL - b.TTL
		}
		return a.MTU - b.MTU
	})
	return slices.CompactFunc(hops, func(a, b workerapi.HopMTU) bool { return a.TTL == b.TTL })
}

// octets writes a size with the thousands apart.
func octets(n int) string {
	if n >= 1000 {
		return fmt.Sprintf("%d,%03d octets", n/1000, n%1000)
	}
	return fmt.Sprintf("%d octets", n)
}
