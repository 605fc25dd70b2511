package format

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMilliseconds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   time.Duration
		want float64
	}{
		{0, 0},
		{499 * time.Nanosecond, 0},
		{500 * time.Nanosecond, 0.001},
		{12345678 * time.Nanosecond, 12.346},
		{7 * time.Second, 7000},
		{-1500 * time.Nanosecond, -0.002},
	} {
		if got := Milliseconds(c.in); got != c.want {
			t.Errorf("Milliseconds(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
