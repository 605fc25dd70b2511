package egress_test

import (
	"testing"
	"time"

	"diagnostics/gateway/internal/clocktest"
	"diagnostics/gateway/internal/egress"
)

// What is known of this host is read again after its time, whatever the wall clock is set to meanwhile.
func TestHostFactWhileTheClockIsSet(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		clock, readings := clocktest.New(), 0
		get := egress.HostFact(func() (int, error) { readings++; return readings, nil }, clock.Now)
		for _, then := range []struct {
			pass time.Duration
			want int
		}{{0, 1}, {time.Second, 1}, {time.Second, 2}} {
			clock.Pass(then.pass)
			if got, err := get(); got != then.want || err != nil {
				t.Errorf("set by %v: reading %d, want %d (%v)", step, got, then.want, err)
			}
			clock.Step(step)
		}
	}
}
