package rdap

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/fairqueue"
	"diagnostics/gateway/internal/providers/pause"
	"diagnostics/gateway/internal/target"
)

// question is what a server is asked: kind is "domain" or "ip" (RFC 9082 section 3.1). read takes the body of an
// answer; its error means that the answer cannot be used.
type question struct {
	kind, value string
	read        func(body []byte) error
}

// reply is how a question was answered: reason is empty where read took a body.
type reply struct {
	at     server
	reason Reason
	// led is where the redirector led first, the zero URL where it did not.
	led target.URL
	// vague marks a 404 that is a web page: perhaps nothing is known of the object, perhaps nothing is served there any
	// more.
	vague bool
	// moved marks a reply of another server than the listed registry or the redirector that was asked first.
	moved bool
	// remembered marks a reply for which nobody was asked.
	remembered bool
	// undelegated marks a name whose last label is no top-level domain.
	undelegated bool
	// heard is when somebody was, where that is known.
	heard time.Time
}

// errLedBack ends a walk whose redirector leads to the registry that has failed already.
var errLedBack = errors.New("rdap: the redirector leads to the same registry")

// walk is one question on its way through redirects.
type walk struct {
	client *Client
	question
	at    server
	reply reply
	// avoid is a base that has failed, the zero URL where there is none.
	avoid target.URL
	// left is the time that the servers may still take, patience how long a turn may still be waited for.
	left, patience time.Duration
}

// run asks, and follows at most MaxRedirects redirects, all of it within the client's timeout but for the waits for a
// turn, which are at most fairqueue.MaxWait together. Errors are *fault.Error (Upstream, Timeout, Busy), errLedBack, or
// those of a ctx that has ended.
func (w *walk) run(ctx context.Context) (reply, error) {
	w.left, w.patience = w.client.timeout, fairqueue.MaxWait
	for followed := 0; ; followed++ {
		answer, err := w.fetch(ctx)
		if err != nil {
			return reply{}, err
		}
		if !egress.IsRedirect(answer.Status) {
			err := w.finish(answer)
			return w.reply, err
		}
		if followed == MaxRedirects {
			return reply{}, fault.Newf(fault.Upstream, "%s redirects more than %d times.", w.client.server(w.at), MaxRedirects)
		}
		if err := w.follow(answer); err != nil {
			return reply{}, err
		}
	}
}

// fetch makes one request once it is its turn.
func (w *walk) fetch(outer context.Context) (*egress.Response, error) {
	if err := w.turn(outer); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(outer, w.left)
	defer cancel()
	began := time.Now()
	answer, err := w.client.fetch(ctx, w.at)
	w.left -= time.Since(began)
	if err != nil {
		return nil, w.failure(outer, err)
	}
	return answer, nil
}

// failure tells the end of the walk's own time from that of the caller's.
func (w *walk) failure(outer context.Context, err error) error {
	if outer.Err() != nil {
		return outer.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) && !fault.Is(err, fault.Timeout) {
		return fault.Wrap(fault.Timeout, err, w.client.server(w.at)+" did not answer in time.")
	}
	return err
}

func (w *walk) follow(answer *egress.Response) error {
	next, err := w.next(answer.Header.Get("Location"))
	if err != nil {
		return fault.Wrap(fault.Upstream, err, w.client.server(w.at)+" redirects to something that is not a public URL.")
	}
	if next.url.Scheme() != "https" {
		return fault.New(fault.Upstream, w.client.server(w.at)+" redirects to a URL that is not https.")
	}
	if w.client.isRedirector(w.at.url) && !w.client.isRedirector(next.url) && w.reply.led == (target.URL{}) {
		w.reply.led = next.url
		if base, ok := baseOf(next.url, w.question); ok && base == w.avoid {
			return errLedBack
		}
	}
	w.at = next
	return nil
}

// next reads a Location. The operator's own redirector may redirect within itself, and its host need not be one that a
// visitor could type; all else is judged as a visitor's URL is.
func (w *walk) next(location string) (server, error) {
	if w.at.own {
		if path, ok := pathWithin(location, w.client.base); ok {
			u, err := w.at.url.Resolve(path)
			return server{url: u, own: true}, err
		}
	}
	u, err := w.at.url.Resolve(location)
	// A relative reference stays with the host that gave it.
	return server{url: u, own: w.at.own && sameOrigin(u, w.client.base)}, err
}

// pathWithin gives the path of an absolute URL on the same origin as base.
func pathWithin(location string, base target.URL) (string, bool) {
	u, err := target.ParseOperatorURL(strings.TrimSpace(location))
	if err != nil || !sameOrigin(u, base) {
		return "", false
	}
	return u.RequestURI(), true
}

// finish makes the reply of the answer that the redirects have led to.
func (w *walk) finish(answer *egress.Response) error {
	w.reply.at = w.at
	switch {
	case answer.Status == http.StatusNotFound:
		w.reply.vague = isPage(answer)
		w.reply.reason = NotFound
		if w.client.isRedirector(w.at.url) && w.reply.led == (target.URL{}) {
			w.reply.reason = NoService
		}
		return nil
	case answer.Status != http.StatusOK:
		return w.refused(answer)
	}
	body, err := w.client.body(answer, w.at)
	if err != nil {
		return err
	}
	if err := w.read(body); err != nil {
		return fault.Wrap(fault.Upstream, err, w.client.server(w.at)+" sent an invalid answer.")
	}
	return nil
}

func (w *walk) refused(answer *egress.Response) error {
	if after := answer.Header.Get("Retry-After"); after != "" && answer.Status == http.StatusServiceUnavailable {
		return pause.TryLater(fault.Upstream, readRetryAfter(after, w.client.now()),
			w.client.server(w.at)+" is out of service.", nil)
	}
	return fault.Newf(fault.Upstream, "%s answered with the status %d.", w.client.server(w.at), answer.Status)
}
