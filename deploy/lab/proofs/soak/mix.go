package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/lab"
)

// needs are what an answer depends on beside the gateway, so that a fault of that may change it.
type needs uint8

const (
	network  needs = 1 << iota // packets that leave the host
	resolver                   // the operator's resolver
	worker                     // the gateway's worker
	registry                   // the redirector of registrations, which takes 8 queries in 10 s
)

// row is one line of the table of answers: the request, how often, and what may come of it while nothing is broken
// that it needs.
type row struct {
	name   string // of the tool, or what a page or a sample is
	weight int
	needs  needs
	// ask returns the n-th request.
	ask func(n uint64) request
	// statuses are those that are right; 200 where empty.
	statuses []int
	// facts are values at paths of the data that hold in every 200.
	facts map[string]any
	// meanwhile are the facts of a 200 that is true as well while something is broken that the answer needs.
	meanwhile []meanwhile
}

// meanwhile are other facts while one of these is broken.
type meanwhile struct {
	of    needs
	facts map[string]any
}

// request is what one round trip sends.
type request struct {
	method, path, body string
}

func (r *row) allowed() []int {
	if len(r.statuses) == 0 {
		return []int{http.StatusOK}
	}
	return r.statuses
}

// runOf is a request to the row's tool.
func runOf(slug, input string) request {
	body, err := json.Marshal(map[string]string{"input": input})
	if err != nil {
		panic(err) // of a map of strings
	}
	return request{http.MethodPost, "/api/tools/" + slug, string(body)}
}

func get(path string) request { return request{method: http.MethodGet, path: path} }

// tool is a row whose requests take one input after the other.
func tool(slug string, weight int, n needs, inputs ...string) *row {
	return &row{name: slug, weight: weight, needs: n, ask: func(n uint64) request {
		return runOf(slug, inputs[n%uint64(len(inputs))])
	}}
}

func (r *row) answers(statuses ...int) *row {
	r.statuses = statuses
	return r
}

func (r *row) holds(facts map[string]any) *row {
	r.facts = facts
	return r
}

// orWithout adds what is true while one of these is broken.
func (r *row) orWithout(of needs, facts map[string]any) *row {
	r.meanwhile = append(r.meanwhile, meanwhile{of, facts})
	return r
}

// orUnasked adds what a comparison of resolvers is while some or all of them cannot be reached.
func (r *row) orUnasked() *row {
	for _, status := range []string{"unavailable", "inconclusive", "partial"} {
		r.orWithout(network, map[string]any{"status": status})
	}
	return r
}

// orUnreachable adds how a chain of redirects ends where the address of its next host is not found.
func (r *row) orUnreachable() *row {
	return r.orWithout(resolver, map[string]any{"outcome": "unreachable"})
}

// ends are addresses of a range, a different one for each of many requests, in both families.
func ends(slug string, weight int, of func(int) (netip.Addr, netip.Addr)) *row {
	return &row{name: slug, weight: weight, needs: network | worker, ask: func(n uint64) request {
		v4, v6 := of(1 + int(n/2%200))
		if n%2 == 0 {
			return runOf(slug, v4.String())
		}
		return runOf(slug, v6.String())
	}}
}

