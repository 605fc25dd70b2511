package probe

import (
	"maps"
	"net/netip"
	"sync"
	"time"
)

// sweepAt is how many addresses a budget remembers before it forgets those that have been left alone.
const sweepAt = 1024

// Budget limits how fast packets leave: all of them together, and those of jobs that probe one address. It paces; only
// who asks for a moment that comes too soon is refused. Each limit refills evenly (GCRA). That of one address lets a
// second's worth go at once, which is more than a job sends; that of all lets a tenth go, so that many jobs that start
// together are no burst that a link would drop.
type Budget struct {
	mu      sync.Mutex
	all     rate
	target  time.Duration // one packet's share of a second, per address; 0 for no limit
	targets map[netip.Addr]*rate
	sweep   int
}

// NewBudget makes a budget of packets a second in all and for each probed address; 0 is no limit.
func NewBudget(all, perTarget int) *Budget {
	return &Budget{
		all:     rate{share: share(all), burst: max(time.Second/10, share(all))},
		target:  share(perTarget),
		targets: map[netip.Addr]*rate{},
		sweep:   sweepAt,
	}
}

func share(perSecond int) time.Duration {
	if perSecond <= 0 {
		return 0
	}
	return time.Second / time.Duration(perSecond)
}

// rate is one limit. until is when everything that was granted so far will have been refilled.
type rate struct {
	share time.Duration
	burst time.Duration // how much of the time to come may be spent at once; at least share
	until time.Time
}

// next gives the moment at which one more packet may leave.
func (r *rate) next(now time.Time) time.Time {
	if r.share == 0 {
		return now
	}
	return later(now, later(r.until, now).Add(r.share-r.burst))
}

// take reserves that packet.
func (r *rate) take(now time.Time) {
	if r.share > 0 {
		r.until = later(r.until, now).Add(r.share)
	}
}

// giveBack undoes a grant that was not used.
func (r *rate) giveBack() { r.until = r.until.Add(-r.share) }

// grant gives the moment at which one more packet to an address may leave under both limits, and reserves it where that
// is by a moment: what leaves too late is of no use to who asks, and would keep others waiting.
func (b *Budget) grant(now, by time.Time, dst netip.Addr) (at time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.of(dst, now)
	at = later(b.all.next(now), r.next(now))
	if at.After(by) {
		return at, false
	}
	b.all.take(now)
	r.take(now)
	return at, true
}

// of gives the limit of one address.
func (b *Budget) of(dst netip.Addr, now time.Time) *rate {
	if b.target == 0 {
		return &rate{}
	}
	r := b.targets[dst]
	if r == nil {
		b.forget(now)
		r = &rate{share: b.target, burst: time.Second}
		b.targets[dst] = r
	}
	return r
}

func (b *Budget) giveBack(dst netip.Addr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all.giveBack()
	if r := b.targets[dst]; r != nil {
		r.giveBack()
	}
}

// forget drops the addresses whose limit is whole again, at each doubling of what remains: the memory is bounded by
// the addresses of a second, and the work by the packets.
func (b *Budget) forget(now time.Time) {
	if len(b.targets) < b.sweep {
		return
	}
	maps.DeleteFunc(b.targets, func(_ netip.Addr, r *rate) bool { return !r.until.After(now) })
	b.sweep = max(sweepAt, 2*len(b.targets))
}

// reservation is one job's part in the budget: at most one packet reserved ahead, so that jobs take turns.
type reservation struct {
	budget *Budget
	dst    netip.Addr
	at     time.Time // when the reserved packet may leave; zero where none is reserved
}

func (b *Budget) reservation(dst netip.Addr) reservation { return reservation{budget: b, dst: dst} }

// wait tells how long the next packet has to wait still, not above zero where it may leave; ok is false where it could
// not leave by a moment, and nothing is reserved then.
func (r *reservation) wait(now, by time.Time) (wait time.Duration, ok bool) {
	if r.budget == nil {
		return 0, true
	}
	if r.at.IsZero() {
		at, ok := r.budget.grant(now, by, r.dst)
		if !ok {
			return at.Sub(now), false
		}
		r.at = at
	}
	return r.at.Sub(now), true
}

// use spends the reserved packet.
func (r *reservation) use() { r.at = time.Time{} }

// release gives back what was reserved and not spent.
func (r *reservation) release() {
	if r.budget == nil || r.at.IsZero() {
		return
	}
	r.at = time.Time{}
	r.budget.giveBack(r.dst)
}
