package web_test

import (
	"net/http"
	"strings"
	"testing"

	"diagnostics/gateway/web"
)

// TestForeignLinksWaitForAClick: another site must not have a visitor's browser send packets, or a whole report's
// requests, to a host of its choice.
func TestForeignLinksWaitForAClick(t *testing.T) {
	t.Parallel()
	worker := []string{"traceroute", "ping", "packet-loss"}
	site := newSite(t, web.Config{Tools: registry(worker...), WorkerEnabled: true})
	without := newSite(t, web.Config{Tools: registry(worker...)})
	const report = "/report?target=example.com"
	for _, c := range []struct {
		site  http.Handler
		path  string
		form  string
		waits bool // where the load is cross-site
		vary  bool
		// second is that the page sends a second request, where the load is not.
		second bool
	}{
		{site, "/tools/traceroute?input=example.com", "tool", true, true, false},
		{site, "/tools/ping?input=example.com&family=ipv4", "tool", true, true, false},
		{site, "/tools/packet-loss?input=192.31.196.1", "tool", true, true, false},
		{site, report, "report", true, true, false},
		{site, "/tools/ping?input=example.com&watch=10", "tool", true, true, false},
		{site, "/tools/uptime?input=example.com&watch=10", "tool", true, true, true},
		{site, "/tools/dns-lookup?input=example.com&watch=10", "tool", false, false, false},
		{site, "/tools/traceroute", "tool", false, true, false},
		{site, "/tools/traceroute?input=", "tool", false, true, false},
		{site, "/report", "report", false, true, false},
		{site, "/tools/dns-lookup?input=example.com", "tool", false, false, false},
		{site, "/tools/uptime?input=https://example.com/", "tool", false, true, true},
		{site, "/tools/http-headers", "tool", false, true, true},
		{site, "/tools/my-ip", "tool", false, false, false},
		{without, "/tools/traceroute?input=example.com", "tool", false, true, false}, // runs nothing at all
		{without, report, "report", true, true, false},
	} {
		for _, from := range []string{"", "none", "same-origin", "same-site", "cross-site"} {
			headers := header{}
			if from != "" {
				headers["Sec-Fetch-Site"] = from
			}
			r := get(t, c.site, c.path, headers)
			body := text(t, r)
			waits := c.waits && from == "cross-site"
			if strings.Contains(body, " data-waits") != waits || strings.Contains(body, `id="waits"`) != waits {
				t.Errorf("%s from %q: waits %t, want %t", c.path, from, !waits, waits)
			}
			second := c.second && from != "cross-site"
			if strings.Contains(body, ` data-second="http3"`) != second {
				t.Errorf("%s from %q: a second request %t, want %t", c.path, from, !second, second)
			}
			if waits && (strings.Contains(body, `class="used"`) || strings.Contains(body, "aria-busy") ||
				strings.Contains(body, `aria-labelledby="catalogue-title" hidden`)) {
				t.Errorf("%s from %q looks as if it ran", c.path, from)
			}
			if strings.Contains(c.path, "=example") && !strings.Contains(body, ` value="example.com"`) {
				t.Errorf("%s from %q does not fill the form in", c.path, from)
			}
			if got := strings.Contains(r.Header.Get("Vary"), "Sec-Fetch-Site"); got != c.vary {
				t.Errorf("%s from %q: Vary %q", c.path, from, r.Header.Get("Vary"))
			}
			// The two pages are two representations: what was kept of one is not the other's.
			same := get(t, c.site, c.path, header{"Sec-Fetch-Site": "cross-site", "If-None-Match": r.Header.Get("ETag")})
			if (same.StatusCode == http.StatusNotModified) != (from == "cross-site" || !c.waits && !c.second) {
				t.Errorf("%s from %q, then cross-site: %d", c.path, from, same.StatusCode)
			}
			if got := strings.Contains(same.Header.Get("Vary"), "Sec-Fetch-Site"); got != c.vary {
				t.Errorf("%s, not modified: Vary %q", c.path, same.Header.Get("Vary"))
			}
		}
	}
}

// TestWatchesStartByThemselves only where the browser says that no other site opened the page.
func TestWatchesStartByThemselves(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	for from, starts := range map[string]bool{
		"": false, "none": true, "same-origin": true, "same-site": true, "cross-site": false, "none, cross-site": false,
		"x": false,
	} {
		headers := header{}
		if from != "" {
			headers["Sec-Fetch-Site"] = from
		}
		for query, linked := range map[string]bool{"&watch=10": true, "&watch=": true, "": false} {
			body := text(t, get(t, site, "/tools/uptime?input=example.com"+query, headers))
			if strings.Contains(body, " data-starts") != (starts && linked) {
				t.Errorf("%q from %q: starts %t", query, from, !(starts && linked))
			}
		}
		if strings.Contains(text(t, get(t, site, "/tools/dns-lookup?input=example.com&watch=10", headers)), " data-starts") {
			t.Errorf("what cannot be watched starts from %q", from)
		}
	}
}

// TestAssetsOfAnotherVersion: behind a balancer the page may come from one version and its files from another.
func TestAssetsOfAnotherVersion(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	for _, name := range []string{"site.css", "pages/tool.js", "lib/dom.js", "icons.svg", "tools/uptime/view.js"} {
		own := get(t, site, assetURL(t, site, name))
		want := text(t, own)
		for _, hash := range []string{"0000000000000000", "fedcba9876543210"} {
			other := get(t, site, "/assets/"+hash+"/"+name)
			if got := text(t, other); other.StatusCode != 200 || got != want ||
				other.Header.Get("Cache-Control") != "no-store" ||
				other.Header.Get("Content-Type") != own.Header.Get("Content-Type") {
				t.Errorf("%s under %s: %d, %q, %d bytes", name, hash, other.StatusCode, other.Header.Get("Cache-Control"), len(got))
			}
		}
	}
	for _, path := range []string{
		"/assets/0000000000000000/nothing.js", "/assets/0000000000000000/", "/assets/0000000000000000",
		"/assets/0000000000000000/pages", "/assets/000000000000000/site.css", "/assets/00000000000000000/site.css",
		"/assets/000000000000000g/site.css", "/assets/FEDCBA9876543210/site.css", "/assets/site.css/site.css",
	} {
		r := get(t, site, path)
		if r.StatusCode != http.StatusNotFound || r.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d, %q", path, r.StatusCode, r.Header.Get("Cache-Control"))
		}
	}
	// The next request of the own version is kept as ever.
	if c := get(t, site, assetURL(t, site, "site.css")).Header.Get("Cache-Control"); !strings.Contains(c, "immutable") {
		t.Errorf("afterwards: %q", c)
	}
}
