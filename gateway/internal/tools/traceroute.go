package tools

import (
	"context"
	"strings"
	"sync"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/shared/workerapi"

	"github.com/miekg/dns"
)

// hopNamesTime is how long a finished trace waits for the names of its routers, all together.
const hopNamesTime = 300 * time.Millisecond

// traceroute traces the path from the worker and adds the names of the public routers on it.
func traceroute(d Deps) tool.Tool {
	return tool.New(tool.Spec[probeTarget, workerapi.Traceroute]{
		Slug:   "traceroute",
		Worker: true,
		Parse:  parseProbe,
		Run: func(ctx context.Context, t probeTarget) (workerapi.Traceroute, error) {
			job, err := probeJob(ctx, d, t)
			if err != nil {
				return workerapi.Traceroute{}, err
			}
			result, err := d.Worker.Traceroute(ctx, job)
			if err != nil {
				return workerapi.Traceroute{}, err
			}
			result.Target = t.String()
			nameHops(ctx, d.Egress, result.Hops)
			return result, nil
		},
	})
}

// nameHops fills in the reverse names of the hops that have an address (the worker client has removed all that are not
// public). A name that does not come in time, or is none, stays null: a name is a courtesy, the trace is the answer.
func nameHops(ctx context.Context, client *egress.Client, hops []workerapi.Hop) {
	ctx, cancel := context.WithTimeout(ctx, hopNamesTime)
	defer cancel()
	var lookups sync.WaitGroup
	for i := range hops {
		hop := &hops[i]
		if hop.Address == nil {
			continue
		}
		lookups.Go(func() { hop.Hostname = reverseName(ctx, client, *hop.Address) })
	}
	lookups.Wait()
}

// reverseName gives the first PTR name that a visitor could have typed as a target, or nil. Whoever owns an address may
// write anything into its reverse zone: markup, control characters, the name of an inside.
func reverseName(ctx context.Context, client *egress.Client, address string) *string {
	owner, err := dns.ReverseAddr(address)
	if err != nil {
		return nil
	}
	answer := client.Query(ctx, strings.TrimSuffix(owner, "."), dns.TypePTR)
	for _, rr := range answer.Records {
		ptr, is := rr.(*dns.PTR)
		if !is {
			continue
		}
		if domain, err := target.ParseDomain(ptr.Ptr, true); err == nil {
			name := domain.String()
			return &name
		}
	}
	return nil
}
