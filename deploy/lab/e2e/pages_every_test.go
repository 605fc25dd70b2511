//go:build e2e

package e2e

import (
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"diagnostics/lab/internal/browser"
)

// shownPage is a page with what it must show once it is done.
type shownPage struct {
	name string
	path string
	// ready is the condition for being done; answered where it is empty.
	ready string
	// tone is that of the verdict, where the page has one.
	tone string
	// in is the element that shows the facts; #result where it is empty.
	in    string
	facts []string
	// console are parts of messages that are expected there.
	console []string
	// todo is a part of what the page says one should do; empty where nothing is bad, or nothing can be done.
	todo string
	// act is what a visitor does there first.
	act func(tab *browser.Tab)
	// opens is the host that the page asks about: whether it opens for the visitor, too; empty where it does not ask.
	opens string
	// fromHere is that it opens from here.
	fromHere bool
	// unfolded is set where act opens what is folded away: then the page may be as long as that is.
	unfolded bool
}

// everyPage is every page of the site: those of pagesWithFacts, and of each tool that has no row there its page with
// the first example that it offers. A new tool is so opened and run before anyone writes a row for it.
func everyPage(t *testing.T) []shownPage {
	t.Helper()
	pages := pagesWithFacts()
	description, err := described()
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range description.Tools() {
		path := "/tools/" + tool.Slug
		if !slices.ContainsFunc(pages, func(p shownPage) bool { return pathOf(p.path) == path }) {
			pages = append(pages, shownPage{name: tool.Slug, path: path, act: runExample, ready: answeredOrRefused, in: "main",
				console: []string{"/api/tools/" + tool.Slug}})
		}
	}
	return pages
}

func pathOf(link string) string {
	path, _, _ := strings.Cut(link, "?")
	return path
}

// runExample runs the first example that a page offers. A tool without an input has run by itself.
func runExample(tab *browser.Tab) {
	if tab.Count(".examples a") > 0 {
		tab.Click(".examples a")
	}
}

