//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"diagnostics/lab"
)

// inputs are requests of inputs alone.
func inputs(list ...string) (asks []asked) {
	for _, input := range list {
		asks = append(asks, asked{input: input})
	}
	return asks
}

// with is one input with each of several options in turn.
func with(input string, options ...string) (asks []asked) {
	for _, o := range options {
		asks = append(asks, asked{input: input, options: o})
	}
	return asks
}

// ends are the n-th destinations of several kinds, in both families.
func ends(n int, kinds ...func(int) (netip.Addr, netip.Addr)) (asks []asked) {
	for _, at := range kinds {
		for _, a := range bothFamilies(at, n) {
			asks = append(asks, asked{input: a.String()})
		}
	}
	return asks
}

func join(lists ...[]asked) (all []asked) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// redirectsTo is the URL of a redirect.
func redirectsTo(location string) string {
	return lab.RedirectTo("redirects.lab-site.com", location, 302)
}

// oddHosts are no names of public hosts, each in its own way.
var oddHosts = []string{"", "localhost", "router.local", "10.0.0.1", "127.1", "::ffff:11.90.0.1", "fe80::1%eth0",
	"a..b.com", "two words.com",
	"user@fast.lab-site.com", "http://fast.lab-site.com/", "１２７.0.0.1", strings.Repeat("a", 64) + ".com", "<b>.com"}

