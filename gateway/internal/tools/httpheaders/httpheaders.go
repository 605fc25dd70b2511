// Package httpheaders is the tool http-headers. It shows the status and the headers of one answer. Without an HTTP
// answer it fails: Upstream or Timeout.
package httpheaders

import (
	"context"
	_ "embed" // openapi.yaml
	"net/http"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/challenge"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
)

//go:embed openapi.yaml
var openAPI string

// Result is what one GET showed; no redirect is followed and no body is read.
type Result struct {
	finding.Report
	URL            string               `json:"url"`
	Status         int                  `json:"status" wire:"min=100 max=999"`
	StatusText     string               `json:"statusText" bound:"text=1k"`
	ResponseTimeMs float64              `json:"responseTimeMs"`
	HTTPVersion    string               `json:"httpVersion" wire:"enum=HTTP/1.0|HTTP/1.1|HTTP/2"`
	Address        string               `json:"address"`
	Headers        []webview.Header     `json:"headers" bound:"list=192k"`
	Timings        webview.Timings      `json:"timings"`
	TLS            *webview.TLS         `json:"tls"`
	RedirectsTo    *string              `json:"redirectsTo" bound:"text=16k"`
	Challenge      *challenge.Challenge `json:"challenge"`
	// Informational is in the order of arrival.
	Informational []informational       `json:"informational" wire:"len=0..16" bound:"count=16 list=256k"`
	Alternatives  []webview.Alternative `json:"alternatives" wire:"len=0..16"`
	Compression   compression           `json:"compression"`
	Notes         []webview.Note        `json:"notes"`
	HTTP3         *webview.HTTP3        `json:"http3,omitempty"`
	HelloTooLong  bool                  `json:"helloTooLong,omitempty"`
	Truncated     bool                  `json:"truncated,omitempty"`
}

var limits = bound.LimitsOf[Result]()

// New makes the tool; client makes the request.
func New(client *egress.Client) tool.Tool {
	return tool.New(tool.Spec[webview.Page, *Result]{
		Slug:    "http-headers",
		Options: []tool.Option{webview.OptionHTTP3},
		OpenAPI: openAPI, Findings: rows,
		Parse: webview.ParsePage,
		Run: func(ctx context.Context, page webview.Page) (*Result, error) {
			accept := http.Header{"Accept-Encoding": {strings.Join(offered, ", ")}}
			answer, err := client.Do(ctx, egress.Request{URL: page.URL, Header: accept})
			if err != nil {
				return nil, err
			}
			result := describeAnswer(answer)
			if page.HTTP3 {
				result.HTTP3 = webview.CheckHTTP3(ctx, client, answer, &result.Truncated)
				result.Report = result.With(result.HTTP3.Findings...)
			}
			return result, nil
		},
		About: func(p webview.Page, r *Result) bool { return r.URL == p.String() },
	})
}

func describeAnswer(r *egress.Response) *Result {
	result := &Result{
		URL:            r.URL.String(),
		Status:         r.Status,
		StatusText:     webview.DescribeStatus(r),
		ResponseTimeMs: format.Milliseconds(r.Timings.Total),
		HTTPVersion:    r.Proto,
		Address:        r.Address.String(),
		Headers:        webview.DescribeHeaders(r.Header),
		Timings:        webview.DescribeTimings(r.Timings),
		TLS:            webview.DescribeTLS(r.TLS),
		RedirectsTo:    redirectsTo(r),
		Challenge:      challenge.Of(r.Status, r.Header),
		Informational:  describeInterim(r.Interim),
		Alternatives:   webview.Alternatives(r.Header),
		Compression:    describeCompression(r),
		Notes:          webview.Notes(r),
		HelloTooLong:   r.HelloTooLong,
	}
	limits.Enforce(result)
	result.Report = result.report(r)
	return result
}

// redirectsTo is the absolute URL that a browser would go to next. It is nil where there is none, where Location fields
// differ, and where the Location is no URL that this service would visit: the server's own text is among the
// headers, while a page may make a link of this one.
func redirectsTo(r *egress.Response) *string {
	if !egress.IsRedirect(r.Status) {
		return nil
	}
	next, err := r.Destination()
	if err != nil {
		return nil
	}
	return new(next.String())
}

// informational is an answer that came before the final one, such as 103 Early Hints. Servers send one.
type informational struct {
	Status     int              `json:"status" wire:"min=100 max=199"`
	StatusText string           `json:"statusText" bound:"text=1k"`
	Headers    []webview.Header `json:"headers" bound:"list=192k"`
}

func describeInterim(answers []egress.Interim) []informational {
	list := make([]informational, 0, len(answers))
	for _, a := range answers {
		list = append(list, informational{
			Status:     a.Status,
			StatusText: webview.DescribeStatus(&egress.Response{Status: a.Status, StatusText: a.StatusText}),
			Headers:    webview.DescribeHeaders(a.Header),
		})
	}
	return list
}

// tokens are the members of a field that is a list of tokens, in lower case.
func tokens(h http.Header, name string) []string {
	var list []string
	for _, value := range h.Values(name) {
		for member := range strings.SplitSeq(webview.HeaderText(value), ",") {
			if member = strings.ToLower(strings.TrimSpace(member)); member != "" {
				list = append(list, member)
			}
		}
	}
	return list
}
