package egress

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/parallel"
)

const (
	// headStart is how long an attempt is alone before the next one begins (RFC 8305 section 8), so that a family whose
	// packets vanish costs a quarter of a second and not the round trip.
	headStart = 250 * time.Millisecond
	// maxDials bounds the connections that one name can make this service begin.
	maxDials = 6
)

// dialResult is what came of one attempt of a race.
type dialResult struct {
	conn    net.Conn
	address netip.Addr
	took    time.Duration
	err     error
	panic   *parallel.Panic
}

func (r dialResult) close() {
	if r.conn != nil {
		_ = r.conn.Close()
	}
}

// race connects to the first of the addresses that answers, each dialled (and with it judged) for itself. It returns
// when no attempt is left: the losers' connections are closed. The error is that of the attempt that tells most. A
// panic of any attempt is raised here, with no connection left open.
func race(ctx context.Context, plan dialPlan, port uint16) (dialResult, error) {
	if len(plan.addresses) == 1 { // nobody to race with
		only := plan.attempt(ctx, netip.AddrPortFrom(plan.addresses[0], port))
		return only, only.err
	}
	return raceAll(ctx, plan, port)
}

func raceAll(ctx context.Context, plan dialPlan, port uint16) (dialResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	waiting := plan.addresses[:min(len(plan.addresses), maxDials)]
	results := make(chan dialResult, len(waiting))
	running := 0
	begin := func() {
		to := netip.AddrPortFrom(waiting[0], port)
		waiting = waiting[1:]
		running++
		var r dialResult
		parallel.Go(func() { r = plan.attempt(ctx, to) }, func(p *parallel.Panic) {
			r.panic = p
			results <- r
		})
	}

	next := time.NewTicker(headStart)
	defer next.Stop()
	var failures []error
	for begin(); running > 0; {
		select {
		case r := <-results:
			running--
			if r.panic != nil || r.err == nil || fault.Is(r.err, fault.Refused) {
				cancel()
				return settle(r, results, running)
			}
			failures = append(failures, r.err)
		case <-next.C:
			if len(waiting) == 0 {
				continue
			}
		}
		if len(waiting) > 0 {
			begin()
			next.Reset(headStart)
		}
	}
	return dialResult{}, mostInformative(failures)
}

func (p dialPlan) attempt(ctx context.Context, to netip.AddrPort) dialResult {
	if p.admit != nil {
		if err := p.admit(ctx, to); err != nil {
			return dialResult{address: to.Addr(), err: err}
		}
	}
	began := time.Now()
	conn, err := p.dial(ctx, to)
	return dialResult{conn: conn, address: to.Addr(), took: time.Since(began), err: err}
}

// settle ends a race with the attempt that decided it: it waits for the others and closes their connections.
func settle(decided dialResult, others <-chan dialResult, running int) (dialResult, error) {
	panicked := decided.panic
	for range running {
		other := <-others
		other.close()
		panicked = cmp.Or(panicked, other.panic)
	}
	if panicked != nil {
		decided.close()
		panic(panicked)
	}
	return decided, decided.err
}

// mostInformative picks the failure to report: a refusal by the target says more than silence, silence more than the
// lack of a route. An attempt that this host could not make, or that was not made because a limit was reached, leaves
// open what its address would have said, so that nothing can be said of the target, whatever the others met.
func mostInformative(failures []error) error {
	telling := func(err error) int {
		switch {
		case fault.Is(err, fault.Limited), fault.Is(err, fault.Busy):
			return 3
		case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET):
			return 2
		case fault.IsTimeout(err):
			return 1
		}
		return 0
	}
	most := failures[0]
	for _, err := range failures[1:] {
		if telling(err) > telling(most) {
			most = err
		}
	}
	return most
}
