//go:build e2e

package e2e

import (
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
	if tab.Count("#result .words .prose > p") > 0 { // some conclusions say all in one sentence
		if means := placeOf(tab, "#result .words .prose > p"); means.Bottom > s.height {
			t.Errorf("%s: what it means ends at %d of %d", s.name, means.Bottom, s.height)
		}
	}
	if todo == "" {
		return // nothing is bad, or nothing can be done
	}
	tab.Run(`[...document.querySelectorAll("#result .words .prose > p")].find((p) => p.textContent.includes("` + todo + `"))?.setAttribute("data-todo", "")`)
	if tab.Count("[data-todo]") != 1 {
		t.Errorf("no paragraph that is shown says %q", todo)
	} else if at := placeOf(tab, "[data-todo]"); at.Bottom > s.height {
		t.Errorf("%s: what to do ends at %d of %d", s.name, at.Bottom, s.height)
	}
}

// holdPictureBeside holds of an answer on a screen that its first picture is beside its words and in sight, and that
// the scale of a trace is wide enough to read.
func holdPictureBeside(t *testing.T, tab *browser.Tab) {
	t.Helper()
	tab.Look(1280, false)
	if tab.Count("#result > .answer > .words > .part") == 0 || tab.Count("#result .parts[hidden]") > 0 {
		return
	}
	var at struct{ Top, Left, Words, Scale int }
	tab.Value(`(() => { const box = (e) => e.getBoundingClientRect();
		const scale = document.querySelector("#result .trace-hop .trace-plot");
		return { Top: Math.round(box(document.querySelector("#result .parts > *")).top + scrollY),
			Left: Math.round(box(document.querySelector("#result .parts")).left),
			Words: Math.round(box(document.querySelector("#result .words")).right),
			Scale: scale ? Math.round(box(scale).width) : 480 }; })()`, &at)
	if at.Top > 480 || at.Left < at.Words || at.Scale < 480 {
		t.Errorf("the first picture is at %d, from %d where the words end at %d; a scale of %d px", at.Top, at.Left,
			at.Words, at.Scale)
	}
}

// holdLength holds of a page with its folds closed that it is no longer than a visitor scrolls through.
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
