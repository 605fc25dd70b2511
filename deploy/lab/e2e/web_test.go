//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"diagnostics/lab"
)

// each gives the values at one key of a list's objects.
func (a answer) each(path, key string) []string {
	values, _ := a.at(path).([]any)
	out := []string{}
	for _, v := range values {
		object, _ := v.(map[string]any)
		out = append(out, fmt.Sprint(object[key]))
	}
	return out
}

// has is a predicate on lists of objects: one has the value at the key.
func has(key string, want any) func(any) bool {
	return func(v any) bool {
		list, _ := v.([]any)
		for _, item := range list {
			if object, ok := item.(map[string]any); ok && object[key] == want {
				return true
			}
		}
		return false
	}
}

// hasAll is a predicate on lists of strings.
func hasAll(want ...string) func(any) bool {
	return func(v any) bool {
		found := map[any]bool{}
		list, _ := v.([]any)
		for _, item := range list {
			found[item] = true
		}
		for _, w := range want {
			if !found[w] {
				return false
			}
		}
		return true
	}
}

func length(n int) func(any) bool {
	return func(v any) bool { list, ok := v.([]any); return ok && len(list) == n }
}

func contains(parts ...string) func(any) bool {
	return func(v any) bool {
		text, ok := v.(string)
		for _, part := range parts {
			ok = ok && strings.Contains(text, part)
		}
		return ok
	}
}

