// Package httpheaders is the tool http-headers. It shows the status and the headers of one answer. Without an HTTP
// answer it fails: Upstream or Timeout.
package httpheaders

import (
	"context"
	_ "embed" // openapi.yaml
	"net/http"
	"strings"

	"diagnostics/gateway/internal/bound"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/challenge"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
)

//go:embed openapi.yaml
var openAPI string

// Result is what one GET showed; no redirect is followed and no body is read.
type Result struct {
	URL            string               `json:"url"`
	Status         int                  `json:"status"`
	StatusText     string               `json:"statusText"`
	ResponseTimeMs float64              `json:"responseTimeMs"`
	HTTPVersion    string               `json:"httpVersion"`
	Address        string               `json:"address"`
	Headers        []webview.Header     `json:"headers"`
	Timings        webview.Timings      `json:"timings"`
	TLS            *webview.TLS         `json:"tls"`
	RedirectsTo    *string              `json:"redirectsTo"`
	Challenge      *challenge.Challenge `json:"challenge"`
	Informational  []informational      `json:"informational"` // in the order of arrival
	Alternatives   []alternative        `json:"alternatives"`
	Compression    compression          `json:"compression"`
	Truncated      bool                 `json:"truncated,omitempty"`
}

// New makes the tool; client makes the request.
func New(client *egress.Client) tool.Tool {
	return tool.New(tool.Spec[target.URL, Result]{
		Slug:    "http-headers",
		OpenAPI: openAPI,
		Parse:   func(in tool.Input) (target.URL, error) { return target.ParseURL(in.Text) },
		Run: func(ctx context.Context, u target.URL) (Result, error) {
			accept := http.Header{"Accept-Encoding": {strings.Join(offered, ", ")}}
			answer, err := client.Do(ctx, egress.Request{URL: u, Header: accept})
			if err != nil {
				return Result{}, err
			}
			return describeAnswer(answer), nil
		},
	})
}

func describeAnswer(r *egress.Response) Result {
	result := Result{
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
		Alternatives:   alternatives(r.Header),
		Compression:    describeCompression(r),
	}
	result.bound()
	return result
}

// bound cuts what is too long for an answer.
func (r *Result) bound() {
	r.StatusText = bound.Text(r.StatusText, webview.MaxStatusText, &r.Truncated)
	r.Headers = webview.BoundHeaders(r.Headers, &r.Truncated)
	r.Informational = boundInformational(r.Informational, &r.Truncated)
	r.RedirectsTo = bound.Pointer(r.RedirectsTo, webview.MaxURL, &r.Truncated)
}

// redirectsTo is the absolute URL that a browser would go to next. It is nil where there is none, where Location fields
// differ, and where the Location is no URL that this service would visit: what the server wrote stands among the
// headers, and a page may make a link of this one.
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
