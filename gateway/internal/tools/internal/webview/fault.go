package webview

import (
	"context"
	"errors"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
)

// ChainFault gives the error of a run that has no result of its own: the visitor is gone, this service lacked the means
// to go on, or the site itself may not or cannot be visited at all. What this service lacks is a 503 whatever hops were
// seen before (docs/contract.md#outcomes-and-errors): it is no outcome of the chain.
func ChainFault(ctx context.Context, client *egress.Client, site target.URL, chain egress.Chain) error {
	first := chain.Hops[0].Err
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case fault.IsOwn(chain.Err):
		return chain.Err
	case first == nil, chain.End == egress.EndDeadline:
		return nil
	case fault.Is(first, fault.Refused), fault.Is(first, fault.NoAddress), fault.Is(first, fault.Limited):
		return first
	}
	return unroutable(ctx, client, site, first)
}

// unroutable gives the error of a site that only a family leads to which this host lacks: that says nothing about the
// site. It is nil where the failed round trip has another reason.
func unroutable(ctx context.Context, client *egress.Client, site target.URL, failed error) error {
	if !fault.Is(failed, fault.Upstream) {
		return nil
	}
	resolution, err := client.Resolve(ctx, site.Host())
	if err != nil {
		return nil //nolint:nilerr // the failed round trip is the error to tell, not this lookup
	}
	return resolution.Reachable()
}

// FaultSentence is what a failure tells a visitor.
func FaultSentence(err error) string {
	if f, is := errors.AsType[*fault.Error](err); is {
		return f.Sentence
	}
	return "The request failed."
}
