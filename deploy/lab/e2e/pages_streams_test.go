//go:build e2e

package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/browser"
)

// What pages show and say while a run goes on. Nothing here looks now and then: a script in the page keeps all that was
// ever drawn, however short.

// mostShift is by how much a page may move over a whole run.
const mostShift = 0.01

// keepRun keeps what a run draws and says. A frame is a new count, stage or text of what has been found.
const keepRun = `{
	const kept = globalThis.labRun = { frames: [], said: [], cards: {}, made: [], requests: 0, drawnMs: -1, buttons: 0 };
	const bad = "#result ` + noElements + `";
	let acted = null, line = "";
	const deed = (e) => {
		if (e.isTrusted && (e.type === "click" ? e.target.closest("#run") : e.key === "Enter")) acted ??= e.timeStamp;
	};
	addEventListener("click", deed, true);
	addEventListener("keydown", deed, true);
	const ask = globalThis.fetch;
	globalThis.fetch = (to, init) => {
		if (String(to).startsWith("/api/tools/")) kept.requests += 1;
		return ask(to, init);
	};
	const textOf = (top) => {
		const walk = document.createTreeWalker(top, NodeFilter.SHOW_TEXT), parts = [];
		while (walk.nextNode()) parts.push(walk.currentNode.data);
		return parts.join(" ");
	};
	const frame = () => {
		const live = document.querySelector("#result[aria-busy=true] > .live");
		if (!live) return;
		if (kept.frames.length % 5 === 1) kept.buttons += [...live.querySelectorAll("button")]
			.filter((b) => b.checkVisibility({ visibilityProperty: true })).length;
		const now = { count: Number(live.dataset.count), text: textOf(live),
			doing: document.querySelector("#result > p.verdict.pending")?.textContent ?? "" };
		const last = kept.frames.at(-1);
		if (!last || ["count", "text", "doing"].some((part) => last[part] !== now[part])) kept.frames.push(now);
	};
	const cards = () => {
		for (const card of document.querySelectorAll("article.tool-card[data-state=running]")) {
			const text = card.querySelector(".said .now")?.textContent;
			const list = kept.cards[card.dataset.slug] ??= [];
			if (text && list.at(-1) !== text) list.push(text);
		}
	};
	new MutationObserver(() => {
		frame();
		cards();
		kept.made.push(...[...document.querySelectorAll(bad)].map((e) => e.outerHTML.slice(0, 200)));
		const text = document.querySelector("#live")?.textContent ?? "";
		if (text !== line && text) kept.said.push({ text, atMs: performance.now() });
		line = text;
		const begun = document.querySelector("#result > p.verdict.pending, .tool-card .now");
		if (acted === null || kept.drawnMs !== -1 || !begun) return;
		kept.drawnMs = -2;
		requestAnimationFrame(() => setTimeout(() => { kept.drawnMs = performance.now() - acted; }));
	}).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
}`

// frame is a state of a page while a run went on.
type frame struct {
	Count       int
	Text, Doing string
}

// keptRun is what keepRun kept.
type keptRun struct {
	Frames []frame
	Said   []struct {
		Text string
		AtMS float64
	}
	Cards    map[string][]string
	Made     []string
	Requests int
}

// counts are the different counts that were shown, in their order.
func (k keptRun) counts() (counts []int) {
	for _, f := range k.Frames {
		counts = append(counts, f.Count)
	}
	return slices.Compact(counts)
}

func (k keptRun) String() string {
	var s strings.Builder
	for _, f := range k.Frames {
		fmt.Fprintf(&s, "%d: %s | %.200s\n", f.Count, f.Doing, f.Text)
	}
	return s.String()
}

func kept(tab *browser.Tab) (k keptRun) {
	tab.Value(`globalThis.labRun`, &k)
	return k
}

// openRun opens a page whose runs are kept.
func openRun(t *testing.T, o browser.Options, path string) *browser.Tab {
	t.Helper()
	tab := openTab(t, o)
	tab.Before(keepRun)
	tab.Open(path)
	return tab
}

// hold holds what was kept of a run that is over to what is true of every run.
func (k keptRun) hold(t *testing.T, tab *browser.Tab) {
	t.Helper()
	for _, made := range k.Made {
		t.Errorf("made of data: %s", made)
	}
	if !slices.IsSorted(k.counts()) {
		t.Errorf("what was found vanished again: %v", k.counts())
	}
	for _, f := range k.Frames {
		if f.Doing != "" && !strings.Contains(f.Doing, "at most") {
			t.Errorf("%q does not say how long it takes at most", f.Doing)
			break
		}
	}
	holdStill(t, tab)
	holdRecord(t, tab, "/api/tools/")
}

