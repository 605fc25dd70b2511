package rdap

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/netip"
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
	"diagnostics/gateway/internal/providers/pause"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
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

// question is one query. read takes the body of an answer; its error means that the answer cannot be used.
type question struct {
	kind, value string
	read        func(body []byte) error
}

// server is the one to query. own is the operator's own redirector, where no answer of another server led there.
type server struct {
	url target.URL
	own bool
}

// reply is how a question was answered: reason is empty where read took a body.
type reply struct {
	at     server
	reason Reason
	// vague marks a 404 that is a web page: perhaps the object is unknown, perhaps the service has moved.
	vague bool
	// undelegated marks a name whose last label is no top-level domain.
	undelegated bool
	// explanation is the registry's own, where it has no such object.
	explanation explanation
}

// ask sends a query to the registry that is listed for it, or to the redirector. Where the lists are old the
// redirector may be right about an object that the listed registry fails at.
func (c *Client) ask(ctx context.Context, q question) (reply, error) {
	redirector := server{url: c.base.Append(q.kind, q.value), own: true}
	base, listed := c.listedBase(ctx, q)
	switch {
	case listed:
	case c.listed != nil && q.kind == kindDomain && !c.mayBeDelegated(ctx, q.value):
		return reply{reason: NoService, undelegated: true}, nil
	default:
		return c.askAt(ctx, q, redirector)
	}
	first, err := c.askAt(ctx, q, server{url: base.Append(q.kind, q.value)})
	if !c.listed.Stale() || !doubtful(first, err, q) || ctx.Err() != nil {
		return first, err
	}
	if second, again := c.askAt(ctx, q, redirector); again == nil && second.reason != NoService {
		return second, nil
	}
	return first, err
}

// listedBase is the base URL in IANA's lists.
func (c *Client) listedBase(ctx context.Context, q question) (base target.URL, listed bool) {
	if c.listed == nil {
		return target.URL{}, false
	}
	if q.kind == kindDomain {
		return c.listed.Domain(ctx, q.value)
	}
	a, err := netip.ParseAddr(q.value)
	if err != nil {
		return target.URL{}, false
	}
	return c.listed.Address(ctx, a)
}

