//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"diagnostics/lab/internal/browser"
)

// The history lists what was checked in this browser, by target, with what has changed since; it forgets one target or
// all, and asks nobody for any of it.
func TestHistory(t *testing.T) {
	tab := openTab(t, browser.Options{})
	for _, path := range []string{
		toolPath("dns-lookup", "lab-dns.com"), toolPath("uptime", "https://fast.lab-site.com/"),
	} {
		tab.Open(path)
		untilAnswered(tab)
	}
	// As if the lookup had given another address before.
	tab.Run(`{
		const answers = JSON.parse(localStorage.getItem("diagnostics.answers"));
		answers.find(({key}) => key.includes("dns-lookup")).facts.A = ["192.0.2.77"];
		localStorage.setItem("diagnostics.answers", JSON.stringify(answers)); }`)
	tab.Open(toolPath("dns-lookup", "lab-dns.com"))
	untilAnswered(tab)
	tab.Forget()
	tab.Open("/history")
	holdText(t, tab, `[data-target='lab-dns.com']`, "DNS lookup", "A 192.0.2.77 → 11.80.0.1")
	holdText(t, tab, `[data-target='fast.lab-site.com']`, "Uptime check")
	for _, request := range tab.Record().Requests {
		if strings.Contains(request, "/api/") {
			t.Errorf("the history asks %s", request)
		}
	}
	tab.Click(`[data-target='lab-dns.com'] button`)
	tab.Until(`document.querySelectorAll(".remembered").length === 1`)
	tab.Reload()
	if tab.Count(`[data-target='lab-dns.com']`) != 0 || tab.Count(`[data-target='fast.lab-site.com']`) != 1 {
		t.Error("another target was forgotten, or none")
	}
	tab.Click("#clear")
	tab.Until(`!document.querySelector("#nothing").hidden`)
	holdRecord(t, tab)
}
