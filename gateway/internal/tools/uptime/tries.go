package uptime

import (
	"context"
	"net/netip"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
)

// tries are the requests of one family under way, each in a goroutine of its own. The fields belong to the goroutine of
// run, which alone changes the check.
type tries struct {
	*checker
	check         *familyCheck
	resolution    egress.Resolution
	chain         tried
	first, second *familyCheck // what the tries of the chain came to, nil until then
	addresses     []tried      // as those of the check
	outcomes      chan outcome
	out           int // tries without an outcome
	panicked      *parallel.Panic
}

// tried is the chain or an address: how often it was requested, and how many of these requests are under way.
type tried struct {
	count, out int
	met        bool // the site itself has answered the chain, whatever its redirects lead to
	over       bool // the chain has a good answer, and no other one counts
	cancels    []context.CancelFunc
}

// end ends the tries under way.
func (t *tried) end() {
	for _, cancel := range t.cancels {
		cancel()
	}
}

// outcome is what became of a try.
type outcome struct {
	of    *tried
	at    *addressCheck // nil for the chain
	count int           // which try it was
	hop   egress.Hop    // of an address; of the chain the first one, in an outcome of its own before the end
	chain *familyCheck  // of the chain at its end
	ended bool
	panic *parallel.Panic
}

// check tries the site over one family, and each of its first addresses; whatever does not answer is tried once more: a
// deployment or a lost packet is no outage. The second try begins once all first ones have failed, or beside what has
// been silent for bounds.beside. No try shortens another: the first good answer counts. Only one chain is followed.
// resolution is the site's own lookup, which the round trip finds in the cache.
func (r *checker) check(ctx context.Context, c *familyCheck, resolution egress.Resolution) {
	t := tries{checker: r, check: c, resolution: resolution, addresses: make([]tried, len(c.addresses))}
	t.outcomes = make(chan outcome, 2*len(c.addresses)+4) // two of each address, four of the chain: no try waits
	t.run(ctx)
	if t.panicked != nil {
		panic(t.panicked)
	}
	c.lead()
	c.report(ctx)
}

func (t *tries) run(ctx context.Context) {
	known := progress.Known{DNSMs: progress.Milliseconds(t.resolution.Duration)}
	ctx, cancel := context.WithCancel(progress.Know(ctx, known))
	defer cancel()
	t.follow(ctx, netip.Addr{})
	for i := 1; i < len(t.addresses); i++ {
		t.request(ctx, i)
	}
	notice, beside := time.NewTimer(t.bounds.notice), time.NewTimer(t.bounds.beside)
	defer notice.Stop()
	defer beside.Stop()
	for {
		select {
		case o := <-t.outcomes:
			if t.take(ctx, o); t.panicked != nil {
				cancel()
			}
		case <-notice.C:
			t.state.due(ctx)
		case <-beside.C:
			t.again(ctx)
		}
		if t.out > 0 {
			continue
		}
		if t.panicked != nil || t.check.refused() || ctx.Err() != nil || !t.needsMore() {
			return
		}
		pause(ctx, t.bounds.pause)
		t.again(ctx)
	}
}

// needsMore reports whether the chain or an address has not answered and may do so at a second try.
func (t *tries) needsMore() bool {
	for i := range t.addresses {
		if t.wants(i) {
			return true
		}
	}
	return t.chainWants()
}

func (t *tries) chainWants() bool {
	if t.chain.out > 0 {
		return t.chain.count == 1 && !t.chain.met
	}
	return t.chain.count == 1 && t.check.chainNeedsMore()
}

// wants reports whether that holds for one address. Where there is no other one the chain's try is that of the address.
func (t *tries) wants(i int) bool {
	return len(t.addresses) > 1 && t.addresses[i].count < 2 && !t.check.addresses[i].final()
}

// again gives what has not answered its one more try. The chain goes to an address that is known to answer where the
// one that it met does not.
func (t *tries) again(ctx context.Context) {
	if t.chainWants() {
		t.follow(ctx, t.check.answering())
	}
	for i := range t.addresses {
		if t.wants(i) {
			t.addresses[i].count = 1 // the first of the first address was the chain's
			t.request(ctx, i)
		}
	}
}