// doubtful reports whether an outcome may mean that the registry has moved. A server that requests a pause has not, nor
// one that answers in its own format that it has no such domain. A block may have gone to another registry.
func doubtful(r reply, err error, q question) bool {
	if err == nil {
		return r.reason == NotFound && (r.vague || q.kind == kindIP)
	}
	var failed *fault.Error
	return errors.As(err, &failed) && failed.RetryAfter == 0
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

// walk is one question on its way through redirects.
type walk struct {
	*Client
	question
	at server
	// led is set once the redirector has led to another server.
	led bool
	// left is the time that the servers may still take, patience the time that may still be waited for their paces.
	left, patience time.Duration
	// seen are the URLs that were queried: a redirect to one of them is a loop.
	seen []target.URL
}

// askAt queries one server and follows at most MaxRedirects redirects, within the client's timeout, the waits for paces
// not included. Errors are *fault.Error (Upstream, Timeout, Busy) or those of a ctx that has ended.
func (c *Client) askAt(ctx context.Context, q question, from server) (reply, error) {
	w := walk{Client: c, question: q, at: from, left: c.timeout, patience: MaxPatience}
	for followed := 0; ; followed++ {
		answer, err := w.fetch(ctx)
		switch {
		case err != nil:
			return reply{}, err
		case !egress.IsRedirect(answer.Status):
			return w.finish(ctx, answer)
		case followed == MaxRedirects:
			return reply{}, w.tooManyRedirects(w.at)
		}
		from := w.at
		if err := w.follow(answer); err != nil {
			return reply{}, err
		}
		if slices.Contains(w.seen, w.at.url) {
			return reply{}, w.tooManyRedirects(from)
		}
	}
}

func (c *Client) tooManyRedirects(at server) error {
	return fault.New(fault.Upstream, "PROVIDER_TOO_MANY_REDIRECTS",
		c.called(at).With(finding.Args{"limit": MaxRedirects}))
}

// accept names the second type because some servers refuse the first alone.
const accept = "application/rdap+json, application/json;q=0.9"

// fetch makes one request once the server may be queried.
func (w *walk) fetch(outer context.Context) (*egress.Response, error) {
	if err := w.admit(outer); err != nil {
		return nil, err
	}
	w.seen = append(w.seen, w.at.url)
	ctx, cancel := context.WithTimeout(outer, w.left)
	defer cancel()
	began := time.Now()
	answer, err := w.egress.Do(progress.Ask(ctx, label(w.at)), egress.Request{
		URL: w.at.url, Header: http.Header{"Accept": {accept}}, MaxBody: MaxBody,
		RequireValidCertificate: true, Exempt: w.at.own, Uncharged: true,
	})
	took := time.Since(began)
	w.left -= took
	var quota time.Duration
	outcome := outcomeOf(ctx, answer, err)
	if err == nil && answer.Status != http.StatusTooManyRequests {
		var refused bool
		if quota, refused = w.outOfQuota(answer); refused {
			outcome = upstream.Limited
		}
	}
	w.egress.Providers().Asked(w.provider(w.at.url), outcome, took)
	switch {
	case err != nil && outer.Err() != nil:
		return nil, outer.Err()
	case err != nil:
		return nil, w.classify(err)
	case answer.Status == http.StatusTooManyRequests:
		return nil, w.pause(ctx, w.at, answer.Header)
	case quota > 0:
		return nil, w.pauseFor(ctx, w.at, quota)
	}
	return answer, nil
}

// admit waits until the server may be queried. The first server of a walk refuses at once where many wait. A later one
// is waited for, within the walk's patience: a client that is refused there would begin anew, and with many clients no
// walk would ever come to its end.
func (w *walk) admit(ctx context.Context) error {
	for {
		began := time.Now()
		err := w.turn(ctx, w.at)
		w.patience -= time.Since(began)
		full, is := errors.AsType[*fault.Error](err)
		if !is || full.Rule != fault.LimitProviderShare || len(w.seen) == 0 || full.RetryAfter > w.patience {
			return err
		}
		w.patience -= full.RetryAfter
		timer := time.NewTimer(full.RetryAfter)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// classify words the failure of a request, that of the walk's own time included.
func (w *walk) classify(err error) error {
	otherwise := ""
	if w.at.own {
		otherwise = "PROVIDER_UNREACHABLE"
	}
	err = fault.OfServer(err, w.called(w.at), otherwise)
	if errors.Is(err, context.DeadlineExceeded) && !fault.Is(err, fault.Timeout) {
		return fault.Wrap(fault.Timeout, err, "PROVIDER_TIMEOUT", w.called(w.at))
	}
	return err
}

func (w *walk) follow(answer *egress.Response) error {
	next, err := w.next(answer.Header.Get("Location"))
	if err != nil {
		return fault.Wrap(fault.Upstream, err, "PROVIDER_REDIRECT_NOT_PUBLIC", w.called(w.at))
	}
	if next.url.Scheme() != "https" {
		return fault.New(fault.Upstream, "PROVIDER_REDIRECT_NOT_HTTPS", w.called(w.at))
	}
	w.led = w.led || w.isRedirector(w.at.url) && !w.isRedirector(next.url)
	w.at = next
	return nil
}

// next reads a Location. The operator's own redirector may redirect within itself, and its host need not be one that a
// client could name; all else is judged as a client's URL is.
func (w *walk) next(location string) (server, error) {
	if w.at.own {
		absolute, err := target.ParseOperatorURL(strings.TrimSpace(location))
		if err == nil && w.isRedirector(absolute) {
			u, err := w.at.url.Resolve(absolute.RequestURI())
			return server{url: u, own: true}, err
		}
	}
	u, err := w.at.url.Resolve(location)
	// A relative reference stays with the host that gave it.
	return server{url: u, own: w.at.own && w.isRedirector(u)}, err
}

// finish makes the reply of the answer that the redirects have led to.
func (w *walk) finish(ctx context.Context, answer *egress.Response) (reply, error) {
	r := reply{at: w.at}
	switch {
	case answer.Status == http.StatusNotFound:
		r.reason, r.vague = NotFound, isPage(answer)
		if w.isRedirector(w.at.url) && !w.led {
			r.reason = NoService
			return r, nil
		}
		r.explanation = explainBody(answer)
		r.reason = r.explanation.absence(w.kind)
		return r, nil
	case answer.Status != http.StatusOK:
		return r, w.refused(answer)
	}
	body, err := w.body(answer)
	if err != nil {
		return r, err
	}
	if err := processor.Spend(ctx, weight.RDAP, len(body)); err != nil {
		return r, err
	}
	if err := w.read(body); err != nil {
		return r, fault.Wrap(fault.Upstream, err, "PROVIDER_ANSWER_INVALID", w.called(w.at))
	}
	return r, nil
}

func (w *walk) refused(answer *egress.Response) error {
	if after := answer.Header.Get("Retry-After"); after != "" && answer.Status == http.StatusServiceUnavailable {
		return pause.TryLater(fault.Upstream, readRetryAfter(after, w.now()), "PROVIDER_OUT_OF_SERVICE",
			w.called(w.at))
	}
	return fault.New(fault.Upstream, "PROVIDER_STATUS", w.called(w.at).With(finding.Args{"status": answer.Status}))
}

// body is the body of an answer that claims to be RDAP.
func (w *walk) body(answer *egress.Response) ([]byte, error) {
	switch {
	case answer.Truncated:
		return nil, fault.New(fault.Upstream, "PROVIDER_ANSWER_TOO_LONG",
			w.called(w.at).With(finding.Args{"limit": "1 MiB"}))
	case fault.Is(answer.BodyErr, fault.Busy):
		return nil, answer.BodyErr
	case fault.Is(answer.BodyErr, fault.Timeout):
		return nil, fault.Wrap(fault.Timeout, answer.BodyErr, "PROVIDER_BODY_TIMEOUT", w.called(w.at))
	case answer.BodyErr != nil:
		return nil, fault.Wrap(fault.Upstream, answer.BodyErr, "PROVIDER_BROKE_OFF", w.called(w.at))
	case isPage(answer):
		return nil, fault.New(fault.Upstream, "PROVIDER_PAGE", w.called(w.at))
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

// isRedirector reports whether a URL is at the redirector, also where another server's redirect led back to it: it
// counts those requests too.
func (c *Client) isRedirector(u target.URL) bool {
	return u.Scheme() == c.base.Scheme() && u.Authority() == c.base.Authority()
}

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

// label names the server in the progress of a run.
func label(at server) string {
	if at.own {
		return fault.Rows.Clause("RDAP_SERVICE_LABEL", nil)
	}
	return clean(at.url.Host().String(), 80)
}

// called are the arguments that name the server in a sentence. The operator's own host may be a private one and is
// not named.
func (c *Client) called(at server) finding.Args {
	if at.own {
		return finding.Args{"provider": "RDAP_SERVICE"}
	}
	return finding.Args{"provider": "RDAP_SERVER", "server": clean(at.url.Host().String(), 80)}
}

// The paces of servers. A registry publishes no limit. The public redirector answers 429 past ten requests in ten
// seconds, and gets at most eight in any 10.5 s, since requests may arrive closer together than they were sent.
var (
	registryPace   = pace.Pace{Burst: 10, Every: 500 * time.Millisecond}
	redirectorPace = pace.Pace{Burst: 3, Every: 2100 * time.Millisecond}
)

const defaultAuthority = "rdap.org:443"

func paceOf(server string) pace.Pace {
	if server == defaultAuthority {
		return redirectorPace
	}
	return registryPace
}

// turn waits until a server may be queried. Errors are *fault.Error (Busy) or those of a ctx that has ended.
func (c *Client) turn(ctx context.Context, at server) error {
	if err := c.paused(ctx, at); err != nil || c.pace == nil {
		return err
	}
	authority := at.url.Authority()
	if err := c.pace.Wait(ctx, authority, paceOf(authority), tool.CallerOf(ctx)); err != nil {
		return err
	}
	return c.paused(ctx, at) // the pause may have begun during the wait
}

// defaultPause is for a server that requests a pause of no given length: the window of rdap.org.
const defaultPause = 10 * time.Second

// pause begins the pause that a server requested, and returns the error of the request that it refused.
func (c *Client) pause(ctx context.Context, at server, header http.Header) error {
	now := c.now()
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date // a date in Retry-After is one of the server's clock
	}
	return c.pauseFor(ctx, at, readRetryAfter(header.Get("Retry-After"), now))
}

func (c *Client) pauseFor(ctx context.Context, at server, wait time.Duration) error {
	c.pauses.Begin(ctx, at.url.Authority(), wait)
	c.egress.Providers().Paused(c.provider(at.url), at.url.Authority(), wait)
	return c.tooOften(at, wait)
}

// paused returns the error of a pause that has not ended.
func (c *Client) paused(ctx context.Context, at server) error {
	if left, paused := c.pauses.Left(ctx, at.url.Authority()); paused {
		return c.tooOften(at, left)
	}
	return nil
}

func (c *Client) tooOften(at server, wait time.Duration) error {
	return pause.TryLater(fault.Busy, wait, "PROVIDER_PAUSED", c.called(at))
}

// readRetryAfter reads seconds or a date (RFC 9110 section 10.2.3).
func readRetryAfter(s string, now time.Time) time.Duration {
	s = strings.TrimSpace(s)
	wait := defaultPause
	if seconds, err := strconv.ParseUint(s, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if errors.Is(err, strconv.ErrRange) { // more seconds than fit
		wait = pause.Max
	} else if at, err := http.ParseTime(s); err == nil {
		wait = at.Sub(now)
	}
	return pause.Within(wait)
}