// pagesWithFacts are each tool with an answer that is well, those that draw something else with one that is not, and
// the other pages.
func pagesWithFacts() []shownPage {
	fast := internet.Site("fast")
	return []shownPage{
		{name: "home", path: "/", ready: `true`, in: "main", facts: []string{"DNS lookup", "Packet loss", "TLS certificate"}},
		{name: "home-recognised", path: "/", act: paste, ready: `document.querySelector("#offers [role=option]")`, in: "main", facts: []string{"E-mail address", "Email DNS health"}},
		{name: "home-asked", path: "/", act: askForDelegation, ready: `document.querySelector("#offers [role=option]:first-child[data-slug=dns-delegation]")`, in: "main", facts: []string{"DNS delegation", "example.com"}},
		{name: "home-recent", path: toolPath("dns-lookup", "lab-dns.com"), act: comeHome, ready: `document.querySelector("#recent")`, in: "main", facts: []string{"lab-dns.com", "Clear"}},
		{name: "refused", path: toolPath("dns-lookup", "bad_name..com"), ready: `document.querySelector("#input-error").textContent !== ""`, in: "main", facts: []string{"bad_name..com has an empty part between its dots"}, console: []string{"400"}},
		{name: "running", path: toolPath("uptime", "http://broken6.lab-site.com/"), ready: `document.querySelector("#result[aria-busy=true]")`, in: "main", facts: []string{"Cancel"}},
		{name: "as-json", path: toolPath("my-ip", ""), act: showJSON, ready: `document.querySelector("section.json:not([hidden])")`, in: "section.json", unfolded: true, facts: []string{`"available": true`}},
		{name: "compared", path: toolPath("dns-lookup", "lab-dns.com"), act: runAgain, ready: `document.querySelector(".unchanged")`, facts: []string{"Nothing changed since your last run"}},
		{name: "not-found", path: "/nothing-here", ready: `true`, in: "main", facts: []string{"Page not found"}, console: []string{"404"}},
		{name: "history-empty", path: "/history", ready: `true`, in: "main", facts: []string{"Nothing yet."}},
		{name: "history", path: toolPath("dns-lookup", "lab-dns.com"), act: toHistory, ready: `document.querySelector(".remembered")`,
			in: "main", facts: []string{"lab-dns.com", "DNS lookup", "points to 11.80.0.1", "Forget"}},
		{name: "api", path: "/api", ready: `true`, in: "main", facts: []string{"Results as they come", "Status codes", "TLS certificate check", "/api/connection/packet-loss"}},
		{name: "api-tool", path: "/api", ready: `document.querySelector("#traceroute[open] .copy")`, in: "#traceroute", act: openInside, unfolded: true, facts: []string{
			"options.protocol", "icmp, udp, tcp", "hops[].rttsMs", "Steps of a stream"}},
		{name: "privacy", path: "/privacy", ready: `true`, in: "main", facts: []string{"Privacy", "This instance keeps none", "Google, Cloudflare, Quad9 and OpenDNS"}},
		{name: "report-empty", path: "/report", ready: `true`, in: "main", facts: []string{"Report"}},
		{name: "report", path: "/report?target=lab-good-mail.com", ready: reported, in: "main", facts: []string{"lab-good-mail.com", "DNS lookup", "Registration lookup"}, console: []string{"/api/tools/"}},
		{name: "dns-lookup", path: toolPath("dns-lookup", "lab-dns.com"), tone: "good", facts: []string{
			"11.80.0.1", "2a10:80::1", "mail.lab-site.com", "ns1.lab-transit.net", `two chunks, a quote " and a semicolon;`}},
		{name: "dns-lookup-types", path: toolPath("dns-lookup", "types.lab-dns.com"), tone: "bad", todo: "replace the DS record", facts: []string{"a key that the zone does not have",
			"Name servers and zone", "Security", "Services", "Only ca.example.net may issue certificates for types.lab-dns.com (CAA). No authority may issue wildcard certificates",
			"HTTP/3 is offered through the HTTPS record", "key 2371, ECDSA P-256, key-signing key", "No records of this type: CNAME.",
			`1 . alpn="f\\\\oo\\,bar" key777 key65280="a b\"c;\\\001"`, "3 1 1 0c72ac70b745ac19998811b131d662c9ac69dbdbe7cb23e5b514b56664c5d3d6", "host.master@lab-dns.com"}},
		{name: "dns-lookup-some", path: toolPath("dns-lookup", "types.lab-dns.com", "types", "caa, loc"), tone: "good", facts: []string{
			"has 3 CAA records and 2 LOC records", "52 22 23.500 N 4 53 32.000 E -2.50m 0.05m 10000m 10m", `\# 16 01121613800000008000000000989680`,
			"dig +noall +answer types.lab-dns.com CAA types.lab-dns.com LOC"}},
		{name: "dns-lookup-reverse", path: toolPath("dns-lookup", "1.0.90.11.in-addr.arpa"), tone: "good", facts: []string{
			"clean.lab-transit.net", "The name its owner gave to this address."}},
		{name: "dns-lookup-address", path: toolPath("dns-lookup", "11.90.0.1"), ready: `document.querySelector("#input-error").textContent !== ""`, in: "main",
			facts: []string{"the records of this address are under 1.0.90.11.in-addr.arpa"}, console: []string{"400"}},
		{name: "dns-lookup-failing", path: toolPath("dns-lookup", "bogus.lab-dns.com"), tone: "bad", todo: "Sign the zone again", facts: []string{"SERVFAIL", "signature expired"}},
		{name: "http-headers", path: toolPath("http-headers", "https://rich.lab-site.com/"), facts: []string{
			"200", "HTTP/2", "content-type", "set-cookie", "TLSv1.3"}},
		{name: "http-headers-slow", path: toolPath("http-headers", "http://slow.lab-site.com/"), facts: []string{"200"}},
		{name: "http-headers-none", path: toolPath("http-headers", "http://reset.lab-site.com/"), ready: answered, in: "main",
			facts: []string{"reset.lab-site.com", "Try again"}, console: []string{"status of 502"}},
		{name: "ssl-checker", path: toolPath("ssl-checker", "fast.lab-site.com"), tone: "good", facts: []string{
			"fast.lab-site.com", "TLSv1.3", "TLS 1.2", "443"}, opens: "fast.lab-site.com", fromHere: true},
		{name: "ssl-checker-expired", path: toolPath("ssl-checker", "expired.lab-site.com"), tone: "bad", todo: "Renew the certificate", facts: []string{"expired.lab-site.com", "expired 10 days ago", "CERT_HAS_EXPIRED", "Lab Issuing CA E1"}},
		{name: "uptime", path: toolPath("uptime", "https://fast.lab-site.com/"), tone: "good", facts: []string{"200", fast.V4.String(), fast.V6.String(), "IPv4", "IPv6"}, opens: "fast.lab-site.com", fromHere: true},
		{name: "uptime-degraded", path: toolPath("uptime", "http://broken6.lab-site.com/"), tone: "warn", facts: []string{"answers over IPv4, but not over IPv6", "did not accept a connection in time", "2a10:92:3::15", "200"}},
		{name: "port-checker", path: toolPath("port-checker", "fast.lab-site.com:443"), tone: "good", facts: []string{"443", "open", fast.V4.String(), fast.V6.String()}, opens: "fast.lab-site.com", fromHere: true},
		{name: "port-checker-filtered", path: toolPath("port-checker", "v4only.lab-site.com:4444"), tone: "warn", facts: []string{"4444", "filtered", "11.80.0.13", "no answer"}, opens: "v4only.lab-site.com"},
		{name: "my-ip", path: toolPath("my-ip", ""), tone: "good", facts: []string{visitor, "IPv4"}},
		{name: "ip-geolocation-unused", path: toolPath("ip-geolocation", "11.94.9.9"), facts: []string{"UNUSED", "11.94.0.0/16"}},
		{name: "ip-geolocation", path: toolPath("ip-geolocation", "11.80.0.5"), tone: "good", facts: []string{
			"Lab Sites B.V.", "abuse@lab-site.com", "11.80.0.0", "AS212002", "ASSIGNED PA", "five.lab-site.com", "asn.cymru.com"}},
		{name: "asn-lookup-unknown", path: toolPath("asn-lookup", "AS212999"), tone: "warn", facts: []string{"AS212999"}},
		{name: "asn-lookup", path: toolPath("asn-lookup", "11.80.0.1"), tone: "good", facts: []string{
			"LAB-SITES-2", "11.80.0.0/24", "11.80.0.0/16", "AS212001", "AS212000", "asn.cymru.com"}},
		{name: "whois-lookup", path: toolPath("whois-lookup", "example-shop.com"), facts: []string{
			"MarkMonitor Inc.", "abuse@markmonitor.example.com", "ns1.example-shop.com", "client delete prohibited", "Example Shop LLC", "2138514_DOMAIN_COM-VRSN", "1997", "2028"}},
		{name: "whois-lookup-none", path: toolPath("whois-lookup", "nobody-there.org"), tone: "info", facts: []string{"nobody-there.org is not registered (or is reserved by the registry)."}},
		{name: "redirect-checker", path: toolPath("redirect-checker", "http://redirects.lab-site.com/chain/3"), facts: []string{
			"301", "http://redirects.lab-site.com/chain/2", "http://redirects.lab-site.com/chain/0", "200"}},
		{name: "redirect-checker-loop", path: toolPath("redirect-checker", "http://redirects.lab-site.com/loop"), tone: "bad", facts: []string{"form a loop", "That is step 1 again", "302"}},
		{name: "robots-sitemap", path: toolPath("robots-sitemap", "https://robots.lab-site.com/"), facts: []string{
			"Crawl-delay: 2.5", "Disallow: /private/", "Labbot, Otherbot", "https://robots.lab-site.com/robots.txt", "SITEMAP_RELATIVE", "https://robots.lab-site.com/gone.xml", "HTTP 404", "28 January 2026"}},
		{name: "robots-sitemap-crawlers", path: toolPath("robots-sitemap", "https://robots-names.lab-site.com/"), tone: "warn", facts: []string{
			"asks Googlebot and Applebot to stay away from the whole site", "all but some paths", "Common Crawl"}},
		{name: "robots-sitemap-refused", path: toolPath("robots-sitemap", "https://robots-limited.lab-site.com/"), tone: "warn", facts: []string{
			"because of too many requests", "Google then treats the whole site as closed", "HTTP 429", "RATE_LIMITED"}},
		{name: "dns-resolver-check", path: toolPath("dns-resolver-check", "agree.lab-resolve.com"), tone: "good", facts: []string{"All four resolvers return the same A records", "Google", "Cloudflare", "Quad9", "OpenDNS", "208.67.222.222", "11.80.0.1", "11.80.0.2"}},
		{name: "dns-resolver-check-older", path: toolPath("dns-resolver-check", "older.lab-resolve.com"), tone: "info", facts: []string{"Quad9 may still hold the older answer", "ns1.lab-resolve.com", "11.80.0.9", "may be older"}},
		{name: "dns-resolver-check-expired", path: toolPath("dns-resolver-check", "expired.lab-resolve.com"), tone: "bad", todo: "Sign the zone again", facts: []string{"signature expired (EDE 7)", "ns1.lab-resolve.com", "DS record"}},
		{name: "dns-delegation", path: toolPath("dns-delegation", "lab-sec-good.com"), tone: "good", facts: []string{"lab-sec-good.com", "ns1.lab-sec-good.com"}},
		{name: "dns-delegation-bogus", path: toolPath("dns-delegation", "lab-sec-nokey.com"), tone: "bad", facts: []string{"does not resolve for validating resolvers", "To fix"}},
		{name: "dns-delegation-expired", path: toolPath("dns-delegation", "lab-sec-expired.com"), tone: "bad", facts: []string{"expired"}},
		{name: "dns-delegation-unsigned", path: toolPath("dns-delegation", "lab-deleg-four.com"), tone: "good", facts: []string{"ns4.lab-deleg-four.com"}},
		{name: "dns-delegation-lame", path: toolPath("dns-delegation", "lab-deleg-lame.com"), tone: "bad", facts: []string{"REFUSED"}},
		{name: "dns-delegation-silent", path: toolPath("dns-delegation", "lab-deleg-onesilent.com"), tone: "warn", facts: []string{"no answer"}},
		{name: "dns-resolver-check-faulty", path: toolPath("dns-resolver-check", "faulty.lab-resolve.com"), tone: "good", facts: []string{"lame delegation", "not public", "did not answer in time"}},
		{name: "dns-resolver-check-mixed", path: toolPath("dns-resolver-check", "mixed.lab-resolve.com"), tone: "warn", facts: []string{"Google does not", "NXDOMAIN", "11.80.0.1"}},
		{name: "email-dns-health", path: toolPath("email-dns-health", "lab-good-mail.com", "dkimSelector", "s1"), tone: "good", facts: []string{
			"a.lab-good-mail.com", "v=spf1 mx -all", "v=DMARC1; p=reject; rua=mailto:d@lab-good-mail.com", "11.80.0.41", "s1"}},
		{name: "email-dns-health-failing", path: toolPath("email-dns-health", "lab-spfeleven-mail.com"), tone: "warn", todo: "Receivers may not know your servers", facts: []string{"Remove includes", "11 of at most 10", "SPF_TOO_MANY_LOOKUPS", "_mta-sts.lab-spfeleven-mail.com", "mode: testing"}},
		{name: "security-headers", path: toolPath("security-headers", "https://sec-good.lab-site.com/"), tone: "warn", facts: []string{
			"Strict-Transport-Security", "Content-Security-Policy", "__Host-session", "does not redirect to https"}},
		{name: "security-headers-newer", path: toolPath("security-headers", "https://sec-newer.lab-site.com/"), facts: []string{
			"HTTP to HTTPS", "redirects to https at once", "Newer headers, which few sites need yet", "No script runs", "vibrate is not a feature known here", "blocked-destinations=(script)"}},
		{name: "security-headers-failing", path: toolPath("security-headers", "https://sec-bad.lab-site.com/"), tone: "warn", todo: "Nothing here breaks", facts: []string{"Start with cookies",
			"Strict-Transport-Security: max-age=31536000; includeSubDomains", "max-age=0", "add_header", "proxy_cookie_flags session secure", "__Secure-id", "Check again"}},
		{name: "traceroute", path: toolPath("traceroute", "dirty.lab-transit.net"), facts: []string{"dirty.lab-transit.net (11.91.0.1) is 9 hops away", "AS212000", "AS212005", "Hop 2 has a private address", "no answer", "l4.lab-transit.net", "Private network", "hops 4 to 8: adds"}},
		{name: "traceroute-mtu", path: toolPath("traceroute", "blackhole.lab-transit.net", "mtu", "true"), tone: "warn", ready: answered, facts: []string{
			"Packets of more than 1,400 octets to blackhole.lab-transit.net (11.99.2.1) vanish behind hop 5", "clamp the TCP MSS to 1360 there", "1,360 octets",
			"vanish without a message", "The path narrows here to 1,400 octets: larger packets vanish"}},
		{name: "ping", path: toolPath("ping", "clean.lab-transit.net"), tone: "good", facts: []string{"11.90.0.1", "median of 10 probes", "Jitter"}},
		{name: "packet-loss", path: toolPath("packet-loss", "lossy.lab-transit.net"), tone: "warn", facts: []string{"11.93.0.1", "10 % of 50 probes", "First lost probe"}},
		{name: "packet-loss-limited", path: toolPath("packet-loss", "few-echoes.lab-transit.net"), tone: "info", facts: []string{"limits", "6 probes, 1.0 s apart: 6 answered", "11.98.0.1"}},
		{name: "ping-late", path: toolPath("ping", "late.lab-transit.net"), tone: "warn", facts: []string{"Each answer took longer than 2 s", "sent too late to be answered", "Measured"}},
		{name: "ping-browser", path: "/tools/ping", act: sample, ready: sampled, in: "#browser", facts: []string{"Median", "ms"}},
		{name: "packet-loss-browser", path: "/tools/packet-loss", act: sample, ready: sampled, in: "#browser", facts: []string{"ms"}},
		{name: "ping-failing", path: toolPath("ping", "silent.lab-transit.net"), tone: "warn", facts: []string{"silent.lab-transit.net", "11.92.3.1", "100 %"}},
	}
}

