package securityheaders

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

// answerTo is an answer of the final URL with these field lines, over TLS for https.
func answerTo(t testing.TB, url string, status int, fields ...string) *egress.Response {
	t.Helper()
	u, err := target.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	r := &egress.Response{URL: u, Status: status, Header: http.Header{}, Address: netip.MustParseAddr(toolstest.WebV4)}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ":")
		r.Header.Add(name, strings.TrimPrefix(value, " "))
	}
	if u.Scheme() == "https" {
		r.TLS = &egress.TLS{State: tls.ConnectionState{Version: tls.VersionTLS13},
			Verdict: certs.Verdict{Authorized: true}}
	}
	return r
}

func chainTo(answers ...*egress.Response) egress.Chain {
	chain := egress.Chain{End: egress.EndFinal, Followed: len(answers) - 1}
	for _, r := range answers {
		chain.Hops = append(chain.Hops, egress.Hop{URL: r.URL, Response: r})
	}
	return chain
}

func controlsOf(t testing.TB, answers ...*egress.Response) Result {
	t.Helper()
	return describe(answers[0].URL, chainTo(answers...), nil, testNow)
}

// What is recommended most, as the sentences have it.
const (
	hstsBest        = "Strict-Transport-Security: max-age=31536000; includeSubDomains"
	framingBest     = "Content-Security-Policy: frame-ancestors 'self'"
	referrerBest    = "Referrer-Policy: strict-origin-when-cross-origin"
	permissionsBest = "Permissions-Policy: camera=(), microphone=(), geolocation=(), payment=(), usb=()"
)

const (
	goodNonce = "'nonce-4AEemGb0xJptoIGFP3Nd5w=='"
	asHTML    = "Content-Type: text/html"
	asJSON    = "Content-Type: application/json"
)

