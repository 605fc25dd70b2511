//go:build e2e

package e2e

import (
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

// Over a link of 400 ms and 400 kbit/s a first visitor can fill in and send the form within three seconds: it is an
// ordinary form, which works from the moment in which it is drawn. The link makes nearly all of the time; what a busy
// machine adds to it has as much again.
func TestSlowLink(t *testing.T) {
	const bound, busy = 3 * time.Second, 3 * time.Second
	for _, path := range []string{"/", "/report", "/tools/dns-lookup", "/tools/traceroute", "/tools/ping"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{Width: 360})
			tab.SlowLink(400*time.Millisecond, 400_000)
			tab.Open(path)
			tab.UntilWithin(painted+" > 0 && "+ready+" > 0", patience)
			if tab.Count("form :is(input, select)") == 0 {
				t.Error("the page has no form")
			}
			var form, scripts int
			tab.Value(painted, &form)
			tab.Value(ready, &scripts)
			t.Logf("the form is there after %d ms, the scripts have run after %d ms", form, scripts)
			if took := time.Duration(form) * time.Millisecond; took > bound+busy {
				t.Errorf("the form is there after %v, want %v", took, bound)
			}
		})
	}
}