// goldenTools are the requests to each tool beside the typical one of its description.
var goldenTools = map[string]recording{
	"dns-lookup": {asks: join(
		inputs("lab-dns.com", "LAB-DNS.com.", "alias.lab-dns.com", "nowhere.lab-dns.com", "dangling.lab-dns.com",
			"loop.lab-dns.com", "servfail.lab-dns.com",
			"refused.lab-dns.com", "bogus.lab-dns.com", "timeout.lab-dns.com", "truncated.lab-dns.com", "signed.lab-dns.com", "private.lab-site.com",
			"_dmarc.lab-dns.com", "lab-hostile-mail.com", "bücher.lab-dns.com", "11.80.0.1", "lab-dns.com:53"),
		inputs(oddHosts...),
		with("lab-dns.com", `{"types":"A"}`, `[]`, `"A"`, `null`),
		with("types.lab-dns.com", `{"types":"all"}`, `{"types":"Loc, txt,loc"}`, `{"types":"all,A"}`, `{"types":"ANY"}`,
			`{"types":""}`, `{"types":7}`, `{"types":null}`),
		inputs("1.0.90.11.in-addr.arpa", "90.11.in-addr.arpa", "1.0.0.240.in-addr.arpa"),
	)},
	// On a gateway of its own, where no earlier run has learnt of the root and the top-level zones.
	"dns-delegation": {env: []string{}, inTurn: true, asks: inputs("lab-deleg-lame.com", "lab-deleg-gone.com",
		"lab-deleg-noglue.com", "www.lab-deleg-dangling.com", "co.uk", "11.80.0.1", "a..b.com")},
	"dns-resolver-check": {asks: join(
		inputs("agree.lab-resolve.com", "alias.lab-resolve.com", "absent.lab-resolve.com", "empty.lab-resolve.com",
			"partial.lab-resolve.com", "mixed.lab-resolve.com",
			"varies.lab-resolve.com", "alone.lab-resolve.com", "nobody.lab-resolve.com", "unsigned.lab-resolve.com", "filtered.lab-resolve.com",
			"blockpage.lab-resolve.com", "router.local", "a..b.com", "11.80.0.1"),
		with("agree.lab-resolve.com", `{"recordType":"AAAA"}`, `{"recordType":"MX"}`, `{"recordType":"NS"}`,
			`{"recordType":"TXT"}`, `{"recordType":"CAA"}`,
			`{"recordType":"CNAME"}`, `{"recordType":"SOA"}`, `{"recordType":"mx"}`, `{"recordType":""}`, `{"recordType":7}`, `{"recordType":null}`),
		with("alias.lab-resolve.com", `{"recordType":"CNAME"}`),
		with("conflict.lab-resolve.com", `{"recordType":"TXT"}`, `{"recordType":"MX"}`),
		with("long.lab-resolve.com", `{"recordType":"TXT"}`),
	)},
	"email-dns-health": {asks: join(
		mail("good", "plain", "nomail", "nothing", "bare", "absent", "mxgone", "mxprivate", "mxalias", "mxliteral", "mxnull",
			"mxfails",
			"spfall", "spfptr", "spfsyntax", "spftwo", "spfloop", "spftree", "spfeleven", "spfvoid", "spffails",
			"dmarctwo", "dmarcstrict", "dmarcforeign", "dkimed", "dkimweak", "dkimtest", "dkimrevoked", "dkimtwo", "tlsrpttwo", "tlsrpthalf",
			"ststwo", "stsprivate", "ststesting", "stsmisses", "stssyntax", "stsredirect", "sts404", "stsexpired", "stslong", "hostile"),
		inputs("lab-good-mail.com", "sub.lab-dmarcstrict-mail.com", "11.80.0.1", "someone@lab-good-mail.com",
			"intranet.corp"),
		with("lab-good-mail.com", `{"dkimSelector":"none"}`, `{"dkimSelector":"S1"}`, `{"dkimSelector":""}`,
			`{"dkimSelector":"a..b"}`, `{"dkimSelector":7}`),
	)},
	"http-headers": {asks: join(
		inputs("https://v4only.lab-site.com/", "http://v4only.lab-site.com/path?x=1#gone", "https://v6only.lab-site.com/",
			"http://broken6.lab-site.com/",
			"http://11.80.0.1/", "http://[2a10:80::1]/", "http://slow.lab-site.com/", "http://never.lab-site.com/", "http://mute.lab-site.com/",
			"http://huge.lab-site.com/", "http://endless.lab-site.com/", "http://redirects.lab-site.com/chain/3", "http://redirects.lab-site.com/none",
			"http://notfound.lab-site.com/", "http://broken.lab-site.com/", "https://expired.lab-site.com/", "https://notyet.lab-site.com/",
			"https://selfsigned.lab-site.com/", "https://wronghost.lab-site.com/", "https://nointermediate.lab-site.com/", "https://untrusted.lab-site.com/",
			"https://tls12.lab-site.com/", "https://tls10.lab-site.com/", "https://clientcert.lab-site.com/", "https://http1.lab-site.com/",
			"http://rich.lab-site.com/", "http://hostile.lab-site.com/", "http://http10.lab-site.com/", "http://nothttp.lab-site.com/", "http://reset.lab-site.com/",
			"https://reset.lab-site.com/", "https://notls.lab-site.com/", "http://v4only.lab-site.com:81/", "http://v4only.lab-site.com:4444/",
			"http://silent.lab-site.com/", "http://private.lab-site.com/", "http://mixed.lab-site.com/", "http://noaddress.lab-site.com/",
			"http://nowhere.lab-site.com/", "http://servfail.lab-dns.com/", "http://timeout.lab-dns.com/"),
		inputs("fast.lab-site.com", "ftp://fast.lab-site.com/", "http:fast.lab-site.com",
			"http://user:secret@fast.lab-site.com/", "http://fast.lab-site.com:0/",
			"http://fast.lab-site.com:99999/", "http://fast.lab-site.com%2f/", "http://[::1]/", "http://10.0.0.1/", "http://localhost/", "https://", ""),
	)},
	"uptime": {asks: join(
		inputs("http://redirects.lab-site.com/chain/6", "http://v4only.lab-site.com/", "http://v6only.lab-site.com/",
			"https://v4only.lab-site.com/",
			"http://broken6.lab-site.com/", "http://never.lab-site.com/", "http://v4only.lab-site.com:81/", "http://reset.lab-site.com/",
			"http://noaddress.lab-site.com/", "http://nowhere.lab-site.com/", "http://private.lab-site.com/", "http://servfail.lab-dns.com/",
			"http://11.80.0.7/", "http://11.80.0.8/", "http://11.80.0.9/", "http://[2a10:80::1]/", "https://11.80.0.1/", "http://11.80.0.5/chain/5",
			"http://11.80.0.5/to?location=http%3A%2F%2F10.0.0.1%2F", "http://11.80.0.5/loop", "http://11.80.0.5/none", "fast.lab-site.com", "http://localhost/"),
	)},
	"ssl-checker": {asks: join(
		inputs("v4only.lab-site.com", "v6only.lab-site.com", "11.80.0.1", "[2a10:80::1]:443", "11.80.0.15", "11.80.0.16",
			"11.80.0.17", "expired.lab-site.com",
			"notyet.lab-site.com", "selfsigned.lab-site.com", "wronghost.lab-site.com", "nointermediate.lab-site.com", "untrusted.lab-site.com",
			"unknownissuer.lab-site.com", "expiredself.lab-site.com", "rsa.lab-site.com:443", "tls13.lab-site.com", "tls12.lab-site.com", "tls10.lab-site.com",
			"clientcert.lab-site.com", "http1.lab-site.com", "mail.lab-site.com:25", "mail.lab-site.com:587", "mail.lab-site.com:110",
			"mail.lab-site.com:143", "hostilecert.lab-site.com", "notls.lab-site.com", "mute.lab-site.com", "reset.lab-site.com", "v4only.lab-site.com:81",
			"v4only.lab-site.com:80", "silent.lab-site.com", "private.lab-site.com", "mixed.lab-site.com", "noaddress.lab-site.com", "nowhere.lab-site.com"),
		inputs("fast.lab-site.com:0", "fast.lab-site.com:65536", "fast.lab-site.com:https", "https://fast.lab-site.com/",
			"localhost:443", "[::1]:443", "10.0.0.1"),
	)},
	"port-checker": {asks: join(
		inputs("v4only.lab-site.com:443", "v4only.lab-site.com:81", "v4only.lab-site.com:4444", "v4only.lab-site.com:5555",
			"11.80.0.34:25",
			"silent.lab-site.com:443", "broken6.lab-site.com:80", "11.80.0.1:443", "[2a10:80::1]:443", "[2a10:80::1]:81",
			"private.lab-site.com:443", "mixed.lab-site.com:443", "noaddress.lab-site.com:443", "nowhere.lab-site.com:443"),
		inputs("fast.lab-site.com", "fast.lab-site.com:", "fast.lab-site.com:0", "fast.lab-site.com:65536", ":443",
			"2a10:80::1:443", "[2a10:80::1]",
			"[::1]:443", "127.0.0.1:80", "localhost:22"),
	)},
	"my-ip": {asks: inputs("x")},
	"redirect-checker": {asks: join(
		inputs("https://v4only.lab-site.com/", "http://11.80.0.6/a?b=c#part", "http://11.80.0.5/chain/8",
			"http://11.80.0.5/chain/9", "http://11.80.0.5/loop",
			"http://11.80.0.5/cookie", "http://11.80.0.5/relative", "http://11.80.0.5/none", "http://11.80.0.5/meta", "http://11.80.0.5/refresh",
			"https://expired.lab-site.com/", "http://v4only.lab-site.com:81/", "http://private.lab-site.com/", "http://noaddress.lab-site.com/",
			"http://10.0.0.1/", "fast.lab-site.com", "http://never.lab-site.com/"),
		inputs(redirectsTo(""), redirectsTo("http://%zz/"), redirectsTo("http:foo"), redirectsTo("ftp://fast.lab-site.com/"),
			redirectsTo("javascript:alert(1)"),
			redirectsTo("//v4only.lab-site.com/x"), redirectsTo("http://10.0.0.1/"), redirectsTo("http://private.lab-site.com/"),
			redirectsTo("https://user:secret@fast.lab-site.com/"), redirectsTo("http://reset.lab-site.com/"),
			redirectsTo("http://noaddress.lab-site.com/"),
			redirectsTo("https://www.redirects.lab-site.com/"), redirectsTo("https://selfsigned.lab-site.com/")),
	)},
	"robots-sitemap": {asks: inputs("https://robots.lab-site.com/some/page", "http://robots-closed.lab-site.com", "https://robots-empty.lab-site.com/",
		"https://robots-hostile.lab-site.com/", "https://robots-broken.lab-site.com/", "https://robots-huge.lab-site.com/", "http://robots-moved.lab-site.com/",
		"http://robots-astray.lab-site.com/", "http://notfound.lab-site.com/", "https://v4only.lab-site.com/", "http://reset.lab-site.com/",
		"http://never.lab-site.com/", "http://endless.lab-site.com/", "https://expired.lab-site.com/", "http://private.lab-site.com/",
		"http://noaddress.lab-site.com/", "http://169.254.169.254/", "robots.lab-site.com")},
	"security-headers": {asks: inputs("https://sec-good.lab-site.com/", "https://sec-bad.lab-site.com/", "http://sec-expired.lab-site.com/", "https://rich.lab-site.com/",
		"https://sec-challenge.lab-site.com/", "http://v4only.lab-site.com/", "https://v4only.lab-site.com/", "https://robots.lab-site.com/list.txt",
		"http://broken.lab-site.com/", "http://redirects.lab-site.com/chain/5", "http://redirects.lab-site.com/chain/6", redirectsTo("http://10.0.0.1/"),
		redirectsTo("http://private.lab-site.com/"), "http://redirects.lab-site.com/none", "https://hostile.lab-site.com/",
		"http://reset.lab-site.com/",
		"http://never.lab-site.com/", "http://private.lab-site.com/", "http://100.64.0.1/", "https://")},
	"asn-lookup": {asks: inputs("11.80.0.1", "11.90.0.1", "11.91.0.1", "11.91.0.9", "2a10:80::1", "11.93.0.1", "as212002", "15169", "AS212999", "11.94.1.1", "AS212099",
		"11.94.2.1", "11.94.3.1", "AS64500", "AS0", "AS4294967295", "AS23456", "AS99999999999", "10.0.0.1", "fast.lab-site.com", "AS", "11.80.0.0/16")},
	// Each gateway queries the redirector three times at once, and then every 2.1 s.
	"whois-lookup": {env: []string{}, asks: inputs("www.example-shop.com", "lonely-shop.com", "inside-shop.com", "astray-shop.com", "charity-site.org", "www.münchen-shop.de",
		"www.news-site.co.uk", "nobody-there.org", "example.kiwi", "example.site", "example.top", "11.80.0.1", "2a10:80::1",
		"localhost", "10.0.0.1", "co.uk", "com", "http://example-shop.com/", "AS212002")},
	"ip-geolocation": {env: []string{}, asks: inputs("11.80.0.5", "2a10:80::5", "11.90.0.7", "8.8.8.8", "193.0.6.139", "11.94.9.9", "11.94.1.1", "11.91.0.5",
		"192.168.1.1", "2001:db8::1", "fast.lab-site.com", "11.80.0.0/16")},
	"traceroute": {measured: true, asks: join(
		ends(131, lab.Unreachable, lab.Prohibited, lab.SilentEnd),
		// Behind a private router, to one that is silent.
		inputs("11.78.3.1", "2a10:78:3::1"),
		with("clean.lab-transit.net", `{"family":"ipv4"}`, `{"family":"ipv6"}`, `{"family":"ipv5"}`, `{"family":4}`,
			`{"family":"IPv4"}`, `{"family":null}`),
		with("v4only.lab-site.com", `{"family":"ipv6"}`),
		with("tunnel.lab-transit.net", `{"mtu":true}`, `{"mtu":true,"family":"ipv6"}`, `{"mtu":"true"}`, `{"mtu":1}`),
		with("blackhole.lab-transit.net", `{"mtu":true}`),
		inputs("family.local", "10.66.0.2", "noaddress.lab-site.com", "private.lab-site.com", "nowhere.lab-site.com",
			"http://fast.lab-site.com/"),
	)},
	"ping": {measured: true, asks: join(
		ends(132, lab.Clean, lab.Unreachable, lab.Prohibited, lab.SilentEnd),
		with("v4only.lab-site.com", `{"family":"ipv4"}`, `{"family":"ipv6"}`, `{"family":"auto"}`, `{"family":""}`),
		inputs("family.local", "10.0.0.1", "mixed.lab-site.com", "noaddress.lab-site.com", "fast.lab-site.com:80"),
	)},
	"packet-loss": {measured: true, asks: join(
		// How many probes leave before a router refuses them is a matter of chance.
		ends(133, lab.SilentEnd),
		with("v6only.lab-site.com", `{"family":"ipv4"}`, `{"family":"ipv6"}`, `{"family":"both"}`),
		inputs("family.local", "::1", "nowhere.lab-site.com"),
	)},
}