// cases are judged on https://example.com/ with status 200, unless they say otherwise. says is part of the finding,
// advises of the recommendation; "<null>" is none.
var cases = []struct {
	id      string
	url     string
	fields  []string
	status  controlStatus
	present bool
	says    string
	advises string
}{
	{"hsts", "", []string{"Strict-Transport-Security: max-age=31536000; includeSubDomains"}, controlPass, true, "365 days. It covers subdomains", "<null>"},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=15552000"}, controlPass, true, "Subdomains are not covered", hstsBest},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=15551999"}, controlWarn, true, "too short", hstsBest},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=31536000; includeSubDomains; preload"}, controlPass, true, "It covers subdomains and requests a place in the browsers' built-in lists (preload); whether it has one is not known here.", "<null>"},
	{"hsts", "https://www.example.com/", []string{"Strict-Transport-Security: max-age=31536000; includeSubDomains; preload"}, controlPass, true, "The lists accept only whole domains, so the header must say the same at https://example.com.", "<null>"},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=31535999; includeSubDomains; preload"}, controlWarn, true, "max-age=31536000 or more", "; preload"},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=31536000; preload"}, controlWarn, true, "or more with includeSubDomains", "; preload"},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=31536000", "Strict-Transport-Security: max-age=0"}, controlWarn, true, "sent 2 times", hstsBest},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=0"}, controlFail, true, "forget", hstsBest},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=31536000, includeSubDomains"}, controlFail, true, "not a directive", hstsBest},
	{"hsts", "", nil, controlFail, false, "missing", hstsBest},
	{"hsts", "http://example.com/", []string{"Strict-Transport-Security: max-age=31536000"}, controlFail, true, "where browsers ignore this header", "Redirect every http URL"},
	{"hsts", "http://example.com/", nil, controlFail, false, "plain HTTP", "Redirect every http URL"},
	{"hsts", "https://93.184.216.34/", []string{"Strict-Transport-Security: max-age=31536000"}, controlNotApplicable, true, "IP address", "<null>"},
	{"hsts", "https://[2606:4700::1]/", nil, controlNotApplicable, false, "IP address", "<null>"},

	{"csp", "", []string{"Content-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'none'"}, controlPass, true, "No script runs, since no source of scripts is allowed.", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'none'; script-src 'self'; base-uri 'none'; form-action 'none'"}, controlPass, true, "Only script from listed sources runs.", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'none'; script-src " + goodNonce + "; base-uri 'none'; form-action 'none'"}, controlPass, true, "Only script that carries a nonce or hash runs.", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: script-src 'self' " + goodNonce + "; object-src 'none'; base-uri 'none'; form-action 'none'"}, controlPass, true, "Only script from listed sources, or named by a nonce or hash, runs.", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: script-src " + goodNonce + " 'strict-dynamic' https: 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'self'"}, controlPass, true, "count only in browsers that do not know it", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'self'"}, controlPass, true, "form-action is not restricted", "Send one more line beside it: Content-Security-Policy: base-uri 'none'; form-action 'self'"},
	{"csp", "", []string{"Content-Security-Policy: script-src 'self'; base-uri 'none'; form-action 'self'"}, controlWarn, true, "Neither object-src nor default-src", "object-src 'none'"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'self'; script-src 'self' 'unsafe-eval'; base-uri 'none'; form-action 'none'"}, controlWarn, true, "eval", "Correct what is named above"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'self' 'unsafe-inline'"}, controlFail, true, "'unsafe-inline' lets injected", "{RANDOM}"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'self' 'unsafe-inline', script-src 'self'", "Content-Security-Policy: base-uri 'none'; form-action 'self'"}, controlPass, true, "3 policies are enforced together", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: sandbox; form-action 'none'"}, controlPass, true, "No script runs", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'self'; base-uri 'none'; form-action 'self'", "Content-Security-Policy-Report-Only: script-src 'none'"}, controlPass, true, "and only reports", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: "}, controlFail, true, "no directive", "Content-Security-Policy: "},
	{"csp", "", nil, controlFail, false, "meta element", "Content-Security-Policy: "},
	{"csp", "", []string{"Content-Security-Policy-Report-Only: default-src 'none'"}, controlFail, false, "blocks nothing", "Content-Security-Policy: "},
	{"csp", "", []string{asJSON}, controlNotApplicable, false, "application/json", "<null>"},
	{"csp", "", []string{asJSON, "Content-Security-Policy: script-src *"}, controlInfo, true, "not a document", "<null>"},
	{"csp", "", []string{asJSON, "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"}, controlPass, true, "", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'none'; report-to x", `Reporting-Endpoints: y="https://r.example.com/"`}, controlPass, true, "report-to names “x”", "base-uri 'none'"},

	{"frame-protection", "", []string{"Content-Security-Policy: frame-ancestors 'none'"}, controlPass, true, "no site", "<null>"},
	{"frame-protection", "", []string{"Content-Security-Policy: frame-ancestors 'self'", "X-Frame-Options: ALLOW-FROM https://a.example"}, controlPass, true, "counts only in browsers too old", "<null>"},
	{"frame-protection", "", []string{"Content-Security-Policy: frame-ancestors https://a.example.com"}, controlPass, true, "named sites", "<null>"},
	{"frame-protection", "", []string{"Content-Security-Policy: frame-ancestors *", "X-Frame-Options: DENY"}, controlFail, true, "open to any site", framingBest},
	{"frame-protection", "", []string{"Content-Security-Policy: frame-ancestors *", "Content-Security-Policy: frame-ancestors 'self'"}, controlPass, true, "only the site itself", "<null>"},
	{"frame-protection", "", []string{"X-Frame-Options: DENY"}, controlPass, true, "no site", "<null>"},
	{"frame-protection", "", []string{"X-Frame-Options: SameOrigin", "X-Frame-Options: SAMEORIGIN"}, controlPass, true, "only the site itself", "<null>"},
	{"frame-protection", "", []string{"X-Frame-Options: DENY", "X-Frame-Options: SAMEORIGIN"}, controlWarn, true, "several different values", framingBest},
	{"frame-protection", "", []string{"X-Frame-Options: ALLOW-FROM https://a.example"}, controlFail, true, "ALLOW-FROM", "frame-ancestors"},
	{"frame-protection", "", []string{"X-Frame-Options: ALLOWALL"}, controlFail, true, "no value that browsers act on", framingBest},
	{"frame-protection", "", []string{"X-Frame-Options: "}, controlFail, true, "no value that browsers act on", framingBest},
	{"frame-protection", "", []string{"Content-Security-Policy: default-src 'none'", "Content-Security-Policy-Report-Only: frame-ancestors 'none'"}, controlFail, false, "only reports", framingBest},
	{"frame-protection", "", []string{asJSON}, controlNotApplicable, false, "application/json", "<null>"},

	{"content-type-options", "", []string{asHTML, "X-Content-Type-Options: NoSniff"}, controlPass, true, "declared types", "<null>"},
	{"content-type-options", "", []string{asHTML, "X-Content-Type-Options: nosniff, nosniff"}, controlPass, true, "further values", "<null>"},
	{"content-type-options", "", []string{"X-Content-Type-Options: nosniff"}, controlWarn, true, "no Content-Type", "Content-Type: text/html"},
	{"content-type-options", "", []string{asHTML, "X-Content-Type-Options: foo, nosniff"}, controlFail, true, "“foo”", "X-Content-Type-Options: nosniff"},
	{"content-type-options", "", []string{asHTML, `X-Content-Type-Options: "nosniff"`}, controlFail, true, "without quotes", "X-Content-Type-Options: nosniff"},
	{"content-type-options", "", []string{asJSON}, controlFail, false, "missing", "X-Content-Type-Options: nosniff"},

	{"referrer-policy", "", []string{"Referrer-Policy: no-referrer"}, controlPass, true, "without a referrer", "<null>"},
	{"referrer-policy", "", []string{"Referrer-Policy: unsafe-url, Strict-Origin, future-token"}, controlPass, true, "strict-origin applies", "<null>"},
	{"referrer-policy", "", []string{"Referrer-Policy: no-referrer", "Referrer-Policy: unsafe-url"}, controlFail, true, "unsafe-url applies", referrerBest},
	{"referrer-policy", "", []string{"Referrer-Policy: no-referrer-when-downgrade"}, controlWarn, true, "whole URL", referrerBest},
	{"referrer-policy", "", []string{"Referrer-Policy: origin"}, controlInfo, true, "origin applies", referrerBest},
	{"referrer-policy", "", []string{"Referrer-Policy: never-ever"}, controlWarn, true, "“never-ever”", referrerBest},
	{"referrer-policy", "", []string{"Referrer-Policy: "}, controlWarn, true, "none of the values", referrerBest},
	{"referrer-policy", "", nil, controlInfo, false, "missing", referrerBest},
	{"referrer-policy", "", []string{asJSON}, controlNotApplicable, false, "application/json", "<null>"},

	{"permissions-policy", "", []string{`Permissions-Policy: camera=(), fullscreen=(self "https://a.example.com"), usb=self`}, controlPass, true, "3 features", "<null>"},
	{"permissions-policy", "", []string{"Permissions-Policy: camera=*, fullscreen=*"}, controlInfo, true, "The header limits nothing, so the page and scripts in it may ask for every feature that browsers offer, as without it. camera and fullscreen are set to *, which is no limit: any frame that is given “allow” for the feature may use it, as without the header.", "camera=(self), fullscreen=*, microphone=(), geolocation=(), payment=(), usb=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: camera=(*)"}, controlInfo, true, "camera is set to *, which is no limit", "camera=(self), microphone=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: usb=(), camera=*, fullscreen=*"}, controlPass, true, "It limits 1 feature. camera and fullscreen are set to *", "Permissions-Policy: usb=(), camera=(self), fullscreen=*"},
	{"permissions-policy", "", []string{"Permissions-Policy: usb=(), fullscreen=*"}, controlPass, true, "It limits 1 feature. fullscreen is set to *", "<null>"},
	{"permissions-policy", "", []string{"Permissions-Policy: usb=(), midi=*, gamepad=*"}, controlPass, true, "It limits 1 feature. midi is set to *, which is no limit: any frame that is given “allow” for the feature may use it, as without the header. gamepad is set to *, which is no limit: every frame may use the feature, as without the header.", "usb=(), midi=(self), gamepad=*"},
	{"permissions-policy", "", []string{"Permissions-Policy: vibrate=(), geolocation=(self)"}, controlPass, true, "It limits 1 feature. vibrate is not a feature known here, and browsers ignore names that they do not know.", "<null>"},
	{"permissions-policy", "", []string{"Permissions-Policy: interest-cohort=(), a=(), b=(), c=(), d=(), e=()"}, controlInfo, true, "limits nothing, so the page and scripts in it may ask for every feature that browsers offer, as without it. interest-cohort, a, b, c and 2 more are not features known here, and browsers ignore names that they do not know.", "interest-cohort=(), a=(), b=(), c=(), d=(), e=(), camera=(), microphone=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: camera=none"}, controlWarn, true, "“none” is written ()", "camera=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: camera=(https)"}, controlWarn, true, "skip", "camera=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: fullscreen=(self), geolocation=(self https://a.example.com), usb=none;report-to=x"}, controlWarn, true, "The list of geolocation has", `Permissions-Policy: fullscreen=(self), geolocation=(self "https://a.example.com"), usb=();report-to=x`},
	{"permissions-policy", "", []string{"Permissions-Policy: camera"}, controlWarn, true, "skip", "camera=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: camera 'none'; geolocation 'self'"}, controlWarn, true, "Feature-Policy was", "Permissions-Policy: camera=(), geolocation=(self), microphone=(), payment=(), usb=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: gyroscope 'self' https://a.example.com *; usb *; vibrate 'none', midi=(self)"}, controlWarn, true, "Feature-Policy was", "gyroscope=*, usb=(self), midi=(self), camera=(), "},
	{"permissions-policy", "", []string{"Permissions-Policy: fullscreen=(self),"}, controlWarn, true, "ignore all", "Permissions-Policy: fullscreen=(self), camera=(), microphone=(), geolocation=(), payment=(), usb=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: camera=(),"}, controlWarn, true, "ignore all", permissionsBest},
	{"permissions-policy", "", []string{"Permissions-Policy: "}, controlWarn, true, "names no feature", permissionsBest},
	{"permissions-policy", "", []string{"Feature-Policy: camera 'none'", "Permissions-Policy-Report-Only: camera=()"}, controlInfo, false, "only reports. Most browsers do not read Feature-Policy", permissionsBest},
	{"permissions-policy", "", []string{asJSON}, controlNotApplicable, false, "application/json", "<null>"},

	{"coop", "", []string{"Cross-Origin-Opener-Policy: same-origin-allow-popups"}, controlPass, true, "popups", "<null>"},
	{"coop", "", []string{"Cross-Origin-Opener-Policy: noopener-allow-popups"}, controlPass, true, "same origin", "<null>"},
	{"coop", "", []string{`Cross-Origin-Opener-Policy: same-origin; report-to="x"`}, controlPass, true, "“x”, which Reporting-Endpoints does not define", "<null>"},
	{"coop", "", []string{`Cross-Origin-Opener-Policy: same-origin; report-to="x"`, `Reporting-Endpoints: x="/r"`}, controlPass, true, "no reference to this page.", "<null>"},
	{"coop", "", []string{"Cross-Origin-Opener-Policy: unsafe-none"}, controlInfo, true, "default", "same-origin"},
	{"coop", "", []string{"Cross-Origin-Opener-Policy: Same-Origin"}, controlWarn, true, "lower case", "same-origin"},
	{"coop", "", []string{"Cross-Origin-Opener-Policy: same-origin", "Cross-Origin-Opener-Policy: same-origin"}, controlWarn, true, "one token, sent once", "same-origin"},
	{"coop", "", []string{`Cross-Origin-Opener-Policy: "same-origin"`}, controlWarn, true, "one token, sent once", "same-origin"},
	{"coop", "http://example.com/", []string{"Cross-Origin-Opener-Policy: same-origin"}, controlWarn, true, "valid HTTPS", "over https"},
	{"coop", "", []string{"Cross-Origin-Opener-Policy-Report-Only: same-origin"}, controlInfo, false, "same-origin only reports", "same-origin"},
	{"coop", "", []string{"Cross-Origin-Opener-Policy-Report-Only: x"}, controlInfo, false, "no value that browsers know", "same-origin"},
	{"coop", "", []string{asJSON}, controlNotApplicable, false, "application/json", "<null>"},

	{"coep", "", []string{"Cross-Origin-Embedder-Policy: require-corp", "Cross-Origin-Opener-Policy: same-origin"}, controlPass, true, "cross-origin isolated", "<null>"},
	{"coep", "", []string{"Cross-Origin-Embedder-Policy: credentialless"}, controlPass, true, "without credentials", "<null>"},
	{"coep", "", []string{"Cross-Origin-Embedder-Policy: unsafe-none"}, controlInfo, true, "default", "require-corp"},
	{"coep", "", []string{"Cross-Origin-Embedder-Policy: require_corp"}, controlWarn, true, "do not know", "require-corp"},
	{"coep", "", nil, controlInfo, false, "SharedArrayBuffer", "require-corp"},
	{"coep", "", []string{asJSON}, controlNotApplicable, false, "application/json", "<null>"},

	{"corp", "", []string{"Cross-Origin-Resource-Policy: same-site"}, controlPass, true, "same site", "<null>"},
	{"corp", "", []string{"Cross-Origin-Resource-Policy: cross-origin"}, controlInfo, true, "public files", "<null>"},
	{"corp", "", []string{"Cross-Origin-Resource-Policy: Same-Origin"}, controlWarn, true, "lower case", "same-origin"},
	{"corp", "", []string{"Cross-Origin-Resource-Policy: same-origin", "Cross-Origin-Resource-Policy: same-origin"}, controlWarn, true, "sent once", "same-origin"},
	{"corp", "", nil, controlInfo, false, "missing", "same-origin"},

	{"cors", "", nil, controlPass, false, "No other site", "<null>"},
	{"cors", "", []string{"Access-Control-Allow-Origin: *"}, controlInfo, true, "Every site", "<null>"},
	{"cors", "", []string{"Access-Control-Allow-Origin: *", "Access-Control-Allow-Credentials: true"}, controlWarn, true, "does not work", "Access-Control-Allow-Origin: "},
	{"cors", "", []string{"Access-Control-Allow-Origin: null"}, controlWarn, true, "sandboxed", "Access-Control-Allow-Origin: "},
	{"cors", "", []string{"Access-Control-Allow-Origin: null", "Access-Control-Allow-Credentials: true"}, controlFail, true, "logged-in", "Access-Control-Allow-Origin: "},
	{"cors", "", []string{"Access-Control-Allow-Origin: https://a.example, https://b.example"}, controlWarn, true, "one origin", "Access-Control-Allow-Origin: "},
	{"cors", "", []string{"Access-Control-Allow-Origin: https://*.example.com"}, controlWarn, true, "wildcard inside", "Access-Control-Allow-Origin: "},
	{"cors", "", []string{"Access-Control-Allow-Origin: https://example.com"}, controlInfo, true, "own origin", "<null>"},
	{"cors", "", []string{"Access-Control-Allow-Origin: https://a.example", "Access-Control-Allow-Credentials: True"}, controlInfo, true, "can read this answer. Access-Control-Allow-Credentials counts only as true", "<null>"},
	{"cors", "", []string{"Access-Control-Allow-Origin: https://a.example", "Access-Control-Allow-Credentials: true"}, controlInfo, true, "must be trusted", "<null>"},
	{"cors", "", []string{"Access-Control-Allow-Origin: http://a.example", "Access-Control-Allow-Credentials: true"}, controlWarn, true, "over plain HTTP", "https://a.example"},

	{"cookies", "", nil, controlNotApplicable, false, "no cookies", "<null>"},
	{"cookies", "", []string{"Set-Cookie: a=b; Secure; HttpOnly; SameSite=Strict"}, controlPass, true, "1 cookie is set, each", "<null>"},
	{"cookies", "", []string{"Set-Cookie: a=b; Secure; SameSite=Strict"}, controlInfo, true, "Scripts can read it", "Set-Cookie: "},
	{"cookies", "", []string{"Set-Cookie: a=b; HttpOnly; SameSite=Strict"}, controlWarn, true, "“a”: Without Secure", "Set-Cookie: "},
	{"cookies", "", []string{"Set-Cookie: a=b; Secure; HttpOnly; SameSite=Lax", "Set-Cookie: PHPSESSID=b; Secure; SameSite=Lax"}, controlFail, true, "2 cookies are set. “PHPSESSID”: Without HttpOnly", "Set-Cookie: "},
	{"cookies", "", []string{"Set-Cookie: justavalue"}, controlWarn, true, "A cookie without a name", "Set-Cookie: "},
	{"cookies", "", []string{"Set-Cookie: old=; Max-Age=0"}, controlPass, true, "", "<null>"},

	{"information-leak", "", nil, controlPass, false, "No header", "<null>"},
	{"information-leak", "", []string{"Server: nginx"}, controlInfo, true, "without a version (nginx)", "<null>"},
	{"information-leak", "", []string{"Via: 1.1 varnish, HTTP/2.0 edge"}, controlInfo, true, "without a version", "<null>"},
	{"information-leak", "", []string{"X-Powered-By: Express"}, controlInfo, true, "Express", "x-powered-by"},
	{"information-leak", "", []string{"X-Runtime: 0.012345"}, controlInfo, true, "0.012345", "x-runtime"},
	{"information-leak", "", []string{"Server: Apache/2.4.58 (Ubuntu)"}, controlWarn, true, "Apache/2.4.58", "server"},
	{"information-leak", "", []string{"Via: 1.1 cache (Varnish/6.0)"}, controlWarn, true, "Varnish/6.0", "via"},
	{"information-leak", "", []string{"X-Aspnet-Version: 4.0.30319"}, controlWarn, true, "4.0.30319", "x-aspnet-version"},
	{"information-leak", "", []string{"X-Generator: Drupal 10 (https://www.drupal.org)"}, controlInfo, true, "Drupal 10", "x-generator"},
	{"information-leak", "", []string{"X-Upstream: 10.1.2.3:8080"}, controlWarn, true, "x-upstream contains a private network address", "x-upstream"},
	{"information-leak", "", []string{"X-Upstream: 10.1.2.3:8080", "Server: nginx/1.2.3"}, controlWarn, true, "x-upstream contains", "x-upstream. Do not send: server"},
	{"information-leak", "", []string{"Via: 1.1 10.1.2.3", "Set-Cookie2: sid=secret-10.1.2.3"}, controlWarn, true, "set-cookie2, via contain", "Remove private addresses from: set-cookie2, via"},
	{"information-leak", "", []string{"Server: Werkzeug/3.0.1 Python/3.12.1"}, controlFail, true, "development server", "server"},
	{"information-leak", "", []string{"X-Debug-Token-Link: https://example.com/_profiler/1"}, controlFail, true, "debugging aid", "x-debug-token-link"},

	{"deprecated", "", nil, controlPass, false, "No retired header", "<null>"},
	{"deprecated", "", []string{"X-XSS-Protection: 0"}, controlInfo, true, "harmless", "x-xss-protection"},
	{"deprecated", "", []string{"Expect-CT: max-age=0", "P3P: CP=x", "Pragma: no-cache"}, controlInfo, true, "expect-ct", "expect-ct, p3p, pragma"},
	{"deprecated", "", []string{"X-XSS-Protection: 1; mode=block"}, controlWarn, true, "removed", "x-xss-protection"},
	{"deprecated", "", []string{"Public-Key-Pins: max-age=1"}, controlWarn, true, "Certificate Transparency", "public-key-pins"},
	{"deprecated", "", []string{"Feature-Policy: camera 'none'"}, controlWarn, true, "Permissions-Policy", "feature-policy"},
	{"deprecated", "", []string{"Set-Cookie2: sid=secret"}, controlInfo, true, "RFC 6265", "set-cookie2"},
}

