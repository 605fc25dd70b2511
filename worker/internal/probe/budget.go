package probe

import (
	"maps"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// sweepAt is how many addresses a budget holds before it drops those whose limit is whole again.
const sweepAt = 1024

// Budget limits how fast packets leave: all of them together, and those of jobs that probe one address. It paces, and
// rejects a request for a moment that comes too soon, and a job that does not fit (admit). The limit of one address
// lets a second's worth go at once, which is more than a job sends; that of all lets a tenth go, so that many jobs that
// start together are no burst that a link would drop.
type Budget struct {
	mu        sync.Mutex
	all       *rate.Limiter
	perTarget int
	targets   map[netip.Addr]*rate.Limiter
	sweep     int
	jobs      map[*demand]struct{} // that were admitted and run
}

// NewBudget makes a budget of packets a second in all and for each probed address; 0 is no limit.
func NewBudget(all, perTarget int) *Budget {
	return &Budget{
		all: limiter(all, max(1, all/10)), perTarget: perTarget, targets: map[netip.Addr]*rate.Limiter{}, sweep: sweepAt,
		jobs: map[*demand]struct{}{},
	}
}

func limiter(perSecond, burst int) *rate.Limiter {
	if perSecond <= 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(perSecond), burst)
}

// grant returns the moment at which one more packet to an address may leave under both limits, and reserves it where
// that is by a moment: a packet that leaves too late is of no use to the caller, and would keep others waiting.
func (b *Budget) grant(now, by time.Time, dst netip.Addr) (at time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	target := b.of(dst, now)
	wait := max(b.all.ReserveN(now, 1).DelayFrom(now), target.ReserveN(now, 1).DelayFrom(now))
	if at = now.Add(wait); !at.After(by) {
		return at, true
	}
	giveBack(now, b.all, target)
	return at, false
}

// giveBack returns a packet to limits. Reservation.Cancel returns none where others have reserved behind it.
func giveBack(now time.Time, limits ...*rate.Limiter) {
	for _, l := range limits {
		l.ReserveN(now, -1)
	}
}

// of returns the limit of one address.
func (b *Budget) of(dst netip.Addr, now time.Time) *rate.Limiter {
	if b.perTarget <= 0 {
		return limiter(0, 0)
	}
	l := b.targets[dst]
	if l == nil {
		b.forget(now)
		l = limiter(b.perTarget, b.perTarget)
		b.targets[dst] = l
	}
	return l
}

// forget drops the addresses whose limit is whole again, at each doubling of what remains: the memory is bounded by
// the addresses of a second, and the work by the packets.
func (b *Budget) forget(now time.Time) {
	if len(b.targets) < b.sweep {
		return
	}
	maps.DeleteFunc(b.targets, func(_ netip.Addr, l *rate.Limiter) bool { return l.TokensAt(now) >= float64(l.Burst()) })
	b.sweep = max(sweepAt, 2*len(b.targets))
}

// reservation is one job's part in the budget: at most one packet reserved ahead, so that jobs take turns.
type reservation struct {
	budget *Budget
	dst    netip.Addr
	at     time.Time // when the reserved packet may leave; zero where none is reserved
	demand *demand   // of the job; nil before it is admitted
}

func (b *Budget) reservation(dst netip.Addr) reservation { return reservation{budget: b, dst: dst} }

// admit admits the job, or returns the time after which it may be.
func (r *reservation) admit(now time.Time, d demand) (free time.Duration, ok bool) {
	if r.budget == nil {
		return 0, true
	}
	d.dst = r.dst
	if free, ok = r.budget.admit(now, &d); ok {
		r.demand = &d
	}
	return free, ok
}

// wait returns how long the next packet still has to wait, at most zero where it may leave; ok is false where it could
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
		r.budget.reserved(r.demand)
	}
	return r.at.Sub(now), true
}

// use spends the reserved packet.
func (r *reservation) use() { r.at = time.Time{} }

// release ends the job, and returns the packet that was reserved and not spent.
func (r *reservation) release(now time.Time) {
	if r.budget == nil {
		return
	}
	r.budget.mu.Lock()
	defer r.budget.mu.Unlock()
	delete(r.budget.jobs, r.demand)
	if r.at.IsZero() {
		return
	}
	r.at = time.Time{}
	giveBack(now, r.budget.all, r.budget.of(r.dst, now))
}
