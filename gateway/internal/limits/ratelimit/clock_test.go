package ratelimit

import (
	"testing"
	"time"

	"diagnostics/gateway/internal/cache/clocktest"
)

// A wall clock that is set refills no bucket and locks no client out.
func TestMemoryWhileTheClockIsSet(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		for name, c := range map[string]Charge{
			"requests": charge("k", 1, time.Minute),
			"things":   {Key: "k", Limit: Limit{Requests: 1, Window: time.Minute}, Item: 1},
		} {
			clock := clocktest.New()
			m := NewMemory(WithClock(clock.Now))
			take(t, m, c)
			clock.Step(step)
			clock.Pass(20 * time.Second)
			if c.Item != 0 {
				c.Item = 2
			}
			if d := take(t, m, c); d.Allowed || d.RetryAfter.Round(time.Millisecond) != 40*time.Second ||
				d.ResetAfter.Round(time.Millisecond) != 40*time.Second {
				t.Errorf("%s, set by %v: %+v", name, step, d)
			}
			clock.Pass(40*time.Second + time.Microsecond)
			if d := take(t, m, c); !d.Allowed {
				t.Errorf("%s, set by %v: a window later %+v", name, step, d)
			}
		}
	}
}