func TestSecurityControls(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		t.Run(c.id+" "+c.url+" "+strings.Join(c.fields, " | "), func(t *testing.T) {
			t.Parallel()
			url := c.url
			if url == "" {
				url = "https://example.com/"
			}
			got := controlOf(t, controlsOf(t, answerTo(t, url, 200, c.fields...)), c.id)
			if got.Status != c.status || got.Present != c.present || (got.Value != nil) != (c.present) {
				t.Errorf("%s, present %t, value %s; want %s, %t: %s", got.Status, got.Present, toolstest.Text(got.Value), c.status,
					c.present, got.Finding)
			}
			if got.Finding == "" || !strings.Contains(got.Finding, c.says) {
				t.Errorf("finding: %s; want %q in it", got.Finding, c.says)
			}
			if !strings.Contains(toolstest.Text(got.Recommendation), c.advises) {
				t.Errorf("recommendation: %s; want %q in it", toolstest.Text(got.Recommendation), c.advises)
			}
			if strings.Contains(toolstest.Text(got.Value)+got.Finding, "secret") {
				t.Errorf("a cookie's value is shown: %+v", got)
			}
		})
	}
}

// TestSecurityControlsReachEveryStatus: the table above holds each status that a control can have.
func TestSecurityControlsReachEveryStatus(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"hsts": "fail notApplicable pass warn", "csp": "fail info notApplicable pass warn",
		"frame-protection": "fail notApplicable pass warn", "content-type-options": "fail pass warn",
		"referrer-policy": "fail info notApplicable pass warn", "permissions-policy": "info notApplicable pass warn",
		"coop": "info notApplicable pass warn", "coep": "info notApplicable pass warn", "corp": "info pass warn",
		"cors": "fail info pass warn", "cookies": "fail info notApplicable pass warn", "information-leak": "fail info pass warn",
		"deprecated": "info pass warn",
	}
	for _, check := range controls() {
		for _, status := range []controlStatus{controlFail, controlInfo, controlNotApplicable, controlPass, controlWarn} {
			found := false
			for _, c := range cases {
				found = found || c.id == check.id && c.status == status
			}
			wanted := false
			for word := range strings.FieldsSeq(want[check.id]) {
				wanted = wanted || word == string(status)
			}
			if found != wanted {
				t.Errorf("%s %s: in the table %t, reachable %t", check.id, status, found, wanted)
			}
		}
	}
}