func TestRedirectChecker(t *testing.T) {
	const host = "http://redirects.lab-site.com"
	to := func(location string) string { return lab.RedirectTo("redirects.lab-site.com", location, 302) }
	ends := func(outcome string, more ...facts) facts {
		f := facts{"outcome": outcome, "finalUrl": nil, "finalStatus": nil, "summary": nonEmpty, "clientRedirect": nil}
		for _, m := range more {
			for k, v := range m {
				f[k] = v
			}
		}
		return f
	}
	runChecks(t, "redirect-checker", []check{
		{name: "no redirect", input: "https://v4only.lab-site.com/", facts: facts{
			"outcome": "final", "redirectCount": 0, "finalUrl": "https://v4only.lab-site.com/", "finalStatus": 200, "hops": length(1),
			"hops.0.address": internal("v4only"), "hops.0.location": nil, "hops.0.flags": []string{}, "hops.0.index": 0, "hops.0.timings.tlsMs": between(4, 2000)}},
		{name: "to https", input: "http://upgrade.lab-site.com/a?b=c#part", shown: true, facts: facts{
			"outcome": "final", "redirectCount": 1, "finalUrl": "https://upgrade.lab-site.com/a?b=c#part", "hops.0.status": 301, "hops.1.status": 200,
			"hops.0.flags": hasAll("httpToHttps", "permanent"), "hops.0.location": "https://upgrade.lab-site.com/a?b=c"}},
		{name: "eight are followed", input: host + "/chain/8", facts: facts{"outcome": "final", "redirectCount": 8, "hops": length(9), "finalStatus": 200,
			"hops.0.flags": hasAll("permanent", "relativeLocation")}},
		{name: "nine are not", input: host + "/chain/9", facts: ends("tooManyRedirects", facts{"redirectCount": 8, "hops": length(9)})},
		{name: "a loop", input: host + "/loop", facts: ends("loop", facts{"redirectCount": 1, "hops": length(2), "hops.1.location": "/loop"})},
		{name: "a cookie is no loop", input: host + "/cookie", facts: facts{"outcome": "final", "redirectCount": 1, "finalStatus": 200}},
		{name: "relative", input: host + "/relative", facts: facts{"outcome": "final", "finalUrl": host + "/page?x=1", "hops.0.status": 303, "hops.0.flags": hasAll("temporary", "relativeLocation")}},
		{name: "no Location", input: host + "/none", facts: ends("missingLocation", facts{"hops.0.status": 302, "hops.0.location": nil})},
		{name: "a blank Location", input: to(""), facts: ends("missingLocation")},
		{name: "a broken escape", input: to("http://%zz/"), facts: ends("invalidLocation", facts{"redirectCount": 0})},
		{name: "a scheme without slashes", input: to("http:foo"), facts: ends("invalidLocation")},
		{name: "ftp", input: to("ftp://fast.lab-site.com/"), facts: ends("unsupportedScheme")},
		{name: "javascript", input: to("javascript:alert(1)"), facts: ends("unsupportedScheme")},
		{name: "protocol-relative", input: to("//fast.lab-site.com/x"), facts: facts{"outcome": "final", "finalUrl": "http://fast.lab-site.com/x", "hops.0.flags": hasAll("crossHost", "relativeLocation")}},
		{name: "a private address", input: to("http://10.0.0.1/"), facts: ends("blocked", facts{"redirectCount": 0, "hops": length(2), "hops.1.status": nil, "hops.1.address": nil})},
		{name: "a name with a private address", input: to("http://private.lab-site.com/"), facts: ends("blocked", facts{"redirectCount": 0, "hops.1.address": nil})},
		{name: "user information", input: to("https://user:secret@fast.lab-site.com/"), facts: ends("blocked", facts{"hops.0.flags": hasAll("userinfo")})},
		{name: "a dead host", input: to("http://reset.lab-site.com/"), facts: ends("unreachable", facts{"redirectCount": 1, "hops.1.status": nil, "hops.1.statusText": nonEmpty})},
		{name: "a name without address", input: to("http://noaddress.lab-site.com/"), facts: ends("unreachable")},
		{name: "dead at once", input: "http://fast.lab-site.com:81/", facts: ends("unreachable", facts{"redirectCount": 0, "hops": length(1)})},
		{name: "out of time", input: host + "/slow/9", facts: ends("deadline", facts{"redirectCount": between(3, 8), "totalMs": between(25_000, 31_000)})},
		{name: "www", input: to("https://www.redirects.lab-site.com/"), facts: facts{"outcome": "unreachable", "hops.0.flags": hasAll("wwwChange", "crossHost", "httpToHttps")}},
		{name: "back to http", input: "https://redirects.lab-site.com/to?location=http%3A%2F%2Ffast.lab-site.com%2F", facts: facts{"outcome": "final", "hops.0.flags": hasAll("httpsToHttp", "temporary")}},
		{name: "an invalid certificate", input: "https://expired.lab-site.com/", facts: facts{"outcome": "final", "hops.0.flags": hasAll("certificateInvalid")}},
		{name: "a page that refreshes", input: host + "/meta", facts: facts{"outcome": "final", "redirectCount": 0, "clientRedirect.kind": nonEmpty, "clientRedirect.url": host + "/chain/1"}},
		{name: "a header that refreshes", input: host + "/refresh", facts: facts{"outcome": "final", "clientRedirect.url": "https://fast.lab-site.com/"}},
		{name: "404", input: "http://notfound.lab-site.com/", facts: facts{"outcome": "final", "finalStatus": 404}},
		{name: "the first is private", input: "http://private.lab-site.com/", status: 400},
		{name: "the first has no address", input: "http://noaddress.lab-site.com/", status: 400},
	})
}

// internal is the IPv4 address of a site.
func internal(label string) string { return internet.Site(label).V4.String() }

