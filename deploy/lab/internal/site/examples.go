package site

import (
	"net/http"
	"net/netip"
)

// Examples are the names that the pages offer to try. In the lab they are domains in good order: a web site that sends
// all security headers, mail, and a registration.
var Examples = []string{"example.com", "ietf.org"}

// ExampleSites are the sites of Examples, with the addresses that at gives to the n-th site of all; those of the
// catalogue come before them.
func ExampleSites(at func(n int) (v4, v6 netip.Addr)) (sites []Site) {
	before := len(Catalogue(at))
	for i, host := range Examples {
		v4, v6 := at(before + i + 1)
		sites = append(sites, Site{Host: host, V4: v4, V6: v6, Note: "an example that the pages offer", endpoints: []endpoint{
			{port: 25, raw: banner("220 mx1." + host + " ESMTP\r\n")},
			{port: 80, http: toHTTPS(host)},
			{port: 443, http: exampleSite(host), tls: &tlsSetup{}},
		}})
	}
	return sites
}

func exampleSite(host string) http.Handler {
	robots := "User-agent: *\nDisallow: /private/\n\nSitemap: https://" + host + "/sitemap.xml\n"
	crawled := files(map[string]file{"/robots.txt": plain(robots), "/sitemap.xml": markup(urls(host, 3))})
	page := withHeaders(http.StatusOK, secureHeaders)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" || r.URL.Path == "/sitemap.xml" {
			crawled.ServeHTTP(w, r)
			return
		}
		page.ServeHTTP(w, r)
	})
}
