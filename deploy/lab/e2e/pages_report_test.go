//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"diagnostics/lab/internal/browser"
	"diagnostics/lab/internal/site"
)

// states gives the state of every card of a report by its tool.
func states(tab *browser.Tab) map[string]string {
	found := map[string]string{}
	tab.Value(`Object.fromEntries([...document.querySelectorAll("article.tool-card")].map((card) => [card.dataset.slug, card.dataset.state]))`, &found)
	return found
}

// Reports wait for their slowest checks more than they compute, and so wait beside each other.
func TestReports(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"with failures":       reportWithFailures,
		"waits for its turn":  reportWaitsForItsTurn,
		"is cancelled":        reportIsCancelled,
		"export":              reportExport,
		"at a glance":         reportAtAGlance,
		"filter":              reportFilter,
		"card opens in place": reportCardOpensInPlace,
		"of a refused target": reportOfARefusedTarget,
		"side by side":        reportsSideBySide,
		"with a dead check":   reportWithADeadCheck,
		"names its tab":       reportNamesItsTab,
		"is remembered":       reportIsRemembered,
		"of long findings":    reportOfLongFindings,
		"beside a file":       reportBesideAFile,
		"keeps what it found": reportKeepsWhatWasFound,
		"lists a fault once":  reportListsAFaultOnce,
		"stays still":         reportStaysStill,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// On a telephone nothing moves while findings come and go above others and their sentences grow.
func reportStaysStill(t *testing.T) {
	tab := openTab(t, browser.Options{Width: 360})
	tab.Open("/report?target=expired.lab-site.com")
	tab.UntilWithin(reported, patience)
	if r := tab.Record(); r.Shift >= 0.01 {
		t.Errorf("moved by %.4f:\n%s", r.Shift, strings.Join(r.Shifts, "\n"))
	}
}

// A report is complete although one tool fails, one is limited for an hour and one is switched off here.
func reportWithFailures(t *testing.T) {
	const target = "notls.lab-site.com"
	origin, err := startPages("gateway-pages-limited", "TRUST_PROXY_HEADERS=true",
		"RATE_LIMIT_REQUESTS=1", "RATE_LIMIT_WINDOW=3600s", "DISABLED_TOOLS=asn-lookup,uptime")
	if err != nil {
		t.Fatal(err)
	}
	spend(t, origin, "whois-lookup", target)
	tab := openTab(t, browser.Options{Origin: origin})
	tab.Open("/report?target=" + target)
	tab.UntilWithin(reported, patience)
	got := states(tab)
	for slug, want := range map[string]string{
		"whois-lookup": "limited", "ssl-checker": "failed", "dns-lookup": "done", "email-dns-health": "done", "port-checker": "done", "uptime": "",
	} {
		if got[slug] != want {
			t.Errorf("%s is %q, want %q", slug, got[slug], want)
		}
	}
	for slug, state := range got {
		if !slices.Contains([]string{"done", "failed", "limited"}, state) {
			t.Errorf("%s is %s", slug, state)
		}
	}
	if len(got) < 8 {
		t.Errorf("only %d tools ran: %v", len(got), got)
	}
	holdText(t, tab, `article.tool-card[data-slug=ssl-checker]`, "TLS")
	holdText(t, tab, "#attention", "Registration lookup")
	holdRecord(t, tab, "/api/tools/")
	holdLooks(t, tab, "report-failing")
	tab.Open("/tools/uptime")
	holdText(t, tab, "main", "switched off")
	holdLooks(t, tab, "switched-off")
}

// spend uses up the one request that a limited gateway allows.
func spend(t *testing.T, origin, slug, input string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, origin+"/api/tools/"+slug,
		strings.NewReader(`{"input":"`+input+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Real-IP", visitor)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// A tool that is limited for seconds is repeated when the pause is over, and the report comes to its end.
func reportWaitsForItsTurn(t *testing.T) {
	origin, err := startPages("gateway-pages-pausing", "TRUST_PROXY_HEADERS=true", "RATE_LIMIT_CLIENT_REQUESTS=6",
		"RATE_LIMIT_WINDOW=2s")
	if err != nil {
		t.Fatal(err)
	}
	tab := openTab(t, browser.Options{Origin: origin})
	tab.Open("/report?target=11.80.0.5")
	tab.UntilWithin(reported, patience)
	tab.Open("/report?target=fast.lab-site.com")
	tab.Until(`document.querySelector("article.tool-card[data-state=limited]")`)
	tab.UntilWithin(reported, patience)
	for slug, state := range states(tab) {
		if state != "done" && state != "failed" {
			t.Errorf("%s is %s", slug, state)
		}
	}
	holdRecord(t, tab, "429", "502")
}

func reportIsCancelled(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open("/report?target=never.lab-site.com")
	tab.Until(`document.querySelector("article.tool-card[data-state=running]")`)
	tab.Click("#cancel")
	tab.Until(reported)
	if !slices.Contains(slices.Collect(maps.Values(states(tab))), "cancelled") {
		t.Errorf("no tool is cancelled: %v", states(tab))
	}
	holdRecord(t, tab, "/api/tools/")
}

// Both files hold the whole report of a domain whose records are markup: the one as data, the other as a page that
// loads nothing and runs nothing.
func reportExport(t *testing.T) {
	const target = "lab-hostile-mail.com"
	tab := openTab(t, browser.Options{})
	tab.Open("/report?target=" + target)
	tab.UntilWithin(reported, patience)
	tab.Until(`!document.querySelector("#export-json").disabled`)
	holdTextOnly(t, tab, "#result")
	name, file := tab.Download(func() { fromMenu(tab, "#export-json") })
	if !strings.Contains(name, target) || !strings.HasSuffix(name, ".json") {
		t.Errorf("the file is called %s", name)
	}
	var data any
	if err := json.Unmarshal(file, &data); err != nil {
		t.Fatal(err)
	}
	for slug := range states(tab) {
		if !strings.Contains(string(file), `"`+slug+`"`) {
			t.Errorf("the JSON file lacks %s", slug)
		}
	}
	name, file = tab.Download(func() { fromMenu(tab, "#export-html") })
	if !strings.Contains(name, target) || !strings.HasSuffix(name, ".html") {
		t.Errorf("the file is called %s", name)
	}
	holdFile(t, file)
	for _, want := range []string{target, "&lt;script&gt;"} {
		if !strings.Contains(string(file), want) {
			t.Errorf("the file lacks %q", want)
		}
	}
	holdRecord(t, tab, "/api/tools/")
}

// holdFile fails for all that a saved page must not have: scripts, and whatever loads something.
func holdFile(t *testing.T, file []byte) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(string(file)))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if slices.Contains([]string{"script", "img", "iframe", "object", "embed", "base", "link", "video", "audio", "image"},
			n.Data) {
			t.Errorf("<%s> in the file", n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "srcset" ||
				a.Key == "href" && strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
				t.Errorf("<%s %s=%q> in the file", n.Data, a.Key, a.Val)
			}
		}
	}
	if strings.Contains(string(file), "@import") || strings.Contains(string(file), "url(") {
		t.Error("the file's styles load something")
	}
}

