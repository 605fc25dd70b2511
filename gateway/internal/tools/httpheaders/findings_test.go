package httpheaders

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

func TestReportOfAnAnswer(t *testing.T) {
	t.Parallel()
	good := &certs.Verdict{Authorized: true}
	expired := &certs.Verdict{Code: certs.CodeExpired, Codes: []string{certs.CodeExpired}}
	unverified := &certs.Verdict{Code: certs.CodeNoLocalIssuer, Codes: []string{certs.CodeNoLocalIssuer},
		Defects: []string{certs.DefectUnfinished}}
	locations := func(values ...string) http.Header { return http.Header{"Location": values} }
	challenged := http.Header{"Cf-Mitigated": {"challenge"}}
	text := func(fields ...string) http.Header {
		h := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
		for i := 0; i < len(fields); i += 2 {
			h.Set(fields[i], fields[i+1])
		}
		return h
	}
	for _, c := range []struct {
		name       string
		status     int
		header     http.Header
		verdict    *certs.Verdict // nil over plain HTTP
		took       time.Duration
		state      finding.State
		conclusion string
		findings   string
		short      bool // answers short hellos only
	}{
		{"a page", 200, nil, good, 0, finding.OK, codeAnswers, "", false},
		{"299", 299, nil, good, 0, finding.OK, codeAnswers, "", false},
		{"just fast", 200, nil, good, 1999 * time.Millisecond, finding.OK, codeAnswers, "", false},
		{"just slow", 200, nil, good, 2 * time.Second, finding.Warned, codeSlowly, webview.CodeSlow, false},
		{"without encryption", 200, nil, nil, 0, finding.Warned, webview.CodePlain, webview.CodePlain, false},
		{"304", 304, nil, good, 0, finding.Noted, codeNoPage, "", false},
		{"a redirect", 302, locations("/a", "/a"), nil, 0, finding.Noted, codeRedirects, "", false},
		{"Location fields that differ", 302, locations("/a", "/b"), good, 0, finding.Failed, webview.CodeConflict, webview.CodeConflict, false},
		{"and on a page", 200, locations("/a", "/b"), good, 0, finding.Failed, webview.CodeConflict, webview.CodeConflict, false},
		{"a text of one packet", 200, text("Content-Length", "1399"), good, 0, finding.OK, codeAnswers, "", false},
		{"a longer text", 200, text("Content-Length", "1400"), good, 0, finding.OK, codeAnswers, codeNotCompressed, false},
		{"a text of unknown length", 200, text(), good, 0, finding.OK, codeAnswers, codeNotCompressed, false},
		{"JSON", 200, text("Content-Type", "application/problem+json"), good, 0, finding.OK, codeAnswers, codeNotCompressed, false},
		{"a picture", 200, text("Content-Type", "image/png"), good, 0, finding.OK, codeAnswers, "", false},
		{"a text of another status", 203, text(), good, 0, finding.OK, codeAnswers, "", false},
		{"compressed", 200, text("Content-Encoding", "br"), good, 0, finding.OK, codeAnswers, codeVaryMissing, false},
		{"with Vary", 200, text("Content-Encoding", "br", "Vary", "Accept-Encoding"), good, 0, finding.OK, codeAnswers, "", false},
		{"for no cache", 200, text("Content-Encoding", "br", "Cache-Control", "private"), good, 0, finding.OK, codeAnswers, "", false},
		{"400", 400, nil, good, 0, finding.Warned, webview.CodeClientError, webview.CodeClientError, false},
		{"403", 403, nil, good, 0, finding.Warned, webview.CodeRefused, webview.CodeRefused, false},
		{"500", 500, nil, good, 0, finding.Failed, webview.CodeServerError, webview.CodeServerError, false},
		{"a challenge", 503, challenged, good, 0, finding.Warned, webview.CodeChallenge, webview.CodeChallenge, false},
		{"an invalid certificate", 200, nil, expired, 0, finding.Failed, webview.CodeRefusedCert, webview.CodeCertificate, false},
		{"before a challenge", 403, challenged, expired, 0, finding.Failed, webview.CodeRefusedCert, webview.CodeCertificate + " " + webview.CodeChallenge, false},
		{"a certificate that was not verified", 200, nil, unverified, 0, finding.OK, codeAnswers, webview.CodeUnverified, false},
		{"short hellos only", 200, nil, good, 0, finding.Warned, webview.CodeHello, webview.CodeHello, true},
		{"short hellos only, and a redirect", 302, locations("/a"), good, 0, finding.Warned, webview.CodeHello, webview.CodeHello, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scheme := "http"
			answer := &egress.Response{Status: c.status, Header: c.header, Timings: egress.Timings{Total: c.took}}
			if c.verdict != nil {
				scheme, answer.TLS = "https", &egress.TLS{Verdict: *c.verdict}
			}
			var err error
			if answer.URL, err = target.ParseURL(scheme + "://example.com/"); err != nil {
				t.Fatal(err)
			}
			answer.HelloTooLong = c.short
			got := describeAnswer(answer)
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
		})
	}
}
