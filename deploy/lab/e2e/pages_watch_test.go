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
	"strconv"
	"strings"
	"testing"

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

// collectNotifications has the visitor allow the browser's notifications, and lists those that it has shown.
func collectNotifications(tab *browser.Tab) {
	tab.Permit("notifications")
	tab.Before(`{
		globalThis.shown = [];
		globalThis.Notification = class extends Notification {
			constructor(title, more) {
				super(title, more);
				this.addEventListener("show", () => shown.push(title + " " + more.icon.split("/").at(-1)));
			}
		};
	}`)
}

// holdSign fails where the title and the icon of the page do not show a state; an empty one is that of no watch.
func holdSign(t *testing.T, tab *browser.Tab, mark, state string) {
	t.Helper()
	title, icon := tab.String(`document.title`), tab.Attribute("link[rel=icon]", "href")
	if state == "" {
		if !strings.HasPrefix(title, mark) || !strings.HasSuffix(icon, "/icons/traceroute.svg") {
			t.Errorf("after the watch the title is %q and the icon %s", title, icon)
		}
		return
	}
	if !strings.HasPrefix(title, mark+" "+state+" · ") || !strings.HasSuffix(icon, "/states/"+state+".svg") {
		t.Errorf("the title is %q and the icon %s, want those of %s", title, icon, state)
	}
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

// A path is watched for five rounds, during which its route changes, the tab is hidden, the service is out of reach for
// a round, and the page is loaded again: the page names all, draws all, and gives all with its files.
func TestWatchAPath(t *testing.T) {
	to := netip.MustParseAddr("11.91.0.77")
	reroute(t, to, "a6", "11.78.6.1")
	t.Cleanup(func() { unroute(t, to) })
	tab := openTab(t, browser.Options{})
	hurry(tab, 7)
	collectNotifications(tab)
	tab.Open("/tools/traceroute")
	tab.Fill("#input", to.String())
	tab.Click("#watch")
	tab.Until(`document.querySelector(".watch[data-state=running]")`)
	holdText(t, tab, ".watch-line", "Checked every 30 seconds. Round 1 is running.")
	tab.Until(`document.querySelector("#live").textContent === "Watching ` + to.String() + ` every 30 seconds."`)
	if at := tab.String(`location.search`); at != "?input="+to.String() {
		t.Errorf("the link is %s", at)
	}
	tab.UntilWithin(rounds(1), patience)
	tab.Until(`document.querySelector(".watch[data-state=waiting]")`)
	holdText(t, tab, ".watch-line", "Checked every 30 seconds, next in ")
	holdText(t, tab, ".watch-changes", "None so far.")

	reroute(t, to, "b6", "11.78.6.2")
	tab.UntilWithin(rounds(2), patience)
	holdText(t, tab, ".watch-changes", "hop 6 changed from 11.78.6.1 to 11.78.6.2.",
		"hop 7 changed from 11.78.7.1 to 11.78.7.2.")
	tab.Until(`document.querySelector("#live").textContent.includes("hop 6 changed from 11.78.6.1 to 11.78.6.2")`)

	holdSign(t, tab, "✓", "works")
	var status int
	tab.Value(`fetch(document.querySelector("link[rel=icon]").href).then((answer) => answer.status)`, &status)
	if status != 200 {
		t.Errorf("the icon is a %d", status)
	}
	tab.Click("#watch-notify")
	tab.Until(`document.querySelector("#watch-notify[aria-pressed=true]")`)

	tab.Until(`document.querySelector(".watch[data-state=waiting]")`)
	tab.Hide()
	tab.Block("/api/*")
	holdText(t, tab, ".watch-line", "Checked every minute while this tab is in the background.")
	tab.UntilWithin(rounds(3), patience)
	holdText(t, tab, ".watch-changes", "no result: This service could not be reached.")
	holdSign(t, tab, "?", "unknown")
	tab.Until(`shown.length > 0`)
	if shown := tab.String(`shown.join()`); shown != to.String()+" gives no result unknown.svg" {
		t.Errorf("the notifications are %q", shown)
	}
	tab.Block()
	tab.Show()
	tab.UntilWithin(rounds(4), patience)
	holdSign(t, tab, "✓", "works")
	holdText(t, tab, ".watch table", "11.78.6.2, 11.78.6.1", "11.91.0.77")

	tab.Reload()
	tab.UntilWithin(rounds(5), patience)
	tab.Until(`document.querySelector("#watch-notify[aria-pressed=true]")`)
	holdText(t, tab, ".watch-changes", "not measured until ", "The page was loaded again.",
		"hop 7 changed from 11.78.7.1 to 11.78.7.2.")
	if marks := tab.String(`[...document.querySelectorAll(".watch-strip li")].map((li) => li.className)`); marks !=
		"is-works,is-works,is-unknown,is-works,is-unmeasured,is-works" {
		t.Errorf("the strip is %s", marks)
	}
	tab.Click("#watch-stop")
	tab.Until(`document.querySelector(".watch[data-state=ended]") && document.activeElement.id === "watch-on"`)
	holdText(t, tab, ".watch-line", "Stopped after 5 rounds.")
	holdText(t, tab, ".watch .verdict", to.String()+" is reached after ", "2 changes in 5 rounds. No result in 1 round.")
	holdSign(t, tab, to.String()+" · ", "")
	holdReadout(t, tab)
	t.Run("files", func(t *testing.T) { holdWatchFiles(t, tab, "traceroute-11.91.0.77-watch") })
	holdWatchLooks(t, tab, "watch-path", "ERR_BLOCKED_BY_CLIENT")

	// Loaded again, a watch that was stopped is there as it was.
	tab.Forget()
	tab.Reload()
	tab.WaitFor(".watch[data-state=ended]")
	holdText(t, tab, ".watch-line", "Stopped after 5 rounds.")
	for _, request := range tab.Record().Requests {
		if strings.Contains(request, "/api/") {
			t.Errorf("it requests %s", request)
		}
	}

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
	if shift := tab.Record().Shift; shift > 0.01 {
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
	holdText(t, tab, ".watch-readout", "round 5, hop 6 (11.78.6.2): 3 of 3 probes answered, median ")
	tab.Press("ArrowLeft")
	holdText(t, tab, ".watch-readout", "not measured. The page was loaded again.")
	tab.Press("Escape")
	holdText(t, tab, ".watch-readout", "arrow keys")
}

func holdWatchFiles(t *testing.T, tab *browser.Tab, name string) {
	got, file := tab.Download(func() { tab.Click("#watch-csv") })
	rows, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil || got != name+".csv" || len(rows) < 4*9+3 {
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
		"1/6": "11.78.6.1", "2/6": "11.78.6.2", "5/6": "11.78.6.2", "5/9": "11.91.0.77",
		"pause": "The page was loaded again.",
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
	if !slices.Equal(outcomes, []string{"answer", "answer", "failed", "answer", "pause", "answer"}) ||
		data.SecondsBetweenRounds != 30 ||
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

// leave opens another page in the tab of a watch that waits, and comes back to the same document: the watch goes on
// with its record.
func leave(t *testing.T, tab *browser.Tab) {
	t.Helper()
	tab.UntilWithin(`document.querySelector(".watch[data-state=waiting]")`, patience)
	tab.Run(`globalThis.same = true; addEventListener("pageshow", (e) => { globalThis.persisted = e.persisted; });`)
	tab.Open("/privacy")
	tab.Back()
	tab.Until(`globalThis.persisted && globalThis.same && document.querySelector(".watch[data-state=waiting]")`)
	holdText(t, tab, ".watch-changes", "not measured until ", "Another page was open in this tab.")
	rounds := tab.String(`document.querySelector("#result .readings dd").textContent`)
	if n, err := strconv.Atoi(rounds); err != nil || n < 3 {
		t.Errorf("the record has %s rounds, want 3 at least", rounds)
	}
	tab.Forget() // what moved as the page came back from the cache
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
			tab.UntilWithin(rounds(2), patience)
			// The machine sleeps between two rounds.
			tab.UntilWithin(`document.querySelector(".watch[data-state=waiting]") &&
				(() => { const now = Date.now; return Date.now = () => now() + 600_000; })()`, patience)
			tab.UntilWithin(`document.querySelector(".watch-changes").textContent.includes("This tab was asleep.")`, patience)
			tab.UntilWithin(rounds(3), patience)
			leave(t, tab)
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
