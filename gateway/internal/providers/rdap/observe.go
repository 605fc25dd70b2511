package rdap

import (
	"context"
	"net/http"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/upstream"
)

// provider tells the redirector from the registries, also where a stranger's redirect leads back to it.
func (c *Client) provider(u target.URL) upstream.Provider {
	if c.isRedirector(u) {
		return upstream.Redirector
	}
	return upstream.RDAP
}

// observe tells of a request that began at a moment.
func (c *Client) observe(ctx context.Context, at server, began time.Time, answer *egress.Response, err error) {
	c.egress.Providers().Asked(c.provider(at.url), outcomeOf(ctx, answer, err), time.Since(began))
}

func outcomeOf(ctx context.Context, answer *egress.Response, err error) upstream.Outcome {
	if err == nil {
		err = answer.BodyErr
	}
	switch {
	case err != nil:
		return upstream.OutcomeOf(ctx, err)
	case answer.Status == http.StatusOK, egress.IsRedirect(answer.Status):
		return upstream.OK
	case answer.Status == http.StatusNotFound:
		return upstream.NotFound
	case answer.Status == http.StatusTooManyRequests:
		return upstream.Limited
	}
	return upstream.Failed
}