// mix is the requests to such a service: mostly of servers that are well, often of such as are ill, sometimes of
// such as are hostile.
//
// assets are the paths of the pages' files.
func mix(assets []string) []*row {
	const site = "." + lab.SiteZone
	named := network | resolver
	// dns-lookup reports the outcome of each query, silence included.
	unanswered := map[string]any{"errors.A": "ETIMEOUT"}
	rows := []*row{
		tool("dns-lookup", 60, named, "lab-dns.com", "alias.lab-dns.com", "www"+site, "signed.lab-dns.com").
			holds(map[string]any{"errors.A": nil}).orWithout(resolver, unanswered),
		tool("dns-lookup", 20, named, "nowhere.lab-dns.com", "dangling.lab-dns.com").
			holds(map[string]any{"errors.A": "ENOTFOUND"}).orWithout(resolver, unanswered),
		tool("dns-lookup", 8, named, "servfail.lab-dns.com", "bogus.lab-dns.com", "loop.lab-dns.com").
			holds(map[string]any{"errors.A": "ESERVFAIL"}).orWithout(resolver, unanswered),
		tool("dns-lookup", 3, named, "timeout.lab-dns.com").holds(map[string]any{"errors.A": "ETIMEOUT"}),
		(&row{name: "dns-lookup", weight: 20, needs: named, facts: map[string]any{"errors.A": "ENOTFOUND"},
			ask: func(n uint64) request { return runOf("dns-lookup", fmt.Sprintf("fresh-%d.lab-dns.com", n)) }}).
			orWithout(resolver, unanswered),
		(&row{name: "dns-lookup", weight: 2, needs: named, facts: map[string]any{"truncated": true},
			ask: func(n uint64) request { return runOf("dns-lookup", fmt.Sprintf("s%d.%s", n, lab.HeavyName)) }}).
			orWithout(resolver, unanswered),
		tool("dns-lookup", 10, 0, "a..b.com", "localhost", "10.0.0.1", "").answers(400),

		tool("http-headers", 60, named, "https://fast"+site+"/", "http://v4only"+site+"/path?x=1", "https://v6only"+site+"/",
			"https://http1"+site+"/", "http://rich"+site+"/", "http://hostile"+site+"/", "http://endless"+site+"/").
			holds(map[string]any{"status": 200}),
		tool("http-headers", 10, named, "https://expired"+site+"/", "https://selfsigned"+site+"/",
			"https://wronghost"+site+"/").holds(map[string]any{"status": 200, "tls.authorized": false}),
		tool("http-headers", 10, named, "http://huge"+site+"/", "http://reset"+site+"/", "http://nothttp"+site+"/",
			"https://notls"+site+"/", "http://v4only"+site+":81/").answers(502),
		tool("http-headers", 3, named, "http://never"+site+"/", "http://mute"+site+"/", "http://silent"+site+"/").
			answers(504),
		tool("http-headers", 1, named, "https://frames"+site+"/", "http://unsolicited"+site+"/").answers(200, 502, 504),
		tool("http-headers", 10, named, "http://private"+site+"/", "http://mixed"+site+"/", "http://nowhere"+site+"/").
			answers(400),
		tool("http-headers", 5, 0, "http://169.254.169.254/", "ftp://fast"+site+"/", "http://[::1]/").answers(400),

		tool("uptime", 40, named, "https://fast"+site+"/", "http://v4only"+site+"/", "http://v6only"+site+"/").
			holds(map[string]any{"verdict": "up"}),
		tool("uptime", 10, named, "http://reset"+site+"/", "http://v4only"+site+":81/").
			holds(map[string]any{"verdict": "down"}),
		tool("uptime", 2, named, "http://never"+site+"/", "http://silent"+site+"/").holds(map[string]any{"verdict": "down"}),

		tool("ssl-checker", 35, named, "fast"+site, "v4only"+site, "rsa"+site, "tls13"+site, "mail"+site+":587").
			holds(map[string]any{"authorized": true}),
		tool("ssl-checker", 15, named, "expired"+site, "notyet"+site, "untrusted"+site, "nointermediate"+site,
			"hostilecert"+site).holds(map[string]any{"authorized": false}),
		tool("ssl-checker", 5, named, "notls"+site, "reset"+site).answers(502),
		tool("ssl-checker", 2, named, "mute"+site, "silent"+site).answers(504),

		tool("port-checker", 40, named, "fast"+site+":443", "v4only"+site+":80").holds(map[string]any{"state": "open"}),
		tool("port-checker", 20, named, "v4only"+site+":81").holds(map[string]any{"state": "closed"}),
		tool("port-checker", 3, named, "silent"+site+":443").holds(map[string]any{"state": "filtered"}),

		tool("redirect-checker", 25, named, redirects("/chain/3"), redirects("/chain/8"), redirects("/cookie"),
			redirects("/relative"), "http://upgrade"+site+"/").holds(map[string]any{"outcome": "final"}).orUnreachable(),
		tool("redirect-checker", 4, named, redirects("/loop")).holds(map[string]any{"outcome": "loop"}).orUnreachable(),
		tool("redirect-checker", 4, named, redirects("/chain/9")).
			holds(map[string]any{"outcome": "tooManyRedirects"}).orUnreachable(),
		tool("redirect-checker", 6, named, lab.RedirectTo("redirects"+site, "http://10.0.0.1/", 302),
			lab.RedirectTo("redirects"+site, "http://private"+site+"/", 302)).
			holds(map[string]any{"outcome": "blocked"}).orUnreachable(),

		tool("robots-sitemap", 20, named, "https://robots"+site+"/some/page").
			holds(map[string]any{"robots.status": "found"}).
			orWithout(resolver, map[string]any{"robots.status": "unreachable"}),
		tool("robots-sitemap", 3, named, "https://robots-hostile"+site+"/", "https://robots-huge"+site+"/",
			"https://robots-broken"+site+"/", "http://robots-astray"+site+"/", "http://endless"+site+"/"),

		tool("security-headers", 25, named, "https://sec-good"+site+"/", "https://sec-bad"+site+"/",
			"https://rich"+site+"/").holds(map[string]any{"status": 200}),
		tool("security-headers", 5, named, "http://reset"+site+"/", redirects("/chain/6"),
			lab.RedirectTo("redirects"+site, "http://10.0.0.1/", 302)).answers(502),

		tool("dns-resolver-check", 20, network, "agree."+lab.ResolveZone, "alias."+lab.ResolveZone).
			holds(map[string]any{"status": "agree"}).orUnasked(),
		tool("dns-resolver-check", 6, network, "mixed."+lab.ResolveZone).holds(map[string]any{"status": "mixedPresence"}).
			orUnasked(),
		tool("dns-resolver-check", 6, network, "varies."+lab.ResolveZone).holds(map[string]any{"status": "variation"}).
			orUnasked(),
		tool("dns-resolver-check", 3, network, "partial."+lab.ResolveZone).holds(map[string]any{"status": "partial"}).
			orUnasked(),

		tool("email-dns-health", 15, named, "lab-good-mail.com", "lab-plain-mail.com"),
		tool("email-dns-health", 10, named, "lab-spfeleven-mail.com", "lab-spfloop-mail.com").
			holds(map[string]any{"checks.spf.status": "fail"}).
			orWithout(named, map[string]any{"checks.spf.status": "error"}),
		tool("email-dns-health", 3, named, "lab-hostile-mail.com", "lab-stsredirect-mail.com", "lab-stslong-mail.com"),

		tool("asn-lookup", 25, named, "11.80.0.1", "11.90.0.1", "2a10:80::1", "as212002").
			holds(map[string]any{"announced": true}),
		tool("asn-lookup", 4, named, "11.94.1.1", "AS212099").answers(502),
		tool("asn-lookup", 4, 0, "AS64500", "AS0", "10.0.0.1").answers(400),

		tool("whois-lookup", 15, named|registry, "www.example-shop.com", "charity-site.org").
			holds(map[string]any{"found": true}),
		tool("whois-lookup", 4, named|registry, "nobody-there.org").holds(map[string]any{"found": false}),
		tool("ip-geolocation", 15, named|registry, "11.80.0.5", "2a10:80::5", "11.90.0.7", "8.8.8.8"),

		ends("traceroute", 9, lab.Clean).holds(map[string]any{"reached": true}),
		ends("traceroute", 3, lab.Wild),
		ends("ping", 6, lab.Clean).holds(map[string]any{"stopReason": "completed"}),
		ends("ping", 2, lab.Unreachable).holds(map[string]any{"stopReason": "unreachable"}),
		ends("packet-loss", 2, lab.LossyEnd),
		tool("traceroute", 2, 0, "10.66.0.2", "family.local").answers(400),

		{name: "my-ip", weight: 40, ask: func(uint64) request { return runOf("my-ip", "") },
			facts: map[string]any{"available": true}},
		{name: "sample", weight: 120, ask: func(n uint64) request {
			return get(fmt.Sprintf("/api/connection/%s?n=%d", []string{"ping", "packet-loss"}[n%2], n%1000))
		}},
	}
	return append(rows, pages(assets)...)
}