// holdStill fails where a page has moved by more than a run may move it.
func holdStill(t *testing.T, tab *browser.Tab) {
	t.Helper()
	if seen := tab.Record(); seen.Shift > mostShift {
		t.Errorf("the layout shifts by %.4f:\n%s", seen.Shift, strings.Join(seen.Shifts, "\n"))
	}
}

// A report in which one check waits for a server that never answers shows where it is, while the others end.
func reportWithADeadCheck(t *testing.T) {
	tab := openRun(t, browser.Options{}, "/report?target=broken6.lab-site.com")
	tab.Until(`document.querySelectorAll("article.tool-card[data-state=done]").length > 4`)
	got := states(tab)
	if got["uptime"] != "running" {
		t.Errorf("uptime is %s while %v", got["uptime"], got)
	}
	tab.Screenshot("live-report")
	tab.UntilWithin(reported, patience)
	k := kept(tab)
	t.Logf("%q", k.Cards)
	if len(k.Cards["uptime"]) < 3 {
		t.Errorf("%d states of the card: %q", len(k.Cards["uptime"]), k.Cards["uptime"])
	}
	holdStill(t, tab)
	holdRecord(t, tab, "/api/tools/")
	tab.Until(`globalThis.labRun.said.at(-1).text.includes(" answered in ")`)
	k = kept(tab)
	k.holdSaid(t, true)
	if !regexp.MustCompile(`^\d+ of \d+ checks finished\.$`).MatchString(k.Said[1].Text) {
		t.Errorf("no milestone was announced: %v", k.Said)
	}
}

// A check that ends without an answer shows on its card what it had found until then.
func reportKeepsWhatWasFound(t *testing.T) {
	held := holdBack(t, service.Gateway)
	tab := openTab(t, browser.Options{Origin: held.origin})
	tab.Open("/report?target=fast.lab-site.com")
	tab.Until(`[...document.querySelectorAll("article.tool-card .now")].some((now) => now.textContent.includes("so far"))`)
	tab.Click("#cancel")
	tab.Until(reported)
	tab.Until(`!document.querySelector("article.tool-card:not([data-state=cancelled])")`)
	holdText(t, tab, "#result .all-cards", "Cancelled before an answer came.", "Found before that (incomplete): ")
	holdText(t, tab, "#result .failed-alike summary", "checks without an answer: Cancelled before an answer came.")
	holdLooks(t, tab, "report-cancelled")
}

// holdSaid holds what screen readers were given: a beginning and an end, milestones where they are wanted, and never
// a line a probe.
func (k keptRun) holdSaid(t *testing.T, milestones bool) {
	t.Helper()
	said := k.Said
	if len(said) < 2 {
		t.Fatalf("announced: %v", said)
	}
	took := (said[len(said)-1].AtMS - said[0].AtMS) / 1000
	t.Logf("in %.1f s were announced: %v", took, said)
	if float64(len(said)-2) > took/3 || milestones && len(said) < 3 {
		t.Errorf("%d lines in %.1f s: %v", len(said), took, said)
	}
	if !strings.HasPrefix(said[0].Text, "Running ") || strings.Contains(said[len(said)-1].Text, "so far") {
		t.Errorf("no beginning or no end: %v", said)
	}
}

// holdLive looks at a run that goes on in both themes, narrow and wide.
func holdLive(t *testing.T, tab *browser.Tab, name string) {
	t.Helper()
	for _, width := range []int{360, 1280} {
		for _, dark := range []bool{false, true} {
			tab.Look(width, dark)
			if pixels, elements := tab.Overflow(); pixels > 0 {
				t.Errorf("at %d px the page is %d px too wide: %s", width, pixels, elements)
			}
			tab.Screenshot(name)
			for _, finding := range tab.Axe() {
				t.Errorf("at %d px, dark %t: %s", width, dark, finding)
			}
		}
	}
	if !tab.Holds(`document.querySelector("#result[aria-busy=true]")`) {
		t.Error("the run was over before it was looked at")
	}
}

// pagesOf gives the origin of a pair's gateway for the browser.
func (p *pair) pagesOf(t *testing.T) string {
	t.Helper()
	at, err := internet.Forward("127.0.0.1:0", p.gateway.Addr)
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + at
}