// paste puts a whole sentence into the front page's field.
func paste(tab *browser.Tab) {
	tab.Fill("#target", "could you see why mail for (postmaster@lab-good-mail.com) bounces, please")
}

// askForDelegation types what an error message says.
func askForDelegation(tab *browser.Tab) { tab.Fill("#target", "SERVFAIL example.com") }

// openInside goes to a tool of the page on the API, and opens what its fold folds away.
func openInside(tab *browser.Tab) {
	tab.Click(".on-page [href='#traceroute']")
	tab.Until(`document.querySelector("details.fold[open]")`)
	tab.Run(`document.querySelectorAll("details.fold[open] details").forEach((more) => { more.open = true; })`)
}

func comeHome(tab *browser.Tab) {
	untilAnswered(tab)
	tab.Open("/")
}

func toHistory(tab *browser.Tab) {
	untilAnswered(tab)
	tab.Open("/history")
}

func showJSON(tab *browser.Tab) {
	untilAnswered(tab)
	fromMenu(tab, "#show-json")
}

// fromMenu presses a button of the menu for sharing and exporting.
func fromMenu(tab *browser.Tab, button string) {
	if !tab.Holds(`document.querySelector("#result .menu").open`) {
		tab.Click("#result .menu > summary")
	}
	tab.Click(button)
}

