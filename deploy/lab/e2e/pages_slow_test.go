//go:build e2e

package e2e

import (
	"os"
	"testing"
	"time"

	"diagnostics/lab/internal/browser"
)

// painted is when a page with a form was first drawn, and ready when its scripts had run, in milliseconds from the
// click that led there; 0 where that is yet to come.
const (
	painted = `Math.round(performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0)`
	ready   = `Math.round(performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd)`
)

// usableWithin is how soon the form must be usable, as many times as a loaded machine gets; LAB_EXACT is for a quiet
// one.
func usableWithin() time.Duration {
	const bound, loaded = 3 * time.Second, 5
	if os.Getenv("LAB_EXACT") != "" {
		return bound
	}
	return loaded * bound
}

// Over a link of 400 ms and 400 kbit/s a first visitor has a usable form within three seconds: it is drawn, its scripts
// have run, and a submitted form sends its request. The link makes nearly all of the time.
func TestSlowLink(t *testing.T) {
	for path, input := range map[string]string{
		"/": "lab-dns.com", "/report": "11.80.0.5", "/tools/dns-lookup": "lab-dns.com",
		"/tools/traceroute": "clean.lab-transit.net", "/tools/ssl-checker": "fast.lab-site.com",
	} {
		t.Run(path, func(t *testing.T) {
			if os.Getenv("LAB_EXACT") == "" {
				t.Parallel()
			}
			tab := openTab(t, browser.Options{Width: 360})
			tab.SlowLink(400*time.Millisecond, 400_000)
			tab.Open(path)
			tab.UntilWithin(painted+" > 0 && "+ready+" > 0", patience)
			var form, scripts int
			tab.Value(painted, &form)
			tab.Value(ready, &scripts)
			t.Logf("the form is drawn after %d ms, and usable after %d ms", form, scripts)
			if took := time.Duration(max(form, scripts)) * time.Millisecond; took > usableWithin() {
				t.Errorf("the form is usable after %v, want %v", took, usableWithin())
			}
			tab.Fill("[data-main-field]", input)
			tab.Press("Enter")
			tab.UntilWithin(`location.search.includes("`+input+`") && document.querySelector("#result[aria-busy=true], #result .verdict")`, patience)
		})
	}
}
