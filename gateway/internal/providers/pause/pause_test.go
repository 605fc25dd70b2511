package pause

import (
	"testing"
	"time"

	"diagnostics/gateway/internal/cache"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What a shared store holds under the key of a pause is a stranger's word.
func TestPausesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, note := range []string{
		"", "soon", "2026-06-15T12:00:30Z ", "2026-06-15T12:00:30Z 30", "2026-06-15T12:00:30Z -30s",
		"2026-06-15T12:00:30Z 0s", "2026-06-15T12:00:30Z 1h0m0.1s", "2026-06-15 30s",
	} {
		if until, whole, ok := read(note); ok {
			t.Errorf("%q is read as %v of %v", note, until, whole)
		}
	}
	if _, whole, ok := read("9999-06-15T12:00:30Z 1h0m0s"); !ok || whole != Max {
		t.Errorf("%v, %v", whole, ok)
	}
}

// However the clock is set meanwhile, no more is reported than the whole pause, and at least a second.
func TestLeftWhereTheClockIsSet(t *testing.T) {
	t.Parallel()
	for set, want := range map[time.Duration]time.Duration{
		0: 30 * time.Second, 10 * time.Second: 20 * time.Second, time.Hour: time.Second, -time.Hour: 30 * time.Second,
	} {
		store := cache.NewMemory(1 << 16)
		defer store.Close()
		now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
		pauses := New(store, "some", func() time.Time { return now })
		pauses.Begin(t.Context(), "one", 30*time.Second)
		now = now.Add(set)
		if left, paused := pauses.Left(t.Context(), "one"); !paused || left != want {
			t.Errorf("set by %v: %v, %v", set, left, paused)
		}
		if left, paused := pauses.Left(t.Context(), "other"); paused {
			t.Errorf("another server: %v", left)
		}
	}
}