// visible counts what is whole above a line of the page.
func visible(tab *browser.Tab, selector string, height int) int {
	var n int
	tab.Value(fmt.Sprintf(`[...document.querySelectorAll(%q)].filter((e) => {
		const box = e.getBoundingClientRect(); return box.height > 0 && box.bottom <= %d; }).length`, selector, height), &n)
	return n
}

// asks counts the requests that a tab sent to tools.
func asks(tab *browser.Tab) int {
	n := 0
	for _, request := range tab.Record().Requests {
		if strings.Contains(request, "/api/tools/") {
			n++
		}
	}
	return n
}

// The first screen shows the state, the facts and the worst findings, and nothing moves while they come.
func reportAtAGlance(t *testing.T) {
	for i, look := range []struct{ width, height, findings int }{{1280, 800, 5}, {360, 740, 3}} {
		t.Run(strconv.Itoa(look.width), func(t *testing.T) {
			tab := openTab(t, browser.Options{})
			tab.Look(look.width, false)
			tab.Open("/report?target=sec-bad.lab-site.com")
			tab.UntilWithin(reported, patience)
			if shift := tab.Record().Shift; shift > 0.01 {
				t.Errorf("the layout shifts by %.4f:\n%s", shift, strings.Join(tab.Record().Shifts, "\n"))
			}
			holdText(t, tab, "#result > .state", "sec-bad.lab-site.com works.", " suggestions.")
			holdText(t, tab, "#result > .tiles", "200 OK", "days left", "All 4 agree", "No mail server")
			if cut := tab.String(`[...document.querySelectorAll(".tile-value")].filter((e) => e.scrollWidth > e.clientWidth ||
				e.scrollHeight > e.clientHeight + 1).map((e) => e.textContent).join()`); cut != "" {
				t.Errorf("facts on top are cut: %s", cut)
			}
			holdText(t, tab, "#result > .unfit", "Not for this kind of target: IP geolocation and ASN lookup.")
			if n := tab.Count("article.tool-card:is([data-slug=ip-geolocation], [data-slug=asn-lookup])"); n != 0 {
				t.Errorf("%d checks that cannot look at a domain have a card", n)
			}
			for _, part := range []string{"#result > .state", "#result > .tiles"} {
				if visible(tab, part, look.height) != 1 {
					t.Errorf("%s is not on the first screen", part)
				}
			}
			if n := visible(tab, "#attention .concerns > li", look.height); n < look.findings {
				t.Errorf("%d findings are on the first screen, want %d", n, look.findings)
			}
			// The states of all checks show at every width, and mail comes after all else: the domain takes none.
			if shown, all := visible(tab, ".contents li", 1<<20), len(states(tab)); shown != all || all < 10 {
				t.Errorf("%d of %d checks show their state", shown, all)
			}
			if first := tab.Text("#attention .concerns > li:first-child .from"); strings.Contains(first, "Email") {
				t.Errorf("the first finding is of %s", first)
			}
			holdText(t, tab, "#attention .proven", "One request took", "days left", "First byte", "AS212000 LAB-TRANSIT")
			screens[i].holdLength(t, tab)
			// A card shows two to four facts of its answer, and one of what is not registered.
			if odd := tab.String(`[...document.querySelectorAll("article.tool-card[data-state=done]")].map((card) =>
				[card.dataset.slug, [...card.querySelectorAll(".card-facts > div > dt")]
					.filter((e) => getComputedStyle(e.parentElement).display !== "none").length])
				.filter(([slug, n]) => n < (slug === "whois-lookup" ? 1 : 2) || n > 4).join(" ")`); odd != "" {
				t.Errorf("facts of cards: %s", odd)
			}
		})
	}
}

