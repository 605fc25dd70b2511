// Package redirectchecker is the tool redirect-checker. It follows a chain of redirects. That it ends badly is a
// result; only a first URL that may not be visited, or that has no address, fails.
package redirectchecker

import (
	"context"
	_ "embed" // openapi.yaml
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
	"diagnostics/shared/progress"
)

//go:embed openapi.yaml
var openAPI string

// maxRedirects is how many redirects are followed.
const maxRedirects = 8

// Result is a chain of redirects, kept whatever ended it.
type Result struct {
	finding.Report
	URL            string          `json:"url"`
	Hops           []hopResult     `json:"hops" wire:"len=1..10"`
	Outcome        egress.ChainEnd `json:"outcome"`
	FinalURL       *string         `json:"finalUrl"`                           // null unless the outcome is final
	FinalStatus    *int            `json:"finalStatus" wire:"min=100 max=999"` // likewise
	RedirectCount  int             `json:"redirectCount" wire:"max=8"`
	TotalMs        float64         `json:"totalMs"`
	ClientRedirect *clientRedirect `json:"clientRedirect"`
	Summary        string          `json:"summary"`
	Truncated      bool            `json:"truncated,omitempty"`
}

// Enums implements decode.Enumerated.
func (Result) Enums() map[string][]string {
	var ends []string
	for _, end := range []egress.ChainEnd{
		egress.EndFinal, egress.EndLoop, egress.EndTooManyRedirects, egress.EndMissingLocation, egress.EndInvalidLocation,
		egress.EndUnsupportedScheme, egress.EndBlocked, egress.EndUnreachable, egress.EndDeadline,
	} {
		ends = append(ends, string(end))
	}
	return map[string][]string{"outcome": ends}
}

// hopResult is one URL of the chain: an answer, or with a null status the reason why there is none, in StatusText.
type hopResult struct {
	Index          int             `json:"index" wire:"max=9"` // from 0
	URL            string          `json:"url"`
	Status         *int            `json:"status" wire:"min=100 max=999"`
	StatusText     string          `json:"statusText"`
	Location       *string         `json:"location"` // as sent
	Address        *string         `json:"address"`
	ResponseTimeMs float64         `json:"responseTimeMs"`
	Timings        webview.Timings `json:"timings"`
	Flags          []string        `json:"flags"`
	Notes          []webview.Note  `json:"notes"`
	HelloTooLong   bool            `json:"helloTooLong,omitempty"`
	OtherLocations []string        `json:"otherLocations,omitempty"` // of fields that differ from Location
	Truncated      bool            `json:"truncated,omitempty"`      // a text of this hop
}

// Enums implements decode.Enumerated.
func (hopResult) Enums() map[string][]string {
	return map[string][]string{"flags": {
		flagHTTPToHTTPS, flagHTTPSToHTTP, flagPermanent, flagTemporary, flagCrossHost, flagWWWChange, flagRelativeLocation,
		flagUserinfo, flagCertificateInvalid, flagConflicting, flagRepaired,
	}}
}

// start is the URL that a chain begins with. Its fragment never goes on the wire, but redirects pass it on (RFC 9110
// section 10.2.2).
type start struct {
	target.URL
	fragment string
}

// New makes the tool; client makes the requests.
func New(client *egress.Client) tool.Tool {
	return tool.New(tool.Spec[start, Result]{
		Slug:    "redirect-checker",
		OpenAPI: openAPI, Findings: catalogue,
		Parse: func(in tool.Input) (start, error) {
			u, err := target.ParseURL(in.Text)
			_, fragment, _ := strings.Cut(in.Text, "#")
			return start{URL: u, fragment: fragment}, err
		},
		Run: func(ctx context.Context, u start) (Result, error) {
			return checker{client: client, target: u}.run(ctx)
		},
		About: func(u start, r Result) bool { return r.URL == u.String() },
		Steps: map[string]reflect.Type{
			"hop": reflect.TypeFor[hopResult](),
		},
	})
}

// checker is one run of the tool.
type checker struct {
	client *egress.Client
	target start
}

func (r checker) run(ctx context.Context) (Result, error) {
	var page lastPage
	began := time.Now()
	read := func(answer *egress.Response, body io.Reader) { page.read(ctx, answer, body) }
	chain := r.client.Follow(ctx, egress.Request{URL: r.target.URL, Consume: read, Seen: r.reporter(ctx)}, maxRedirects)
	took := time.Since(began)
	if err := webview.ChainFault(ctx, r.client, r.target.URL, chain); err != nil {
		return Result{}, err
	}
	result := Result{
		URL:           r.target.String(),
		Hops:          describeHops(chain, r.target.fragment),
		Outcome:       chain.End,
		RedirectCount: chain.Followed,
		TotalMs:       format.Milliseconds(took),
	}
	// A name is found not to be public, or its address to be at its limit, only after its redirect was taken up; nothing
	// was sent to it.
	if last := chain.Hops[len(chain.Hops)-1]; chain.End == egress.EndBlocked && last.Err != nil {
		result.RedirectCount--
	}
	if final := chain.Final(); chain.End == egress.EndFinal {
		last := result.Hops[len(result.Hops)-1]
		result.FinalURL, result.FinalStatus = &last.URL, &final.Status
		result.ClientRedirect = page.redirect(final)
	}
	result.bound()
	result.Summary = summarize(result, chain)
	result.Report = result.report(chain)
	return result, nil
}