func runAgain(tab *browser.Tab) {
	untilAnswered(tab)
	tab.Click("#run")
}

// sample lets the browser measure for a while, and stops it.
func sample(tab *browser.Tab) {
	tab.Click(".tabs [role=tab]:last-child")
	tab.Choose("#rate", "10")
	tab.Click("#sample")
	tab.Until(`performance.getEntriesByType("resource").filter((e) => e.name.includes("/api/connection/")).length > 20`)
	tab.Click("#sample-stop")
}

// sampled is true when the browser's measurement has come to its end and is drawn.
const sampled = `document.querySelector("#sample-stop[hidden]") && document.querySelector("#sample-result canvas")`

// Every page with its answer: the facts, what it loads, and all that must hold of it in both themes, on a telephone and
// on a screen.
func TestEveryPage(t *testing.T) {
	for _, p := range everyPage(t) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{})
			tab.Open(p.path)
			p.hold(t, tab)
			holdTransfer(t, tab, p.path)
			holdBudget(t, tab)
			holdPictureBeside(t, tab)
			if p.ready == "" && p.act == nil {
				for _, s := range screens {
					tab.Look(s.width, false)
					s.holdFirstScreen(t, tab, p.todo)
				}
			}
			if !p.unfolded {
				holdLengths(t, tab)
			}
			if p.opens != "" {
				holdForYou(t, tab, p)
			}
			holdLooks(t, tab, p.name)
		})
	}
}