// states are those between the click and the answer in which something is known, or what is being done.
func (k keptRun) states() int {
	return len(slices.DeleteFunc(slices.Clone(k.Frames), func(f frame) bool {
		return f.Count == 0 && strings.HasPrefix(f.Doing, "Starting")
	}))
}

// plainFetch has the page send requests as pages did before there were streams.
const plainFetch = `{
	const ask = globalThis.fetch;
	globalThis.fetch = (to, init) => {
		if (init?.headers) delete init.headers.Accept;
		return ask(to, init);
	};
}`

// measured are figures that differ from run to run.
var measured = regexp.MustCompile(`\d[\d.,]*( |\x{a0})?(ms|s|hours?|minutes?|seconds?)\b`)

// balanced are the routers of a hop with several paths: which of them a trace meets differs from run to run.
var balanced = regexp.MustCompile(`(11\.78\.[67]\.[12])+(several paths)?`)

// factsOf is what an answer says, without what differs from run to run.
func factsOf(tab *browser.Tab, of string) string {
	text := tab.String(`[...document.querySelectorAll(` + "`" + of + "`" + `)].map((e) => e.textContent).join("\n")`)
	return balanced.ReplaceAllString(measured.ReplaceAllString(text, "#"), "#")
}

// hopFacts are each hop's number and router, without what was measured.
const hopFacts = ".verdict, .trace-hop > th, .trace-hop > td:nth-child(2)"

// A slow run shows several states before its answer, and its answer is that of a page that requested no stream.
func TestRunsShowWhatTheyFind(t *testing.T) {
	for _, c := range []struct {
		name, path, facts string
		// shown is in a state before the end.
		shown string
		// states is how many there are at least.
		states int
	}{
		{"trace-dirty", toolPath("traceroute", "dirty.lab-transit.net"), hopFacts, "11.78.", 3},
		{"trace-slow", toolPath("traceroute", "slow.lab-transit.net"), hopFacts, "11.77.75.1", 3},
		{"uptime-slow", toolPath("uptime", "http://slow6.lab-site.com/"), ".verdict, .uptime-family h3", "being asked", 3},
		// The second family is known with the end, so that browsers draw it with the answer.
		{"uptime-dead", toolPath("uptime", "https://broken6.lab-site.com/"), ".verdict, .uptime-family h3", "11.80.0.1 Status 200 IPv6 being asked", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tab := openRun(t, browser.Options{}, c.path)
			tab.UntilWithin(`globalThis.labRun.frames.at(-1)?.count > `+strconv.Itoa(c.states-1)+` || `+answered, patience)
			tab.Screenshot("live-" + c.name)
			untilAnswered(tab)
			k := kept(tab)
			// A browser that gets no processor draws what came meanwhile as one: then the run begins anew.
			for end := time.Now().Add(patience); k.states() < c.states && time.Now().Before(end); {
				tab.Reload()
				untilAnswered(tab)
				k = kept(tab)
			}
			t.Logf("%d states, counts %v\n%s", k.states(), k.counts(), k)
			if k.states() < c.states {
				t.Errorf("%d states before the answer:\n%s", k.states(), k)
			}
			if !slices.ContainsFunc(k.Frames, func(f frame) bool { return strings.Contains(f.Text, c.shown) }) {
				t.Errorf("%q was not shown before the answer:\n%s", c.shown, k)
			}
			k.hold(t, tab)
			streamed := factsOf(tab, "#result :is("+c.facts+")")
			tab.Before(plainFetch)
			tab.Reload()
			untilAnswered(tab)
			if plain := factsOf(tab, "#result :is("+c.facts+")"); plain != streamed || plain == "" {
				t.Errorf("the stream came to\n%s\nand the plain answer to\n%s", streamed, plain)
			}
		})
	}
}

