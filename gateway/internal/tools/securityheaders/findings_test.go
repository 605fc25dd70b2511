package securityheaders

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"

	"github.com/google/go-cmp/cmp"
)

// findingOf is the finding of a control, nil if there is none.
func findingOf(t *testing.T, p page, id string) *finding.Finding {
	t.Helper()
	v := judged(t, p, id)
	if f := v.decisive(); rank(f.code) > 0 {
		return new(rows.Find(f.code, v.subject, f.args))
	}
	return nil
}

// TestFindingsOfControls: each control that needs attention has one finding, as severe as it, and none fails the site.
// Another instance makes the same findings from their codes and arguments.
func TestFindingsOfControls(t *testing.T) {
	t.Parallel()
	severities := map[controlStatus]finding.Severity{controlFail: finding.Fail, controlWarn: finding.Warn,
		controlInfo: finding.Info}
	for _, c := range cases {
		url := c.url
		if url == "" {
			url = "https://example.com/"
		}
		p := newPage(chainTo(answerTo(t, url, 200, c.fields...)), testNow)
		for _, kind := range controls() {
			v, f := kind.judge(p), findingOf(t, p, kind.id)
			switch severity := severities[v.status()]; {
			case severity == "" && f != nil, severity != "" && f == nil:
				t.Errorf("%s of %q: %s, %+v", kind.id, c.fields, v.status(), f)
			case f == nil:
			case f.Severity != severity || f.Group == finding.Broken || f.Message == "" ||
				(f.Group == finding.Note) != (severity == finding.Info || kind.id == "deprecated"):
				t.Errorf("%s of %q: %s, %+v", kind.id, c.fields, v.status(), *f)
			case f.Paste != nil && strings.Count(f.Paste.Text, "add_header") != 1:
				t.Errorf("%s of %q: %s", kind.id, c.fields, f.Paste.Text)
			}
		}
		got := controlsOf(t, answerTo(t, url, 200, c.fields...)).Report
		if ok := got.Conclusion.State == finding.OK; got.Conclusion.State == finding.Failed || ok == slices.ContainsFunc(
			got.Findings, func(f finding.Finding) bool { return f.Severity != finding.Info }) {
			t.Errorf("%q: %+v", c.fields, got.Conclusion)
		}
		adopted := finding.Report{Conclusion: got.Conclusion, Findings: slices.Clone(got.Findings)}
		if err := adopted.Adopt(rows); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(got, adopted); diff != "" {
			t.Errorf("%q: %s", c.fields, diff)
		}
	}
}

func TestFindingCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id, url string
		fields  []string
		code    string
		pasted  string // a part of the lines to paste; empty where there are none
	}{
		{"hsts", "", nil, "HSTS_MISSING", `add_header Strict-Transport-Security "max-age=31536000; includeSubDomains" always;`},
		{"hsts", "http://example.com/", nil, "HSTS_WITHOUT_TLS", ""},
		{"hsts", "", []string{"Strict-Transport-Security: max-age=0"}, "HSTS_INEFFECTIVE", "proxy_hide_header Strict-Transport-Security;"},
		{"hsts", "", []string{"Strict-Transport-Security: max-age=1"}, "HSTS_SHORT", "proxy_hide_header Strict-Transport-Security;"},
		{"csp", "", nil, "CSP_MISSING", "add_header Content-Security-Policy-Report-Only "},
		{"csp", "", []string{"Content-Security-Policy: "}, "CSP_EMPTY", "add_header Content-Security-Policy-Report-Only "},
		{"csp", "", []string{"Content-Security-Policy: script-src *"}, "CSP_ANY_SCRIPT_SOURCE", "add_header Content-Security-Policy-Report-Only "},
		{"csp", "", []string{"Content-Security-Policy: script-src 'self'; form-action 'self'"}, "CSP_PLUGINS", `add_header Content-Security-Policy "object-src 'none'; base-uri 'none'" always;`},
		{"frame-protection", "", nil, "FRAME_PROTECTION_MISSING", `add_header Content-Security-Policy "frame-ancestors 'self'" always;`},
		{"frame-protection", "", []string{"X-Frame-Options: ALLOW-FROM https://evil.example"}, "FRAME_PROTECTION_ALLOW_FROM", ""},
		{"content-type-options", "", nil, "CONTENT_TYPE_OPTIONS_MISSING", "nosniff"},
		{"content-type-options", "", []string{"X-Content-Type-Options: nosniff"}, "CONTENT_TYPE_MISSING", ""},
		{"referrer-policy", "", nil, "REFERRER_POLICY_MISSING", "strict-origin-when-cross-origin"},
		{"referrer-policy", "", []string{"Referrer-Policy: unsafe-url"}, "REFERRER_POLICY_UNSAFE", "strict-origin-when-cross-origin"},
		{"permissions-policy", "", nil, "PERMISSIONS_POLICY_MISSING", "camera=()"},
		{"permissions-policy", "", []string{"Permissions-Policy: camera=none"}, "PERMISSIONS_POLICY_SKIPPED_VALUES", ""}, // repeats what came
		{"coep", "", nil, "COEP_MISSING", ""},
		{"cors", "", []string{"Access-Control-Allow-Origin: http://evil.example", "Access-Control-Allow-Credentials: true"}, "CORS_PLAIN_CREDENTIALS", ""},
		{"cookies", "", []string{"Set-Cookie: sid=1"}, "COOKIE_LOGIN_NOT_SECURE", ""},
		{"information-leak", "", []string{"Server: nginx/1.2.3"}, "LEAK_VERSION", ""},
		{"deprecated", "", []string{"Expect-CT: max-age=0"}, "RETIRED_EXPECT_CT", ""},
		{"deprecated", "", []string{"Public-Key-Pins: x"}, "RETIRED_PUBLIC_KEY_PINS", ""},
	} {
		url := c.url
		if url == "" {
			url = "https://example.com/"
		}
		p := newPage(chainTo(answerTo(t, url, 200, c.fields...)), testNow)
		f := findingOf(t, p, c.id)
		if f == nil || f.Code != c.code {
			t.Errorf("%s of %q: %+v, want %s", c.id, c.fields, f, c.code)
			continue
		}
		if pasted := f.Paste != nil; pasted != (c.pasted != "") || pasted &&
			(!strings.Contains(f.Paste.Text, c.pasted) || strings.Contains(f.Paste.Text, "evil")) {
			t.Errorf("%s of %q: %+v", c.id, c.fields, f.Paste)
		}
	}
}