func mail(labels ...string) (asks []asked) {
	for _, label := range labels {
		asks = append(asks, asked{input: "lab-" + label + "-mail.com", options: `{"dkimSelector":"s1"}`})
	}
	return asks
}

// get is requests by GET.
func get(paths ...string) (asks []asked) {
	for _, path := range paths {
		asks = append(asks, asked{method: http.MethodGet, path: path})
	}
	return asks
}

// moreLines are targets of which only the first lines are recorded.
var moreLines = []recording{
	{name: "dns-delegation", asks: inputs("nowhere.lab-deleg-missing.com", "lab-deleg-single.com", "lab-deleg-serials.com",
		"lab-deleg-silent.com", "lab-deleg-onelame.com", "lab-deleg-private.com", "lab-deleg-apex.com")},
	{name: "uptime", asks: inputs("http://bogus.lab-dns.com/", "http://huge.lab-site.com/", "https://sec-challenge.lab-site.com/",
		"http://lab-good-mail.com/")},
	{name: "http-headers", asks: inputs("https://sec-challenge.lab-site.com/", "http://bogus.lab-dns.com/")},
	{name: "whois-lookup", asks: inputs("example.zzzz")},
	{name: "dns-lookup", asks: inputs("filtered.lab-resolve.com", "lab-good-mail.com", "lab-nomail-mail.com")},
}

