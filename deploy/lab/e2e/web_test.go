//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
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
		{name: "to https", input: "http://upgrade.lab-site.com/a?b=c#part", facts: facts{
			"outcome": "final", "redirectCount": 1, "finalUrl": "https://upgrade.lab-site.com/a?b=c#part", "hops.0.status": 301, "hops.1.status": 200,
			"hops.0.flags": hasAll("httpToHttps", "permanent"), "hops.0.location": "https://upgrade.lab-site.com/a?b=c"}},
		{name: "out of time", input: host + "/slow/9", facts: ends("deadline", facts{"redirectCount": between(3, 8), "totalMs": between(25_000, 31_000)})},
		{name: "back to http", input: "https://redirects.lab-site.com/to?location=http%3A%2F%2Ffast.lab-site.com%2F", facts: facts{"outcome": "final", "hops.0.flags": hasAll("httpsToHttp", "temporary")}},
		{name: "404", input: "http://notfound.lab-site.com/", facts: facts{"outcome": "final", "finalStatus": 404}},
	})
}

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
		{name: "crawlers by name", input: "https://robots-names.lab-site.com/", facts: facts{"robots.effect": "allowAll", "crawlers": length(8),
			"crawlers.0.name": "Googlebot", "crawlers.0.effect": "disallowAll", "crawlers.1.effect": "allowAll", "crawlers.2.name": "Applebot", "crawlers.2.effect": "disallowAll",
			"crawlers.4.name": "YandexBot", "crawlers.4.effect": "rules", "crawlers.5.name": "GPTBot", "crawlers.5.effect": "disallowAll", "crawlers.7.effect": "allowAll"}},
		{name: "refused", input: "https://sec-challenge.lab-site.com/", facts: facts{"robots.status": "missing", "robots.effect": "allowAll", "robots.httpStatus": 403, "robots.issues": codes("ACCESS_REFUSED"),
			"sitemap.issues": codes("ACCESS_REFUSED"), "crawlers.0.effect": "allowAll"}},
		{name: "limited", input: "https://robots-limited.lab-site.com/", facts: facts{"robots.status": "missing", "robots.effect": "allowAll", "robots.httpStatus": 429, "robots.issues": codes("RATE_LIMITED")}},
	})
}

func TestSecurityHeaders(t *testing.T) {
	runChecks(t, "security-headers", []check{
		{name: "http that is redirected, and newer headers", input: "https://sec-newer.lab-site.com/", facts: facts{
			"httpRedirect.status": 301, "httpRedirect.toHttps": true, "httpRedirect.verdict": "pass", "httpRedirect.location": contains("https://sec-newer.lab-site.com"),
			"newerHeaders": length(5), "newerHeaders.0.finding": contains("refuse scripts"), "newerHeaders.4.present": true,
			"controls.0.finding": contains("whether it has one is not known here"), "controls.1.finding": contains("No script runs"), "controls.1.status": "pass",
			"controls.5.status": "info", "controls.5.finding": contains("limits nothing"), "controls.5.set.value": "camera=(self), vibrate=(), fullscreen=*, microphone=(), geolocation=(), payment=(), usb=()"}},
		{name: "no port 80", input: "https://tls13.lab-site.com/", facts: facts{"httpRedirect.status": nil, "httpRedirect.toHttps": nil, "httpRedirect.verdict": "pass"}},
		{name: "an http input", input: "http://upgrade.lab-site.com/", facts: facts{"httpRedirect": nil, "redirectCount": 1}},
		{name: "an endless body is not read", input: "http://endless.lab-site.com/", facts: facts{"status": 200}},
	})
}