// maxOtherLocations is the share that other Location fields have of an answer, in bytes of JSON. One hop alone has any:
// the last.
const maxOtherLocations = 2 * webview.MaxURL

// bound cuts what is too long for an answer.
func (r *Result) bound() {
	for i := range r.Hops {
		r.Hops[i].bound(&r.Truncated)
	}
	r.FinalURL = bound.Pointer(r.FinalURL, webview.MaxURL, &r.Truncated)
	if r.ClientRedirect != nil {
		r.ClientRedirect.URL = bound.Text(r.ClientRedirect.URL, webview.MaxURL, &r.Truncated)
	}
}

func (hop *hopResult) bound(truncated *bool) {
	hop.URL = bound.Text(hop.URL, webview.MaxURL, &hop.Truncated, truncated)
	hop.StatusText = bound.Text(hop.StatusText, webview.MaxStatusText, &hop.Truncated, truncated)
	hop.Location = bound.Pointer(hop.Location, webview.MaxURL, &hop.Truncated, truncated)
	hop.OtherLocations = bound.Texts(hop.OtherLocations, webview.MaxURL, maxOtherLocations, &hop.Truncated, truncated)
}

// reporter returns what reports each hop while the chain is followed. The fragment that a hop inherits is in the
// answer.
func (r checker) reporter(ctx context.Context) func(egress.Hop) {
	index := 0
	return func(seen egress.Hop) {
		hop, truncated := describeHop(seen), false
		hop.Index = index
		index++
		if fault.IsOwn(seen.Err) || fault.Is(seen.Err, fault.Refused) {
			return // the result reports it
		}
		hop.bound(&truncated)
		progress.Report(ctx, "hop", strconv.Itoa(hop.Index), hop)
	}
}

// summarize describes in a sentence or two how the chain ended.
func summarize(r Result, chain egress.Chain) string {
	return countWords(r.RedirectCount) + " " + ending(r, chain)
}

func countWords(n int) string {
	switch n {
	case 0:
		return "No redirect was followed."
	case 1:
		return "One redirect was followed."
	}
	return fmt.Sprintf("%d redirects were followed.", n)
}

func ending(r Result, chain egress.Chain) string {
	last := chain.Hops[len(chain.Hops)-1]
	host := last.URL.Host().Short()
	switch chain.End {
	case egress.EndFinal:
		answer := strings.TrimSpace(fmt.Sprintf("%d %s", *r.FinalStatus, r.Hops[len(r.Hops)-1].StatusText))
		text := fmt.Sprintf("%s answers %s.", host, answer)
		if r.ClientRedirect != nil {
			text += " The page itself then sends browsers elsewhere, but that is not followed here."
		}
		if conflicts(last.Response) {
			text += " It sends conflicting Location headers, and browsers show an error instead of such an answer."
		}
		return text
	case egress.EndLoop:
		return "The next one leads back to a URL that was already visited: a loop."
	case egress.EndTooManyRedirects:
		return fmt.Sprintf("%s redirects once more, but at most %d are followed.", host, maxRedirects)
	case egress.EndMissingLocation:
		return fmt.Sprintf("%s redirects without saying where to: there is no Location, or it is blank.", host)
	case egress.EndInvalidLocation:
		if conflicts(last.Response) {
			return fmt.Sprintf("%s names %d conflicting destinations (Location) in one redirect. Browsers stop there and "+
				"show an error, and so does this check.", host, len(last.Response.Locations()))
		}
		return fmt.Sprintf("%s redirects to something that is not a valid URL. %s%s", host, locationSentence(chain.Err),
			egress.AsBrowsersDo(chain.Err))
	case egress.EndUnsupportedScheme:
		return fmt.Sprintf("%s redirects to %s, which is neither http nor https.", host, schemeWords(last.Response))
	case egress.EndBlocked:
		return blockedEnding(chain, last)
	case egress.EndDeadline:
		return "Then this check ran out of time."
	}
	return webview.FaultSentence(last.Err)
}

// blockedEnding does not repeat what the name of a refused hop led to.
func blockedEnding(chain egress.Chain, last egress.Hop) string {
	if limited := chain.Limited(); limited != nil {
		return "The next destination was not visited. " + webview.FaultSentence(limited)
	}
	if webview.EndsAtUserName(chain) {
		return fmt.Sprintf("%s redirects to a URL with a user name in it, which is not followed. Nothing was sent to it.",
			last.URL.Host().Short()) + egress.AsBrowsersDo(chain.Err)
	}
	return "The next destination is not a public address that this service may visit. Nothing was sent to it." +
		egress.AsBrowsersDo(chain.Err)
}

// locationSentence is what is wrong with a Location.
func locationSentence(err error) string {
	if location, is := errors.AsType[*target.LocationError](err); is {
		return webview.FaultSentence(location.Err)
	}
	return ""
}

// maxShownScheme bounds what is repeated of a scheme, which holds no other characters than letters, digits, +, - and
// dots.
const maxShownScheme = 30

func schemeWords(r *egress.Response) string {
	scheme := ""
	if u, err := url.Parse(locationOf(r)); err == nil {
		scheme = u.Scheme
	}
	if scheme == "" || len(scheme) > maxShownScheme {
		return "a URL of another scheme"
	}
	return "a URL of the scheme " + scheme
}
