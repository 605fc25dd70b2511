// Package securityheaders is the tool security-headers. It judges the headers of the answer that a URL's redirects end
// at, without reading its body. Without such an answer it fails: Upstream or Timeout, also where a redirect is refused
// or one too many.
package securityheaders

import (
	"context"
	_ "embed" // openapi.yaml
	"net/http"
	"time"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
	"diagnostics/shared/parallel"
)

//go:embed openapi.yaml
var openAPI string

// maxRedirects is how many redirects are followed.
const maxRedirects = 5

// Result is the assessment of the final answer's headers. There is no grade: each control stands for itself.
type Result struct {
	finding.Report
	URL           string           `json:"url"`
	FinalURL      string           `json:"finalUrl" bound:"text=16k"`
	Status        int              `json:"status" wire:"min=100 max=999"`
	RedirectCount int              `json:"redirectCount" wire:"max=5"`
	Redirects     []redirect       `json:"redirects" wire:"len=0..5"`
	TLS           *webview.TLS     `json:"tls"`
	Headers       []webview.Header `json:"headers" bound:"list=192k"`
	Controls      []controlResult  `json:"controls" wire:"len=13"`
	Cookies       []cookie         `json:"cookies" bound:"list=160k"`
	Summary       summary          `json:"summary"`
	// Notice reports that the answer is not the page that was meant: an error, a challenge.
	Notice *string `json:"notice"`
	// HTTPRedirect is what port 80 of an https input's host does, nil for an http input.
	HTTPRedirect *httpRedirect `json:"httpRedirect"`
	NewerHeaders []newerHeader `json:"newerHeaders" wire:"len=5"`
	// Notes are on the final answer.
	Notes        []webview.Note `json:"notes"`
	HelloTooLong bool           `json:"helloTooLong,omitempty"` // of any server of the chain
	// Truncated means that more came than is shown: headers, cookies or URLs, or the value of a control that is marked
	// too.
	Truncated bool `json:"truncated,omitempty"`
}

// redirect is an answer that sent onward.
type redirect struct {
	URL    string `json:"url" bound:"text=16k"`
	Status int    `json:"status" wire:"enum=301|302|303|307|308"`
}

// controlStatus is what a control comes to.
type controlStatus string

const (
	controlPass          controlStatus = "pass"
	controlWarn          controlStatus = "warn"
	controlFail          controlStatus = "fail"
	controlInfo          controlStatus = "info"
	controlNotApplicable controlStatus = "notApplicable"
)

// controlResult is one control. Value is what the server sent for it, Recommendation the very header line to send, with
// what else to do. Set and Remove are the headers that it says to send or not to send; at most one of the two is there.
type controlResult struct {
	ID             string        `json:"id"`
	Name           string        `json:"name"`
	Status         controlStatus `json:"status" wire:"enum=pass|warn|fail|info|notApplicable"`
	Present        bool          `json:"present"`
	Value          *string       `json:"value" bound:"text=24k"`
	Finding        string        `json:"finding" bound:"text=12k"`
	Recommendation *string       `json:"recommendation"`
	Set            *headerLine   `json:"set,omitempty"`
	Remove         []string      `json:"remove,omitempty" wire:"len=1.."`
	Reference      string        `json:"reference"`
	Truncated      bool          `json:"truncated,omitempty"`
}

// summary counts the controls by status.
type summary struct {
	Pass          int `json:"pass"`
	Warn          int `json:"warn"`
	Fail          int `json:"fail"`
	Info          int `json:"info"`
	NotApplicable int `json:"notApplicable"`
}

// New makes the tool; client makes the requests, now is time.Now outside tests.
func New(client *egress.Client, now func() time.Time) tool.Tool {
	return tool.New(tool.Spec[target.URL, Result]{
		Slug:     "security-headers",
		OpenAPI:  openAPI,
		Findings: rows,
		Parse:    func(in tool.Input) (target.URL, error) { return target.ParseURL(in.Text) },
		Run: func(ctx context.Context, u target.URL) (Result, error) {
			return check(ctx, client, u, now)
		},
		About: func(u target.URL, r Result) bool { return r.URL == u.String() },
		Adopt: adopt,
	})
}

func check(ctx context.Context, client *egress.Client, u target.URL, now func() time.Time) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	plain := parallel.Start(func() *plainAnswer { return fetchPlain(ctx, client, u, plainWait) })
	// No packet leaves after a run.
	defer func() { cancel(); plain.Wait() }()
	chain := client.Follow(ctx, egress.Request{URL: u, Header: acceptDocument()}, maxRedirects)
	// A redirect without a destination is where browsers stop and show what came with it.
	if chain.Err != nil && chain.End != egress.EndMissingLocation {
		return Result{}, chain.Err
	}
	policies := 0
	for _, name := range []string{"Content-Security-Policy", "Content-Security-Policy-Report-Only"} {
		for _, value := range chain.Final().Header.Values(name) {
			policies += len(value)
		}
	}
	if err := processor.Spend(ctx, weight.CSP, policies); err != nil {
		return Result{}, err
	}
	return describe(u, chain, plain.Wait(), now()), nil
}

// acceptDocument asks a server that has a document and data for one URL for the document.
func acceptDocument() http.Header {
	return http.Header{"Accept": {"text/html,application/xhtml+xml,*/*;q=0.8"}}
}

func describe(u target.URL, chain egress.Chain, plain *plainAnswer, now time.Time) Result {
	page := newPage(chain, now)
	controls, found := judgeControls(page)
	result := Result{
		URL:           u.String(),
		FinalURL:      page.answer.URL.String(),
		Status:        page.answer.Status,
		RedirectCount: chain.Followed,
		Redirects:     make([]redirect, 0, chain.Followed),
		TLS:           webview.DescribeTLS(page.answer.TLS),
		Headers:       webview.DescribeHeaders(page.answer.Header),
		Controls:      controls,
		Cookies:       make([]cookie, 0, len(page.cookies)),
		HTTPRedirect:  plain.result(),
		NewerHeaders:  describeNewer(page),
		Notes:         webview.Notes(page.answer),
	}
	for _, hop := range page.earlier {
		result.Redirects = append(result.Redirects, redirect{URL: hop.URL.String(), Status: hop.Status})
	}
	for _, c := range page.cookies {
		result.Cookies = append(result.Cookies, c.cookie)
	}
	if page.notice != nil {
		result.Notice = new(sentences(*page.notice))
	}
	for _, c := range result.Controls {
		result.Summary.count(c.Status)
	}
	short := webview.ShortHelloHosts(chain)
	result.HelloTooLong = len(short) > 0
	for _, host := range short {
		found = append(found, remark{rows.Find(webview.CodeHello, "", finding.Args{"host": host}), "TLS"})
	}
	result.Report = report(page, plain, found)
	return result
}

func (s *summary) count(status controlStatus) {
	switch status {
	case controlPass:
		s.Pass++
	case controlWarn:
		s.Warn++
	case controlFail:
		s.Fail++
	case controlInfo:
		s.Info++
	case controlNotApplicable:
		s.NotApplicable++
	}
}
