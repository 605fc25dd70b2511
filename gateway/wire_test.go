package main

import (
	"testing"
	"time"

	"diagnostics/gateway/internal/limits/fairqueue"
	"diagnostics/gateway/internal/limits/ratelimit"
)

// In no stretch of time is a server asked more often than its burst and what its pace gives in that time.
func TestServerSlots(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	slots := serverSlots{ratelimit.NewMemory(ratelimit.WithClock(func() time.Time { return now }))}
	pace := fairqueue.Pace{Burst: 3, Every: 2100 * time.Millisecond}
	var taken []time.Time
	for range 600 {
		wait, err := slots.Take(t.Context(), "one:443", pace)
		if err != nil || wait < 0 || wait > pace.Every+time.Microsecond {
			t.Fatalf("wait %v, %v", wait, err)
		}
		if wait == 0 {
			taken = append(taken, now)
		}
		now = now.Add(100 * time.Millisecond)
	}
	const stretch = 10500*time.Millisecond - time.Microsecond
	most := 0
	for i, from := range taken {
		n := 0
		for _, at := range taken[i:] {
			if at.Sub(from) < stretch {
				n++
			}
		}
		most = max(most, n)
	}
	if most != 7 && most != 8 {
		t.Errorf("%d times in 10.5 s", most)
	}
	if wait, err := slots.Take(t.Context(), "other:443", pace); wait != 0 || err != nil {
		t.Errorf("another server: %v, %v", wait, err)
	}
}
