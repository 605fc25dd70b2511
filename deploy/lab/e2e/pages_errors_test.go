//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"diagnostics/lab/internal/browser"
)

// A check that cannot be made says what can: the addresses of a name, what is known of an address, the common ports.
func TestErrorsLeadOn(t *testing.T) {
	for _, c := range []struct{ name, slug, input, label, leads string }{
		{"a name for an address", "ip-geolocation", "fast.lab-site.com", "Look up the addresses of fast.lab-site.com",
			"/tools/dns-lookup?input=fast.lab-site.com"},
		{"an address for a name", "dns-lookup", "11.90.0.1", "Look up 1.0.90.11.in-addr.arpa",
			"/tools/dns-lookup?input=1.0.90.11.in-addr.arpa"},
		{"no port", "port-checker", "fast.lab-site.com", "Port 443", "/tools/port-checker?input=fast.lab-site.com%3A443"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{})
			tab.Open(toolPath(c.slug, c.input))
			tab.WaitFor("#input[aria-invalid=true]")
			if label := tab.Text(".next a"); label != c.label {
				t.Errorf("offered first is %q", label)
			}
			for _, finding := range tab.Axe() {
				t.Error(finding)
			}
			for _, width := range []int{360, 1280} {
				tab.Look(width, false)
				holdNothingEmpty(t, tab, ".next")
				tab.Screenshot("error-" + strings.ReplaceAll(c.name, " ", "-"))
			}
			tab.Click(".next a")
			tab.Until(`location.pathname + location.search === "` + c.leads + `"`)
			untilAnswered(tab)
			holdRecord(t, tab, "400")
		})
	}
}

// holdNothingEmpty fails where there is an empty space between what an error says and what follows it.
func holdNothingEmpty(t *testing.T, tab *browser.Tab, said string) {
	t.Helper()
	var empty int
	tab.Value(`Math.round(document.querySelector(".about").getBoundingClientRect().top -
		document.querySelector("`+said+`").getBoundingClientRect().bottom)`, &empty)
	if empty > 100 {
		t.Errorf("%d px of nothing are below the error", empty)
	}
}
