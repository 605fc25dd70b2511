package rdap

import (
	"context"
	"errors"
	"net/netip"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
)

// ask puts a question to the registry that is listed or remembered for it, or to the redirector. keys are the memory's,
// most specific first. A remembered registry that fails is forgiven once: it may have moved.
//
// What is remembered of a name came from the redirector, and a listed registry goes before it. Of an address it came
// from the listed registry, as a rule: that another one has this part of its block.
func (c *Client) ask(ctx context.Context, q question, keys []string) (reply, error) {
	from, listed := c.listedFor(ctx, q)
	if q.kind == kindDomain && c.listed != nil {
		switch {
		case listed:
			return c.askAfresh(ctx, q, from, target.URL{})
		case !c.mayBeDelegated(ctx, q.value):
			return reply{reason: NoService, remembered: true, undelegated: true}, nil
		}
	}
	known, ok := c.recall(ctx, keys)
	switch {
	case !ok:
		return c.askAfresh(ctx, q, from, target.URL{})
	case known.None:
		return reply{at: c.redirectorFor(q), reason: NoService, remembered: true, heard: known.heard}, nil
	}
	first, err := c.walk(ctx, q, server{url: known.url.Append(q.kind, q.value)}, target.URL{})
	if !doubtful(first, err, q) || ctx.Err() != nil {
		return first, err
	}
	if second, again := c.askAfresh(ctx, q, from, known.url); again == nil {
		return second, nil
	}
	// What the registry itself said tells more than that nobody could help.
	return first, err
}

// askAfresh asks without what is remembered. Where the lists are old the redirector may know better than a listed
// registry that fails.
func (c *Client) askAfresh(ctx context.Context, q question, from server, avoid target.URL) (reply, error) {
	first, err := c.askAt(ctx, q, from, avoid)
	if from.own || !c.listed.Stale() || !doubtful(first, err, q) || ctx.Err() != nil {
		return first, err
	}
	failed, _ := baseOf(from.url, q)
	if second, again := c.askAt(ctx, q, c.redirectorFor(q), failed); again == nil && second.reason != NoService {
		return second, nil
	}
	return first, err
}

// listedFor is where IANA's lists say to ask, else the redirector.
func (c *Client) listedFor(ctx context.Context, q question) (from server, listed bool) {
	var base target.URL
	switch {
	case c.listed == nil:
	case q.kind == kindDomain:
		base, listed = c.listed.Domain(ctx, q.value)
	default:
		if a, err := netip.ParseAddr(q.value); err == nil {
			base, listed = c.listed.Address(ctx, a)
		}
	}
	if listed {
		return server{url: base.Append(q.kind, q.value)}, true
	}
	return c.redirectorFor(q), false
}

func (c *Client) redirectorFor(q question) server {
	return server{url: c.base.Append(q.kind, q.value), own: true}
}

// askAt asks one server, and those that it leads to; avoid is a base that has failed.
func (c *Client) askAt(ctx context.Context, q question, from server, avoid target.URL) (reply, error) {
	first, ok := baseOf(from.url, q)
	if ok && first == avoid {
		return reply{}, errLedBack
	}
	r, err := c.walk(ctx, q, from, avoid)
	if last, ok := baseOf(r.at.url, q); ok {
		r.moved = last != first
	}
	return r, err
}

func (c *Client) walk(ctx context.Context, q question, from server, avoid target.URL) (reply, error) {
	w := walk{client: c, question: q, at: from, avoid: avoid}
	return w.run(ctx)
}

// doubtful reports whether an outcome may come of the registry having moved. A server that asks for a pause is where it
// was; so is one that says in its own format that it has no such domain. A block may have gone to another registry.
func doubtful(r reply, err error, q question) bool {
	if err == nil {
		return r.reason == NotFound && (r.vague || q.kind == kindIP)
	}
	var failed *fault.Error
	return errors.As(err, &failed) && failed.RetryAfter == 0
}