// begin counts a try, and bounds its time.
func (t *tries) begin(ctx context.Context, of *tried) context.Context {
	limit := t.bounds.first
	if of.count++; of.count > 1 {
		limit = t.bounds.second
	}
	of.out++
	t.out++
	ctx, cancel := context.WithTimeout(ctx, limit)
	of.cancels = append(of.cancels, cancel)
	return progress.Know(ctx, progress.Known{Attempt: of.count})
}

// follow begins a try of the chain, from one address where it is valid.
func (t *tries) follow(ctx context.Context, from netip.Addr) {
	ctx = t.begin(ctx, &t.chain)
	o := outcome{of: &t.chain, count: t.chain.count}
	c := &familyCheck{family: t.check.family, address: t.check.address}
	parallel.Go(func() {
		t.try(ctx, c, from, func(first egress.Hop) {
			midway := o
			midway.hop = first
			t.outcomes <- midway
		})
	}, func(p *parallel.Panic) {
		o.chain, o.ended, o.panic = c, true, p
		t.outcomes <- o
	})
}

// request begins a request to an address.
func (t *tries) request(ctx context.Context, i int) {
	ctx = t.begin(ctx, &t.addresses[i])
	o := outcome{of: &t.addresses[i], at: &t.check.addresses[i], count: t.addresses[i].count, ended: true}
	to := egress.Request{URL: t.url, Address: o.at.address}
	parallel.Go(func() {
		answer, err := t.client.Do(ctx, to)
		o.hop = egress.Hop{URL: to.URL, Response: answer, Err: err}
	}, func(p *parallel.Panic) {
		o.panic = p
		t.outcomes <- o
	})
}

// take takes in what became of a try.
func (t *tries) take(ctx context.Context, o outcome) {
	if o.ended {
		o.of.out--
		t.out--
	}
	if o.panic != nil {
		t.panicked = o.panic
	}
	switch {
	case t.panicked != nil:
	case o.at != nil && !o.at.up():
		t.takeAddress(ctx, o)
	case o.chain != nil && !o.of.over:
		t.takeChain(ctx, o)
	case o.at == nil && o.hop.Response != nil:
		t.meet(ctx, o)
	}
	t.endUnneeded()
}

// meet takes in the first answer of a chain. It is one of its address, also where another try has settled the chain.
func (t *tries) meet(ctx context.Context, o outcome) {
	t.state.answered(ctx, o.hop.Response)
	if !o.of.over {
		o.of.met, t.check.first = true, o.hop
		t.check.observe()
		t.check.reportMet(ctx)
		return
	}
	for i := range t.check.addresses {
		if a := &t.check.addresses[i]; a.address == o.hop.Response.Address && !a.up() {
			a.see(o.hop)
		}
	}
}

// endUnneeded ends the tries whose outcome would change nothing. That of the chain may be the only one of an address
// for as long as it may take.
func (t *tries) endUnneeded() {
	settled := true
	for i := range t.addresses {
		if t.check.addresses[i].up() {
			t.addresses[i].end()
		} else if len(t.addresses) > 1 {
			settled = false
		}
	}
	if t.chain.over && settled {
		t.chain.end()
	}
}

func (t *tries) takeAddress(ctx context.Context, o outcome) {
	o.at.see(o.hop)
	if o.hop.Response != nil {
		t.state.answered(ctx, o.hop.Response)
	}
	if o.at.up() || o.of.out == 0 {
		o.at.report(ctx)
	}
}

// takeChain settles the chain by a good answer, else once no try of it is left.
func (t *tries) takeChain(ctx context.Context, o outcome) {
	if o.count == 1 {
		t.first = o.chain
		t.first.addLookup(t.resolution)
	} else {
		t.second = o.chain
	}
	switch o.of.over = o.chain.up(); {
	case o.of.over:
		t.check.adopt(o.chain)
	case o.of.out > 0:
		return
	case t.second != nil && t.second.outranks(t.first):
		t.check.adopt(t.second)
	default:
		t.check.adopt(t.first)
	}
	t.check.observe()
	if t.out > 0 {
		t.check.report(ctx)
	}
}

// adopt makes a try that of the family.
func (c *familyCheck) adopt(try *familyCheck) {
	c.chain, c.first, c.address, c.ended = try.chain, try.first, try.address, try.ended
}

// outranks reports whether a second try says more than the first. A 503 outranks the silence after it, but not the fact
// that the second request could not be sent.
func (c *familyCheck) outranks(first *familyCheck) bool {
	return c.answer() != nil || first.answer() == nil || c.busy() != nil
}
