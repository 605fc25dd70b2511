package rdap

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/pace"
	"diagnostics/gateway/internal/providers/internal/refusal"
	"diagnostics/gateway/internal/providers/registry"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/progress"

	"github.com/miekg/dns"
	"golang.org/x/net/publicsuffix"
)

// The path segments of questions (RFC 9082 section 3.1).
const (
	kindDomain = "domain"
	kindIP     = "ip"
)

// question is one query.
type question struct {
	kind, value string
	// listed finds the registry.
	listed func(context.Context, Registries) (base target.URL, listed bool)
	// read takes the body of an answer; its error means that the answer cannot be used.
	read func(body []byte) error
}

// server is a server and the URL there to query.
type server struct {
	url target.URL
	// own is true for the operator's redirector, unless another server redirected to it.
	own bool
}

// reply is the answer to a question. If reason is empty, question.read took the body.
type reply struct {
	at     server
	reason Reason
	// vague means a 404 with a web page: perhaps the object is unknown, perhaps the service has moved.
	vague bool
	// undelegated means that the name's last label is no top-level domain.
	undelegated bool
	// explanation is the registry's own, if it has no such object.
	explanation explanation
}

// ask decides where a question begins (step 1), and whether it begins again (step 7).
func (c *Client) ask(ctx context.Context, q question) (reply, error) {
	redirector := server{url: c.base.Append(q.kind, q.value), own: true}
	if c.listed == nil {
		return c.walk(ctx, q, redirector)
	}
	base, listed := q.listed(ctx, c.listed)
	switch {
	case !listed && q.kind == kindDomain && !c.mayBeDelegated(ctx, q.value):
		return reply{reason: NoService, undelegated: true}, nil
	case !listed:
		return c.walk(ctx, q, redirector)
	}
	first, err := c.walk(ctx, q, server{url: base.Append(q.kind, q.value)})
	if !c.listed.Stale() || !mayHaveMoved(q, first, err) || ctx.Err() != nil {
		return first, err
	}
	if second, failure := c.walk(ctx, q, redirector); failure == nil && second.reason != NoService {
		return second, nil
	}
	return first, err
}

// mayBeDelegated reports whether a name's last label may be a top-level domain. Those of the public suffix list's ICANN
// part are; for others the root is queried through the resolvers, whose failure leaves it open.
func (c *Client) mayBeDelegated(ctx context.Context, name string) bool {
	tld := name[strings.LastIndexByte(name, '.')+1:]
	if suffix, icann := publicsuffix.PublicSuffix(tld); icann && suffix == tld {
		return true
	}
	answer := c.egress.DNS().Query(ctx, tld, dns.TypeNS)
	return answer.Code != dnsclient.CodeNotFound && answer.Code != dnsclient.CodeNoData
}

// mayHaveMoved reports whether the outcome of a walk may mean that the registry has moved. A server that requests a
// pause has not, nor one that answers in its own format that it has no such domain. A block may have gone to another
// registry.
func mayHaveMoved(q question, r reply, err error) bool {
	if err == nil {
		return r.reason == NotFound && (r.vague || q.kind == kindIP)
	}
	failed, ok := errors.AsType[*fault.Error](err)
	return ok && failed.RetryAfter == 0
}

// walk queries one server and those that it redirects to (steps 2 to 6). The waits for their paces are not part of the
// client's timeout. It fails with a *fault.Error (Upstream, Timeout, Busy) or with the error of ctx.
func (c *Client) walk(ctx context.Context, q question, at server) (reply, error) {
	began, waited := time.Now(), time.Duration(0)
	var queried []target.URL
	redirected := false // whether the redirector has led to another server
	for {
		patience := time.Duration(0)
		if len(queried) > 0 { // a client that is refused here would begin anew: with many of them, no walk would end
			patience = MaxPatience - waited
		}
		waiting := time.Now()
		err := c.gate.Wait(ctx, c.provider(at), patience)
		waited += time.Since(waiting)
		if err != nil {
			return reply{}, err
		}
		queried = append(queried, at.url)
		answer, err := c.fetch(ctx, at, began.Add(c.timeout+waited))
		switch {
		case err != nil:
			return reply{}, err
		case !egress.IsRedirect(answer.Status):
			return c.conclude(ctx, q, at, answer, redirected)
		}
		next, err := c.next(at, answer.Header.Get("Location"))
		switch {
		case len(queried) > MaxRedirects || err == nil && slices.Contains(queried, next.url):
			return reply{}, fault.New(fault.Upstream, "PROVIDER_TOO_MANY_REDIRECTS",
				at.args().With(finding.Args{"limit": MaxRedirects}))
		case err != nil:
			return reply{}, err
		}
		redirected = redirected || c.isRedirector(at.url) && !c.isRedirector(next.url)
		at = next
	}
}