// goldenPages are pages and files, of which the bodies are left out.
func goldenPages(slugs []string) recording {
	r := recording{name: "pages", asks: get("/", "/report", "/report?target=lab-dns.com", "/robots.txt",
		"/tools/dns-lookup?input=lab-dns.com",
		"/tools/ping?input=clean.lab-transit.net&family=ipv6", "/tools/nothing", "/tools/", "/tools", "/nothing", "/index.html", "/favicon.ico", "/assets/", "/assets/nothing.js",
		"/assets/../main.go", "/metrics", "/healthz", "/readyz", "/api/openapi.yaml", "/api")}
	for _, slug := range slugs {
		r.asks = append(r.asks, asked{method: http.MethodGet, path: "/tools/" + slug})
	}
	for _, path := range []string{"/", "/tools/dns-lookup", "/healthz", "/readyz", "/api/openapi.yaml", "/robots.txt"} {
		for _, method := range []string{http.MethodHead, http.MethodOptions, http.MethodDelete} {
			r.asks = append(r.asks, asked{method: method, path: path})
		}
	}
	return recording{name: r.name, asks: append(r.asks,
		asked{method: http.MethodGet, path: "/", header: []string{"If-None-Match: *"}},
		asked{method: http.MethodGet, path: "/api/openapi.yaml", header: []string{"If-None-Match: *"}},
		asked{method: http.MethodGet, path: "/api/openapi.yaml", header: []string{"Origin: https://evil.lab-site.com"}},
		asked{method: http.MethodGet, path: "/tools/ping?input=lab-dns.com", header: []string{"Sec-Fetch-Site: cross-site"}},
	)}
}

