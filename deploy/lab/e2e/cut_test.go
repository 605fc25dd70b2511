//go:build e2e

package e2e

import (
	"testing"

	"diagnostics/lab"
	"diagnostics/lab/internal/browser"
)

// An answer that was cut says so in its data, above it on the page, at the list that ends early, and in the report.
func TestAnswersThatAreCut(t *testing.T) {
	const target = "endless." + lab.ResolveZone
	a := call(t, "dns-lookup", target, nil)
	facts{"truncated": true, "details.TXT.truncated": true, "details.A.truncated": "(absent)"}.hold(t, a)
	if len(a.Body) > 1<<20 {
		t.Errorf("%d bytes", len(a.Body))
	}
	tab := openTab(t, browser.Options{})
	tab.Open(toolPath("dns-lookup", target))
	tab.UntilWithin(answered, patience)
	holdText(t, tab, "#result", "This answer was too long and has been cut.")
	holdText(t, tab, "#result", "Part of this was cut: it was longer than this service passes on.")
	holdText(t, tab, "#result", " records shown")
	tab.Open("/report?target=" + target)
	tab.UntilWithin(`document.querySelector("#attention")?.textContent.includes("too long and ")`, patience)
	holdText(t, tab, "#attention", "DNS lookup")
}
