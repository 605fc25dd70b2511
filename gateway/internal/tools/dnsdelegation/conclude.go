package dnsdelegation

import (
	"context"

	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/progress"
)

// conclude reports the worst of some findings as a step, unless one as bad was reported before.
func (r *run) conclude(ctx context.Context, list []located) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range list {
		if f.Severity == finding.Info || r.reported != nil && finding.Compare(f.Finding, *r.reported) >= 0 {
			continue
		}
		r.reported = &f.Finding
		progress.Report(ctx, "conclusion", "", rows.ConcludeWith(f.Finding))
	}
}

// concludeServers reports what is certain of the servers of one of the name's own zones: that none serves it, once all
// are settled, or what is wrong with some beside one that does.
func (r *run) concludeServers(ctx context.Context, z *zone) {
	p := &report{}
	if ready, none := z.unreported(); none {
		p.judgeAll(z)
	} else {
		for _, c := range ready {
			p.judgeServer(z, c)
		}
	}
	r.conclude(ctx, p.list)
}

// unreported returns the checks whose outcome is there and was not returned before, where a server answers for the
// zone. none reports that no server does and that none is left to be settled.
func (s *servers) unreported() (ready []*check, none bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	good := false
	for _, c := range s.checks {
		good = good || c.good
		if !c.reported && (c.ended || c.settled && !c.good) {
			ready = append(ready, c)
		}
	}
	if !good {
		return nil, s.unsettled == 0
	}
	for i, c := range ready {
		c.reported = true
		ready[i] = new(*c) // the option is checked meanwhile
	}
	return ready, false
}

// concludeWay reports a name that the registry has no delegation for.
func (r *run) concludeWay(ctx context.Context, found outcome) {
	p := &report{}
	p.judgeWay(found.name, found.way)
	r.conclude(ctx, p.list)
}

// concludeDNSSEC reports what the validator makes of the name by the servers that have answered so far.
func (r *run) concludeDNSSEC(ctx context.Context, found outcome) {
	ways := []descent{found.way}
	for _, a := range found.aliases {
		ways = append(ways, a.way)
	}
	for _, way := range ways {
		for _, z := range way.zones {
			if z.collected == nil {
				continue
			}
			select {
			case <-z.collected:
			case <-ctx.Done():
				return
			}
		}
	}
	p := &report{}
	p.judgeDNSSEC(found, r.validated(ctx, found))
	r.conclude(ctx, p.list)
}
