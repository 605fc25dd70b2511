//go:build e2e

package e2e

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/lab/internal/browser"
)

// hurry makes the clock of a page's scripts run so many times as fast, its timers with it. The day's clock and the
// network keep their own time.
func hurry(tab *browser.Tab, times int) {
	tab.Before(fmt.Sprintf(`{
		const [now, once, often, times] = [performance.now.bind(performance), setTimeout, setInterval, %d];
		performance.now = () => now() * times;
		globalThis.setTimeout = (then, ms = 0, ...rest) => once(then, ms / times, ...rest);
		globalThis.setInterval = (then, ms = 0, ...rest) => often(then, ms / times, ...rest);
	}`, times))
}

// seeOrHide tells the page that its tab came to the front or went to the back. Headless, none ever is at the back.
func seeOrHide(tab *browser.Tab, state string) {
	tab.Run(`Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "` + state + `" });
		document.dispatchEvent(new Event("visibilitychange"));`)
}

// rounds is true when the page's first reading counts at least so many.
func rounds(n int) string {
	return fmt.Sprintf(`Number(document.querySelector("#result .readings dd")?.textContent) >= %d`, n)
}

// reroute leads what goes to an address over the leg of the dirty path that begins at a router, until the test ends.
func reroute(t *testing.T, to netip.Addr, router, next string) {
	t.Helper()
	for _, table := range []string{"101", "102"} {
		mustDo(t, "x5", "ip", "route", "replace", to.String()+"/32", "via", next, "dev", "to-"+router, "onlink",
			"src", "11.78.5.1", "table", table)
	}
}

// unroute takes what reroute did back.
func unroute(t *testing.T, to netip.Addr) {
	for _, table := range []string{"101", "102"} {
		mustDo(t, "x5", "ip", "route", "del", to.String()+"/32", "table", table)
	}
}

// A path is watched for three rounds, in the middle of which its route changes and the tab is away for a while: the
// page tells both, draws both, and gives both with its files.
func TestWatchAPath(t *testing.T) {
	to := netip.MustParseAddr("11.91.0.77")
	reroute(t, to, "a6", "11.78.6.1")
	t.Cleanup(func() { unroute(t, to) })
	tab := openTab(t, browser.Options{})
	hurry(tab, 6)
	tab.Open("/tools/traceroute")
	tab.Fill("#input", to.String())
	tab.Click("#watch")
	tab.Until(`document.querySelector(".watch[data-state=running]")`)
	holdText(t, tab, ".watch-line", "A round every 30 seconds. Round 1 is running.")
	tab.Until(`document.querySelector("#live").textContent === "Watching ` + to.String() + `, a round every 30 seconds."`)
	if at := tab.String(`location.search`); at != "?input="+to.String() {
		t.Errorf("the link is %s", at)
	}
	tab.UntilWithin(rounds(1), patience)
	tab.Until(`document.querySelector(".watch[data-state=waiting]")`)
	holdText(t, tab, ".watch-line", "A round every 30 seconds; the next in ")
	holdText(t, tab, ".watch-changes", "Nothing so far.")

	reroute(t, to, "b6", "11.78.6.2")
	tab.UntilWithin(rounds(2), patience)
	holdText(t, tab, ".watch-changes", "hop 6 changed from 11.78.6.1 to 11.78.6.2.",
		"hop 7 changed from 11.78.7.1 to 11.78.7.2.")
	tab.Until(`document.querySelector("#live").textContent.includes("hop 6 changed from 11.78.6.1 to 11.78.6.2")`)

	seeOrHide(tab, "hidden")
	tab.UntilWithin(`document.querySelector(".watch[data-state=hidden]")`, patience)
	holdText(t, tab, ".watch-line", "Paused while this tab is in the background.")
	tab.Until(`document.querySelector("#live").textContent.includes("Paused")`)
	before := len(tab.Record().Requests)
	time.Sleep(6 * time.Second) // more than a gap
	if after := len(tab.Record().Requests); after != before {
		t.Errorf("%d requests from a hidden tab", after-before)
	}
	seeOrHide(tab, "visible")
	tab.UntilWithin(rounds(3), patience)
	holdText(t, tab, ".watch-changes", "paused until ", "This tab was in the background.")
	holdText(t, tab, ".watch table", "11.78.6.2, 11.78.6.1", "11.91.0.77")

	tab.Click("#watch-stop")
	tab.Until(`document.querySelector(".watch[data-state=ended]") && document.activeElement.id === "watch-on"`)
	holdText(t, tab, ".watch-line", "Stopped after 3 rounds.")
	holdText(t, tab, ".watch .verdict", to.String()+" is reached after ", "2 changes in 3 rounds.")
	holdReadout(t, tab)
	t.Run("files", func(t *testing.T) { holdWatchFiles(t, tab, "traceroute-11.91.0.77-watch") })
	holdWatchLooks(t, tab, "watch-path")

	// Run takes the place of the watch.
	tab.Click("#run")
	untilAnswered(tab)
	if n := tab.Count(".watch"); n != 0 {
		t.Error("the watch is still there")
	}
}