func (p shownPage) hold(t *testing.T, tab *browser.Tab) {
	t.Helper()
	ready, in := p.ready, p.in
	if ready == "" {
		ready = answered
	}
	if in == "" {
		in = "#result"
	}
	if p.act != nil {
		p.act(tab)
	}
	tab.UntilWithin(ready, patience)
	holdText(t, tab, in, p.facts...)
	if p.tone != "" && tab.Count("#result .verdict."+p.tone) == 0 {
		t.Errorf("the verdict is not %s: %s", p.tone, tab.Attribute("#result .verdict", "class"))
	}
	holdRecord(t, tab, p.console...)
}

// holdLooks looks at a page as it is now in every way that someone may have it.
func holdLooks(t *testing.T, tab *browser.Tab, name string) {
	t.Helper()
	// A theme has the same colours at every width, so only `proof pages` holds it at both.
	exact := tab.Axe
	if os.Getenv("LAB_EXACT") == "" {
		exact = nil
	}
	for _, look := range []struct {
		width int
		dark  bool
		axe   func() []string
	}{
		{1280, false, tab.Axe}, {1280, true, exact}, {360, true, tab.Axe}, {360, false, exact}, {320, false, nil},
	} {
		tab.Look(look.width, look.dark)
		if pixels, elements := tab.Overflow(); pixels > 0 {
			t.Errorf("at %d px the page is %d px too wide: %s", look.width, pixels, elements)
		}
		if look.width != 320 {
			tab.Screenshot(name)
		}
		if look.axe == nil {
			continue
		}
		for _, finding := range look.axe() {
			t.Errorf("at %d px, dark %t: %s", look.width, look.dark, finding)
		}
	}
	tab.LookForced(1280)
	tab.Screenshot(name)
	holdPaper(t, tab, name)
}

