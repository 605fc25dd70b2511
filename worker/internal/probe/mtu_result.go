package probe

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"

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

// mtuResult is a path MTU, and the facts on it.
type mtuResult struct {
	workerapi.MTU
	facts []workerapi.Fact
}

func (r *mtuResult) add(code string, a args) {
	r.facts = append(r.facts, workerapi.Fact{About: workerapi.AboutMTU, Code: code, Args: a})
}

// result reports what the measurement has come to; err is why it ended early, or nil.
func (m *mtuPlan) result(err error) *mtuResult {
	r := &mtuResult{MTU: workerapi.MTU{HopMTUs: []workerapi.HopMTU{}}}
	switch {
	case err != nil:
		r.add(mtuFailure(err), nil)
	case m.echoes == nil:
		r.add("MTU_LATE", nil)
	case !*m.echoes && len(m.routers) == 0:
		r.add("MTU_NOTHING_ANSWERS", nil)
	case m.failing() == 0:
		m.unlimited(r)
	default:
		m.limited(r)
	}
	return r
}

func mtuFailure(err error) string {
	if busy := (*BusyError)(nil); errors.As(err, &busy) {
		return "MTU_WORKER_BUSY"
	}
	return "MTU_NOT_SENT"
}

// unlimited is for a path that carries all that could be sent.
func (m *mtuPlan) unlimited(r *mtuResult) {
	passing := m.passing()
	if least := m.leastOversized(); least > 0 {
		r.add("MTU_OWN_LINK", args{"size": least})
	}
	switch {
	case passing == 0:
	case *m.echoes:
		r.Path = &passing
	default:
		r.add("MTU_MUTE_PASSES", args{"size": passing, "hop": m.end()})
	}
}

// limited is for a path on which some sizes get no answer.
func (m *mtuPlan) limited(r *mtuResult) {
	passing, failing := m.passing(), m.failing()
	if passing > 0 {
		r.Path = &passing
	}
	if !*m.echoes {
		r.add("MTU_MUTE", args{"hop": m.end()})
	}
	switch {
	case m.isReported(failing):
		m.reported(r)
	case m.late:
		r.Path = nil
		r.add("MTU_LATE_BESIDE_LOSS", nil)
	case !m.isFirm(failing):
		r.Path = nil
		r.add("MTU_BESIDE_LOSS", args{"size": failing})
	case m.isAmbiguous():
		m.ambiguous(r)
	default:
		m.vanished(r, failing)
	}
	m.addStated(r)
	r.HopMTUs = inOrder(r.HopMTUs)
}

// addStated adds what routers state and measurements do not contradict.
func (m *mtuPlan) addStated(r *mtuResult) {
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
func (m *mtuPlan) reported(r *mtuResult) {
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
	m.vanishedBefore(r, at)
	isWrong := func(r mtuReport) bool { return !m.states(r) || m.passing() > 0 && !m.holds(r) }
	if wrong := slices.IndexFunc(m.reports, isWrong); wrong >= 0 {
		r.add("MTU_WRONG_MESSAGE", args{"size": m.reports[wrong].mtu})
	}
}

// vanishedBefore is for larger packets that vanish at a router nearer than the one that limits the path.
func (m *mtuPlan) vanishedBefore(r *mtuResult, at int) {
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
	r.add("MTU_VANISHES_EARLIER", args{"size": top, "hop": reached})
}

// vanished is for a size that is lost on the way without a message.
func (m *mtuPlan) vanished(r *mtuResult, failing int) {
	reached, lost, ok := m.place(failing)
	if !ok {
		r.add("MTU_NOT_LOCATED", nil)
		return
	}
	r.Reported = new(false)
	switch {
	case reached == 0:
		r.add("MTU_VANISHES_BEFORE", args{"size": failing, "hop": lost})
	case lost-reached == 1:
		r.add("MTU_VANISHES_BEHIND", args{"size": failing, "hop": reached})
	default:
		r.add("MTU_VANISHES_BETWEEN", args{"size": failing, "from": reached, "to": lost})
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
func (m *mtuPlan) ambiguous(r *mtuResult) {
	failing := m.failing()
	switch {
	case m.arrives == nil:
		r.add("MTU_NO_REPLY", args{"size": failing})
	case *m.arrives:
		r.Path = new(m.top())
		r.add("MTU_NARROW_WAY_BACK", args{"size": m.top(), "back": m.passing()})
	default:
		r.add("MTU_VANISHES_AT_END", args{"size": failing})
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
