package rdap

import (
	"context"
	"mime"
	"net/http"
	"strings"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/shared/progress"
)

// accept names the second type because some servers refuse the first alone.
const accept = "application/rdap+json, application/json;q=0.9"

// server is where to ask. own is the operator's own redirector, where no answer of another server led there.
type server struct {
	url target.URL
	own bool
}

// fetch makes one request. Errors are *fault.Error (Upstream, Timeout or Busy) or those of a ctx that has ended.
func (c *Client) fetch(ctx context.Context, at server) (*egress.Response, error) {
	began := time.Now()
	answer, err := c.egress.Do(progress.Ask(ctx, whom(at)), egress.Request{
		URL:                     at.url,
		Header:                  http.Header{"Accept": {accept}},
		MaxBody:                 MaxBody,
		RequireValidCertificate: true,
		Exempt:                  at.own,
		Uncharged:               true,
	})
	c.egress.Providers().Asked(c.provider(at.url), outcomeOf(ctx, answer, err), time.Since(began))
	if err != nil {
		return nil, c.classify(err, at)
	}
	if answer.Status == http.StatusTooManyRequests {
		return nil, c.pause(ctx, at, answer.Header)
	}
	return answer, nil
}

// isRedirector reports whether a host is the redirector, also one that a stranger's redirect leads back to: it counts
// those requests too.
func (c *Client) isRedirector(u target.URL) bool { return sameOrigin(u, c.base) }

func sameOrigin(a, b target.URL) bool {
	return a.Scheme() == b.Scheme() && a.Authority() == b.Authority()
}

// whom names the server to who reads along.
func whom(at server) string {
	if at.own {
		return "the registration data service"
	}
	return clean(at.url.Host().String(), 80)
}

const sentenceOwn = "The registration data service of this site"

// server names the server in a sentence. The operator's own host may be a private one and is not named.
func (c *Client) server(at server) string {
	if at.own {
		return sentenceOwn
	}
	return "The registration server " + clean(at.url.Host().String(), 80)
}

// classify gives the failure of a request the words that it has for the visitor.
func (c *Client) classify(err error, at server) error {
	otherwise := ""
	if at.own {
		otherwise = sentenceOwn + " cannot be reached at the moment."
	}
	return fault.OfServer(err, c.server(at), otherwise)
}

// body gives the body of an answer that claims to be RDAP.
func (c *Client) body(answer *egress.Response, at server) ([]byte, error) {
	switch {
	case answer.Truncated:
		return nil, fault.New(fault.Upstream, c.server(at)+" sent an answer larger than 1 MiB.")
	case fault.Is(answer.BodyErr, fault.Busy):
		return nil, answer.BodyErr
	case fault.Is(answer.BodyErr, fault.Timeout):
		return nil, fault.Wrap(fault.Timeout, answer.BodyErr, c.server(at)+" did not send its whole answer in time.")
	case answer.BodyErr != nil:
		return nil, fault.Wrap(fault.Upstream, answer.BodyErr, c.server(at)+" stopped in the middle of its answer.")
	case isPage(answer):
		return nil, fault.New(fault.Upstream, c.server(at)+" sent a web page instead of registration data.")
	}
	return answer.Body, nil
}

func isPage(answer *egress.Response) bool {
	mediaType, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil {
		mediaType, _, _ = strings.Cut(answer.Header.Get("Content-Type"), ";")
	}
	mediaType = strings.ToLower(strings.TrimSpace(mediaType))
	return mediaType == "text/html" || mediaType == "application/xhtml+xml"
}

// provider tells the redirector from the registries, also where a stranger's redirect leads back to it.
func (c *Client) provider(u target.URL) upstream.Provider {
	if c.isRedirector(u) {
		return upstream.Redirector
	}
	return upstream.RDAP
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
