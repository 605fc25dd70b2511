//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"diagnostics/lab/internal/browser"
)

// screen is what a visitor sees at first, and how long a page may be there with its folds closed, in pixels.
type screen struct {
	name                   string
	width, height, longest int
	// verdictAt is where the verdict begins at the latest.
	verdictAt int
}

var screens = []screen{{"desktop", 1280, 800, 2500, 370}, {"phone", 360, 740, 5000, 430}}

// place is where something of a page is: the distances of its upper and lower edge from the page's top.
type place struct{ Top, Bottom int }

func placeOf(tab *browser.Tab, selector string) place {
	var at place
	tab.Value(`(() => { const box = document.querySelector("`+selector+`").getBoundingClientRect();
		return {Top: Math.round(box.top + scrollY), Bottom: Math.round(box.bottom + scrollY)}; })()`, &at)
	return at
}

// holdFirstScreen holds of a page with an answer that its verdict, what that means, and what to do about it are on the
// first screen.
func (s screen) holdFirstScreen(t *testing.T, tab *browser.Tab, todo string) {
	t.Helper()
	if verdict := placeOf(tab, "#result .verdict"); verdict.Top > s.verdictAt || verdict.Bottom > s.height {
		t.Errorf("%s: the verdict is at %d to %d, want at most %d", s.name, verdict.Top, verdict.Bottom, s.verdictAt)
	}
	if means := placeOf(tab, "#result .prose p"); means.Bottom > s.height {
		t.Errorf("%s: what it means ends at %d of %d", s.name, means.Bottom, s.height)
	}
	if todo == "" {
		return // nothing is bad, or nothing can be done
	}
	tab.Run(`[...document.querySelectorAll("#result .prose > p")].find((p) => p.textContent.includes("` + todo + `"))?.setAttribute("data-todo", "")`)
	if tab.Count("[data-todo]") != 1 {
		t.Errorf("no paragraph that is shown says %q", todo)
	} else if at := placeOf(tab, "[data-todo]"); at.Bottom > s.height {
		t.Errorf("%s: what to do ends at %d of %d", s.name, at.Bottom, s.height)
	}
}

// holdLength holds of a page with its folds closed that it is no longer than somebody scrolls through.
func (s screen) holdLength(t *testing.T, tab *browser.Tab) {
	t.Helper()
	var length int
	tab.Value(`document.documentElement.scrollHeight`, &length)
	t.Logf("%s: %d px long", s.name, length)
	if length > s.longest {
		t.Errorf("%s: the page is %d long, want at most %d", s.name, length, s.longest)
	}
}

// holdLengths is holdLength on every screen.
func holdLengths(t *testing.T, tab *browser.Tab) {
	t.Helper()
	for _, s := range screens {
		tab.Look(s.width, false)
		s.holdLength(t, tab)
	}
}

// The page of a target begins with it: its heading, the tab's title, and the strip of the other tools, which run on it.
func TestOneTargetAllTools(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open("/tools/dns-lookup")
	tab.Fill("#input", "lab-dns.com")
	tab.Click("#run")
	untilAnswered(tab)
	if title := tab.String(`document.title`); !strings.HasPrefix(title, "lab-dns.com · DNS lookup") {
		t.Errorf("the title is %q", title)
	}
	if heading := tab.Text("#heading"); heading != "lab-dns.com" {
		t.Errorf("the heading is %q", heading)
	}
	// From 1200 px on what the page holds is listed beside it.
	beside := `getComputedStyle(document.querySelector("nav.on-page")).display !== "none"`
	if !tab.Holds(beside + ` && document.querySelector("nav.on-page").getBoundingClientRect().left >= document.querySelector(".parts").getBoundingClientRect().right`) {
		t.Error("the contents are not beside the answer")
	}
	tab.Look(1199, false)
	if tab.Holds(beside) {
		t.Error("the contents take room from a narrow answer")
	}
	tab.Look(1280, false)
	if first := tab.Text("#strip li:not([hidden])"); first != "Full report" {
		t.Errorf("the strip begins with %q", first)
	}
	if tab.Count("#strip [aria-current] .mark.good") != 1 {
		t.Error("the strip does not tell what the tool came to")
	}
	tab.Click("#strip [data-slug=email-dns-health] a")
	tab.UntilWithin(`document.querySelector("form[data-slug=email-dns-health]") && `+answered, patience)
	if title := tab.String(`document.title`); !strings.HasPrefix(title, "lab-dns.com · ") {
		t.Errorf("the title is %q", title)
	}
	if tab.Count("#strip [data-slug=dns-lookup] .mark.good") != 1 {
		t.Error("the strip has forgotten the tool before")
	}
	offered := func(slug string) int { return tab.Count("#strip [data-slug=" + slug + "]:not([hidden])") }
	if offered("http-headers") != 1 || offered("asn-lookup") != 0 {
		t.Error("the strip offers what does not fit a name, or not what does")
	}
	// On a phone the strip scrolls to the tool of the page, and the full report stays beside it.
	tab.Look(360, false)
	tab.Reload()
	untilAnswered(tab)
	if !tab.Holds(`(() => {
		const [first, current] = ["li", "[aria-current]"]
			.map((e) => document.querySelector("#strip " + e).getBoundingClientRect());
		return document.querySelector("#strip ul").scrollLeft > 0 && first.left >= 0 && first.width > 0 &&
			current.left >= first.right && current.right <= innerWidth; })()`) {
		t.Error("the full report or the page's own tool is out of sight in the strip")
	}
	// What the full report leaves of the tool beside it can be touched.
	tab.Look(412, false)
	tab.Open(toolPath("traceroute", "dirty.lab-transit.net"))
	untilAnswered(tab)
	if shown := tab.String(`(() => {
		const [first, ...others] = [...document.querySelectorAll("#strip li:not([hidden])")]
			.map((e) => e.getBoundingClientRect());
		const begin = document.querySelector("#strip ul").getBoundingClientRect().left;
		return others.flatMap((e) => [e.right - first.right, begin - e.left])
			.filter((shown) => shown > 0 && shown < 24).join(" "); })()`); shown != "" {
		t.Errorf("%s px of a tool are in sight beside the full report", shown)
	}
	tab.Look(360, false)
	// Without a target it is the tool's page again.
	tab.Open("/tools/dns-lookup")
	if heading := tab.Text("#heading"); heading != "DNS lookup" {
		t.Errorf("the heading is %q", heading)
	}
}
