package dnsdelegation

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"diagnostics/gateway/internal/analyze/dnssec"
	"diagnostics/gateway/internal/analyze/rootzone"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/parallel"
)

// Config is what the tool needs.
type Config struct {
	Egress  *egress.Client
	Hints   rootzone.Hints
	Anchors rootzone.Anchors
	Shared  *Shared
	Now     func() time.Time
}

// run is one check of a name.
type run struct {
	Config
	times    times
	families egress.Families
	budget   *budget

	group parallel.Group // all that goes on in the background
	// decided is closed when the queries that decide the verdict are done. Those that only add to the picture (CDS, the
	// unknown EDNS option, the random name) wait for it: the bound of an address must not leave the verdict open.
	decided chan struct{}

	validator *dnssec.Validator // used by one goroutine

	mu        sync.Mutex
	zones     map[string]*zone
	fromStore map[string]bool
	asked     map[memo]*pending
	reported  *finding.Finding // the worst that a step has reported
}

// memo identifies a question to the servers of a zone.
type memo struct {
	zone string
	question
}

type pending struct {
	done  chan struct{}
	reply reply
	err   error
}

// once calls ask for the first caller with a key, and gives its outcome to all.
func (r *run) once(ctx context.Context, key memo, ask func(context.Context) (reply, error)) (reply, error) {
	r.mu.Lock()
	p, known := r.asked[key]
	if !known {
		p = &pending{done: make(chan struct{})}
		r.asked[key] = p
		r.group.Go(func() {
			defer close(p.done)
			p.err = errNoEndpoint // where ask panics
			p.reply, p.err = ask(ctx)
		})
	}
	r.mu.Unlock()
	select {
	case <-p.done:
		return p.reply, p.err
	case <-ctx.Done():
		return reply{}, ctx.Err()
	}
}

// isDecided waits until the queries that decide the verdict are done, unless two addresses of the zone answer: those
// have room for all queries. It returns false if the time ends first.
func (r *run) isDecided(ctx context.Context, z *zone) bool {
	if len(z.good(ctx)) > 1 {
		return true
	}
	select {
	case <-r.decided:
		return true
	case <-ctx.Done():
		return false
	}
}

// outcome is all that a run found out.
type outcome struct {
	name    string // canonical, with the trailing dot
	way     descent
	aliases []alias
	answers []*answer
	loop    bool  // the aliases lead back to one of them
	refused error // why the target of the last alias is not queried
}

// check checks a name within the bound of time.
func (r *run) check(ctx context.Context, name string) (outcome, error) {
	bounded, cancel := context.WithTimeout(ctx, r.times.total)
	defer cancel()
	found := outcome{name: name}
	failed := parallel.Catch(func() {
		found.way = r.descend(bounded, name)
		r.concludeWay(ctx, found)
		r.look(bounded, &found)
		r.concludeDNSSEC(bounded, found)
		close(r.decided)
	})
	if failed != nil {
		cancel()
	}
	r.group.Wait()
	if failed != nil {
		panic(failed)
	}
	if err := ctx.Err(); err != nil {
		return outcome{}, err
	}
	if bounded.Err() != nil {
		r.budget.exceeded()
	}
	return found, r.unable(found)
}

// unable is the failure to report in place of a result: this service could not query the first server at all, or a
// limit forbids the servers of the name.
func (r *run) unable(found outcome) error {
	if len(found.way.zones) == 1 && fault.IsOwn(found.way.err) {
		return found.way.err
	}
	last := found.way.last()
	var limited error
	for _, c := range last.checks {
		switch {
		case c.err == nil || c.udp == stateAnswer:
			return nil
		case fault.Is(c.err, fault.Limited) || fault.IsOwn(c.err):
			limited = c.err
		}
	}
	return limited
}

func newRun(ctx context.Context, c Config, t times) *run {
	return &run{
		Config: c, times: t, families: c.Egress.Families(), budget: newBudget(),
		validator: dnssec.New(c.Now(), processor.Of(ctx).Take),
		decided:   make(chan struct{}),
		zones:     make(map[string]*zone), fromStore: make(map[string]bool), asked: make(map[memo]*pending),
	}
}

// usable reports whether this host has a route of the address's family.
func (r *run) usable(a netip.Addr) bool { return r.families.Has(a) }
