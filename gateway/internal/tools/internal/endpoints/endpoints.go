// Package endpoints checks the addresses of a host, all at once and each by itself: a race between them would hide one
// that is broken.
package endpoints

import (
	"context"
	"net/netip"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
)

// State is the outcome of a check of one address.
type State int

// The states. A check that has not ended is Unknown, the zero value.
const (
	Unknown State = iota
	Up
	Down
	Skipped // not tried: this host has no route to the address, or a limit was reached
	Refused // the address policy refuses the address
	Busy    // this host lacked the means to try
)

// StateOf returns the state of an address whose check ended with an error, or with nil.
func StateOf(err error) State {
	switch {
	case err == nil:
		return Up
	case fault.Is(err, fault.Refused):
		return Refused
	case fault.Is(err, fault.Limited):
		return Skipped
	case fault.IsOwn(err):
		return Busy
	}
	return Down
}

// Result is one address and the outcome of its check. An address that is down without an Err did answer, but badly.
type Result[T any] struct {
	Address netip.Addr
	State   State
	Value   T
	Err     error
}

// Policy says which addresses are checked and how long. Zero bounds nothing.
type Policy struct {
	Max       int // addresses
	PerFamily int // addresses of each family
	// Retry is how long a second attempt at an address that is down may take; without it there is none. It begins Pause
	// after the first has failed, or beside a first that is silent after Beside. First is how long that one may take.
	First, Retry, Pause, Beside time.Duration
	// Grace is how long Run waits for the others once an address is up. Without it, Run waits for all.
	Grace time.Duration
}

// addresses returns the addresses to check, of both families in turn. They may have no route from here.
func (p Policy) addresses(r egress.Resolution) []netip.Addr {
	var list []netip.Addr
	for i := range max(len(r.V4), len(r.V6)) {
		for _, family := range [][]netip.Addr{r.V6, r.V4} {
			if i < len(family) && (p.PerFamily == 0 || i < p.PerFamily) && (p.Max == 0 || len(list) < p.Max) {
				list = append(list, family[i])
			}
		}
	}
	return list
}

// Checks are the checks of a host's addresses. They belong to the goroutine that called Run.
type Checks[T any] struct {
	Results []Result[T]
	Running int // checks that have not ended

	ended  chan ended[T]
	cancel context.CancelFunc
	notify func(*Checks[T], int)
}

type ended[T any] struct {
	index  int
	result Result[T]
	panic  *parallel.Panic
}

// Run checks the first addresses of a host with try, which is called from several goroutines. It returns when all
// checks have ended, Grace after an address is up, or at once if one is refused, since that refuses the host. Run and
// Wait call notify, if it is not nil, with each result as it comes. The caller must call Wait or Stop.
func Run[T any](
	ctx context.Context, resolution egress.Resolution, policy Policy,
	try func(context.Context, netip.Addr) Result[T], notify func(c *Checks[T], index int),
) *Checks[T] {
	ctx = progress.Know(ctx, progress.Known{DNSMs: progress.Milliseconds(resolution.Duration)})
	ctx, cancel := context.WithCancel(ctx) // #nosec G118 -- Wait calls it
	addresses := policy.addresses(resolution)
	c := &Checks[T]{
		Results: make([]Result[T], len(addresses)), Running: len(addresses),
		ended: make(chan ended[T], len(addresses)), cancel: cancel, notify: notify,
	}
	for i, address := range addresses {
		c.Results[i].Address = address
		e := ended[T]{index: i}
		parallel.Go(func() {
			if err := resolution.NoRoute(address); err != nil {
				e.result = Result[T]{State: Skipped, Err: err}
				return
			}
			e.result = check(ctx, policy, address, try)
		}, func(p *parallel.Panic) {
			e.panic = p
			c.ended <- e
		})
	}
	var late <-chan time.Time
	for c.Running > 0 {
		select {
		case e := <-c.ended:
			c.receive(e)
			switch state := c.Results[e.index].State; {
			case state == Refused:
				return c
			case state == Up && late == nil && policy.Grace > 0:
				late = time.After(policy.Grace)
			}
		case <-late:
			return c
		}
	}
	return c
}

// Wait waits for the checks that are still running.
func (c *Checks[T]) Wait() {
	for c.Running > 0 {
		c.receive(<-c.ended)
	}
	c.cancel()
}

// Stop ends the checks that are still running and waits for them, without notifying.
func (c *Checks[T]) Stop() {
	c.cancel()
	c.notify = nil
	c.Wait()
}

func (c *Checks[T]) receive(e ended[T]) {
	c.Running--
	if e.panic != nil {
		c.cancel()
		panic(e.panic)
	}
	e.result.Address = c.Results[e.index].Address
	c.Results[e.index] = e.result
	if c.notify != nil {
		c.notify(c, e.index)
	}
}

// check checks one address in at most two attempts. Neither shortens the other, but a good result ends it.
func check[T any](
	ctx context.Context, policy Policy, address netip.Addr, try func(context.Context, netip.Addr) Result[T],
) Result[T] {
	if policy.Retry == 0 {
		return try(ctx, address)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	attempt := func(number int, limit time.Duration) *parallel.Pending[Result[T]] {
		return parallel.Start(func() Result[T] {
			ctx, cancel := context.WithTimeout(progress.Know(ctx, progress.Known{Attempt: number}), limit)
			defer cancel()
			return try(ctx, address)
		})
	}
	first := attempt(1, policy.First)
	select {
	case <-first.Done():
		if first.Wait().State != Down {
			return first.Wait()
		}
		select {
		case <-time.After(policy.Pause):
		case <-ctx.Done():
			return first.Wait()
		}
	case <-time.After(policy.Beside):
	}
	second := attempt(2, policy.Retry)
	select {
	case <-first.Done():
		if first.Wait().State != Up {
			<-second.Done()
		}
	case <-second.Done():
		if second.Wait().State != Up {
			<-first.Done()
		}
	}
	cancel()
	switch a, b := first.Wait(), second.Wait(); {
	case a.State == Up:
		return a
	case b.State != Up && b.State != Busy && a.Err == nil && b.Err != nil:
		return a // a bad answer says more than the silence after it
	default:
		return b
	}
}
