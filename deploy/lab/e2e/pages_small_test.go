//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"diagnostics/lab/internal/browser"
)

// What visitors stumbled over on pages of a tool, each on a page that showed it.
func TestPagesOfATool(t *testing.T) {
	t.Parallel()
	tab := openTab(t, browser.Options{Width: 360})

	// The names beside the first of the strip are whole or out of sight.
	for _, slug := range []string{"traceroute", "port-checker", "dns-lookup"} {
		tab.Open(toolPath(slug, "fast.lab-site.com:443"))
		tab.WaitFor("#strip[data-ready]")
		tab.Settle()
		if cut := tab.String(`(() => {
			const [first, ...others] = [...document.querySelectorAll("#strip li:not([hidden]) > a")]
				.map((a) => ({ ...a.getBoundingClientRect().toJSON(), text: a.textContent }));
			return others.filter((a) => a.left < first.right && a.right > first.right + 1).map((a) => a.text).join(); })()`,
		); cut != "" {
			t.Errorf("%s: behind the first: %s", slug, cut)
		}
		if !tab.Holds(`(() => { const at = document.querySelector("#strip [aria-current]").getBoundingClientRect();
			return at.left >= 0 && at.right <= innerWidth; })()`) {
			t.Errorf("%s: its own name is out of sight", slug)
		}
	}

	// A run by hand leaves the heading where it is.
	for _, width := range []int{360, 1280} {
		tab.Look(width, false)
		tab.Open("/tools/dns-lookup")
		tab.Fill("#input", "fast.lab-site.com")
		tab.Press("Enter")
		untilAnswered(tab)
		if at := placeOf(tab, "#head h1"); !tab.Holds(`scrollY === 0`) || at.Top < 0 {
			t.Errorf("%d: the first run scrolls to %s", width, tab.String(`String(scrollY)`))
		}
	}

	// The name that was typed is in the sentence, and nothing below says that something follows.
	tab.Open(toolPath("ssl-checker", "notls.lab-site.com"))
	untilAnswered(tab)
	holdText(t, tab, "#result .failed", "notls.lab-site.com does not use TLS")
	if shown := tab.Text("#result"); strings.Contains(shown, "down") ||
		strings.Contains(shown, "Below is") && tab.Count("#result .live li, #result .live .part") == 0 {
		t.Errorf("%s", shown)
	}

	// An AS number has one tool, and so no report.
	tab.Open("/report?target=AS212002")
	tab.Until(`location.pathname === "/tools/asn-lookup"`)
	untilAnswered(tab)
	holdText(t, tab, "#result .verdict", "AS212002")
	if !tab.Holds(`document.querySelector("#strip li[data-slug=report]").hidden`) {
		t.Error("a report is offered for an AS number")
	}

	// What is known of the visitor's own address comes in place, on request.
	tab.Open("/tools/my-ip")
	untilAnswered(tab)
	if tab.Holds(`performance.getEntriesByType("resource").some((e) => e.name.endsWith("/api/tools/ip-geolocation"))`) {
		t.Error("the address is looked up unasked")
	}
	tab.Click("#look-up")
	tab.UntilWithin(`document.querySelector("#result dl.facts")?.textContent.includes("Network")`, patience)
	if !tab.Holds(`location.pathname === "/tools/my-ip"`) {
		t.Error("the look-up leads away")
	}

	// The history has a line a target, with a strip of states that lead to each check.
	tab.Open("/history")
	tab.WaitFor(".remembered")
	if odd := tab.String(`[...document.querySelectorAll(".remembered")].filter((one) =>
		one.querySelector(".more")?.open ||
		one.querySelectorAll(".states a").length !== one.querySelectorAll(".more > div > ul > li").length)
		.map((one) => one.dataset.target).join()`); odd != "" {
		t.Errorf("not a line with its states: %s", odd)
	}
	tab.Click(".remembered[data-target='fast.lab-site.com'] .states a")
	tab.Until(`location.pathname.startsWith("/tools/") &&
		document.querySelector("#heading").textContent.includes("fast.lab-site.com")`)
}