// TestSecurityInvalidCertificate: what browsers only heed over a valid connection is no protection over another.
func TestSecurityInvalidCertificate(t *testing.T) {
	t.Parallel()
	r := answerTo(t, "https://example.com/", 200, "Strict-Transport-Security: max-age=31536000",
		"Cross-Origin-Opener-Policy: same-origin")
	r.TLS.Verdict = certs.Verdict{Code: certs.CodeExpired}
	got := controlsOf(t, r)
	if c := controlOf(t, got, "hsts"); c.Status != controlFail || !strings.Contains(c.Finding, "it has expired") ||
		!strings.Contains(c.Finding, "ignore") {
		t.Errorf("%+v", c)
	}
	if c := controlOf(t, got, "coop"); c.Status != controlWarn {
		t.Errorf("%+v", c)
	}
}

// TestSecurityHSTSOnTheWay: a name that redirects to its www is only protected by a policy of its own.
func TestSecurityHSTSOnTheWay(t *testing.T) {
	t.Parallel()
	const good = "Strict-Transport-Security: max-age=31536000; includeSubDomains"
	final := answerTo(t, "https://www.example.com/", 200, good)
	for _, c := range []struct {
		name   string
		before *egress.Response
		want   controlStatus
	}{
		{"without", answerTo(t, "https://example.com/", 301), controlWarn},
		{"max-age=0", answerTo(t, "https://example.com/", 301, "Strict-Transport-Security: max-age=0"), controlWarn},
		{"with", answerTo(t, "https://example.com/", 301, good), controlPass},
		{"plain", answerTo(t, "http://example.com/", 301), controlPass},
		{"another site", answerTo(t, "https://example.org/", 301), controlPass},
		{"the same name", answerTo(t, "https://www.example.com/x", 301), controlPass},
	} {
		got := controlsOf(t, c.before, final)
		if control := controlOf(t, got, "hsts"); control.Status != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, control.Status, c.want, control.Finding)
		}
	}
}

