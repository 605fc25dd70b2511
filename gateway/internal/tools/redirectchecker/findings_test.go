package redirectchecker

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// step is one hop of a chain: a status, or 0 where no answer came.
type step struct {
	url      string
	status   int
	location string // two, divided by a space, conflict
	verdict  *certs.Verdict
	took     time.Duration
	err      error
	short    bool // answers short hellos only
}

func chainOfSteps(t *testing.T, end egress.ChainEnd, steps ...step) egress.Chain {
	t.Helper()
	chain := egress.Chain{End: end, Followed: len(steps) - 1}
	for _, s := range steps {
		u, err := target.ParseURL(s.url)
		if err != nil {
			t.Fatal(err)
		}
		hop := egress.Hop{URL: u, Err: s.err}
		if s.err == nil {
			hop.Response = &egress.Response{URL: u, Status: s.status, Header: http.Header{},
				Timings: egress.Timings{Total: s.took}, HelloTooLong: s.short}
			if s.location != "" {
				hop.Response.Header["Location"] = strings.Fields(s.location)
			}
			if u.Scheme() == "https" {
				hop.Response.TLS = &egress.TLS{Verdict: certs.Verdict{Authorized: true}}
				if s.verdict != nil {
					hop.Response.TLS.Verdict = *s.verdict
				}
			}
		}
		chain.Err = s.err
		chain.Hops = append(chain.Hops, hop)
	}
	return chain
}

