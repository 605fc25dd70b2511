package ratelimit

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A level that is not a whole number of microseconds is rounded up.
func TestWindowIsStrict(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	w := NewWindow(NewMemory(WithClock(func() time.Time { return now })), "places", 3, 10*time.Second)
	take := func(want time.Duration) {
		t.Helper()
		got, err := w.Take(t.Context())
		if err != nil || got < want || got > want+10*time.Microsecond {
			t.Errorf("at %v: wait %v, %v; want %v", now.Unix()-1_700_000_000, got, err, want)
		}
	}
	take(0)
	now = now.Add(time.Second)
	take(0)
	take(0)
	take(9 * time.Second) // the first place is free soonest
	now = now.Add(9*time.Second - time.Millisecond)
	take(time.Millisecond)
	now = now.Add(time.Millisecond)
	take(0)
	take(time.Second)
	now = now.Add(time.Second)
	take(0)
	take(0)
	take(9 * time.Second)
}

func TestWindowsOfTwoKeysAreApart(t *testing.T) {
	t.Parallel()
	m := NewMemory()
	for _, key := range []string{"one", "two"} {
		if wait, err := NewWindow(m, key, 1, time.Hour).Take(t.Context()); wait != 0 || err != nil {
			t.Errorf("%s: %v, %v", key, wait, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Take(context.Context, ...Stage) (Decision, error) { return Decision{}, f.err }

func TestWindowGivesTheLimitersError(t *testing.T) {
	t.Parallel()
	if _, err := NewWindow(failing{context.Canceled}, "places", 3, time.Second).Take(t.Context()); !errors.Is(err,
		context.Canceled) {
		t.Errorf("%v", err)
	}
}