// TestConclusions: a conclusion names the only suggestion, or the one of several that weighs most.
func TestConclusions(t *testing.T) {
	t.Parallel()
	const hsts, nosniff, framing = "Strict-Transport-Security: max-age=31536000; includeSubDomains",
		"X-Content-Type-Options: nosniff", "X-Frame-Options: DENY"
	const policy = "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'; base-uri 'none'; " +
		"form-action 'none'"
	for name, c := range map[string]struct {
		status  int
		fields  []string
		besides string // a finding that is not about a control
		want    string // state, code and what the conclusion names
	}{
		"all there":          {200, []string{hsts, nosniff, policy}, "", "ok HEADERS_FINE"},
		"on an error page":   {404, []string{hsts, nosniff, policy}, "", "info OTHER_PAGE_FINE"},
		"one is missing":     {200, []string{hsts, policy}, "", "warn HEADERS_MISSING X-Content-Type-Options"},
		"several":            {200, []string{framing}, "", "warn HEADERS_MISSING 3 Strict-Transport-Security"},
		"all":                {200, nil, "", "warn HEADERS_MISSING 4 Strict-Transport-Security"},
		"and one is weak":    {200, []string{"Referrer-Policy: unsafe-url"}, "", "warn HEADERS_TO_FIX 5 Strict-Transport-Security"},
		"one is weak":        {200, []string{hsts, nosniff, policy, "Referrer-Policy: unsafe-url"}, "", "warn HEADERS_TO_FIX REFERRER_POLICY_UNSAFE"},
		"a cookie":           {200, []string{hsts, nosniff, policy, "Set-Cookie: sid=1; HttpOnly; SameSite=Lax"}, "", "warn HEADERS_TO_FIX COOKIE_LOGIN_NOT_SECURE"},
		"the redirect":       {200, []string{hsts, nosniff, policy}, "HTTP_NOT_REDIRECTED", "warn HEADERS_TO_FIX HTTP_NOT_REDIRECTED"},
		"the redirect first": {200, []string{hsts, policy}, "HTTP_NOT_REDIRECTED", "warn HEADERS_TO_FIX 2 the redirect from http"},
		"a short hello":      {200, []string{hsts, policy}, webview.CodeHello, "warn HELLO_INTOLERANT"},
		"a challenge":        {403, []string{"Cf-Mitigated: challenge"}, "", "unknown HEADERS_NOT_JUDGED"},
	} {
		answer := answerTo(t, "https://example.com/", c.status, append([]string{asHTML}, c.fields...)...)
		p := newPage(chainTo(answer), testNow)
		_, found := judgeControls(p)
		var plain *plainAnswer
		switch c.besides {
		case "":
		case webview.CodeHello:
			found = append(found, remark{Finding: rows.Find(c.besides, "", finding.Args{"host": "example.com"})})
		default:
			plain = newPlainAnswer(c.besides, p.answer.URL, finding.Args{"status": 200})
		}
		got := report(p, plain, found).Conclusion
		state := fmt.Sprint(got.State, " ", got.Code)
		for _, arg := range []string{"several", "first", "reason"} {
			if value := strings.Trim(string(got.Args[arg]), `"`); value != "" {
				state += " " + value
			}
		}
		if state != c.want {
			t.Errorf("%s: %s, want %s: %s", name, state, c.want, got.Message)
		}
	}
}