// holdWatchLooks is holdLooks before and after which nothing went wrong, and leaves the page as it is on a screen.
func holdWatchLooks(t *testing.T, tab *browser.Tab, name string, expected ...string) {
	t.Helper()
	if shift := tab.Record().Shift; shift > 0.02 {
		t.Errorf("the layout shifts by %.3f:\n%s", shift, strings.Join(tab.Record().Shifts, "\n"))
	}
	holdRecord(t, tab, expected...)
	holdLooks(t, tab, name)
	tab.Look(1280, false)
	holdRecord(t, tab, expected...)
}

// holdReadout reads the picture by the keyboard: the latest round first, then hop 6 of it.
func holdReadout(t *testing.T, tab *browser.Tab) {
	t.Helper()
	tab.Run(`document.querySelector(".watch-canvas").focus()`)
	for range 6 {
		tab.Press("ArrowDown")
	}
	holdText(t, tab, ".watch-readout", "round 3, hop 6 (11.78.6.2): 3 of 3 probes answered, median ")
	tab.Press("ArrowLeft")
	holdText(t, tab, ".watch-readout", "paused. This tab was in the background.")
	tab.Press("Escape")
	holdText(t, tab, ".watch-readout", "arrow keys")
}

func holdWatchFiles(t *testing.T, tab *browser.Tab, name string) {
	got, file := tab.Download(func() { tab.Click("#watch-csv") })
	rows, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil || got != name+".csv" || len(rows) < 3*9+2 {
		t.Fatalf("%s has %d rows, %v:\n%s", got, len(rows), err, file)
	}
	column := map[string]int{}
	for i, title := range rows[0] {
		column[title] = i
	}
	seen := map[string]string{} // round and hop, or outcome, to address
	for _, row := range rows[1:] {
		if row[column["outcome"]] == "pause" {
			seen["pause"] = row[column["note"]]
		}
		seen[row[column["round"]]+"/"+row[column["hop"]]] = row[column["address"]]
	}
	for at, want := range map[string]string{
		"1/6": "11.78.6.1", "2/6": "11.78.6.2", "3/6": "11.78.6.2", "3/9": "11.91.0.77",
		"pause": "This tab was in the background.",
	} {
		if seen[at] != want {
			t.Errorf("the CSV has %q at %s, want %q:\n%s", seen[at], at, want, file)
		}
	}

	got, file = tab.Download(func() { tab.Click("#watch-json") })
	var data struct {
		Tool, Input          string
		SecondsBetweenRounds int
		Rounds               []struct {
			Outcome string
			Hops    []struct{ Addresses []string }
		}
		Changes []struct{ Text string }
	}
	if err := json.Unmarshal(file, &data); err != nil || got != name+".json" {
		t.Fatalf("%s: %v", got, err)
	}
	outcomes := []string{}
	for _, r := range data.Rounds {
		outcomes = append(outcomes, r.Outcome)
	}
	if !slices.Equal(outcomes, []string{"answer", "answer", "pause", "answer"}) || data.SecondsBetweenRounds != 30 ||
		data.Tool != "traceroute" || data.Rounds[1].Hops[5].Addresses[0] != "11.78.6.2" || len(data.Changes) != 2 {
		t.Errorf("the JSON has %+v", data)
	}

	got, file = tab.Download(func() { tab.Click("#watch-png") })
	picture, err := png.Decode(bytes.NewReader(file))
	if err != nil || got != name+".png" {
		t.Fatalf("%s: %v", got, err)
	}
	if size := picture.Bounds().Size(); size.X != 2400 || size.Y < 600 || colours(picture) < 8 {
		t.Errorf("the picture is %v with %d colours", size, colours(picture))
	}
	browser.SaveShot(t, "watch-export", file)
}

// colours counts those that a picture has over more than a few pixels.
func colours(p image.Image) (many int) {
	seen := map[color.Color]int{}
	for y := p.Bounds().Min.Y; y < p.Bounds().Max.Y; y += 3 {
		for x := p.Bounds().Min.X; x < p.Bounds().Max.X; x += 3 {
			seen[p.At(x, y)]++
		}
	}
	for _, n := range seen {
		if n > 20 {
			many++
		}
	}
	return many
}

