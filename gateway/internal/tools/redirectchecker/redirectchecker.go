// Package redirectchecker is the tool redirect-checker. It follows a chain of redirects. That it ends badly is a
// result; only a first URL that may not be visited, or that has no address, fails.
package redirectchecker

import (
	"context"
	_ "embed" // openapi.yaml
	"errors"
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
	FinalURL       *string         `json:"finalUrl" bound:"text=16k"`          // null unless the outcome is final
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
	URL            string          `json:"url" bound:"text=16k"`
	Status         *int            `json:"status" wire:"min=100 max=999"`
	StatusText     string          `json:"statusText" bound:"text=1k"`
	Location       *string         `json:"location" bound:"text=16k"` // as sent
	Address        *string         `json:"address"`
	ResponseTimeMs float64         `json:"responseTimeMs"`
	Timings        webview.Timings `json:"timings"`
	Flags          []string        `json:"flags"`
	Notes          []webview.Note  `json:"notes"`
	HelloTooLong   bool            `json:"helloTooLong,omitempty"`
	// OtherLocations are further Location fields with other values.
	OtherLocations []string `json:"otherLocations,omitempty" bound:"text=16k list=32k"`
	Truncated      bool     `json:"truncated,omitempty"` // a text of this hop
}

// Enums implements decode.Enumerated.
func (hopResult) Enums() map[string][]string {
	return map[string][]string{"flags": {
		flagHTTPToHTTPS, flagHTTPSToHTTP, flagPermanent, flagTemporary, flagCrossHost, flagWWWChange, flagRelativeLocation,
		flagUserinfo, flagCertificateInvalid, flagConflicting, flagRepaired,
	}}
}

var (
	limits    = bound.LimitsOf[Result]()
	hopLimits = bound.LimitsOf[hopResult]()
)

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
		OpenAPI: openAPI, Findings: rows,
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
	limits.Enforce(&result)
	result.Summary = summarize(result, chain)
	result.Report = result.report(chain)
	return result, nil
}

// reporter returns what reports each hop while the chain is followed. The fragment that a hop inherits is in the
// answer.
func (r checker) reporter(ctx context.Context) func(egress.Hop) {
	index := 0
	return func(seen egress.Hop) {
		hop := describeHop(seen)
		hop.Index = index
		index++
		if fault.IsOwn(seen.Err) || fault.Is(seen.Err, fault.Refused) {
			return // the result reports it
		}
		hopLimits.Enforce(&hop)
		progress.Report(ctx, "hop", strconv.Itoa(hop.Index), hop)
	}
}

// summarize describes in a sentence or two how the chain ended.
func summarize(r Result, chain egress.Chain) string {
	count, followed := sumFollowed, finding.Args{"followed": r.RedirectCount}
	switch r.RedirectCount {
	case 0:
		count, followed = sumNone, nil
	case 1:
		count, followed = sumOne, nil
	}
	code, args := r.ending(chain)
	return rows.Sentence(count, followed) + " " + rows.Sentence(code, args)
}

// ending returns the row of how the chain ended.
func (r Result) ending(chain egress.Chain) (code string, args finding.Args) {
	last := chain.Hops[len(chain.Hops)-1]
	host := finding.Args{"host": last.URL.Host().Short()}
	followed := finding.Args{"followed": egress.BrowsersFollow(chain.Err)}
	switch chain.End {
	case egress.EndFinal:
		return sumAnswers, host.With(finding.Args{"conflicting": conflicts(last.Response), "client": r.ClientRedirect != nil,
			"answer": webview.Answered(*r.FinalStatus, r.Hops[len(r.Hops)-1].StatusText)})
	case egress.EndLoop:
		return sumLoop, nil
	case egress.EndTooManyRedirects:
		return sumTooMany, host.With(finding.Args{"limit": maxRedirects})
	case egress.EndMissingLocation:
		return sumNoLocation, host
	case egress.EndInvalidLocation:
		if conflicts(last.Response) {
			return sumConflict, host.With(finding.Args{"count": len(last.Response.Locations())})
		}
		return sumInvalid, locationProblem(chain.Err).With(followed).With(finding.Args{"site": host["host"]})
	case egress.EndUnsupportedScheme:
		return sumScheme, host.With(finding.Args{"scheme": schemeOf(last.Response)})
	case egress.EndBlocked:
		return blockedEnding(chain, last)
	case egress.EndDeadline:
		return sumDeadline, nil
	}
	return webview.Reason(last.Err)
}

// blockedEnding does not repeat what the name of a refused hop led to.
func blockedEnding(chain egress.Chain, last egress.Hop) (code string, args finding.Args) {
	if limited := chain.Limited(); limited != nil {
		code, args := webview.Reason(limited)
		return sumNotVisited, finding.Args{"reason": code}.With(args)
	}
	args = finding.Args{"followed": egress.BrowsersFollow(chain.Err)}
	if webview.EndsAtUserName(chain) {
		return sumUserName, args.With(finding.Args{"host": last.URL.Host().Short()})
	}
	return sumNotPublic, args
}

// locationProblem says what is wrong with a Location.
func locationProblem(err error) finding.Args {
	if location, is := errors.AsType[*target.LocationError](err); is {
		code, args := webview.Reason(location.Err)
		return finding.Args{"problem": code}.With(args)
	}
	return nil
}

// maxShownScheme bounds what is repeated of a scheme, which holds no other characters than letters, digits, +, - and
// dots.
const maxShownScheme = 30

// schemeOf returns the scheme of the Location, empty if it is none or too long to be shown.
func schemeOf(r *egress.Response) string {
	u, err := url.Parse(locationOf(r))
	if err != nil || len(u.Scheme) > maxShownScheme {
		return ""
	}
	return u.Scheme
}
