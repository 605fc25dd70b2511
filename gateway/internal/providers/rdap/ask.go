package rdap

import (
	"context"
	"errors"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
)

// ask puts a question to the registry that is remembered for it, or to the redirector. keys are the memory's, most
// specific first. A remembered registry that fails is forgiven once: the redirector may know where it has moved to.
func (c *Client) ask(ctx context.Context, q question, keys []string) (reply, error) {
	known, ok := c.recall(ctx, keys)
	switch {
	case !ok:
		return c.askRedirector(ctx, q, target.URL{})
	case known.None:
		return reply{
			at: place{url: c.base.Append(q.kind, q.value), own: true}, reason: NoService, remembered: true, heard: known.heard,
		}, nil
	}
	first, err := c.walk(ctx, q, place{url: known.url.Append(q.kind, q.value)}, target.URL{})
	if !doubtful(first, err, q) || ctx.Err() != nil {
		return first, err
	}
	second, again := c.askRedirector(ctx, q, known.url)
	if again != nil {
		// What the registry itself said tells more than that the redirector could not help.
		return first, err
	}
	return second, nil
}

func (c *Client) askRedirector(ctx context.Context, q question, avoid target.URL) (reply, error) {
	return c.walk(ctx, q, place{url: c.base.Append(q.kind, q.value), own: true}, avoid)
}

func (c *Client) walk(ctx context.Context, q question, from place, avoid target.URL) (reply, error) {
	w := walk{client: c, question: q, at: from, avoid: avoid}
	return w.run(ctx)
}

// doubtful tells an outcome that may come of the registry having moved. A server that asks for a pause is where it was;
// so is one that says in its own format that it has no such domain. A block may have gone to another registry.
func doubtful(r reply, err error, q question) bool {
	if err == nil {
		return r.reason == NotFound && (r.vague || q.kind == kindIP)
	}
	var failed *fault.Error
	return errors.As(err, &failed) && failed.RetryAfter == 0
}
