package main

import (
	"context"
	"testing"
	"time"

	"diagnostics/gateway/internal/ratelimit"
)

// In no ten seconds may more than ten requests reach the redirector.
func TestRedirectorSlots(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	slots := redirectorSlots{ratelimit.NewMemory(ratelimit.WithClock(func() time.Time { return now }))}
	taken := 0
	for end := now.Add(redirectorLimit.Window); now.Before(end); {
		wait, err := slots.Take(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if wait == 0 {
			taken++
		}
		now = now.Add(wait)
	}
	if taken != 9 { // five at once, then one every two seconds
		t.Errorf("%d requests in ten seconds, want 9", taken)
	}
	if _, err := (redirectorSlots{limiter{err: context.Canceled}}).Take(context.Background()); err == nil {
		t.Error("no error")
	}
}
