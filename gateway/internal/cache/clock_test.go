package cache_test

import (
	"testing"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/cache/clocktest"
)

// What is kept is kept for its time, whatever the wall clock is set to meanwhile.
func TestMemoryWhileTheClockIsSet(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		clock := clocktest.New()
		m := cache.NewMemory(1<<20, cache.WithClock(clock.Now))
		t.Cleanup(m.Close)
		if err := m.Set(t.Context(), "k", []byte("v"), time.Minute); err != nil {
			t.Fatal(err)
		}
		clock.Step(step)
		clock.Pass(59 * time.Second)
		if _, ok, err := m.Get(t.Context(), "k"); !ok || err != nil {
			t.Errorf("set by %v: gone after 59 s (%v)", step, err)
		}
		clock.Pass(2 * time.Second)
		if _, ok, err := m.Get(t.Context(), "k"); ok || err != nil {
			t.Errorf("set by %v: kept after 61 s (%v)", step, err)
		}
	}
}
