package probe

import (
	"testing"
	"time"
)

// A result tells when its first probe left, also one that a budget held back.
func TestMeasuredAt(t *testing.T) {
	t.Parallel()
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of a bubble's clock
	for name, wait := range map[string]time.Duration{"at once": 0, "held back": time.Second} {
		n := chain(2)
		budget := NewBudget(0, 1)
		if wait > 0 {
			grantOf(budget, start, simTarget)
		}
		r, _ := pingOver(t, n, Options{Budget: budget})
		if want := start.Add(wait); !r.MeasuredAt.Equal(want) || r.MeasuredAt.Location() != time.UTC {
			t.Errorf("%s: %v, want %v", name, r.MeasuredAt, want)
		}
	}
	n := chain(3)
	r, _ := traceOver(t, n, Options{})
	if want := n.log[0].at.UTC().Truncate(time.Millisecond); !r.MeasuredAt.Equal(want) || r.Shared {
		t.Errorf("a trace: %v, want %v", r.MeasuredAt, want)
	}
}
