// Package requests bounds the rate of requests: by client, tool and target, by client, by the networks around a client,
// and by target; and of samples and pages by client and network.
package requests

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/ratelimit"
)

// Limits are the sizes of the buckets.
type Limits struct {
	Tool    ratelimit.Limit // per client, tool and target
	Client  ratelimit.Limit // per client over everything
	Target  ratelimit.Limit // per target over all clients
	Samples ratelimit.Limit // per client, connection routes
	Pages   ratelimit.Limit // per client, pages and their assets
	// Ports is how many different ports of a target a client may name, whatever the place; off where there are none.
	Ports ratelimit.Limit
}

// Limiter charges the buckets of requests.
type Limiter struct {
	limiter ratelimit.Limiter
	limits  Limits
	clients atomic.Pointer[[]ClientLimit]
}

// New makes a Limiter of the buckets that l keeps.
func New(l ratelimit.Limiter, limits Limits) *Limiter { return &Limiter{limiter: l, limits: limits} }

// AllowRun charges a run; port is the one that its target names, 0 for none. The decision is that of the bucket with
// the least left among those that were charged, for the headers; of a refusal it is the one that refuses, of several
// the one with the longest wait. A refusal is a fault.Error of kind Limited.
func (l *Limiter) AllowRun(
	ctx context.Context, client clientip.Identity, slug, target string, port uint16,
) (ratelimit.Decision, error) {
	return l.allow(ctx, client, l.runStages(client, slug, target, port))
}

// AllowSample charges one sample of the connection routes, as AllowRun does.
func (l *Limiter) AllowSample(ctx context.Context, client clientip.Identity) (ratelimit.Decision, error) {
	return l.allowOf(ctx, "samples|", client, l.limits.Samples)
}

// AllowPage charges one page, or one of the assets that pages are made of, as AllowRun does.
func (l *Limiter) AllowPage(ctx context.Context, client clientip.Identity) (ratelimit.Decision, error) {
	return l.allowOf(ctx, "pages|", client, l.limits.Pages)
}

// allowOf charges a client and the networks around it in buckets of one kind.
func (l *Limiter) allowOf(
	ctx context.Context, kind string, client clientip.Identity, limit ratelimit.Limit,
) (ratelimit.Decision, error) {
	of := l.ClientLimit(client)
	own := ratelimit.Stage{{Key: kind + client.LimitKey(), Limit: of.times(limit)}}
	return l.allow(ctx, client, append([]ratelimit.Stage{own}, networkStages(kind, client, of, limit)...))
}

func (l *Limiter) allow(
	ctx context.Context, client clientip.Identity, stages []ratelimit.Stage,
) (ratelimit.Decision, error) {
	d, err := l.limiter.Take(ctx, stages...)
	switch {
	case err != nil:
		return ratelimit.Decision{}, fmt.Errorf("charge the rate limits: %w", err)
	case !d.Allowed:
		return d, fault.LimitedFor(d.RetryAfter, "TOO_MANY_REQUESTS").ByRule(ruleOf(d, client))
	}
	return d, nil
}

// runStages are the buckets of a run, the narrowest first, each stage charged only where all before it pass: the
// client's own two together, those of the networks around it, the target's. A run without a target (my-ip) charges the
// client and its networks alone. No part of a key but the last can contain a "|", so no two kinds of buckets collide.
//
// A client of another place has paid there for itself: its runs charge the target alone.
func (l *Limiter) runStages(client clientip.Identity, slug, target string, port uint16) []ratelimit.Stage {
	if client.OfPlace() != "" {
		return l.targetStages(nil, client, target)
	}
	key, of := client.LimitKey(), l.ClientLimit(client)
	own := ratelimit.Stage{
		{Key: "tool|" + key + "|" + slug + "|" + target, Limit: of.times(l.limits.Tool)},
		{Key: "client|" + key, Limit: of.times(l.limits.Client)},
	}
	if port != 0 && l.limits.Ports.Requests > 0 {
		// The key is that of addresslimit, whose address the target is where it is one.
		own = append(own, ratelimit.Charge{Key: "ports|" + key + "|" + target, Limit: l.limits.Ports, Item: port})
	}
	stages := append(make([]ratelimit.Stage, 0, 4), own)
	stages = append(stages, networkStages("client|", client, of, l.limits.Client)...)
	return l.targetStages(stages, client, target)
}

// targetStages adds a request against what all clients share of a target, and before it against the half of that which
// all clients of one other place share.
func (l *Limiter) targetStages(
	stages []ratelimit.Stage, client clientip.Identity, target string,
) []ratelimit.Stage {
	if target == "" {
		return stages
	}
	if place := client.OfPlace(); place != "" {
		half := ratelimit.Half(l.limits.Target)
		stages = append(stages, ratelimit.Stage{{Key: "peer|" + place + "|" + target, Limit: half}})
	}
	return append(stages, ratelimit.Stage{{Key: "target|" + target, Limit: l.limits.Target}})
}

// networkStages are the buckets of the networks around a client, whose limit is a multiple of the client's. Several
// clients share them, so each is a stage of its own. Clients that have a ClientLimit do not share them with others.
func networkStages(
	kind string, client clientip.Identity, of ClientLimit, limit ratelimit.Limit,
) (stages []ratelimit.Stage) {
	for _, n := range client.Networks() {
		wider := ratelimit.Limit{Requests: min(limit.Requests*n.Times, maxRequests), Window: limit.Window}
		key := kind + n.Key
		if of.Label != "" {
			key += "|" + of.Label
		}
		stages = append(stages, ratelimit.Stage{{Key: key, Limit: of.times(wider)}})
	}
	return stages
}

// maxRequests is the most that any limit can be, and up to which a bucket's level is exact.
const maxRequests = 1_000_000_000

// ruleOf is the limit whose bucket refuses, by the kind that its key begins with.
func ruleOf(refusing ratelimit.Decision, client clientip.Identity) fault.Rule {
	kind, who, _ := strings.Cut(refusing.Key, "|")
	if (kind == "client" || kind == "samples" || kind == "pages") && who != client.LimitKey() {
		return fault.LimitNetwork
	}
	return fault.Rule(kind)
}