func TestSecurityNotice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		fields []string
		want   string // "<null>" is none
	}{
		{200, nil, "<null>"},
		{204, nil, "<null>"},
		{200, []string{"X-Datadome: protected", "X-Iinfo: 1", "Server: ddos-guard"}, "<null>"},
		{300, nil, "300 Multiple Choices"},
		{302, nil, "302 Found"},
		{401, nil, "login"},
		{403, nil, "403 Forbidden"},
		{477, nil, "(477)"},
		{503, nil, "503 Service Unavailable"},
		{403, []string{"Cf-Mitigated: challenge"}, "Cloudflare"},
		{202, []string{"X-Amzn-Waf-Action: challenge"}, "AWS WAF"},
		{405, []string{"X-Amzn-Waf-Action: captcha"}, "AWS WAF"},
		{429, []string{"X-Vercel-Mitigated: challenge"}, "Vercel"},
		{403, []string{"X-Vercel-Mitigated: deny"}, "Vercel"},
		{403, []string{"X-Px-Block: 1"}, "HUMAN"},
		{403, []string{"X-Sucuri-Block: x"}, "Sucuri"},
		{403, []string{"X-Datadome: protected"}, "DataDome"},
		{429, []string{"X-Kpsdk-Ct: x"}, "Kasada"},
		{403, []string{"X-Iinfo: 1"}, "Imperva"},
		{403, []string{"Server: AkamaiGHost"}, "Akamai"},
		{403, []string{"Server: DDoS-Guard"}, "DDoS-Guard"},
	} {
		got := controlsOf(t, answerTo(t, "https://example.com/", c.status, append([]string{asHTML}, c.fields...)...))
		if !strings.Contains(toolstest.Text(got.Notice), c.want) {
			t.Errorf("%d %v: %s", c.status, c.fields, toolstest.Text(got.Notice))
		}
		said := strings.Contains(controlOf(t, got, "content-type-options").Finding, "which may differ from the site's pages")
		if said != (c.want != "<null>") {
			t.Errorf("%d %v: in the finding: %t", c.status, c.fields, said)
		}
	}
}