// The strips of real probes and of a real site.
func TestWatchRounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ slug, input, other, says, verdict string }{
		{"ping", "11.90.0.9", "11.90.0.10", "No loss", "11.90.0.9 answered in "},
		{"packet-loss", "11.93.0.9", "11.93.0.10", "5 of 50", "11.93.0.9 left 10 % of probes unanswered in "},
		{"uptime", "http://v4only.lab-site.com/", "http://fast.lab-site.com/", "Up", "v4only.lab-site.com was up in "},
	} {
		t.Run(c.slug, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{})
			hurry(tab, 3)
			tab.Open(toolPath(c.slug, c.input))
			untilAnswered(tab)
			tab.Click("#watch")
			tab.UntilWithin(rounds(3), patience)
			tab.Click("#watch-stop")
			tab.Until(`document.querySelector(".watch[data-state=ended]")`)
			holdText(t, tab, ".watch table", c.says)
			holdText(t, tab, ".watch .verdict", c.verdict)
			// On a machine that has much to do a round may fail, which is drawn too.
			holdWatchLooks(t, tab, "watch-"+c.slug, "status of 504")
			// The address changes: the watch goes with the answer that it belongs to.
			tab.Fill("#input", c.other)
			tab.Click("#watch")
			tab.WaitFor(".watch[aria-label='Watching " + c.other + "']")
			tab.Back()
			untilAnswered(tab)
			if n := tab.Count(".watch"); n != 0 {
				t.Error("the watch of another address is still there")
			}
		})
	}
}

// answering puts a service of the test's own behind the page: it answers with what the expression gives for the n-th
// request, as {status, headers, body}.
func answering(tab *browser.Tab, expression string) {
	tab.Before(`globalThis.asked = 0; const real = fetch; globalThis.fetch = async (path, init) => {
		if (!String(path).startsWith("/api/tools/")) return real(path, init);
		const n = ++globalThis.asked; const { status = 200, headers = {}, body } = (` + expression + `)(n);
		return new Response(JSON.stringify(body),
			{ status, headers: { "Content-Type": "application/json", ...headers } });
	};`)
}

// uptimeAnswers is a site that goes down and comes back behind a service that limits and fails now and then; all that
// it says is markup and formulas.
const uptimeAnswers = `(n) => {
	const up = { verdict: "up", responseTimeMs: 40 + (n * 37) % 90, reason: null, families: {} };
	if (n === 4) return { status: 429, headers: { "Retry-After": "40" }, body: { error: "Too many requests." } };
	if (n === 6) return { status: 502, body: { error: "=HYPERLINK(\"http://evil\") <img src=x onerror=alert(1)>" } };
	const down = { ...up, verdict: "down", responseTimeMs: null, reason: "@SUM(1) <b>no</b> answer." };
	if (n >= 8 && n <= 10) return { body: { data: down } };
	if (n === 14) return { body: { data: { ...up, verdict: "degraded", reason: "The certificate has expired." } } };
	if (n === 30) return { status: 501, body: { error: "This tool is switched off here." } };
	return { body: { data: up } };
}`

// What goes wrong in between is told and drawn, and only a refusal of the check itself ends the watch.
func TestWatchTellsWhatGoesWrong(t *testing.T) {
	tab := openTab(t, browser.Options{})
	hurry(tab, 60)
	answering(tab, uptimeAnswers)
	tab.Open("/tools/uptime")
	tab.Fill("#input", "https://example.com/")
	tab.Click("#watch")
	tab.Until(`document.querySelector(".watch-line").innerText.includes("The service is limiting requests; next round in ")`)
	tab.Until(`document.querySelector(".watch-changes")?.textContent.includes("it went from down to up.")`)
	tab.UntilWithin(`globalThis.asked >= 20`, patience)
	tab.Click("#watch-stop")
	holdText(t, tab, ".watch-changes", "no result: Too many requests.", "no result: =HYPERLINK(",
		"it went from up to down: @SUM(1) <b>no</b> answer.",
		"it went from up to degraded: The certificate has expired.")
	holdText(t, tab, ".watch .verdict", "example.com is up; it was down in 3 of ",
		" rounds and degraded in 1. No result in 2 rounds.")
	holdTextOnly(t, tab, "#result")
	holdWatchLooks(t, tab, "watch-trouble")
	_, file := tab.Download(func() { tab.Click("#watch-csv") })
	rows, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil || len(rows) < 20 || !strings.Contains(string(file), "'@SUM(1)") {
		t.Fatalf("%v:\n%s", err, file)
	}
	for _, row := range rows {
		for _, cell := range row {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@") {
				t.Errorf("a spreadsheet takes %q for a formula", cell)
			}
		}
	}
	name, file := tab.Download(func() { tab.Click("#watch-png") })
	if _, err := png.Decode(bytes.NewReader(file)); err != nil || name != "uptime-https-example.com-watch.png" {
		t.Errorf("%s: %v", name, err)
	}
	browser.SaveShot(t, "watch-trouble-export", file)

	// It goes on with what it has, and ends by itself where the check is refused.
	tab.Click("#watch-on")
	tab.UntilWithin(`document.querySelector(".watch[data-state=ended] .notice.bad")`, patience)
	holdText(t, tab, ".watch-line", "The watch ended: the service refuses this check.")
	holdText(t, tab, ".watch .notice", "This tool is switched off here.")
	holdText(t, tab, ".watch-changes", "The watch had ended.")
	holdRecord(t, tab)
}