func TestRobotsSitemap(t *testing.T) {
	codes := func(codes ...string) func(any) bool {
		return func(v any) bool {
			for _, code := range codes {
				if !has("code", code)(v) {
					return false
				}
			}
			return true
		}
	}
	runChecks(t, "robots-sitemap", []check{
		{name: "everything", input: "https://robots.lab-site.com/some/page", shown: true, facts: facts{
			"url": "https://robots.lab-site.com/some/page", "robots.url": "https://robots.lab-site.com/robots.txt", "robots.status": "found", "robots.httpStatus": 200,
			"robots.effect": "rules", "robots.truncated": false, "robots.groups": length(2), "robots.groups.0.userAgents": []string{"*"},
			"robots.groups.0.crawlDelay": 2.5, "robots.groups.0.rules.0.type": "disallow", "robots.groups.0.rules.0.path": "/private/", "robots.groups.0.rules.1.type": "allow",
			"robots.groups.1.rules.0.path": "/", "robots.preview": contains("Crawl-delay: 2.5"), "robots.contentType": contains("text/plain"),
			"robots.issues": codes("SITEMAP_RELATIVE"), "declaredSitemaps": length(6),
			"sitemap.status": "found", "sitemap.kind": "urlset", "sitemap.urlCount": 3, "sitemap.lastModified": contains("2026-01-03"),
			"sitemaps": length(5), "sitemaps.0.kind": "urlset", "sitemaps.1.kind": "sitemapindex", "sitemaps.1.urlCount": 2, "sitemaps.1.lastModified": contains("2026-02-03"),
			"sitemaps.2.kind": "urlset", "sitemaps.2.urlCount": 28, "sitemaps.2.lastModified": contains("2026-01-28"),
			"sitemaps.3.kind": "text", "sitemaps.3.urlCount": 2, "sitemaps.4.status": "missing", "sitemaps.4.httpStatus": 404, "sitemaps.4.kind": nil}},
		{name: "everything forbidden", input: "http://robots-closed.lab-site.com", facts: facts{"robots.status": "found", "robots.effect": "disallowAll", "sitemap.status": "missing", "declaredSitemaps": []string{}, "sitemaps": length(0)}},
		{name: "an empty file", input: "https://robots-empty.lab-site.com/", facts: facts{"robots.status": "found", "robots.effect": "allowAll", "robots.bytes": 0, "robots.groups": length(0), "sitemap.status": "invalid"}},
		{name: "none", input: "http://notfound.lab-site.com/", facts: facts{"robots.status": "missing", "robots.effect": "allowAll", "robots.httpStatus": 404, "sitemap.status": "missing"}},
		{name: "web pages", input: "https://fast.lab-site.com/", facts: facts{"robots.status": "invalid", "robots.issues": codes("HTML"), "sitemap.status": "invalid", "sitemap.kind": nil, "sitemap.issues": codes("HTML")}},
		{name: "mistakes and markup", input: "https://robots-hostile.lab-site.com/", facts: facts{"robots.status": "found", "robots.effect": "rules",
			"robots.issues": codes("RULE_BEFORE_USER_AGENT", "MISSPELT_FIELD", "NO_COLON", "UNKNOWN_FIELD"), "robots.preview": func(v any) bool { return !strings.Contains(fmt.Sprint(v), "\x1b") },
			"sitemap.status": "invalid", "sitemap.issues": codes("MALFORMED_XML"), "sitemaps.0.status": "unreachable", "sitemaps.0.issues": codes("NOT_PUBLIC"),
			"sitemaps.1.status": "unreachable", "sitemaps.1.issues": codes("NOT_PUBLIC"), "sitemaps.2.status": "unreachable", "sitemaps.2.httpStatus": 503}},
		{name: "503", input: "https://robots-broken.lab-site.com/", facts: facts{"robots.status": "unreachable", "robots.effect": "disallowAll", "robots.httpStatus": 503, "sitemap.status": "unreachable"}},
		{name: "too long, and a bomb", input: "https://robots-huge.lab-site.com/", facts: facts{"robots.truncated": true, "robots.bytes": 500 << 10, "robots.effect": "rules", "sitemap.status": "found", "sitemap.issues": codes("LIMIT_REACHED"), "sitemap.truncated": true, "sitemap.urlCount": 2}},
		{name: "behind redirects", input: "http://robots-moved.lab-site.com/", facts: facts{"robots.status": "found", "robots.effect": "rules", "robots.groups.0.rules.0.path": "/moved/",
			"robots.url": "http://robots-moved.lab-site.com/robots.txt", "sitemap.status": "unreachable", "sitemap.issues": codes("TOO_MANY_REDIRECTS")}},
		{name: "astray", input: "http://robots-astray.lab-site.com/", facts: facts{"robots.status": "unreachable", "robots.effect": "disallowAll", "robots.issues": codes("NOT_PUBLIC"), "sitemap.status": "unreachable"}},
		{name: "dead", input: "http://reset.lab-site.com/", facts: facts{"robots.status": "unreachable", "robots.httpStatus": nil, "robots.effect": "disallowAll", "sitemap.status": "unreachable"}},
		{name: "silent", input: "http://never.lab-site.com/", facts: facts{"robots.status": "unreachable", "sitemap.status": "unreachable"}},
		{name: "an endless page", input: "http://endless.lab-site.com/", facts: facts{"robots.truncated": true}},
		{name: "an invalid certificate", input: "https://expired.lab-site.com/", facts: facts{"robots.issues": codes("CERTIFICATE_INVALID"), "sitemap.issues": codes("CERTIFICATE_INVALID")}},
		{name: "crawlers by name", input: "https://robots-names.lab-site.com/", facts: facts{"robots.effect": "allowAll", "crawlers": length(8),
			"crawlers.0.name": "Googlebot", "crawlers.0.effect": "disallowAll", "crawlers.1.effect": "allowAll", "crawlers.2.name": "Applebot", "crawlers.2.effect": "disallowAll",
			"crawlers.4.name": "YandexBot", "crawlers.4.effect": "rules", "crawlers.5.name": "GPTBot", "crawlers.5.effect": "disallowAll", "crawlers.7.effect": "allowAll"}},
		{name: "refused", input: "https://sec-challenge.lab-site.com/", facts: facts{"robots.status": "missing", "robots.effect": "allowAll", "robots.httpStatus": 403, "robots.issues": codes("ACCESS_REFUSED"),
			"sitemap.issues": codes("ACCESS_REFUSED"), "crawlers.0.effect": "allowAll"}},
		{name: "limited", input: "https://robots-limited.lab-site.com/", facts: facts{"robots.status": "missing", "robots.effect": "allowAll", "robots.httpStatus": 429, "robots.issues": codes("RATE_LIMITED")}},
		{name: "a private answer", input: "http://private.lab-site.com/", status: 400},
		{name: "no address", input: "http://noaddress.lab-site.com/", status: 400},
	})
}

