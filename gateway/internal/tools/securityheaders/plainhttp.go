package securityheaders

import (
	"context"
	"net/http"
	"strings"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// plainWait bounds the request to port 80, which runs beside that of the target.
const plainWait = 3 * time.Second

// httpRedirect is the answer of port 80 to a request without https: Status and ToHTTPS are nil where there is none.
type httpRedirect struct {
	Status         *int          `json:"status" wire:"min=100 max=999"`
	ToHTTPS        *bool         `json:"toHttps"` // by its first answer
	Location       *string       `json:"location"`
	Verdict        controlStatus `json:"verdict" wire:"enum=pass|info|warn"` // pass, info or warn
	Finding        string        `json:"finding"`
	Recommendation *string       `json:"recommendation"`
}

// fetchPlain requests http://host/ where u is an https URL, whose path is not sent in the clear. The result is nil for
// an http URL, and where this service could not send the request. It takes no longer than wait.
func fetchPlain(ctx context.Context, client *egress.Client, u target.URL, wait time.Duration) *httpRedirect {
	if u.Scheme() != "https" {
		return nil
	}
	plain, err := u.Resolve("http://" + u.Host().Authority() + "/")
	if err != nil {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	answer, err := client.Do(bounded, egress.Request{URL: plain, Header: acceptDocument()})
	if err != nil {
		if ctx.Err() != nil || fault.IsOwn(err) || fault.Is(err, fault.Limited) || fault.Is(err, fault.Refused) ||
			fault.Is(err, fault.NoAddress) {
			return nil
		}
		return silentPlain(u)
	}
	return judgePlain(u, answer)
}

func silentPlain(u target.URL) *httpRedirect {
	return &httpRedirect{Verdict: controlPass, Finding: "http://" + shownHeader(u.Host().Authority()) +
		" gives no answer (port 80), so no page is served there without encryption."}
}

// judgePlain judges the first answer, as MDN's Observatory and hstspreload.org do: the first redirect must lead
// to https, and on the same host.
func judgePlain(u target.URL, answer *egress.Response) *httpRedirect {
	var v controlVerdict
	host := "http://" + shownHeader(u.Host().Authority())
	next, location := redirectOf(answer)
	toHTTPS := next != nil && next.Scheme() == "https"
	switch {
	case toHTTPS && next.Host() == u.Host():
		v.find(controlPass, "%s redirects to https at once (%d).", host, answer.Status)
		if !permanent(answer.Status) {
			v.add("The redirect is temporary: with 301 or 308 browsers remember it.")
		}
	case toHTTPS:
		v.find(controlInfo, "%s redirects to https at once (%d), but to another host (%s), so browsers that come this way "+
			"learn no HSTS policy for the first.", host, answer.Status, shownHeader(next.Host().String()))
		v.recommendation.before = "Redirect http to https on the same host first, and from there onward."
	case next != nil:
		v.find(controlWarn,
			"%s redirects to another http URL (%d), where the network can read and change what is sent.", host,
			answer.Status)
		v.recommendation.before = "Redirect every http URL straight to https on the same host, with 301 or 308."
	case answer.Status < http.StatusMultipleChoices:
		v.find(controlWarn,
			"%s answers %d and does not redirect to https, so visitors who come that way are served without encryption.",
			host, answer.Status)
		v.recommendation.before = "Redirect every http URL to https on the same host, with 301 or 308."
	default:
		v.find(controlInfo, "%s answers %s and does not redirect to https.", host, statusLine(answer))
		v.recommendation.before = "Redirect every http URL to https on the same host, with 301 or 308."
	}
	if u.Port() != httpsPort && v.status == controlWarn {
		v.status = controlInfo
		v.add("The URL that was checked has its own port, %d, and may be another service.", u.Port())
	}
	return &httpRedirect{
		Status: &answer.Status, ToHTTPS: &toHTTPS, Location: location, Verdict: v.status,
		Finding: strings.Join(v.findings, " "), Recommendation: format.TextOrNull(v.recommendation.text()),
	}
}

const httpsPort = 443

// redirectOf is where an answer sends a browser, nil where nowhere, as with Location fields that differ; and the first
// of these as it came.
func redirectOf(answer *egress.Response) (*target.URL, *string) {
	location := answer.Header.Get("Location")
	if !egress.IsRedirect(answer.Status) || location == "" {
		return nil, nil
	}
	shown := webview.HeaderText(location)
	next, err := answer.Destination()
	if err != nil {
		return nil, &shown
	}
	return &next, &shown
}

func permanent(status int) bool {
	return status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect
}

// bound cuts what is too long for an answer.
func (r *httpRedirect) bound(cut *bool) {
	if r != nil {
		r.Location = bound.Pointer(r.Location, webview.MaxURL, cut)
	}
}