func redirects(path string) string { return "http://redirects." + lab.SiteZone + path }

func pages(assets []string) []*row {
	paths := append(slices.Clone(assets),
		"/", "/report", "/report?target=lab-dns.com", "/tools/dns-lookup?input=lab-dns.com", "/tools/ping",
		"/robots.txt", "/api", "/api/openapi.yaml", "/healthz", "/readyz")
	pick := func(paths []string) func(uint64) request {
		return func(n uint64) request { return get(paths[n%uint64(len(paths))]) }
	}
	return []*row{
		{name: "page", weight: 100, ask: pick(paths)},
		{name: "page", weight: 10, ask: pick([]string{"/nothing", "/tools/nothing", "/api/nothing"}), statuses: []int{404}},
	}
}

// lot draws rows by their weights.
type lot struct {
	rows []*row
	sum  int
}

func newLot(rows []*row) *lot {
	l := &lot{rows: rows}
	for _, r := range rows {
		l.sum += r.weight
	}
	return l
}

func (l *lot) draw(r *rand.Rand) *row {
	n, last := r.IntN(l.sum), len(l.rows)-1
	for _, row := range l.rows[:last] {
		if n -= row.weight; n < 0 {
			return row
		}
	}
	return l.rows[last]
}

// client is the address of one of very many visitors, as the proxy in front passes it on.
func client(r *rand.Rand) string {
	if r.IntN(3) == 0 {
		return fmt.Sprintf("2a10:%x:%x::%x", 0x4000+r.IntN(0x4000), r.IntN(0x10000), 1+r.IntN(0xffff))
	}
	return fmt.Sprintf("11.%d.%d.%d", 200+r.IntN(8), r.IntN(256), 1+r.IntN(254))
}

// at is the value at a path such as "tls.authorized"; nil where it leads nowhere.
func at(data any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		object, ok := data.(map[string]any)
		if !ok {
			return nil
		}
		data = object[key]
	}
	return data
}
