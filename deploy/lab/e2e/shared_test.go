//go:build e2e

package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"
)

// Two requests for the same at the same time share one measurement, and one of the answers says so.
func TestSharedMeasurements(t *testing.T) {
	t.Parallel()
	_, to := lab.Clean(148)
	for _, slug := range []string{"traceroute", "ping", "packet-loss"} {
		t.Run(slug, func(t *testing.T) {
			t.Parallel()
			before := time.Now()
			answers := make([]answer, 2)
			var both sync.WaitGroup
			for i := range answers {
				both.Go(func() { answers[i] = call(t, slug, to.String(), nil) })
			}
			both.Wait()
			if answers[0].at("shared") == answers[1].at("shared") || answers[0].at("measuredAt") != answers[1].at("measuredAt") {
				t.Errorf("shared %v and %v, measured at %v and %v", answers[0].at("shared"), answers[1].at("shared"),
					answers[0].at("measuredAt"), answers[1].at("measuredAt"))
			}
			at, err := time.Parse(time.RFC3339, fmt.Sprint(answers[0].at("measuredAt")))
			if err != nil || at.Before(before.Truncate(time.Millisecond)) || at.After(time.Now()) {
				t.Errorf("measured at %v, %v; asked at %v", at, err, before)
			}
		})
	}
}