// accept names the second type because some servers refuse the first alone.
const accept = "application/rdap+json, application/json;q=0.9"

// fetch makes one request (step 3), and begins a pause if the server refuses it because of earlier ones (step 4).
func (c *Client) fetch(outer context.Context, at server, deadline time.Time) (*egress.Response, error) {
	ctx, cancel := context.WithDeadline(outer, deadline)
	defer cancel()
	label := fault.Rows.Clause("RDAP_SERVICE_LABEL", nil)
	if !at.own {
		label = at.name()
	}
	began := time.Now()
	answer, err := c.egress.Do(progress.Ask(ctx, label), egress.Request{
		URL: at.url, Header: http.Header{"Accept": {accept}}, MaxBody: MaxBody,
		RequireValidCertificate: true, Exempt: at.own, Uncharged: true,
	})
	var wait time.Duration
	var refused bool
	if err == nil {
		wait, refused = c.refusalOf(answer)
	}
	provider := c.provider(at)
	c.egress.Providers().Asked(provider.Provider, outcomeOf(ctx, answer, refused, err), time.Since(began))
	switch {
	case refused:
		return nil, c.gate.Pause(ctx, provider, wait)
	case err == nil:
		return answer, nil
	case outer.Err() != nil:
		return nil, outer.Err()
	}
	otherwise := ""
	if at.own {
		otherwise = "PROVIDER_UNREACHABLE"
	}
	err = fault.OfServer(err, at.args(), otherwise)
	if errors.Is(err, context.DeadlineExceeded) && !fault.Is(err, fault.Timeout) { // the deadline of the walk
		return nil, fault.Wrap(fault.Timeout, err, "PROVIDER_TIMEOUT", at.args())
	}
	return nil, err
}

// next returns the server that a redirect leads to (step 5). The operator's own redirector may redirect within
// itself, and its host need not be one that a client could name; all else is judged as a client's URL is.
func (c *Client) next(at server, location string) (server, error) {
	absolute, err := target.ParseOperatorURL(strings.TrimSpace(location))
	if at.own && err == nil && c.isRedirector(absolute) {
		location = absolute.RequestURI() // a relative reference stays with its host
	}
	u, err := at.url.Resolve(location)
	switch {
	case err != nil:
		return server{}, fault.Wrap(fault.Upstream, err, "PROVIDER_REDIRECT_NOT_PUBLIC", at.args())
	case u.Scheme() != "https":
		return server{}, fault.New(fault.Upstream, "PROVIDER_REDIRECT_NOT_HTTPS", at.args())
	}
	return server{url: u, own: at.own && c.isRedirector(u)}, nil
}

// conclude makes the reply of the answer that the redirects have led to (step 6). redirected reports whether the
// redirector has led to another server; otherwise its 404 means that it knows none.
func (c *Client) conclude(
	ctx context.Context, q question, at server, answer *egress.Response, redirected bool,
) (reply, error) {
	after := answer.Header.Get("Retry-After")
	switch {
	case answer.Status == http.StatusNotFound && c.isRedirector(at.url) && !redirected:
		return reply{at: at, reason: NoService}, nil
	case answer.Status == http.StatusNotFound:
		e := explainBody(answer)
		return reply{at: at, reason: e.absence(q.kind), vague: isPage(answer), explanation: e}, nil
	case answer.Status == http.StatusServiceUnavailable && after != "":
		return reply{}, registry.TryLater(fault.Upstream, readRetryAfter(after, c.now()), "PROVIDER_OUT_OF_SERVICE",
			at.args())
	case answer.Status != http.StatusOK:
		return reply{}, fault.New(fault.Upstream, "PROVIDER_STATUS",
			at.args().With(finding.Args{"status": answer.Status}))
	case answer.Truncated:
		return reply{}, fault.New(fault.Upstream, "PROVIDER_ANSWER_TOO_LONG",
			at.args().With(finding.Args{"limit": "1 MiB"}))
	case fault.Is(answer.BodyErr, fault.Busy):
		return reply{}, answer.BodyErr
	case fault.Is(answer.BodyErr, fault.Timeout):
		return reply{}, fault.Wrap(fault.Timeout, answer.BodyErr, "PROVIDER_BODY_TIMEOUT", at.args())
	case answer.BodyErr != nil:
		return reply{}, fault.Wrap(fault.Upstream, answer.BodyErr, "PROVIDER_BROKE_OFF", at.args())
	case isPage(answer):
		return reply{}, fault.New(fault.Upstream, "PROVIDER_PAGE", at.args())
	}
	if err := processor.Spend(ctx, weight.RDAP, len(answer.Body)); err != nil {
		return reply{}, err
	}
	if err := q.read(answer.Body); err != nil {
		return reply{}, fault.Wrap(fault.Upstream, err, "PROVIDER_ANSWER_INVALID", at.args())
	}
	return reply{at: at}, nil
}