// A first answer that refuses the check is told at its field, as that of Run is.
func TestWatchOfNothing(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open("/tools/ping?input=10.0.0.1")
	tab.WaitFor("[aria-invalid=true]")
	tab.Click("#watch")
	tab.Until(`document.activeElement.matches("#input[aria-invalid=true]") && !document.querySelector(".watch")`)
	holdRecord(t, tab, "400")
}

// Where a part of it does not load, the page says so and can still run the check.
func TestWatchThatDoesNotLoad(t *testing.T) {
	for blocked, says := range map[string]string{
		"/assets/*/lib/watch.js":          "The watch did not load. Reload the page and try again.",
		"/assets/*/tools/uptime/watch.js": "The part of this page that watches did not load.",
	} {
		t.Run(blocked, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{})
			tab.Block(blocked)
			tab.Open("/tools/uptime")
			tab.Fill("#input", "http://fast.lab-site.com/")
			tab.Click("#watch")
			tab.Until(`document.querySelector("#server").innerText.includes("` + says + `")`)
			tab.Click("#run")
			untilAnswered(tab)
			holdText(t, tab, "#result .verdict", "fast.lab-site.com is up")
			holdRecord(t, tab, "Failed to fetch dynamically imported module", "net::ERR_BLOCKED_BY_CLIENT")
		})
	}
}

// After half an hour a watch ends until somebody says that it is still wanted.
func TestWatchEndsAfterHalfAnHour(t *testing.T) {
	tab := openTab(t, browser.Options{})
	hurry(tab, 600)
	answering(tab, steadyAnswers)
	tab.Open("/tools/uptime")
	tab.Fill("#input", "https://example.com/")
	tab.Click("#watch")
	tab.UntilWithin(`document.querySelector(".watch[data-state=ended]")`, patience)
	holdText(t, tab, ".watch-line", "Half an hour has passed, so the watch ended by itself.", "Resume")
	n := tab.String(`globalThis.asked`)
	tab.Click("#watch-on")
	tab.Until(`globalThis.asked > ` + n)
	tab.Click("#watch-stop")
	tab.Until(`document.querySelector(".watch[data-state=ended]")`)
	holdRecord(t, tab)
}

const steadyAnswers = `() => ({ body: { data: { verdict: "up", responseTimeMs: 50, reason: null } } })`

// bigAnswers are traces of which each is a megabyte and another than the one before.
const bigAnswers = `(n) => ({ body: { data: {
	target: "example.com", address: "11.90.0.1", family: 4, reached: true, stopReason: "reached", explanation: [],
	raw: String(n).repeat(200000),
	hops: Array.from({ length: 64 }, (_, i) => ({ ttl: i + 1, address: "11.0.0." + i,
		addresses: ["11.0.0." + i + "x".repeat(10000) + n], hostname: "y".repeat(2000) + n,
		hidden: false, sent: 3, received: 3, rttsMs: [i + n % 7, i + 1, i + 2], note: null })) } } })`

// What a page holds does not grow with the answers that it got: thirty rounds more, of a megabyte each, weigh what
// their numbers do.
func TestWatchKeepsMemoryFlat(t *testing.T) {
	tab := openTab(t, browser.Options{})
	hurry(tab, 200)
	answering(tab, bigAnswers)
	tab.Open("/tools/traceroute")
	tab.Fill("#input", "example.com")
	tab.Click("#watch")
	heap := map[int]int{}
	for _, n := range []int{10, 40} {
		tab.UntilWithin(rounds(n), patience)
		// While it is paused no answer is on its way.
		seeOrHide(tab, "hidden")
		tab.Until(`document.querySelector(".watch[data-state=hidden]")`)
		heap[n] = tab.Heap()
		seeOrHide(tab, "visible")
	}
	grown := heap[40] - heap[10]
	t.Logf("%d bytes after ten rounds, %d after forty: %d a round", heap[10], heap[40], grown/30)
	if grown > 30*mostOfARound {
		t.Errorf("thirty more rounds take %d bytes, at most %d", grown, 30*mostOfARound)
	}
	holdRecord(t, tab)
}

// mostOfARound is what a round of 64 hops may take, in bytes: three times and a count of each.
const mostOfARound = 20 << 10