func TestSecurityDocuments(t *testing.T) {
	t.Parallel()
	for contentType, want := range map[string]bool{
		"": true, "text/html": true, "TEXT/HTML; charset=utf-8": true, "text/html; charset": true, "application/xhtml+xml": true, "image/svg+xml": true, "application/xml": true, "application/rss+xml": true,
		"nonsense": true, "text/html;;": true,
		"application/json": false, "text/plain": false, "image/png": false, "text/css": false, "application/json;;;": false,
	} {
		if got := isDocument(answerTo(t, "https://example.com/", 200, "Content-Type: "+contentType)); got != want {
			t.Errorf("%q: %t", contentType, got)
		}
	}
	for _, status := range []int{204, 205, 304} {
		if isDocument(answerTo(t, "https://example.com/", status)) {
			t.Errorf("%d is a document", status)
		}
	}
}

func TestSplitFieldList(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a": "a", "a, b": "a|b", " a ,b": "a|b", "": "", ",": "|", `"a,b", c`: `"a,b"|c`, `"a\",b", c`: `"a\",b"|c`, `"a,b`: `"a,b`,
	} {
		if got := strings.Join(splitFieldList([]string{in}), "|"); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
	if got := splitFieldList(nil); got != nil {
		t.Errorf("nothing gives %q", got)
	}
	if got := strings.Join(splitFieldList([]string{"a", "b,c"}), "|"); got != "a|b|c" {
		t.Errorf("two fields give %q", got)
	}
}

func TestShownHeader(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a": "a", "caf\xe9": "café", "a\tb\x1b[31m\x7f\u0085": "a\uFFFDb\uFFFD[31m\uFFFD\uFFFD", "\u202eabc\u2066\u2028": "\uFFFDabc\uFFFD\uFFFD",
		strings.Repeat("é", 80): strings.Repeat("é", 80), strings.Repeat("é", 81): strings.Repeat("é", 80) + "…",
	} {
		if got := shownHeader(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

// TestDefinesEndpoint: the structured field and its forerunner in JSON both count, and what neither can be read as
// defines nothing.
func TestDefinesEndpoint(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]bool{
		`Reporting-Endpoints: a="/x", b="/y"`: true, `Reporting-Endpoints: b="/y"`: false, `Reporting-Endpoints: a="/x",`: false,
		`Report-To: {"group":"a","max_age":1,"endpoints":[]}`: true, `Report-To: {"group":"b"}, {"group":"a"}`: true, `Report-To: {"max_age":1}`: false,
		`Report-To: {`: false, `X: a`: false,
	} {
		p := page{answer: answerTo(t, "https://example.com/", 200, field)}
		if got := p.definesEndpoint("a"); got != want {
			t.Errorf("%s: %t", field, got)
		}
	}
	if p := (page{answer: answerTo(t, "https://example.com/", 200,
		`Report-To: {"max_age":1}`)}); !p.definesEndpoint("default") {
		t.Error("a group without a name is the default one")
	}
}

// TestSecurityFindingsAreBounded: a header full of mistakes does not become a finding of its own size.
func TestSecurityFindingsAreBounded(t *testing.T) {
	t.Parallel()
	var policy strings.Builder
	policy.WriteString("Content-Security-Policy: script-src")
	for i := range 3000 {
		policy.WriteString(" 'x" + strings.Repeat("y", i%7) + string(rune('a'+i%26)) + "'")
	}
	got := controlOf(t, controlsOf(t, answerTo(t, "https://example.com/", 200, policy.String())), "csp")
	if len(got.Finding) > 4000 || !strings.Contains(got.Finding, "more remarks are left out") {
		t.Errorf("%d bytes: %.300s", len(got.Finding), got.Finding)
	}
}

// Names and links of another place's controls are replaced.
func TestAdopt(t *testing.T) {
	t.Parallel()
	var r Result
	for _, c := range controls() {
		r.Controls = append(r.Controls, controlResult{ID: c.id, Name: "Sign in", Reference: "https://other.example/"})
	}
	for _, h := range newerHeaders() {
		r.NewerHeaders = append(r.NewerHeaders, newerHeader{Name: h.name, Reference: "https://other.example/"})
	}
	if err := adopt(&r); err != nil {
		t.Fatal(err)
	}
	for i, c := range controls() {
		if got := r.Controls[i]; got.Name != c.name || got.Reference != c.reference {
			t.Errorf("%+v", got)
		}
	}
	for i, h := range newerHeaders() {
		if got := r.NewerHeaders[i].Reference; got != h.reference {
			t.Errorf("%s refers to %s", h.name, got)
		}
	}
	r.Controls[0], r.Controls[1] = r.Controls[1], r.Controls[0]
	if err := adopt(&r); err == nil {
		t.Error("controls in another order are adopted")
	}
}