// goldenEdge are what the edge answers for any tool, under settings of several kinds, and the worker.
var goldenEdge = []recording{
	{name: "edge", asks: edgeAsks()},
	{name: "connection", asks: connectionAsks()},
	{name: "registries-that-fail", env: []string{}, asks: failingRegistries()},
	{name: "narrow", asks: narrowAsks(), env: []string{"ENABLE_WORKER_TOOLS=false", "DISABLED_TOOLS=whois-lookup,asn-lookup", "DENY_TARGETS=11.90.0.0/24,denied.com",
		"EGRESS_FAMILIES=ipv4", "TRUST_PROXY_HEADERS=true", "CONTACT_URL=https://lab-site.com/contact"}},
	{name: "limited", asks: limitedAsks(), inTurn: true, env: []string{"RATE_LIMIT_REQUESTS=1", "RATE_LIMIT_CLIENT_REQUESTS=3", "RATE_LIMIT_SAMPLES=1", "RATE_LIMIT_WINDOW=1h"}},
	{name: "worker-lost", env: []string{"DIAGNOSTICS_WORKER_URL=http://127.77.250.1:8081"}, asks: join(
		[]asked{{path: "/api/tools/traceroute", input: "11.90.0.134"}, {path: "/api/tools/ping", input: "11.90.0.134"},
			{path: "/api/tools/packet-loss", input: "11.90.0.134"}},
		get("/readyz", "/healthz"))},
	{name: "worker", worker: true, measured: true, asks: workerAsks()},
}