// holdForYou presses both answers to whether the target opens for the visitor, too: each explains what it means
// together with the result. It sends nothing and keeps nothing.
func holdForYou(t *testing.T, tab *browser.Tab, p shownPage) {
	t.Helper()
	const kept = `JSON.stringify([localStorage, sessionStorage, history.state, document.cookie, location.href])`
	before, requests := tab.String(kept), len(tab.Record().Requests)
	host := url.QueryEscape(p.opens)
	for _, answer := range []struct {
		button, says string
		fromHere     bool
		links        []string
	}{
		{"It does not", "on your side or on the path", true,
			[]string{"/tools/dns-resolver-check?input=" + host, "/tools/ping", "/tools/my-ip"}},
		{"It does", "It opens from here and for you.", true, []string{}},
		{"It does", "a firewall that blocks data centres", false, []string{"/tools/traceroute?input=" + host}},
		{"It does not", "at the site itself", false, []string{"/report?target=" + host}},
	} {
		if answer.fromHere != p.fromHere {
			continue
		}
		tab.Click(buttonOf(tab, answer.button))
		holdText(t, tab, ".for-you", "Does it open for you?", answer.says)
		var links []string
		tab.Value(`[...document.querySelectorAll(".for-you a")].map((a) => a.getAttribute("href"))`, &links)
		if !slices.Equal(links, answer.links) {
			t.Errorf("%s leads to %v, want %v", answer.button, links, answer.links)
		}
		if pressed := tab.String(`[...document.querySelectorAll(".for-you [aria-pressed=true]")].map((b) => b.textContent)`); pressed != answer.button {
			t.Errorf("%q is pressed, want %s", pressed, answer.button)
		}
	}
	tab.Settle()
	if after := tab.String(kept); after != before {
		t.Errorf("the answers are kept: %s", after)
	}
	if sent := tab.Record().Requests[requests:]; len(sent) > 0 {
		t.Errorf("the answers send %v", sent)
	}
}

