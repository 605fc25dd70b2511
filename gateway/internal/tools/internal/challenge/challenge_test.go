package challenge

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// fields makes a header of lines such as "Server: x".
func fields(lines ...string) http.Header {
	h := make(http.Header)
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	return h
}

// The cases have each mark, and beside it what a site behind the same vendor answers that is no challenge.
func TestEachVendorsChallengeIsRecognised(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name   string
		status int
		header http.Header
		vendor string
	}{
		{"a plain refusal", 403, fields("Server: nginx"), ""},
		{"nothing", 200, nil, ""},

		{"Cloudflare", 403, fields("Server: cloudflare", "Cf-Ray: 8f", "cf-mitigated: challenge"), "Cloudflare"},
		{"Cloudflare with 503", 503, fields("cf-mitigated: challenge"), "Cloudflare"},
		{"Cloudflare with 429", 429, fields("cf-mitigated: Challenge "), "Cloudflare"},
		{"Cloudflare, older", 403, fields("Server: cloudflare", "cf-chl-bypass: 1"), "Cloudflare"},
		{"Cloudflare, older, let through", 200, fields("Server: cloudflare", "cf-chl-bypass: 1"), ""},
		{"Cloudflare blocks", 403, fields("Server: cloudflare", "Cf-Ray: 8f", "Set-Cookie: __cf_bm=x; path=/"), ""},
		{"Cloudflare with another word", 403, fields("cf-mitigated: block"), ""},
		{"Cloudflare limits", 429, fields("Server: cloudflare", "Retry-After: 10"), ""},
		{"behind Cloudflare", 503, fields("Server: cloudflare"), ""},

		{"Vercel", 429, fields("Server: Vercel", "x-vercel-mitigated: challenge"), "Vercel"},
		{"Vercel with 403", 403, fields("x-vercel-mitigated: challenge"), "Vercel"},
		{"Vercel blocks", 403, fields("Server: Vercel", "x-vercel-mitigated: deny"), ""},

		{"AWS WAF", 202, fields("x-amzn-waf-action: challenge"), "AWS WAF"},
		{"AWS WAF with a puzzle", 405, fields("x-amzn-waf-action: captcha"), "AWS WAF"},
		{"AWS WAF with 403", 403, fields("x-amzn-waf-action: captcha"), "AWS WAF"},
		{"AWS WAF blocks", 403, fields("Server: CloudFront", "X-Amzn-RequestId: x"), ""},
		{"AWS WAF with another word", 403, fields("x-amzn-waf-action: block"), ""},

		{"DataDome", 403, fields("X-DataDome: protected", "X-DD-B: 1", "Set-Cookie: datadome=x"), "DataDome"},
		{"DataDome with 401", 401, fields("X-DD-B: 2"), "DataDome"},
		{"DataDome in the server's place", 403, fields("Server: DataDome"), "DataDome"},
		{"DataDome let through", 200, fields("X-DataDome: protected", "X-DD-B: 1"), ""},
		{"a refusal behind DataDome", 403, fields("X-DataDome: protected", "Set-Cookie: datadome=x"), ""},
		{"DataDome says nothing", 403, fields("X-DD-B: "), ""},

		{"Kasada", 429, fields("x-kpsdk-ct: 01abc"), "Kasada"},
		{"Kasada let through", 200, fields("x-kpsdk-ct: 01abc"), ""},
		{"a limit behind Kasada", 429, fields("Retry-After: 5"), ""},

		{"Akamai", 428, fields("Server: AkamaiGHost", "Set-Cookie: sec_cpt=A~1~B; path=/"), "Akamai"},
		{"Akamai with 403", 403, fields("Set-Cookie: _abck=x", "Set-Cookie: sec_cpt=A~1~B"), "Akamai"},
		{"Akamai let through", 200, fields("Set-Cookie: sec_cpt=A~3~B"), ""},
		{"Akamai blocks", 403, fields("Server: AkamaiGHost", "Set-Cookie: _abck=x", "Set-Cookie: bm_sz=y", "Set-Cookie: ak_bmsc=z"), ""},

		{"Anubis", 200, fields("Set-Cookie: techaro.lol-anubis-cookie-verification-ab12=0198; Path=/"), "Anubis"},
		{"Anubis with 403", 403, fields("Set-Cookie: techaro.lol-anubis-cookie-verification=0198"), "Anubis"},
		{"Anubis was passed", 302, fields("Set-Cookie: techaro.lol-anubis-cookie-verification=; Max-Age=0"), ""},
		{"Anubis, another cookie", 403, fields("Set-Cookie: techaro.lol-anubis-auth=x"), ""},

		{"Imperva", 403, fields("X-Iinfo: 9-1-0 0NNN", "X-CDN: Imperva", "Set-Cookie: incap_ses_1=x"), ""},
		{"Sucuri blocks", 403, fields("Server: Sucuri/Cloudproxy", "X-Sucuri-ID: 1", "X-Sucuri-Block: 1"), ""},
		{"DDoS-Guard", 403, fields("Server: ddos-guard", "Set-Cookie: __ddg1_=x"), ""},
		{"HUMAN", 403, fields("Set-Cookie: _pxhd=x"), ""},
	}
	for _, r := range rows {
		got := ""
		if c := Of(r.status, r.header); c != nil {
			got = c.Vendor
		}
		if got != r.vendor {
			t.Errorf("%s: got %q, want %q", r.name, got, r.vendor)
		}
	}
}

// FuzzOf: whatever a server sends, a vendor is one that this package knows, and is named for one of its own fields.
func FuzzOf(f *testing.F) {
	f.Add(403, "Cf-Mitigated", "challenge")
	f.Add(428, "Set-Cookie", "sec_cpt=A~1~B; path=/")
	f.Add(403, "Set-Cookie", "=;=;sec_cpt")
	f.Add(503, "X-Dd-B", "\x00")
	f.Fuzz(func(t *testing.T, status int, name, value string) {
		got := Of(status, http.Header{http.CanonicalHeaderKey(name): {value}})
		if got == nil {
			return
		}
		if !slices.ContainsFunc(marks, func(m mark) bool {
			return m.vendor == got.Vendor && (m.field == http.CanonicalHeaderKey(name) || m.cookie != "" &&
				http.CanonicalHeaderKey(name) == "Set-Cookie" && strings.Contains(value, m.cookie))
		}) {
			t.Errorf("%s for %d and %q: %q", got.Vendor, status, name, value)
		}
	})
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