func failingRegistries() (asks []asked) {
	for _, input := range []string{"example.biz", "example.io", "example.app", "example.dev", "example.shop",
		"example.online", "example.xyz", "example.us",
		"example.ca", "example.ch"} {
		asks = append(asks, asked{path: "/api/tools/whois-lookup", input: input})
	}
	return append(asks, asked{path: "/api/tools/whois-lookup", input: "11.95.0.1"},
		asked{path: "/api/tools/whois-lookup", input: "11.91.0.1"},
		asked{path: "/api/tools/ip-geolocation", input: "11.95.0.1"})
}

func edgeAsks() []asked {
	const tool = "/api/tools/port-checker"
	// Refused by its port: nothing is sent.
	const plain = `{"input":"fast.lab-site.com:0"}`
	var asks []asked
	for _, body := range []string{
		`{"input":`, `{}`, `{"input":null}`, `{"input":7}`, `{"input":["fast.lab-site.com:0"]}`, `[]`, `"fast.lab-site.com:0"`, `null`, `7`, ` `,
		plain + plain, plain + "x", "\ufeff" + plain, "{\"input\":\"\xff.com:80\"}", `{"input":"\ud800:80"}`,
		`{"input":"a\u0000b.com:80"}`, `{"input":"fast.lab-site.com:0\n"}`,
		`{"INPUT":"fast.lab-site.com:0"}`, `{"input":"a.local:1","input":"fast.lab-site.com:0"}`,
		`{"input":"fast.lab-site.com:0","options":[]}`, `{"input":"fast.lab-site.com:0","options":""}`, `{"input":"fast.lab-site.com:0","options":null,"other":{"a":[1]}}`,
		`{"input":"fast.lab-site.com:0","options":{"family":"ipv5"}}`, `{"input":"  fast.lab-site.com:0  "}`, `{'input':1}`,
		`{"input":"` + strings.Repeat("a", 2048) + `"}`, `{"input":"` + strings.Repeat("a", 2049) + `"}`,
		`{"input":"` + strings.Repeat("é", 2048) + `"}`, `{"input":"` + strings.Repeat("é", 2049) + `"}`,
		plain + strings.Repeat(" ", 4096-len(plain)), plain + strings.Repeat(" ", 4097-len(plain)), strings.Repeat("[", 4096),
	} {
		asks = append(asks, asked{path: tool, body: body})
	}
	for _, header := range []string{
		"Content-Type: text/plain", "Content-Type: application/json; charset=latin1", "Content-Type: application/json; charset=UTF-8", "Content-Type: application/json;",
		"Content-Type: application/x-ndjson", "Content-Type: nonsense/", "Content-Type: APPLICATION/JSON", "Content-Encoding: gzip", "Content-Encoding: identity",
		"Origin: null", "Origin: http://evil.lab-site.com", "Origin: http://" + goldenSelf, "Origin: https://" + goldenSelf, "Origin: nonsense", "Origin: http://" + goldenSelf + "/",
		"Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none", "Accept: text/html", "Accept: application/x-ndjson",
		"X-Request-Id: 11111111-2222-4333-8444-555555555555", "X-Forwarded-For: 10.0.0.1", "Expect: nothing",
	} {
		asks = append(asks, asked{path: tool, body: plain, header: []string{header}})
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete,
		http.MethodOptions, http.MethodPatch, "NONSENSE"} {
		asks = append(asks, asked{path: tool, method: method})
	}
	for _, path := range []string{"/api/tools/nothing", "/api/tools/", "/api/tools", "/api/", "/api", "/api/nothing",
		tool + "/", tool + "/x", "/api/tools/PORT-CHECKER",
		"/api/tools/port%2Dchecker", "/api//tools/port-checker", "/API/tools/port-checker", tool + "?x=1", "/healthz", "/api/openapi.yaml", "/nothing"} {
		asks = append(asks, asked{path: path, body: plain})
	}
	return append(asks,
		asked{path: tool, body: plain, header: []string{"Content-Type: application/json", "Content-Type: application/json"}},
		asked{path: tool, body: plain, header: []string{"Origin: http://" + goldenSelf, "Origin: http://" + goldenSelf}},
		asked{path: "/api/nothing", method: http.MethodGet, header: []string{"Origin: http://evil.lab-site.com"}},
		asked{path: "/api/tools/nothing", body: plain, header: []string{"Origin: null", "Content-Type: text/plain"}},
	)
}

