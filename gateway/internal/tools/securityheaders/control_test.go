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

// cases are judged on https://example.com/ with status 200, unless they say otherwise. advises is part of
// the recommendation; "<null>" is none.
var cases = []struct {
	id      string
	url     string
	fields  []string
	status  controlStatus
	present bool
	codes   string // of its facts
	advises string
}{
	{"hsts", "", []string{"Strict-Transport-Security: max-age=31536000; includeSubDomains"}, controlPass, true, "HSTS_KEPT HSTS_SUBDOMAINS", "<null>"},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=15552000"}, controlPass, true, "HSTS_KEPT HSTS_NO_SUBDOMAINS", hstsBest},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=15551999"}, controlWarn, true, "HSTS_SHORT HSTS_NO_SUBDOMAINS", hstsBest},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=31536000; includeSubDomains; preload"}, controlPass, true, "HSTS_KEPT HSTS_PRELOAD", "<null>"},
	{"hsts", "https://www.example.com/", []string{"Strict-Transport-Security: max-age=31536000; includeSubDomains; preload"}, controlPass, true, "HSTS_KEPT HSTS_PRELOAD HSTS_PRELOAD_DOMAIN", "<null>"},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=31535999; includeSubDomains; preload"}, controlWarn, true, "HSTS_KEPT HSTS_PRELOAD_REFUSED", "; preload"},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=31536000; preload"}, controlWarn, true, "HSTS_KEPT HSTS_PRELOAD_REFUSED", "; preload"},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=31536000", "Strict-Transport-Security: max-age=0"}, controlWarn, true, "HSTS_REPEATED HSTS_KEPT HSTS_NO_SUBDOMAINS", hstsBest},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=0"}, controlFail, true, "HSTS_INEFFECTIVE", hstsBest},
	{"hsts", "", []string{"Strict-Transport-Security: max-age=31536000, includeSubDomains"}, controlFail, true, "HSTS_IGNORED", hstsBest},
	{"hsts", "", nil, controlFail, false, "HSTS_MISSING", hstsBest},
	{"hsts", "http://example.com/", []string{"Strict-Transport-Security: max-age=31536000"}, controlFail, true, "HSTS_WITHOUT_TLS", "Redirect every http URL"},
	{"hsts", "http://example.com/", nil, controlFail, false, "HSTS_WITHOUT_TLS", "Redirect every http URL"},
	{"hsts", "https://93.184.216.34/", []string{"Strict-Transport-Security: max-age=31536000"}, controlNotApplicable, true, "HSTS_FOR_ADDRESS", "<null>"},
	{"hsts", "https://[2606:4700::1]/", nil, controlNotApplicable, false, "HSTS_FOR_ADDRESS", "<null>"},

	{"csp", "", []string{"Content-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'none'"}, controlPass, true, "CSP_NO_SCRIPT_SOURCE", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'none'; script-src 'self'; base-uri 'none'; form-action 'none'"}, controlPass, true, "CSP_SCRIPT_BY_SOURCE", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'none'; script-src " + goodNonce + "; base-uri 'none'; form-action 'none'"}, controlPass, true, "CSP_SCRIPT_BY_NONCE", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: script-src 'self' " + goodNonce + "; object-src 'none'; base-uri 'none'; form-action 'none'"}, controlPass, true, "CSP_SCRIPT_BY_SOURCE_OR_NONCE", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: script-src " + goodNonce + " 'strict-dynamic' https: 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'self'"}, controlPass, true, "CSP_SCRIPT_BY_TRUST CSP_STRICT_DYNAMIC_FALLBACKS CSP_INLINE_IGNORED", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'self'"}, controlPass, true, "CSP_SCRIPT_BY_SOURCE CSP_BASE_URI CSP_FORM_ACTION", "Send one more line beside it: Content-Security-Policy: base-uri 'none'; form-action 'self'"},
	{"csp", "", []string{"Content-Security-Policy: script-src 'self'; base-uri 'none'; form-action 'self'"}, controlWarn, true, "CSP_SCRIPT_BY_SOURCE CSP_PLUGINS", "object-src 'none'"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'self'; script-src 'self' 'unsafe-eval'; base-uri 'none'; form-action 'none'"}, controlWarn, true, "CSP_SCRIPT_BY_SOURCE CSP_EVAL", "Correct what is named above"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'self' 'unsafe-inline'"}, controlFail, true, "CSP_INJECTED_SCRIPT CSP_INLINE_SCRIPTS CSP_BASE_URI CSP_INLINE_STYLES CSP_FORM_ACTION", "{RANDOM}"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'self' 'unsafe-inline', script-src 'self'", "Content-Security-Policy: base-uri 'none'; form-action 'self'"}, controlPass, true, "CSP_SEVERAL CSP_SCRIPT_BY_SOURCE CSP_INLINE_STYLES", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: sandbox; form-action 'none'"}, controlPass, true, "CSP_NO_SCRIPT CSP_SANDBOX", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'self'; base-uri 'none'; form-action 'self'", "Content-Security-Policy-Report-Only: script-src 'none'"}, controlPass, true, "CSP_SCRIPT_BY_SOURCE CSP_REPORT_ONLY_BESIDE", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: "}, controlFail, true, "CSP_EMPTY CSP_META_ELEMENT", "Content-Security-Policy: "},
	{"csp", "", nil, controlFail, false, "CSP_MISSING CSP_META_ELEMENT", "Content-Security-Policy: "},
	{"csp", "", []string{"Content-Security-Policy-Report-Only: default-src 'none'"}, controlFail, false, "CSP_MISSING CSP_REPORT_ONLY CSP_META_ELEMENT", "Content-Security-Policy: "},
	{"csp", "", []string{asJSON}, controlNotApplicable, false, "CSP_NOT_A_DOCUMENT CSP_COSTS_NOTHING", "<null>"},
	{"csp", "", []string{asJSON, "Content-Security-Policy: script-src *"}, controlInfo, true, "CSP_FOR_DATA CSP_INJECTED_SCRIPT CSP_ANY_SCRIPT_SOURCE CSP_PLUGINS CSP_BASE_URI CSP_FORM_ACTION", "<null>"},
	{"csp", "", []string{asJSON, "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"}, controlPass, true, "CSP_NO_SCRIPT_SOURCE", "<null>"},
	{"csp", "", []string{"Content-Security-Policy: default-src 'none'; report-to x", `Reporting-Endpoints: y="https://r.example.com/"`}, controlPass, true, "CSP_NO_SCRIPT_SOURCE CSP_BASE_URI CSP_FORM_ACTION CSP_ENDPOINT_NOT_DEFINED", "base-uri 'none'"},

	{"frame-protection", "", []string{"Content-Security-Policy: frame-ancestors 'none'"}, controlPass, true, "FRAME_PROTECTION_NONE", "<null>"},
	{"frame-protection", "", []string{"Content-Security-Policy: frame-ancestors 'self'", "X-Frame-Options: ALLOW-FROM https://a.example"}, controlPass, true, "FRAME_PROTECTION_SELF FRAME_PROTECTION_XFO_BESIDE", "<null>"},
	{"frame-protection", "", []string{"Content-Security-Policy: frame-ancestors https://a.example.com"}, controlPass, true, "FRAME_PROTECTION_HOSTS", "<null>"},
	{"frame-protection", "", []string{"Content-Security-Policy: frame-ancestors *", "X-Frame-Options: DENY"}, controlFail, true, "FRAME_PROTECTION_ANYONE FRAME_PROTECTION_XFO_BESIDE", framingBest},
	{"frame-protection", "", []string{"Content-Security-Policy: frame-ancestors *", "Content-Security-Policy: frame-ancestors 'self'"}, controlPass, true, "FRAME_PROTECTION_SELF", "<null>"},
	{"frame-protection", "", []string{"X-Frame-Options: DENY"}, controlPass, true, "FRAME_PROTECTION_DENY", "<null>"},
	{"frame-protection", "", []string{"X-Frame-Options: SameOrigin", "X-Frame-Options: SAMEORIGIN"}, controlPass, true, "FRAME_PROTECTION_SAMEORIGIN", "<null>"},
	{"frame-protection", "", []string{"X-Frame-Options: DENY", "X-Frame-Options: SAMEORIGIN"}, controlWarn, true, "FRAME_PROTECTION_CONFLICT", framingBest},
	{"frame-protection", "", []string{"X-Frame-Options: ALLOW-FROM https://a.example"}, controlFail, true, "FRAME_PROTECTION_ALLOW_FROM", "frame-ancestors"},
	{"frame-protection", "", []string{"X-Frame-Options: ALLOWALL"}, controlFail, true, "FRAME_PROTECTION_INEFFECTIVE", framingBest},
	{"frame-protection", "", []string{"X-Frame-Options: "}, controlFail, true, "FRAME_PROTECTION_INEFFECTIVE", framingBest},
	{"frame-protection", "", []string{"Content-Security-Policy: default-src 'none'", "Content-Security-Policy-Report-Only: frame-ancestors 'none'"}, controlFail, false, "FRAME_PROTECTION_MISSING FRAME_PROTECTION_REPORT_ONLY", framingBest},
	{"frame-protection", "", []string{asJSON}, controlNotApplicable, false, "FRAME_PROTECTION_NOT_A_DOCUMENT", "<null>"},

	{"content-type-options", "", []string{asHTML, "X-Content-Type-Options: NoSniff"}, controlPass, true, "CONTENT_TYPE_OPTIONS_NOSNIFF", "<null>"},
	{"content-type-options", "", []string{asHTML, "X-Content-Type-Options: nosniff, nosniff"}, controlPass, true, "CONTENT_TYPE_OPTIONS_NOSNIFF CONTENT_TYPE_OPTIONS_MORE", "<null>"},
	{"content-type-options", "", []string{"X-Content-Type-Options: nosniff"}, controlWarn, true, "CONTENT_TYPE_OPTIONS_NOSNIFF CONTENT_TYPE_MISSING", "Content-Type: text/html"},
	{"content-type-options", "", []string{asHTML, "X-Content-Type-Options: foo, nosniff"}, controlFail, true, "CONTENT_TYPE_OPTIONS_INEFFECTIVE", "X-Content-Type-Options: nosniff"},
	{"content-type-options", "", []string{asHTML, `X-Content-Type-Options: "nosniff"`}, controlFail, true, "CONTENT_TYPE_OPTIONS_INEFFECTIVE", "X-Content-Type-Options: nosniff"},
	{"content-type-options", "", []string{asJSON}, controlFail, false, "CONTENT_TYPE_OPTIONS_MISSING", "X-Content-Type-Options: nosniff"},

	{"referrer-policy", "", []string{"Referrer-Policy: no-referrer"}, controlPass, true, "REFERRER_POLICY_NO_REFERRER", "<null>"},
	{"referrer-policy", "", []string{"Referrer-Policy: unsafe-url, Strict-Origin, future-token"}, controlPass, true, "REFERRER_POLICY_STRICT REFERRER_POLICY_SKIPPED", "<null>"},
	{"referrer-policy", "", []string{"Referrer-Policy: no-referrer", "Referrer-Policy: unsafe-url"}, controlFail, true, "REFERRER_POLICY_UNSAFE", referrerBest},
	{"referrer-policy", "", []string{"Referrer-Policy: no-referrer-when-downgrade"}, controlWarn, true, "REFERRER_POLICY_WEAK", referrerBest},
	{"referrer-policy", "", []string{"Referrer-Policy: origin"}, controlInfo, true, "REFERRER_POLICY_ORIGIN", referrerBest},
	{"referrer-policy", "", []string{"Referrer-Policy: never-ever"}, controlWarn, true, "REFERRER_POLICY_UNKNOWN", referrerBest},
	{"referrer-policy", "", []string{"Referrer-Policy: "}, controlWarn, true, "REFERRER_POLICY_UNKNOWN", referrerBest},
	{"referrer-policy", "", nil, controlInfo, false, "REFERRER_POLICY_MISSING", referrerBest},
	{"referrer-policy", "", []string{asJSON}, controlNotApplicable, false, "REFERRER_POLICY_NOT_A_DOCUMENT", "<null>"},

	{"permissions-policy", "", []string{`Permissions-Policy: camera=(), fullscreen=(self "https://a.example.com"), usb=self`}, controlPass, true, "PERMISSIONS_POLICY_LIMITS", "<null>"},
	{"permissions-policy", "", []string{"Permissions-Policy: camera=*, fullscreen=*"}, controlInfo, true, "PERMISSIONS_POLICY_NO_LIMIT PERMISSIONS_POLICY_OPEN", "camera=(self), fullscreen=*, microphone=(), geolocation=(), payment=(), usb=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: camera=(*)"}, controlInfo, true, "PERMISSIONS_POLICY_NO_LIMIT PERMISSIONS_POLICY_OPEN", "camera=(self), microphone=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: usb=(), camera=*, fullscreen=*"}, controlPass, true, "PERMISSIONS_POLICY_LIMITS PERMISSIONS_POLICY_OPEN", "Permissions-Policy: usb=(), camera=(self), fullscreen=*"},
	{"permissions-policy", "", []string{"Permissions-Policy: usb=(), fullscreen=*"}, controlPass, true, "PERMISSIONS_POLICY_LIMITS PERMISSIONS_POLICY_OPEN", "<null>"},
	{"permissions-policy", "", []string{"Permissions-Policy: usb=(), midi=*, gamepad=*"}, controlPass, true, "PERMISSIONS_POLICY_LIMITS PERMISSIONS_POLICY_OPEN PERMISSIONS_POLICY_OPEN_BY_DEFAULT", "usb=(), midi=(self), gamepad=*"},
	{"permissions-policy", "", []string{"Permissions-Policy: vibrate=(), geolocation=(self)"}, controlPass, true, "PERMISSIONS_POLICY_LIMITS PERMISSIONS_POLICY_UNKNOWN_FEATURES", "<null>"},
	{"permissions-policy", "", []string{"Permissions-Policy: interest-cohort=(), a=(), b=(), c=(), d=(), e=()"}, controlInfo, true, "PERMISSIONS_POLICY_NO_LIMIT PERMISSIONS_POLICY_UNKNOWN_FEATURES", "interest-cohort=(), a=(), b=(), c=(), d=(), e=(), camera=(), microphone=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: camera=none"}, controlWarn, true, "PERMISSIONS_POLICY_LIMITS PERMISSIONS_POLICY_SKIPPED_VALUES", "camera=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: camera=(https)"}, controlWarn, true, "PERMISSIONS_POLICY_LIMITS PERMISSIONS_POLICY_SKIPPED_VALUES", "camera=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: fullscreen=(self), geolocation=(self https://a.example.com), usb=none;report-to=x"}, controlWarn, true, "PERMISSIONS_POLICY_LIMITS PERMISSIONS_POLICY_SKIPPED_VALUES", `Permissions-Policy: fullscreen=(self), geolocation=(self "https://a.example.com"), usb=();report-to=x`},
	{"permissions-policy", "", []string{"Permissions-Policy: camera"}, controlWarn, true, "PERMISSIONS_POLICY_LIMITS PERMISSIONS_POLICY_SKIPPED_VALUES", "camera=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: camera 'none'; geolocation 'self'"}, controlWarn, true, "PERMISSIONS_POLICY_INEFFECTIVE PERMISSIONS_POLICY_OLD_SYNTAX", "Permissions-Policy: camera=(), geolocation=(self), microphone=(), payment=(), usb=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: gyroscope 'self' https://a.example.com *; usb *; vibrate 'none', midi=(self)"}, controlWarn, true, "PERMISSIONS_POLICY_INEFFECTIVE PERMISSIONS_POLICY_OLD_SYNTAX", "gyroscope=*, usb=(self), midi=(self), camera=(), "},
	{"permissions-policy", "", []string{"Permissions-Policy: fullscreen=(self),"}, controlWarn, true, "PERMISSIONS_POLICY_INEFFECTIVE", "Permissions-Policy: fullscreen=(self), camera=(), microphone=(), geolocation=(), payment=(), usb=()"},
	{"permissions-policy", "", []string{"Permissions-Policy: camera=(),"}, controlWarn, true, "PERMISSIONS_POLICY_INEFFECTIVE", permissionsBest},
	{"permissions-policy", "", []string{"Permissions-Policy: "}, controlWarn, true, "PERMISSIONS_POLICY_EMPTY", permissionsBest},
	{"permissions-policy", "", []string{"Feature-Policy: camera 'none'", "Permissions-Policy-Report-Only: camera=()"}, controlInfo, false, "PERMISSIONS_POLICY_MISSING REPORT_ONLY PERMISSIONS_POLICY_PREDECESSOR", permissionsBest},
	{"permissions-policy", "", []string{asJSON}, controlNotApplicable, false, "PERMISSIONS_POLICY_NOT_A_DOCUMENT", "<null>"},

	{"coop", "", []string{"Cross-Origin-Opener-Policy: same-origin-allow-popups"}, controlPass, true, "COOP_ALLOW_POPUPS", "<null>"},
	{"coop", "", []string{"Cross-Origin-Opener-Policy: noopener-allow-popups"}, controlPass, true, "COOP_NOOPENER", "<null>"},
	{"coop", "", []string{`Cross-Origin-Opener-Policy: same-origin; report-to="x"`}, controlPass, true, "COOP_SAME_ORIGIN ENDPOINT_NOT_DEFINED", "<null>"},
	{"coop", "", []string{`Cross-Origin-Opener-Policy: same-origin; report-to="x"`, `Reporting-Endpoints: x="/r"`}, controlPass, true, "COOP_SAME_ORIGIN", "<null>"},
	{"coop", "", []string{"Cross-Origin-Opener-Policy: unsafe-none"}, controlInfo, true, "COOP_NOTE", "same-origin"},
	{"coop", "", []string{"Cross-Origin-Opener-Policy: Same-Origin"}, controlWarn, true, "COOP_UNKNOWN", "same-origin"},
	{"coop", "", []string{"Cross-Origin-Opener-Policy: same-origin", "Cross-Origin-Opener-Policy: same-origin"}, controlWarn, true, "COOP_INEFFECTIVE", "same-origin"},
	{"coop", "", []string{`Cross-Origin-Opener-Policy: "same-origin"`}, controlWarn, true, "COOP_INEFFECTIVE", "same-origin"},
	{"coop", "http://example.com/", []string{"Cross-Origin-Opener-Policy: same-origin"}, controlWarn, true, "COOP_SAME_ORIGIN COOP_WITHOUT_TLS", "over https"},
	{"coop", "", []string{"Cross-Origin-Opener-Policy-Report-Only: same-origin"}, controlInfo, false, "COOP_MISSING ISOLATION_REPORT_ONLY", "same-origin"},
	{"coop", "", []string{"Cross-Origin-Opener-Policy-Report-Only: x"}, controlInfo, false, "COOP_MISSING ISOLATION_REPORT_ONLY_UNKNOWN", "same-origin"},
	{"coop", "", []string{asJSON}, controlNotApplicable, false, "ISOLATION_NOT_A_DOCUMENT", "<null>"},

	{"coep", "", []string{"Cross-Origin-Embedder-Policy: require-corp", "Cross-Origin-Opener-Policy: same-origin"}, controlPass, true, "COEP_REQUIRE_CORP COEP_ISOLATED", "<null>"},
	{"coep", "", []string{"Cross-Origin-Embedder-Policy: credentialless"}, controlPass, true, "COEP_CREDENTIALLESS", "<null>"},
	{"coep", "", []string{"Cross-Origin-Embedder-Policy: unsafe-none"}, controlInfo, true, "COEP_NOTE", "require-corp"},
	{"coep", "", []string{"Cross-Origin-Embedder-Policy: require_corp"}, controlWarn, true, "COEP_UNKNOWN", "require-corp"},
	{"coep", "", nil, controlInfo, false, "COEP_MISSING", "require-corp"},
	{"coep", "", []string{asJSON}, controlNotApplicable, false, "ISOLATION_NOT_A_DOCUMENT", "<null>"},

	{"corp", "", []string{"Cross-Origin-Resource-Policy: same-site"}, controlPass, true, "CORP_SAME", "<null>"},
	{"corp", "", []string{"Cross-Origin-Resource-Policy: cross-origin"}, controlInfo, true, "CORP_OPEN", "<null>"},
	{"corp", "", []string{"Cross-Origin-Resource-Policy: Same-Origin"}, controlWarn, true, "CORP_INEFFECTIVE", "same-origin"},
	{"corp", "", []string{"Cross-Origin-Resource-Policy: same-origin", "Cross-Origin-Resource-Policy: same-origin"}, controlWarn, true, "CORP_INEFFECTIVE", "same-origin"},
	{"corp", "", nil, controlInfo, false, "CORP_MISSING", "same-origin"},

	{"cors", "", nil, controlPass, false, "CORS_NONE", "<null>"},
	{"cors", "", []string{"Access-Control-Allow-Origin: *"}, controlInfo, true, "CORS_OPEN", "<null>"},
	{"cors", "", []string{"Access-Control-Allow-Origin: *", "Access-Control-Allow-Credentials: true"}, controlWarn, true, "CORS_WILDCARD_CREDENTIALS", "Access-Control-Allow-Origin: "},
	{"cors", "", []string{"Access-Control-Allow-Origin: null"}, controlWarn, true, "CORS_NULL", "Access-Control-Allow-Origin: "},
	{"cors", "", []string{"Access-Control-Allow-Origin: null", "Access-Control-Allow-Credentials: true"}, controlFail, true, "CORS_NULL CORS_NULL_CREDENTIALS", "Access-Control-Allow-Origin: "},
	{"cors", "", []string{"Access-Control-Allow-Origin: https://a.example, https://b.example"}, controlWarn, true, "CORS_INVALID", "Access-Control-Allow-Origin: "},
	{"cors", "", []string{"Access-Control-Allow-Origin: https://*.example.com"}, controlWarn, true, "CORS_INVALID", "Access-Control-Allow-Origin: "},
	{"cors", "", []string{"Access-Control-Allow-Origin: https://example.com"}, controlInfo, true, "CORS_OWN_ORIGIN", "<null>"},
	{"cors", "", []string{"Access-Control-Allow-Origin: https://a.example", "Access-Control-Allow-Credentials: True"}, controlInfo, true, "CORS_ORIGIN CORS_CREDENTIALS_CASE", "<null>"},
	{"cors", "", []string{"Access-Control-Allow-Origin: https://a.example", "Access-Control-Allow-Credentials: true"}, controlInfo, true, "CORS_CREDENTIALS", "<null>"},
	{"cors", "", []string{"Access-Control-Allow-Origin: http://a.example", "Access-Control-Allow-Credentials: true"}, controlWarn, true, "CORS_PLAIN_CREDENTIALS", "https://a.example"},

	{"cookies", "", nil, controlNotApplicable, false, "COOKIES_NONE", "<null>"},
	{"cookies", "", []string{"Set-Cookie: a=b; Secure; HttpOnly; SameSite=Strict"}, controlPass, true, "COOKIES_FINE", "<null>"},
	{"cookies", "", []string{"Set-Cookie: a=b; Secure; SameSite=Strict"}, controlInfo, true, "COOKIES_SET COOKIE_NOT_HTTP_ONLY", "Set-Cookie: "},
	{"cookies", "", []string{"Set-Cookie: a=b; HttpOnly; SameSite=Strict"}, controlWarn, true, "COOKIES_SET COOKIE_NOT_SECURE", "Set-Cookie: "},
	{"cookies", "", []string{"Set-Cookie: a=b; Secure; HttpOnly; SameSite=Lax", "Set-Cookie: PHPSESSID=b; Secure; SameSite=Lax"}, controlFail, true, "COOKIES_SET COOKIE_LOGIN_NOT_HTTP_ONLY", "Set-Cookie: "},
	{"cookies", "", []string{"Set-Cookie: justavalue"}, controlWarn, true, "COOKIES_SET COOKIE_NOT_SECURE", "Set-Cookie: "},
	{"cookies", "", []string{"Set-Cookie: old=; Max-Age=0"}, controlPass, true, "COOKIES_FINE", "<null>"},

	{"information-leak", "", nil, controlPass, false, "LEAK_NONE", "<null>"},
	{"information-leak", "", []string{"Server: nginx"}, controlInfo, true, "LEAK_PRODUCT", "<null>"},
	{"information-leak", "", []string{"Via: 1.1 varnish, HTTP/2.0 edge"}, controlInfo, true, "LEAK_PRODUCT", "<null>"},
	{"information-leak", "", []string{"X-Powered-By: Express"}, controlInfo, true, "LEAK_SOFTWARE", "x-powered-by"},
	{"information-leak", "", []string{"X-Runtime: 0.012345"}, controlInfo, true, "LEAK_SOFTWARE", "x-runtime"},
	{"information-leak", "", []string{"Server: Apache/2.4.58 (Ubuntu)"}, controlWarn, true, "LEAK_VERSION", "server"},
	{"information-leak", "", []string{"Via: 1.1 cache (Varnish/6.0)"}, controlWarn, true, "LEAK_VERSION", "via"},
	{"information-leak", "", []string{"X-Aspnet-Version: 4.0.30319"}, controlWarn, true, "LEAK_VERSION", "x-aspnet-version"},
	{"information-leak", "", []string{"X-Generator: Drupal 10 (https://www.drupal.org)"}, controlInfo, true, "LEAK_SOFTWARE", "x-generator"},
	{"information-leak", "", []string{"X-Upstream: 10.1.2.3:8080"}, controlWarn, true, "LEAK_ADDRESS", "x-upstream"},
	{"information-leak", "", []string{"X-Upstream: 10.1.2.3:8080", "Server: nginx/1.2.3"}, controlWarn, true, "LEAK_VERSION LEAK_ADDRESS", "x-upstream. Do not send: server"},
	{"information-leak", "", []string{"Via: 1.1 10.1.2.3", "Set-Cookie2: sid=secret-10.1.2.3"}, controlWarn, true, "LEAK_VERSION LEAK_ADDRESS", "Remove private addresses from: set-cookie2, via"},
	{"information-leak", "", []string{"Server: Werkzeug/3.0.1 Python/3.12.1"}, controlFail, true, "LEAK_DEVELOPMENT_SERVER", "server"},
	{"information-leak", "", []string{"X-Debug-Token-Link: https://example.com/_profiler/1"}, controlFail, true, "LEAK_INTERNALS", "x-debug-token-link"},

	{"deprecated", "", nil, controlPass, false, "RETIRED_NONE", "<null>"},
	{"deprecated", "", []string{"X-XSS-Protection: 0"}, controlInfo, true, "RETIRED_X_XSS_PROTECTION_OFF", "x-xss-protection"},
	{"deprecated", "", []string{"Expect-CT: max-age=0", "P3P: CP=x", "Pragma: no-cache"}, controlInfo, true, "RETIRED_EXPECT_CT RETIRED_P3P RETIRED_PRAGMA", "expect-ct, p3p, pragma"},
	{"deprecated", "", []string{"X-XSS-Protection: 1; mode=block"}, controlWarn, true, "RETIRED_X_XSS_PROTECTION", "x-xss-protection"},
	{"deprecated", "", []string{"Public-Key-Pins: max-age=1"}, controlWarn, true, "RETIRED_PUBLIC_KEY_PINS", "public-key-pins"},
	{"deprecated", "", []string{"Feature-Policy: camera 'none'"}, controlWarn, true, "RETIRED_FEATURE_POLICY", "feature-policy"},
	{"deprecated", "", []string{"Set-Cookie2: sid=secret"}, controlInfo, true, "RETIRED_SET_COOKIE2", "set-cookie2"},
}

// judged is the verdict on a control.
func judged(t testing.TB, p page, id string) verdict {
	t.Helper()
	for _, c := range controls() {
		if c.id == id {
			return c.judge(p)
		}
	}
	t.Fatalf("no control %s", id)
	return verdict{}
}

func codesOf(facts []fact) string {
	var codes []string
	for _, f := range facts {
		codes = append(codes, f.code)
	}
	return strings.Join(codes, " ")
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
			answer := answerTo(t, url, 200, c.fields...)
			got := controlOf(t, controlsOf(t, answer), c.id)
			if got.Status != c.status || got.Present != c.present || (got.Value != nil) != (c.present) {
				t.Errorf("%s, present %t, value %s; want %s, %t: %s", got.Status, got.Present, toolstest.Text(got.Value), c.status,
					c.present, got.Finding)
			}
			if codes := codesOf(judged(t, newPage(chainTo(answer), testNow), c.id).facts); codes != c.codes ||
				got.Finding == "" {
				t.Errorf("%s; want %s: %s", codes, c.codes, got.Finding)
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
		if judged := got.Conclusion.Code != "HEADERS_NOT_JUDGED"; said != (judged && c.want != "<null>") {
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