func TestReportOfAChain(t *testing.T) {
	t.Parallel()
	const site, page = "https://example.com/", "https://www.example.com/"
	expired := &certs.Verdict{Code: certs.CodeExpired, Codes: []string{certs.CodeExpired}}
	unverified := &certs.Verdict{Code: certs.CodeNoLocalIssuer, Codes: []string{certs.CodeNoLocalIssuer},
		Defects: []string{certs.DefectLongKey}}
	to := func(url string) step { return step{url: site, status: 301, location: url} }
	ok := step{url: page, status: 200}
	refused := fault.New(fault.Upstream, "CONNECTION_REFUSED", finding.Args{"host": "www.example.com"})
	beyond := fault.New(fault.Upstream, "HEADERS_TOO_LONG", finding.Args{"host": "www.example.com"})
	for _, c := range []struct {
		name       string
		end        egress.ChainEnd
		steps      []step
		state      finding.State
		conclusion string
		findings   string
	}{
		{"a page", egress.EndFinal, []step{{url: site, status: 200}}, finding.OK, codeDirect, ""},
		{"a redirect", egress.EndFinal, []step{to(page), ok}, finding.OK, codeRedirected, ""},
		{"three redirects", egress.EndFinal, []step{to(page), to(page), to(page), ok}, finding.OK, codeRedirected, ""},
		{"four redirects", egress.EndFinal, []step{to(page), to(page), to(page), to(page), ok}, finding.Warned, codeOften, codeMany},
		{"399", egress.EndFinal, []step{{url: site, status: 399}}, finding.OK, codeDirect, ""},
		{"404", egress.EndFinal, []step{to(page), {url: page, status: 404}}, finding.Warned, codeEndsAtError, webview.CodeClientError},
		{"500", egress.EndFinal, []step{to(page), {url: page, status: 500}}, finding.Failed, codeEndsAtFault, webview.CodeServerError},
		{"just fast", egress.EndFinal, []step{{url: site, status: 200, took: 1999 * time.Millisecond}}, finding.OK, codeDirect, ""},
		{"just slow", egress.EndFinal, []step{{url: site, status: 301, location: page, took: time.Second}, {url: page, status: 200, took: time.Second}}, finding.Warned, codeEndsSlowly, webview.CodeSlow},
		{"without encryption", egress.EndFinal, []step{{url: "http://example.com/", status: 200}}, finding.Warned, codeEndsPlain, webview.CodePlain},
		{"back to HTTP", egress.EndFinal, []step{to("http://example.com/"), {url: "http://example.com/", status: 301, location: page}, ok}, finding.Warned, codeViaHTTP, codeToHTTP},
		{"a user name on the way", egress.EndFinal, []step{to("https://a@www.example.com/"), ok}, finding.Warned, codeViaUserName, webview.CodeUserName},
		{"a certificate on the way", egress.EndFinal, []step{{url: site, status: 301, location: page, verdict: expired}, ok}, finding.Failed, webview.CodeRefusedCert, webview.CodeCertificate},
		{"and one that was not verified", egress.EndFinal, []step{{url: site, status: 301, location: page, verdict: unverified}, ok}, finding.OK, codeRedirected, webview.CodeUnverified},
		{"Location fields that differ", egress.EndInvalidLocation, []step{to("/a /b")}, finding.Failed, codeEndedAtConflict, webview.CodeConflict},
		{"and on a page", egress.EndFinal, []step{{url: site, status: 200, location: "/a /b"}}, finding.Failed, codeEndsConflicting, webview.CodeConflict},
		{"no URL", egress.EndInvalidLocation, []step{to("http://%zz/")}, finding.Failed, webview.CodeBadLocation, webview.CodeBadLocation},
		{"no Location", egress.EndMissingLocation, []step{to("")}, finding.Failed, webview.CodeNoLocation, webview.CodeNoLocation},
		{"a loop", egress.EndLoop, []step{to(site)}, finding.Failed, webview.CodeLoop, webview.CodeLoop},
		{"too many", egress.EndTooManyRedirects, []step{to(page), to(page)}, finding.Warned, webview.CodeManyRedirect, webview.CodeManyRedirect},
		{"another scheme", egress.EndUnsupportedScheme, []step{to("intent:x")}, finding.Failed, webview.CodeScheme, webview.CodeScheme},
		{"not public", egress.EndBlocked, []step{to("http://10.0.0.1/")}, finding.Warned, webview.CodeNotPublic, codeToHTTP + " " + webview.CodeNotPublic},
		{"a limit of this service", egress.EndBlocked, []step{to(page), {url: page, err: fault.New(fault.Limited, "URL_TOO_LONG", nil)}}, finding.Unknown, webview.CodeNotVisited, webview.CodeNotVisited},
		{"out of time", egress.EndDeadline, []step{to(page)}, finding.Unknown, webview.CodeNotFinished, webview.CodeNotFinished},
		{"out of time behind a bad certificate", egress.EndDeadline, []step{{url: site, status: 301, location: page, verdict: expired}}, finding.Failed, webview.CodeRefusedCert, webview.CodeCertificate + " " + webview.CodeNotFinished},
		{"a dead site", egress.EndUnreachable, []step{{url: page, err: refused}}, finding.Failed, "CONNECTION_REFUSED", "CONNECTION_REFUSED"},
		{"beyond a bound", egress.EndUnreachable, []step{{url: page, err: beyond}}, finding.Unknown, webview.CodeNotRead, webview.CodeNotRead},
		{"beyond a bound after a redirect", egress.EndUnreachable, []step{to(page), {url: page, err: beyond}}, finding.Unknown, webview.CodeNotRead, webview.CodeNotRead},
		{"short hellos only", egress.EndFinal, []step{to(page), {url: page, status: 200, short: true}}, finding.Warned, webview.CodeHello, webview.CodeHello},
		{"a dead end", egress.EndUnreachable, []step{to(page), {url: page, err: refused}}, finding.Failed, webview.CodeDeadRedirect, webview.CodeDeadRedirect},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			chain := chainOfSteps(t, c.end, c.steps...)
			result := Result{Hops: describeHops(chain, ""), RedirectCount: chain.Followed}
			if final := chain.Final(); c.end == egress.EndFinal {
				result.FinalURL, result.FinalStatus = new(final.URL.String()), &final.Status
			}
			got := result.report(chain)
			var codes []string
			for _, f := range got.Findings {
				codes = append(codes, f.Code)
				if strings.Contains(f.Message, "%!") || f.Code == webview.CodeCertificate &&
					*f.Subject != "certificate of example.com" {
					t.Errorf("%+v", f)
				}
			}
			broken := slices.ContainsFunc(got.Findings, func(f finding.Finding) bool { return f.Group == finding.Broken })
			if got.Conclusion.State != c.state || got.Conclusion.Code != c.conclusion || strings.Join(codes,
				" ") != c.findings ||
				c.state == finding.Failed && !broken || c.state == finding.OK && broken ||
				strings.Contains(got.Conclusion.Message, "%!") {
				t.Errorf("%+v, %v", got.Conclusion, codes)
			}
			if unsafe := result.flagged(flagCertificateInvalid); unsafe != strings.Contains(c.findings,
				webview.CodeCertificate) {
				t.Errorf("certificateInvalid is %t", unsafe)
			}
		})
	}
}