func connectionAsks() (asks []asked) {
	for _, probe := range []string{"ping", "packet-loss"} {
		path := "/api/connection/" + probe
		asks = append(asks, get(path, path+"?n=7", path+"?n=0", path+"?n=999999999", path+"?n=1000000000", path+"?n=-1",
			path+"?n=1.5", path+"?n=x", path+"?n=", path+"?n=7&n=8",
			path+"?n=%37", path+"?n=07", path+"?m=7", path+"?n=%zz", path+"/")...)
		for _, method := range []string{http.MethodHead, http.MethodOptions, http.MethodPut} {
			asks = append(asks, asked{method: method, path: path})
		}
		asks = append(asks, asked{path: path, body: "{}"},
			asked{method: http.MethodGet, path: path, header: []string{"Origin: http://evil.lab-site.com"}},
			asked{method: http.MethodGet, path: path, header: []string{"Origin: http://" + goldenSelf}},
			asked{method: http.MethodGet, path: path, header: []string{"Sec-Fetch-Site: cross-site"}})
	}
	return append(asks, get("/api/connection/", "/api/connection", "/api/connection/nothing")...)
}

func narrowAsks() []asked {
	var asks []asked
	for _, slug := range []string{"traceroute", "ping", "packet-loss"} {
		asks = append(asks, asked{path: "/api/tools/" + slug, input: "11.91.0.134"},
			asked{path: "/api/tools/" + slug, input: "10.0.0.1"})
	}
	for _, request := range [][2]string{
		{"whois-lookup", "charity-site.org"}, {"whois-lookup", "localhost"}, {"asn-lookup", "11.80.0.1"},
		{"ssl-checker", "denied.com"}, {"dns-lookup", "sub.denied.com"}, {"dns-lookup", "notdenied.com"}, {"http-headers", "http://11.90.0.1/"}, {"ip-geolocation", "11.90.0.1"},
		{"port-checker", "clean.lab-transit.net:80"}, {"http-headers", "http://clean.lab-transit.net/"}, {"uptime", "http://clean.lab-transit.net/"},
		{"redirect-checker", redirectsTo("http://11.90.0.1/")}, {"redirect-checker", redirectsTo("http://www.denied.com/")},
		{"http-headers", "http://v6only.lab-site.com/"}, {"http-headers", "https://fast.lab-site.com/"}, {"uptime", "https://fast.lab-site.com/"}, {"uptime", "http://v6only.lab-site.com/"},
		{"port-checker", "fast.lab-site.com:443"}, {"port-checker", "[2a10:80::1]:443"}, {"port-checker", "v6only.lab-site.com:443"}, {"ssl-checker", "fast.lab-site.com"},
		{"ssl-checker", "v6only.lab-site.com"}, {"security-headers", "https://sec-good.lab-site.com/"}, {"robots-sitemap", "https://v6only.lab-site.com/"},
		{"redirect-checker", redirectsTo("http://v6only.lab-site.com/")},
	} {
		asks = append(asks, asked{path: "/api/tools/" + request[0], input: request[1]})
	}
	for _, header := range [][]string{
		nil, {"X-Real-IP: 11.80.0.99"}, {"X-Real-IP: 2a10:80::99", "X-Forwarded-For: 11.80.0.98"},
		{"CF-Connecting-IP: 11.80.0.97", "X-Real-IP: 11.80.0.99"},
		{"X-Forwarded-For: 11.80.0.96, 10.0.0.1"}, {"X-Real-IP: 10.0.0.1"}, {"X-Real-IP: nonsense"}, {"X-Real-IP: ::ffff:11.80.0.95"}, {"X-Real-IP: 11.80.0.99:80"},
	} {
		asks = append(asks, asked{path: "/api/tools/my-ip", header: header})
	}
	return append(asks, get("/readyz", "/tools/traceroute", "/tools/whois-lookup")...)
}