// buttonOf is a selector of the answer with that text.
func buttonOf(tab *browser.Tab, text string) string {
	n := tab.String(`1 + [...document.querySelectorAll(".for-you button")].findIndex((b) => b.textContent === "` + text + `")`)
	return ".for-you button:nth-of-type(" + n + ")"
}

// holdPaper prints the page: nothing of its answer is folded on paper, and all folds are as before afterwards.
func holdPaper(t *testing.T, tab *browser.Tab, name string) {
	t.Helper()
	const folded, a4WithoutMargins = "#result details:not([open])", 718
	before := tab.Count(folded)
	tab.LookPrinted(a4WithoutMargins)
	tab.Screenshot(name)
	if pixels, elements := tab.Overflow(); pixels > 0 {
		t.Errorf("in print the page is %d px too wide: %s", pixels, elements)
	}
	if n := tab.Count(folded); n > 0 {
		t.Errorf("%d folds are closed on paper", n)
	}
	tab.Printed()
	tab.Look(1280, false)
	if n := tab.Count(folded); n != before {
		t.Errorf("%d folds are closed after printing, %d were before", n, before)
	}
}

// A service that trusts no proxy shows no one an address. What its operator can do about it is folded away.
func TestMyIPWithoutAProxy(t *testing.T) {
	origin, err := startPages("gateway-pages-untrusting", unlimited...)
	if err != nil {
		t.Fatal(err)
	}
	tab := openTab(t, browser.Options{Origin: origin})
	tab.Open("/tools/my-ip")
	untilAnswered(tab)
	holdText(t, tab, "#result .verdict", "We can't show your IP address")
	if tab.Count("#result details.fold:not([open])") == 0 || tab.Count("#result details.fold[open]") > 0 {
		t.Error("the part for the operator is not folded")
	}
	holdText(t, tab, "#result details.fold", "For the operator", "TRUST_PROXY_HEADERS=true")
	for _, s := range screens {
		tab.Look(s.width, false)
		s.holdFirstScreen(t, tab, "")
	}
	holdLooks(t, tab, "my-ip-unavailable")
	holdRecord(t, tab)
}
