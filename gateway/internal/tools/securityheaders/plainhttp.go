package securityheaders

import (
	"context"
	"net/http"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// plainWait bounds the request to port 80, which runs beside that of the target.
const plainWait = 3 * time.Second

// httpRedirect is the answer of port 80 to a request without https: Status and ToHTTPS are nil where there is none.
type httpRedirect struct {
	Status         *int          `json:"status" wire:"min=100 max=999"`
	ToHTTPS        *bool         `json:"toHttps"` // by its first answer
	Location       *string       `json:"location" bound:"text=16k"`
	Verdict        controlStatus `json:"verdict" wire:"enum=pass|info|warn"` // pass, info or warn
	Finding        string        `json:"finding"`
	Recommendation *string       `json:"recommendation"`
}

// plainAnswer is the answer of port 80 with the facts that it is judged by; the first is its finding.
type plainAnswer struct {
	httpRedirect
	facts []fact
}

func newPlainAnswer(code string, u target.URL, args finding.Args) *plainAnswer {
	return &plainAnswer{facts: []fact{{code, args.With(finding.Args{"host": shownHeader(u.Host().Authority())})}}}
}

// result is the answer as it is sent.
func (a *plainAnswer) result() *httpRedirect {
	if a == nil {
		return nil
	}
	v := verdict{facts: a.facts}
	r := a.httpRedirect
	r.Verdict, r.Finding, r.Recommendation = v.status(), sentences(a.facts...), v.recommendation()
	return &r
}

// fetchPlain requests http://host/ where u is an https URL, whose path is not sent in the clear. The result is nil for
// an http URL, and where this service could not send the request. It takes no longer than wait.
func fetchPlain(ctx context.Context, client *egress.Client, u target.URL, wait time.Duration) *plainAnswer {
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
			fault.Is(err, fault.NoAddress) || fault.BeyondBound(err) {
			return nil
		}
		return newPlainAnswer("HTTP_SILENT", u, nil)
	}
	return judgePlain(u, answer)
}

// judgePlain judges the first answer, as MDN's Observatory and hstspreload.org do: the first redirect must lead
// to https, and on the same host.
func judgePlain(u target.URL, answer *egress.Response) *plainAnswer {
	next, location := redirectOf(answer)
	toHTTPS := next != nil && next.Scheme() == "https"
	status := finding.Args{"status": answer.Status}
	ported := finding.Args{"status": answer.Status, "port": int(u.Port())}
	var a *plainAnswer
	switch {
	case toHTTPS && next.Host() == u.Host():
		a = newPlainAnswer("HTTP_REDIRECTED", u, status)
		if !permanent(answer.Status) {
			a.facts = append(a.facts, fact{"HTTP_REDIRECT_TEMPORARY", nil})
		}
	case toHTTPS:
		other := finding.Args{"other": shownHeader(next.Host().String())}
		a = newPlainAnswer("HTTP_REDIRECT_ELSEWHERE", u, status.With(other))
	case next != nil && u.Port() == httpsPort:
		a = newPlainAnswer("HTTP_REDIRECT_TO_HTTP", u, status)
	case next != nil:
		a = newPlainAnswer("HTTP_REDIRECT_TO_HTTP_BESIDE_PORT", u, ported)
	case answer.Status >= http.StatusMultipleChoices:
		a = newPlainAnswer("HTTP_ERROR", u, finding.Args{"answer": statusLine(answer)})
	case u.Port() == httpsPort:
		a = newPlainAnswer("HTTP_NOT_REDIRECTED", u, status)
	default:
		a = newPlainAnswer("HTTP_NOT_REDIRECTED_BESIDE_PORT", u, ported)
	}
	a.Status, a.ToHTTPS, a.Location = &answer.Status, &toHTTPS, location
	return a
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