func limitedAsks() (asks []asked) {
	for i, request := range [][2]string{{"dns-lookup", "lab-dns.com"}, {"dns-lookup", "lab-dns.com"},
		{"dns-lookup", "a..b.com"}, {"asn-lookup", "AS15169"},
		{"my-ip", ""}, {"my-ip", ""}, {"dns-lookup", "alias.lab-dns.com"}, {"traceroute", "11.90.0.135"}} {
		asks = append(asks, asked{path: "/api/tools/" + request[0], input: request[1], note: fmt.Sprint(i + 1)})
	}
	for _, note := range []string{"first", "second"} {
		asks = append(asks, asked{method: http.MethodGet, path: "/api/connection/ping", note: note})
	}
	return append(asks, get("/api/connection/packet-loss", "/healthz", "/tools/dns-lookup")...)
}

func workerAsks() (asks []asked) {
	const bearer = "Authorization: Bearer " + goldenToken
	const plain = `{"target":"11.90.0.137"}`
	for _, path := range []string{"/api/traceroute", "/api/ping", "/api/packet-loss"} {
		for _, body := range []string{`{"target":"11.90.0.136","hostname":"clean.lab-transit.net"}`,
			`{"target":"2a10:92:3::136"}`, `{"target":"10.66.0.2"}`, `{"target":"fd66::2"}`, `{"target":"::ffff:11.90.0.1"}`,
			`{"target":"clean.lab-transit.net"}`, `{"target":""}`, `{}`} {
			asks = append(asks, asked{path: path, body: body, header: []string{bearer}})
		}
		asks = append(asks, asked{path: path, body: plain},
			asked{path: path, method: http.MethodGet, header: []string{bearer}})
	}
	const path = "/api/ping"
	for _, body := range []string{`[]`, `{"target":7}`, `{"target":`, `null`, plain + plain,
		`{"target":"11.92.2.137","other":1}`, strings.Repeat(" ", 4097)} {
		asks = append(asks, asked{path: path, body: body, header: []string{bearer}})
	}
	for _, header := range []string{"Content-Type: text/plain", "Content-Type: application/json; charset=latin1",
		"Content-Encoding: gzip"} {
		asks = append(asks, asked{path: path, body: plain, header: []string{bearer, header}})
	}
	for _, header := range []string{"Authorization: Bearer wrong-wrong-wrong-wrong", "Authorization: Bearer",
		"Authorization: Basic " + goldenToken, "Authorization: " + goldenToken,
		bearer + "x"} {
		asks = append(asks, asked{path: path, body: plain, header: []string{header}})
	}
	asks = append(asks, asked{path: path, body: plain, header: []string{bearer, bearer}},
		asked{path: "/api/nothing", body: plain, header: []string{bearer}}, asked{path: "/api/nothing", body: plain},
		asked{path: "/healthz", body: plain}, asked{path: "/readyz", body: plain})
	return append(asks, get("/healthz", "/readyz", "/", "/api/traceroute", "/metrics")...)
}