func TestSecurityHeaders(t *testing.T) {
	const redirects = "http://redirects.lab-site.com"
	// all is a predicate on controls: each id has the status, all others are left alone.
	all := func(status string, ids ...string) func(any) bool {
		return func(v any) bool {
			for _, id := range ids {
				found := false
				for _, item := range v.([]any) {
					c := item.(map[string]any)
					found = found || c["id"] == id && c["status"] == status && c["finding"] != "" && c["reference"] != ""
				}
				if !found {
					return false
				}
			}
			return length(13)(v)
		}
	}
	runChecks(t, "security-headers", []check{
		{name: "all well", input: "https://sec-good.lab-site.com/", shown: true, facts: facts{
			"status": 200, "redirectCount": 0, "redirects": length(0), "finalUrl": "https://sec-good.lab-site.com/", "tls.authorized": true, "summary.fail": 0, "summary.warn": 0,
			"controls": all("pass", "hsts", "csp", "frame-protection", "content-type-options", "referrer-policy", "permissions-policy", "coop", "coep", "corp", "cookies"),
			"cookies":  length(1), "cookies.0.name": "__Host-session", "cookies.0.secure": true, "cookies.0.httpOnly": true, "cookies.0.sameSite": nonEmpty, "cookies.0.issues": []string{}}},
		{name: "http that is not redirected", input: "https://sec-good.lab-site.com/", facts: facts{
			"httpRedirect.status": 200, "httpRedirect.toHttps": false, "httpRedirect.verdict": "warn", "httpRedirect.recommendation": contains("Redirect every http URL"), "controls.0.status": "pass"}},
		{name: "http that is redirected, and newer headers", input: "https://sec-newer.lab-site.com/", facts: facts{
			"httpRedirect.status": 301, "httpRedirect.toHttps": true, "httpRedirect.verdict": "pass", "httpRedirect.location": contains("https://sec-newer.lab-site.com"),
			"newerHeaders": length(5), "newerHeaders.0.finding": contains("refuse scripts"), "newerHeaders.4.present": true,
			"controls.0.finding": contains("whether it has one is not known here"), "controls.1.finding": contains("No script runs"), "controls.1.status": "pass",
			"controls.5.status": "info", "controls.5.finding": contains("limits nothing"), "controls.5.set.value": "camera=(self), vibrate=(), fullscreen=*, microphone=(), geolocation=(), payment=(), usb=()"}},
		{name: "no port 80", input: "https://tls13.lab-site.com/", facts: facts{"httpRedirect.status": nil, "httpRedirect.toHttps": nil, "httpRedirect.verdict": "pass"}},
		{name: "an http input", input: "http://upgrade.lab-site.com/", facts: facts{"httpRedirect": nil, "redirectCount": 1}},
		{name: "all wrong", input: "https://sec-bad.lab-site.com/", facts: facts{
			"controls": all("fail", "csp", "content-type-options", "referrer-policy"), "cookies": length(2), "cookies.0.secure": false, "cookies.0.sameSite": nil,
			"summary.fail": between(5, 13), "controls.0.recommendation": contains("Strict-Transport-Security: max-age=")}},
		{name: "old and leaky", input: "https://sec-bad.lab-site.com/", facts: facts{"controls": all("warn", "information-leak", "deprecated")}},
		{name: "nothing sent", input: "https://v4only.lab-site.com/", facts: facts{"controls": all("fail", "csp", "content-type-options", "frame-protection"), "cookies": length(0), "summary.pass": between(1, 13)}},
		{name: "not sent, and no harm", input: "https://v4only.lab-site.com/", facts: facts{"controls": all("info", "referrer-policy", "permissions-policy")}},
		{name: "no document", input: "https://robots.lab-site.com/list.txt", facts: facts{"controls": all("notApplicable", "frame-protection", "cookies"), "summary.notApplicable": between(2, 13)}},
		{name: "without TLS", input: "http://v4only.lab-site.com/", facts: facts{"tls": nil, "controls": all("fail", "hsts")}},
		{name: "an expired certificate", input: "http://sec-expired.lab-site.com/", facts: facts{"redirectCount": 1, "redirects.0.status": 301, "tls.authorized": false, "controls": func(v any) bool { return !all("pass", "hsts")(v) && all("pass", "csp")(v) }}},
		{name: "cookies are masked", input: "https://rich.lab-site.com/", facts: facts{"headers": func(v any) bool { return !containsAny(fmt.Sprint(v), "top-secret-value", "dark") }}},
		{name: "a challenge", input: "https://sec-challenge.lab-site.com/", facts: facts{"status": 403, "notice": contains("Cloudflare")}},
		{name: "an error page", input: "http://broken.lab-site.com/", facts: facts{"status": 500, "notice": contains("500")}},
		{name: "five redirects", input: redirects + "/chain/5", facts: facts{"status": 200, "redirectCount": 5, "redirects": length(5), "redirects.0.status": 301, "finalUrl": redirects + "/chain/0"}},
		{name: "six redirects", input: redirects + "/chain/6", status: 502},
		{name: "to a private address", input: lab.RedirectTo("redirects.lab-site.com", "http://10.0.0.1/", 301), status: 502},
		{name: "to a private name", input: lab.RedirectTo("redirects.lab-site.com", "http://private.lab-site.com/", 301), status: 502},
		{name: "no Location", input: redirects + "/none", facts: facts{"status": 302, "notice": nonEmpty}},
		{name: "an endless body is not read", input: "http://endless.lab-site.com/", facts: facts{"status": 200}},
		{name: "reset", input: "http://reset.lab-site.com/", status: 502},
		{name: "never", input: "http://never.lab-site.com/", status: 504},
		{name: "a private answer", input: "http://private.lab-site.com/", status: 400},
	})
}
