package clocktest_test

import (
	"testing"
	"time"

	"diagnostics/gateway/internal/cache/clocktest"
)

func TestStepsAreOfTheWallClockAlone(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{time.Hour, -time.Hour} {
		c := clocktest.New()
		before := c.Now()
		c.Step(d)
		c.Pass(time.Second)
		after := c.Now()
		if passed := after.Sub(before); passed != time.Second {
			t.Errorf("%v by the monotonic clock", passed)
		}
		if passed := after.Round(0).Sub(before.Round(0)); passed != d+time.Second {
			t.Errorf("%v by the wall clock, want %v", passed, d+time.Second)
		}
	}
}
