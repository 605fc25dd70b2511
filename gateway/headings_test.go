package main

import (
	"html"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"diagnostics/gateway/internal/config"
)

var (
	titleOnPage   = regexp.MustCompile(`<title>(.*?)</title>`)
	ogTitleOnPage = regexp.MustCompile(`<meta property="og:title" content="(.*?)">`)
	headingOnPage = regexp.MustCompile(`<bdi id="heading">(.*?)</bdi>|<div class="report-head"><h2>(.*?)</h2></div>`)
)

// A target of a link becomes title, og:title and heading only if the tool accepts it: a stranger's sentence does not
// stand at the head of a page of ours. Titles name the host; a heading has a URL's path shortened and as code.
func TestHeadingsAndTitles(t *testing.T) {
	t.Parallel()
	site, err := newPages(config.Config{}, registry(), true, nil)
	if err != nil {
		t.Fatal(err)
	}
	named := func(t *testing.T, path string) (title, ogTitle, heading string) {
		t.Helper()
		w := httptest.NewRecorder()
		if err := site.Serve(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil)); err != nil {
			t.Fatal(err)
		}
		first := func(pattern *regexp.Regexp) string {
			found := pattern.FindStringSubmatch(w.Body.String())
			return html.UnescapeString(strings.Join(append(found, "")[min(1, len(found)):], ""))
		}
		return first(titleOnPage), first(ogTitleOnPage), first(headingOnPage)
	}
	const hacked = "Your bank was hacked, call 1-800-555-0100"
	long := "/" + strings.Repeat("a", 31)
	for _, c := range []struct{ page, input, options, host, heading string }{
		{"dns-lookup", "example.com", "", "example.com", "example.com"},
		{"dns-lookup", " EXAMPLE.com. ", "", "example.com", "example.com"},
		{"dns-lookup", "bücher.com", "", "xn--bcher-kva.com", "xn--bcher-kva.com"},
		{"dns-lookup", hacked, "", "", ""},
		{"dns-lookup", "call-1-800-555-0100.example", "", "", ""},
		{"dns-lookup", "https://example.com/", "", "", ""},
		{"dns-resolver-check", "example.com", "", "example.com", "example.com"},
		{"email-dns-health", "example.com", "", "example.com", "example.com"},
		{"dns-delegation", "example.com", "", "example.com", "example.com"},
		{"http-headers", "https://example.com", "", "example.com", "https://example.com"},
		{"http-headers", "https://example.com/", "", "example.com", "https://example.com"},
		{"http-headers", "HTTP://Example.com:8080?a=1", "", "example.com", "http://example.com:8080<code>/?a=1</code>"},
		{"uptime", "https://example.com/call-1-800-555-0100-your-bank-was-hacked", "", "example.com",
			"https://example.com<code>/call-1-800-555-0100-your-bank-w…</code>"},
		{"uptime", "https://bank.example/call-1-800-555-0100", "", "", ""},
		{"uptime", "https://example.com/" + hacked, "", "example.com",
			"https://example.com<code>/Your%20bank%20was%20hacked,%20c…</code>"},
		{"redirect-checker", "https://example.com/a#" + strings.ReplaceAll(hacked, " ", "-"), "", "example.com",
			"https://example.com<code>/a</code>"},
		{"robots-sitemap", "https://example.com" + long, "", "example.com", "https://example.com<code>" + long + "</code>"},
		{"security-headers", "https://example.com" + long + "b", "", "example.com",
			"https://example.com<code>" + long + "…</code>"},
		{"ssl-checker", "example.com", "", "example.com", "example.com"},
		{"ssl-checker", "example.com:8443", "", "example.com", "example.com:8443"},
		{"port-checker", "example.com:443", "", "example.com", "example.com:443"},
		{"port-checker", "[2606:2800:220:1::1]:443", "", "2606:2800:220:1::1", "[2606:2800:220:1::1]:443"},
		{"ping", "93.184.216.34", "", "93.184.216.34", "93.184.216.34"},
		{"ping", "10.0.0.1", "", "", ""},
		{"traceroute", "example.com", "&protocol=tcp&port=no", "example.com", "example.com"},
		{"asn-lookup", "as15169", "", "AS15169", "AS15169"},
		{"ip-geolocation", "93.184.216.34", "", "93.184.216.34", "93.184.216.34"},
		{"whois-lookup", "www.example.co.uk", "", "www.example.co.uk", "www.example.co.uk"},
		{"report", "example.com", "", "example.com", "example.com"},
		{"report", "https://example.com/a?b=c", "", "example.com", "https://example.com<code>/a?b=c</code>"},
		{"report", "example.com:8443", "", "example.com", "example.com:8443"},
		{"report", "93.184.216.34", "", "93.184.216.34", "93.184.216.34"},
		{"report", "AS15169", "", "AS15169", "AS15169"},
		{"report", hacked, "", "", ""},
		{"report", "example.com was hacked", "", "", ""},
		{"report", "your-bank-was-hacked@example.com", "", "", ""},
		{"report", "https://bank.example/call-1-800-555-0100", "", "", ""},
	} {
		path, parameter := "/tools/"+c.page, "input"
		if c.page == "report" {
			path, parameter = "/report", "target"
		}
		title, ogTitle, heading := named(t, path)
		if c.page == "report" && !strings.Contains(c.input, " ") {
			heading = "Report"
		}
		if c.host != "" {
			title, ogTitle, heading = c.host+" · "+title, c.host+" · "+ogTitle, c.heading
		}
		gotTitle, gotOgTitle, gotHeading := named(t, path+"?"+parameter+"="+url.QueryEscape(c.input)+c.options)
		if gotTitle != title || gotOgTitle != ogTitle || gotHeading != heading {
			t.Errorf("%s of %q: %q, %q, %q\nwant %q, %q, %q", c.page, c.input, gotTitle, gotOgTitle, gotHeading,
				title, ogTitle, heading)
		}
	}
}
