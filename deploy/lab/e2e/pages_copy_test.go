//go:build e2e

package e2e

import (
	"testing"

	"diagnostics/lab/internal/browser"
)

// The buttons that copy are seen where people copy: beside addresses, names, hashes, records and headers. All others
// are seen where they are pointed at.
func TestCopyButtonsAreFew(t *testing.T) {
	const seen = `[...document.querySelectorAll("#result .copy")].filter((b) => b.checkVisibility() && Number(getComputedStyle(b).opacity) > 0)`
	for _, c := range []struct {
		path string
		// atFirst are seen on the page as it comes, and unfolded with all folds open.
		atFirst, unfolded int
	}{
		{toolPath("ssl-checker", "expired.lab-site.com"), 4, 24},
		{toolPath("port-checker", "fast.lab-site.com:443"), 4, 9},
		{toolPath("security-headers", "https://sec-bad.lab-site.com/"), 4, 70},
	} {
		t.Run(pathOf(c.path)[len("/tools/"):], func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{})
			tab.Open(c.path)
			untilAnswered(tab)
			count := func(when string, most int) {
				t.Helper()
				var n int
				tab.Value(seen+`.length`, &n)
				t.Logf("%s: %d buttons are seen", when, n)
				if n > most {
					t.Errorf("%s %d buttons are seen, want at most %d: %s", when, n, most, tab.String(seen+`.map((b) => b.ariaLabel).join(", ")`))
				}
			}
			count("at first", c.atFirst)
			tab.Run(`document.querySelectorAll("#result details").forEach((fold) => { fold.open = true; })`)
			count("unfolded", c.unfolded)
			for _, quiet := range []string{"CERT_HAS_EXPIRED", "TLSv1.3", "X25519"} {
				if n := tab.String(seen + `.filter((b) => b.ariaLabel === "Copy ` + quiet + `").length`); n != "0" {
					t.Errorf("%s has a button", quiet)
				}
			}
		})
	}
}