func isPage(answer *egress.Response) bool {
	mediaType, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil {
		mediaType, _, _ = strings.Cut(answer.Header.Get("Content-Type"), ";")
	}
	mediaType = strings.ToLower(strings.TrimSpace(mediaType))
	return mediaType == "text/html" || mediaType == "application/xhtml+xml"
}

// isRedirector reports whether a URL is at the redirector, also if another server's redirect led back to it: it counts
// those requests too.
func (c *Client) isRedirector(u target.URL) bool {
	return u.Scheme() == c.base.Scheme() && u.Authority() == c.base.Authority()
}

// The paces of servers. A registry publishes no limit. The public redirector answers 429 past ten requests in ten
// seconds, and gets at most eight in any 10.5 s, since requests may arrive closer together than they were sent.
var (
	registryPace   = pace.Pace{Burst: 10, Every: 500 * time.Millisecond}
	redirectorPace = pace.Pace{Burst: 3, Every: 2100 * time.Millisecond}
)

const defaultAuthority = "rdap.org:443"

// provider describes a server to the gate.
func (c *Client) provider(at server) registry.Server {
	s := registry.Server{Provider: upstream.RDAP, Authority: at.url.Authority(), Pace: registryPace, Args: at.args()}
	if c.isRedirector(at.url) {
		s.Provider = upstream.Redirector
	}
	if s.Authority == defaultAuthority {
		s.Pace = redirectorPace
	}
	return s
}

func (s server) name() string { return clean(s.url.Host().String(), 80) }

// args returns the arguments that name the server in a sentence. The operator's own host may be a private one and is
// not named.
func (s server) args() finding.Args {
	if s.own {
		return finding.Args{"provider": "RDAP_SERVICE"}
	}
	return finding.Args{"provider": "RDAP_SERVER", "server": s.name()}
}

// refusalOf reports whether an answer refuses the query because of earlier ones, and how long to pause then.
func (c *Client) refusalOf(answer *egress.Response) (wait time.Duration, refused bool) {
	after := answer.Header.Get("Retry-After")
	switch {
	case answer.Status == http.StatusTooManyRequests:
		now := c.now()
		if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
			now = date // a date in Retry-After is one of the server's clock
		}
		return readRetryAfter(after, now), true
	case !refusesInWords(answer):
		return 0, false
	case after == "":
		return refusal.MaxPause, true
	}
	return min(readRetryAfter(after, c.now()), refusal.MaxPause), true
}

// defaultPause is for a server that requests a pause of no given length: the window of rdap.org.
const defaultPause = 10 * time.Second

// readRetryAfter reads seconds or a date (RFC 9110 section 10.2.3).
func readRetryAfter(s string, now time.Time) time.Duration {
	s = strings.TrimSpace(s)
	wait := defaultPause
	if seconds, err := strconv.ParseUint(s, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if errors.Is(err, strconv.ErrRange) { // more seconds than fit
		wait = registry.MaxPause
	} else if at, err := http.ParseTime(s); err == nil {
		wait = at.Sub(now)
	}
	return registry.BoundPause(wait)
}

func outcomeOf(ctx context.Context, answer *egress.Response, refused bool, err error) upstream.Outcome {
	if err == nil {
		err = answer.BodyErr
	}
	switch {
	case refused:
		return upstream.Limited
	case err != nil:
		return upstream.OutcomeOf(ctx, err)
	case answer.Status == http.StatusOK, egress.IsRedirect(answer.Status):
		return upstream.OK
	case answer.Status == http.StatusNotFound:
		return upstream.NotFound
	}
	return upstream.Failed
}