// A press shows the findings of one weight, and another press all of them again.
func reportFilter(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open("/report?target=sec-bad.lab-site.com")
	tab.UntilWithin(reported, patience)
	all := tab.Count("#attention .concerns > li")
	tab.Click(".filter.warn")
	tab.Until(`document.querySelector(".filter.warn[aria-pressed=true]")`)
	if some := tab.Count("#attention .concerns > li"); some == 0 || some >= all {
		t.Errorf("%d of %d findings are left", some, all)
	}
	if others := tab.Count("#attention .concerns > li:not([data-group=safer])"); others > 0 {
		t.Errorf("%d of them are no suggestions", others)
	}
	tab.Click(".filter.warn")
	tab.Until(`document.querySelector(".filter.warn[aria-pressed=false]")`)
	if n := tab.Count("#attention .concerns > li"); n != all {
		t.Errorf("%d findings are back, want %d", n, all)
	}
}

// holdCardsByLinks fails where a link to a card does not open it in sight, or where the end of the report moves an open
// one.
func holdCardsByLinks(t *testing.T, tab *browser.Tab) {
	t.Helper()
	const trace, mail = `article.tool-card[data-slug=traceroute]`, `article.tool-card[data-slug=email-dns-health]`
	top := func() int {
		t.Helper()
		n, err := strconv.Atoi(tab.String(`String(Math.round(document.querySelector("` + trace +
			`").getBoundingClientRect().top))`))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	tab.WaitFor(trace + "[data-state=done]")
	tab.Click(`.contents a[href="#card-traceroute"]`)
	tab.WaitFor(trace + ".open [role=table].trace")
	before := top()
	tab.UntilWithin(reported, patience)
	// A window scrolls by whole pixels.
	if after := top(); after < before-1 || after > before+1 || after < 0 {
		t.Errorf("the open card was %d px below the top of the window and is %d px as the report has ended", before, after)
	}
	tab.Click(trace + " .unfold")
	tab.Click(`.tiles a[href="#card-email-dns-health"]`)
	tab.WaitFor(mail + ".open [data-record=DMARC][open]")
	if n := visible(tab, mail+" [data-record=DMARC] .value", 800); n == 0 {
		t.Error("the record to publish is not on the first screen of its card")
	}
	tab.Click(mail + " .unfold")
	// A card that opens later than half a second after its click counts as a shift.
	holdQuiet(t, tab)
	tab.Forget()
}

// A card shows the whole answer that came, and sends a new request only on a click.
func reportCardOpensInPlace(t *testing.T) {
	const card = `article.tool-card[data-slug=ssl-checker]`
	tab := openTab(t, browser.Options{})
	tab.Open("/report?target=sec-repaired.lab-site.com")
	holdCardsByLinks(t, tab)
	tab.UntilWithin(reported, patience)
	holdText(t, tab, card, "Valid to", "Issuer")
	if tab.Count(card+" svg.thumb[role=img][aria-label]") != 1 {
		t.Error("the card has no picture with words")
	}
	holdRecord(t, tab)
	holdCheckedAgain(t, tab)
	before := asks(tab)
	tab.Click(card + " .unfold")
	tab.WaitFor(card + " .whole .verdict")
	holdText(t, tab, card+" .whole", "Validity")
	holdText(t, tab, card+" .foot", "ago", "Run again", "Close")
	if n := asks(tab); n != before {
		t.Errorf("%d requests were sent to open it", n-before)
	}
	holdLooks(t, tab, "report-open")
	tab.Click(card + " .unfold")
	tab.Until(`document.querySelector("` + card + ` .whole[hidden]")`)
	tab.Click(card + " .unfold")
	tab.WaitFor(card + " .whole .verdict")
	if tab.Count(card+" .whole :is(.unchanged, .changed)") != 0 {
		t.Error("the answer is compared with itself")
	}
	tab.Run(`[...document.querySelectorAll("` + card + ` .foot button")].find((b) => b.textContent.startsWith("Run again")).click()`)
	tab.Until(`document.querySelector("` + card + `[data-state=done] .whole[hidden]")`)
	if n := asks(tab); n != before+1 {
		t.Errorf("%d requests were sent to run it again", n-before)
	}
	tab.Click(card + " .unfold")
	tab.WaitFor(card + " .whole .verdict")
	holdText(t, tab, card+" .whole", "Nothing changed since your last run in this browser")
	// Other cards make room for one that opens: later than half a second after the click, that counts as a shift.
	holdQuiet(t, tab)
}

// holdCheckedAgain holds of two findings that their Fix has the lines to paste, and that one more request each reports
// what became of them, with the focus where it was: before the site is repaired, and after one of them is.
func holdCheckedAgain(t *testing.T, tab *browser.Tab) {
	t.Helper()
	const gone, there = "HSTS_INEFFECTIVE", "CSP_INLINE_SCRIPTS"
	tab.Run(`document.querySelectorAll("#attention .advice:has(.fix):not([open]) > summary").forEach((s) => s.click())`)
	check := func(code, mark, fate string) {
		t.Helper()
		before, at := asks(tab), "#attention [data-fix*="+code+"] "
		holdText(t, tab, at, "nginx", "add_header ")
		tab.Run(`document.querySelector('` + at + `.fate').replaceChildren()`)
		tab.Click(at + ".check-again button")
		tab.WaitFor(at + ".fate[role=status] .mark." + mark)
		holdText(t, tab, at+".fate", fate)
		if n := asks(tab) - before; n != 1 {
			t.Errorf("%d requests were sent to check a finding again", n)
		}
		if !tab.Holds(`document.activeElement.closest(".check-again") !== null`) {
			t.Error("the focus has left the button")
		}
	}
	check(gone, "warn", "Still there.")
	site.Repaired.Store(true)
	check(gone, "good", "Gone.")
	check(there, "warn", "Still there.")
}

// What the checks of a report came to is kept as if each had been run on its own page: the strip of tools and the
// history know it.
func reportIsRemembered(t *testing.T) {
	const target = "11.80.0.5"
	tab := openTab(t, browser.Options{})
	tab.Open("/report?target=" + target)
	tab.UntilWithin(reported, patience)
	done := 0
	for _, state := range states(tab) {
		if state == "done" {
			done++
		}
	}
	tab.Open(toolPath("ip-geolocation", target))
	untilAnswered(tab)
	holdText(t, tab, "#result", "since your last run in this browser")
	if known := tab.Count("#strip li:not([hidden]) .mark:not(:empty)"); done < 4 || known != done {
		t.Errorf("the strip has %d of %d answers", known, done)
	}
	tab.Open("/history")
	if kept := tab.Count(`[data-target='` + target + `'] .states > li`); kept != done {
		t.Errorf("the history has %d of %d answers", kept, done)
	}
	holdRecord(t, tab)
}

// The findings are long sentences here, and as many of them are on the first screen.
func reportOfLongFindings(t *testing.T) {
	for i, findings := range []int{5, 3} {
		s := screens[i]
		t.Run(s.name, func(t *testing.T) {
			tab := openTab(t, browser.Options{})
			tab.Look(s.width, false)
			tab.Open("/report?target=expired.lab-site.com")
			tab.UntilWithin(reported, patience)
			if n := visible(tab, "#attention .concerns > li", s.height); n < findings {
				t.Errorf("%d findings are on the first screen, want %d:\n%s", n, findings, tab.Text("#attention"))
			}
			s.holdLength(t, tab)
			tab.Screenshot("report-long")
		})
	}
}

// What is refused for itself is refused once.
func reportOfARefusedTarget(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open("/report?target=10.0.0.1")
	tab.UntilWithin(`document.querySelector("#result[aria-busy=false] .refused")`, patience)
	holdText(t, tab, "#result .refused", "10.0.0.1 is a private address")
	if n := tab.Count("article.tool-card"); n != 0 {
		t.Errorf("%d cards are shown", n)
	}
	if n := asks(tab); n > 2 {
		t.Errorf("%d requests were sent", n)
	}
	if tab.Attribute("#target", "aria-invalid") != "true" {
		t.Error("the field does not say so")
	}
	holdLooks(t, tab, "report-refused")
	holdRecord(t, tab, "400")
}

// Two targets are compared by the checks that both have.
func reportsSideBySide(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open("/report?target=11.80.0.5&compare=11.80.0.45")
	tab.UntilWithin(`document.querySelector("#comparison table")`, patience)
	holdText(t, tab, "#comparison", "11.80.0.5 and 11.80.0.45", "1 difference in 1 check.")
	holdText(t, tab, "#comparison .fold:not([open]) > summary", "The same", "Ping, Traceroute, Port checker")
	holdLooks(t, tab, "report-compared")
	tab.Click("#comparison .comparison-head button")
	tab.Until(`!new URLSearchParams(location.search).has("compare") && !document.querySelector("#comparison table")`)
	holdRecord(t, tab)
	// The question that waits for a second target is not for paper.
	tab.Click("#compare")
	tab.WaitFor("#comparison .compare-form")
	tab.LookPrinted(1280)
	if !tab.Holds(`getComputedStyle(document.querySelector("#comparison")).display === "none"`) {
		t.Error("an empty box is printed")
	}
	tab.Printed()
	tab.Look(1280, false)
	// A tool compares two answers in the same way.
	tab.Open(toolPath("dns-lookup", "lab-dns.com", "compare", "agree.lab-resolve.com"))
	tab.WaitFor("#comparison table")
	holdText(t, tab, "#comparison", "lab-dns.com and agree.lab-resolve.com", "Only one of the two has", "The same")
	holdRecord(t, tab)
	tab.Click("#comparison .comparison-head button")
	tab.Until(`!new URLSearchParams(location.search).has("compare") && !document.querySelector("#comparison, .parts[hidden]")`)
}

// The tab's title begins with the target of the report that is on the page, and with no other.
func reportNamesItsTab(t *testing.T) {
	const plain = "Report · Network diagnostics"
	tab := openTab(t, browser.Options{})
	holdTitle := func(want string) {
		t.Helper()
		tab.Until(`document.querySelector("#result").ariaBusy !== null`)
		if title := strings.TrimLeft(tab.String(`document.title`), "✓!✗ "); title != want {
			t.Errorf("the title is %q, want %q", title, want)
		}
	}
	tab.Open("/report?target=11.80.0.5")
	holdTitle("11.80.0.5 · " + plain)
	tab.Open("/report")
	for _, target := range []string{"11.80.0.5", "11.80.0.45"} {
		tab.Fill("#target", target)
		tab.Click("#run")
		tab.Until(`document.querySelector("#report-title")?.textContent === "` + target + `"`)
		holdTitle(target + " · " + plain)
	}
	tab.Back()
	tab.Until(`document.querySelector("#report-title")?.textContent === "11.80.0.5"`)
	holdTitle("11.80.0.5 · " + plain)
	tab.Back()
	tab.Until(`!document.querySelector("#report-title")`)
	holdTitle(plain)
}

// A report is held against one that was saved as JSON, and copied for a ticket.
func reportBesideAFile(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open("/report?target=11.80.0.45")
	tab.UntilWithin(reported, patience)
	tab.Until(`!document.querySelector("#export-json").disabled`)
	_, file := tab.Download(func() { fromMenu(tab, "#export-json") })
	tab.Open("/report?target=11.80.0.5")
	tab.UntilWithin(reported, patience)
	tab.Until(`!document.querySelector("#compare").disabled`)
	before := asks(tab)
	take := func(content string) {
		tab.Run(`{
			const chosen = new DataTransfer(), field = document.querySelector("#compare-file");
			chosen.items.add(new File([` + strconv.Quote(content) + `], "report.json", { type: "application/json" }));
			field.files = chosen.files;
			field.dispatchEvent(new Event("change"));
		}`)
	}
	tab.Click("#compare")
	tab.WaitFor("#compare-file")
	take("no report")
	tab.Until(`document.querySelector("#compare-error").textContent.includes("not a report saved as JSON")`)
	take(string(file))
	tab.WaitFor("#comparison table")
	holdText(t, tab, "#comparison", "11.80.0.5 and 11.80.0.45", "1 difference in 1 check.")
	holdText(t, tab, "#comparison .fold:not([open]) > summary", "The same", "Ping, Traceroute, Port checker")
	if n := asks(tab); n != before {
		t.Errorf("%d requests were sent to compare with a file", n-before)
	}
	tab.Run(`navigator.clipboard.writeText = async (text) => { globalThis.labCopied = text; };`)
	fromMenu(tab, "#export-markdown")
	tab.Until(`globalThis.labCopied`)
	if copied := tab.String(`labCopied`); !strings.HasPrefix(copied, "#") || !strings.Contains(copied, "11.80.0.5") || !strings.Contains(copied, "Ping") {
		t.Errorf("copied was:\n%s", copied)
	}
	holdRecord(t, tab)
}

// What several checks report of a domain that resolvers do not find is listed once, in the words of dns-delegation.
func reportListsAFaultOnce(t *testing.T) {
	// Cloudflare's resolver rejects what does not validate; the lab's own does not.
	origin, err := startPages("gateway-pages-validating", "TRUST_PROXY_HEADERS=true", "DNS_RESOLVERS=1.1.1.1")
	if err != nil {
		t.Fatal(err)
	}
	// Behind those that report it come the checks that could not answer for it.
	const silenced = " redirect-checker robots-sitemap ssl-checker http-headers security-headers"
	for domain, want := range map[string]string{
		"lab-sec-nokey.com": "DNSSEC_DS_KEY_MISSING dns-delegation uptime dns-lookup dns-resolver-check email-dns-health" +
			silenced,
		"lab-deleg-silent.com": "NO_SERVER_ANSWERS dns-delegation dns-resolver-check dns-lookup uptime email-dns-health" +
			silenced,
		"lab-deleg-gone.com": "NOT_DELEGATED dns-delegation uptime dns-lookup email-dns-health dns-resolver-check",
	} {
		tab := openTab(t, browser.Options{Origin: origin})
		tab.Open("/report?target=" + domain)
		tab.UntilWithin(reported, patience)
		var lines []string
		tab.Value(`[...document.querySelectorAll(".concerns li")].map((line) => [line.dataset.code,
			...[...line.querySelectorAll(".from a")].map((from) => from.hash.slice("#card-".length))].join(" "))`, &lines)
		if len(lines) == 0 || lines[0] != want {
			t.Errorf("%s: first is %q, want %q", domain, lines, want)
		}
		t.Logf("%s: %q", domain, lines)
		for _, code := range []string{"DNSSEC_FAILS", "NAME_SERVERS_UNREACHABLE", "RESOLUTION_FAILS", "NAME_NOT_FOUND",
			"DOMAIN_NOT_FOUND", "RESOLVERS_AGREE_ON_ABSENCE"} {
			if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, code+" ") }) {
				t.Errorf("%s: %s again, among %q", domain, code, lines)
			}
		}
		card := tab.String(`document.querySelector("[data-slug=dns-delegation] .said .verdict").textContent`)
		if !strings.Contains(card, domain) {
			t.Errorf("the card of %s: %s", domain, card)
		}
		holdLooks(t, tab, "report-"+strings.TrimSuffix(domain, ".com"))
	}
}