// Cancel ends the run where it runs: in the gateway and in the worker. What was found stays, marked as incomplete.
func TestCancelEndsTheRun(t *testing.T) {
	p := startPair(t, "cancelled")
	tab := openRun(t, browser.Options{Origin: p.pagesOf(t)}, toolPath("packet-loss", "lossy.lab-transit.net"))
	tab.Until(`globalThis.labRun.frames.at(-1)?.count > 3`)
	tab.Click("#cancel")
	tab.Until(`document.querySelector("#result[aria-busy=false] .live.incomplete")`)
	for _, log := range []struct {
		server *lab.Server
		says   string
	}{{p.worker, `"msg":"job","tool":"packet-loss","status":499`}, {p.gateway, `"slug":"packet-loss"`}} {
		eventually(t, "a line with "+log.says, func() bool { return strings.Contains(log.server.Process.Log(), log.says) })
	}
	holdText(t, tab, "#result", "Below is what it had found until then.")
	if tab.Count("#run[aria-busy]") > 0 || !tab.Holds(`document.activeElement.id === "run"`) {
		t.Error("the button is not ready for the next run")
	}
	tab.Screenshot("live-cancelled")
	for _, finding := range tab.Axe() {
		t.Error(finding)
	}
	holdRecord(t, tab, "/api/tools/")
}

// What fails in the middle keeps what came before, marked as incomplete, beside what went wrong.
func TestFailuresKeepWhatCameBefore(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(p *pair)
		says string
	}{
		"worker":  {func(p *pair) { p.worker.Process.Kill() }, "stopped before it had answered"},
		"gateway": {func(p *pair) { p.gateway.Process.Kill() }, "was lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startPair(t, "cut-"+name)
			tab := openRun(t, browser.Options{Origin: p.pagesOf(t)}, toolPath("traceroute", "dirty.lab-transit.net"))
			tab.Until(`globalThis.labRun.frames.at(-1)?.count > 2`)
			c.end(p)
			tab.Until(`document.querySelector("#result[aria-busy=false] .live.incomplete")`)
			holdText(t, tab, "#result", c.says, "Below is what it had found until then.", "11.77.1.1")
			tab.Screenshot("live-failed-" + name)
			for _, finding := range tab.Axe() {
				t.Error(finding)
			}
			holdTextOnly(t, tab, "#result")
			holdRecord(t, tab, "/api/tools/", "net::ERR")
		})
	}
}

// The markup of others stays text while it comes in, in whatever step it stands.
func TestHostileStepsStayText(t *testing.T) {
	for _, c := range []struct{ name, path, shown string }{
		{"TXT", toolPath("dns-lookup", lab.DNSZone, "types", "TXT"), "<script>alert(1)</script>"},
		{"resolvers", toolPath("dns-resolver-check", lab.DNSZone, "recordType", "TXT"), "<script>alert(1)</script>"},
		{"Location", toolPath("redirect-checker", lab.RedirectTo("redirects.lab-site.com",
			`/to?x=<img/src=x/onerror=alert(1)>&location=/chain/0`, 302)), "onerror=alert(1)"},
		{"mail", toolPath("email-dns-health", "lab-hostile-mail.com", "dkimSelector", "s1"), ""},
		{"files", toolPath("robots-sitemap", "https://robots-hostile.lab-site.com/"), "robots.txt"},
		{"certificate", toolPath("ssl-checker", "hostilecert.lab-site.com"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			held := holdBack(t, service.Gateway)
			tab := openRun(t, browser.Options{Origin: held.origin}, c.path)
			tab.UntilWithin(`document.querySelector("#result[aria-busy=true] .live:not([data-count='0'])")`, patience)
			<-held.last
			if c.shown != "" {
				tab.Until(`document.querySelector("#result .live").textContent.includes(` + "`" + c.shown + "`" + `)`)
			}
			holdTextOnly(t, tab, "#result")
			holdLive(t, tab, "live-hostile-"+strings.ToLower(c.name))
			held.release()
			untilAnswered(tab)
			for _, made := range kept(tab).Made {
				t.Errorf("made of data: %s", made)
			}
			if title := tab.String(`document.title`); title == "taken" {
				t.Error("a script ran")
			}
			holdRecord(t, tab, "/api/tools/")
		})
	}
}

// The page of dns-delegation shows the conclusion in the place of the verdict while the run goes on.
func TestDelegationConclusionIsShown(t *testing.T) {
	t.Parallel()
	tab := openTab(t, browser.Options{})
	tab.Open(toolPath("dns-delegation", "lab-sec-halfsilent.com"))
	tab.Until(`document.querySelector("#result[aria-busy=true] .verdict.bad")`)
	holdText(t, tab, "#result .verdict", "does not resolve for validating resolvers")
	tab.UntilWithin(answered, patience)
	holdText(t, tab, "#result .verdict.bad", "does not resolve for validating resolvers")
	holdRecord(t, tab)
}
