package web_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Small pages lead on: an unknown path to the nearest tool and the front page's field, a check that is off to the other
// checks of its target.
func TestSmallPagesLeadOn(t *testing.T) {
	t.Parallel()
	config := accepting(everything())
	config.Disabled = []string{"uptime"}
	site := newSite(t, config)
	for path, slug := range map[string]string{
		"/tools/pong": "ping", "/pin": "ping", "/whois": "whois-lookup", "/tools/trace-route": "traceroute",
		"/tools/SSL": "ssl-checker", "/headers": "http-headers", "/dns-lookups/": "dns-lookup", "/wp-login.php": "", "/x": "",
		"/" + strings.Repeat("ping", 99): "", "/tools/": "",
	} {
		root := document(t, site, path)
		one(t, root, "input", header{"id": "target"})
		var leads []string
		for _, a := range all(one(t, root, "p", header{"class": "lead"}), "a", nil) {
			href, _ := attribute(a, "href")
			leads = append(leads, href)
		}
		want := []string{"/tools/" + slug}
		if slug == "" {
			want = nil
		}
		if !slices.Equal(leads, want) {
			t.Errorf("%s leads to %v, want %v", path, leads, want)
		}
	}
	off := document(t, site, "/tools/uptime?input=https://example.com/")
	if h1 := content(one(t, off, "", header{"id": "heading"})); h1 != "https://example.com" {
		t.Errorf("the heading is %q", h1)
	}
	one(t, one(t, off, "nav", header{"id": "strip"}), "a", header{"aria-current": "page", "href": "/tools/uptime"})
	if n := len(all(one(t, off, "nav", header{"id": "strip"}), "li", nil)); n < 10 {
		t.Errorf("its strip has %d tools", n)
	}
}

// The button of a page with a target repeats the run, the answer has a skip link, and the pages of pings open on the
// field for a host unless the link is about the browser's samples.
func TestAToolsPageOpensOnItsField(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	for path, want := range map[string]string{"": "Run", "?input=example.com": "Run again"} {
		root := document(t, site, "/tools/ping"+path)
		if run := content(one(t, root, "button", header{"id": "run"})); run != want {
			t.Errorf("%s: the button is %q", path, run)
		}
		one(t, root, "a", header{"class": "skip", "href": "#result"})
		one(t, root, "", header{"id": "result", "tabindex": "-1"})
	}
	hides := func(path, id string) bool {
		_, hidden := attribute(one(t, document(t, site, path), "div", header{"id": id}), "hidden")
		return hidden
	}
	for path, sampling := range map[string]bool{
		"/tools/ping": false, "/tools/packet-loss": false, "/tools/ping?input=example.com": false,
		"/tools/ping?rate=5&seconds=30": true, "/tools/ping?input=example.com&rate=5": false,
	} {
		if hides(path, "server") != sampling || hides(path, "browser") == sampling {
			t.Errorf("%s: server hidden %t, browser hidden %t", path, hides(path, "server"), hides(path, "browser"))
		}
	}
}

// A link that sets options leaves them folded away, above the answer, and names them; without a target they are open.
func TestOptionsOfALinkAreNamed(t *testing.T) {
	t.Parallel()
	site := newSite(t, accepting(everything()))
	for path, want := range map[string]string{
		"/tools/traceroute?input=example.com":                       "Options",
		"/tools/traceroute?input=example.com&protocol=tcp&port=443": "Options: Probes TCP to a port, Port (for TCP and UDP) 443",
		"/tools/traceroute?input=example.com&protocol=odd&port=":    "Options",
		"/tools/traceroute?protocol=tcp":                            "Options: Probes TCP to a port",
	} {
		fold := one(t, document(t, site, path), "details", header{"class": "options"})
		open := slices.ContainsFunc(fold.Attr, func(a html.Attribute) bool { return a.Key == "open" })
		if got := content(one(t, fold, "summary", nil)); got != want || open != !strings.Contains(path, "input=") {
			t.Errorf("%s: %q, open: %t", path, got, open)
		}
	}
}