// TestChallengesAreNotJudged: the headers and cookies of a bot challenge are shown, and nothing is said against them.
func TestChallengesAreNotJudged(t *testing.T) {
	t.Parallel()
	got := controlsOf(t, answerTo(t, "https://example.com/", 403, asHTML, "Cf-Mitigated: challenge", "Set-Cookie: sid=1",
		"X-XSS-Protection: 1"))
	if got.Summary.NotApplicable != len(controls()) || len(got.Cookies) != 1 || len(got.Cookies[0].Issues) > 0 ||
		len(got.Findings) != 1 || got.Findings[0].Code != codeChallenge {
		t.Errorf("%+v, %+v, %+v", got.Summary, got.Cookies, got.Findings)
	}
	for _, c := range got.Controls {
		if c.Recommendation != nil || c.Set != nil || c.Remove != nil {
			t.Errorf("%+v", c)
		}
	}
}

// TestPlainHTTPFindings: only a site that stays without https is warned.
func TestPlainHTTPFindings(t *testing.T) {
	t.Parallel()
	p := newPage(chainTo(answerTo(t, "https://example.com:8443/", 200)), testNow)
	args := finding.Args{"status": 200}
	for _, c := range []struct {
		code string
		args finding.Args
		want string
	}{
		{"HTTP_SILENT", nil, "ok"},
		{"HTTP_REDIRECTED", args, "ok"},
		{"HTTP_REDIRECT_ELSEWHERE", args, "ok info HTTP_REDIRECT_ELSEWHERE"},
		{"HTTP_ERROR", nil, "ok info HTTP_ERROR"},
		{"HTTP_NOT_REDIRECTED_BESIDE_PORT", args, "ok info HTTP_NOT_REDIRECTED_BESIDE_PORT"},
		{"HTTP_NOT_REDIRECTED", args, "warn warn HTTP_NOT_REDIRECTED"},
		{"HTTP_REDIRECT_TO_HTTP", args, "warn warn HTTP_REDIRECT_TO_HTTP"},
	} {
		got := report(p, newPlainAnswer(c.code, p.answer.URL, c.args), nil)
		state := string(got.Conclusion.State)
		for _, f := range got.Findings {
			state += fmt.Sprint(" ", f.Severity, " ", f.Code)
		}
		if state != c.want || !strings.Contains(got.Conclusion.Message, "example.com:8443") {
			t.Errorf("%s: %s: %s", c.code, state, got.Conclusion.Message)
		}
	}
	if got := report(p, nil, nil); got.Conclusion.State != finding.OK || len(got.Findings) > 0 {
		t.Errorf("%+v", got)
	}
}

// TestFindingsOfCertificates: one that is refused is a finding about it, one that was not verified is only a note and
// takes nothing from HSTS but its certainty.
func TestFindingsOfCertificates(t *testing.T) {
	t.Parallel()
	const good = "Strict-Transport-Security: max-age=31536000; includeSubDomains"
	of := func(v certs.Verdict) (page, verdict) {
		answer := answerTo(t, "https://example.com/", 200, good)
		answer.TLS = &egress.TLS{Verdict: v}
		p := newPage(chainTo(answer), testNow)
		return p, judgeHSTS(p)
	}
	p, v := of(certs.Verdict{Code: certs.CodeExpired, Codes: []string{certs.CodeExpired}})
	if f := findingOf(t, p, "hsts"); f.Code != "HSTS_CERTIFICATE_REFUSED" || v.status() != controlFail || p.secure() {
		t.Errorf("refused: %+v, %s", f, v.status())
	}
	for _, defect := range []string{certs.DefectLongKey, certs.DefectUnfinished, certs.DefectCostly} {
		p, v = of(certs.Verdict{Code: certs.CodeNoLocalIssuer, Codes: []string{certs.CodeNoLocalIssuer},
			Defects: []string{defect}})
		got := report(p, nil, nil)
		if f := findingOf(t, p, "hsts"); f.Code != "HSTS_NOT_VERIFIED" || v.status() != controlInfo || !p.secure() {
			t.Errorf("%s: %+v, %s", defect, f, v.status())
		}
		if len(got.Findings) != 1 || got.Findings[0].Code != webview.CodeUnverified ||
			got.Findings[0].Group != finding.Note ||
			*got.Findings[0].Subject != "certificate of example.com" || got.Conclusion.State != finding.OK {
			t.Errorf("%s: %+v", defect, got)
		}
	}
}
