package httpapi

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/cache/clocktest"
	"diagnostics/gateway/internal/limits/ratelimit"
)

// A clock that is set during a request changes neither how long that took nor when the next one may come. The moment at
// which a limit is whole again is one of the clock as it is now.
func TestAnswersWhileTheClockIsSet(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		clock := clocktest.New()
		e := newEdge(t, nil, func(c *Config) {
			c.Now = clock.Now
			c.Limiter = limiterFunc(func(context.Context, ...ratelimit.Stage) (ratelimit.Decision, error) {
				clock.Step(step)
				clock.Pass(2 * time.Second)
				return ratelimit.Decision{Limit: 1, RetryAfter: 7 * time.Second, ResetAfter: 30 * time.Second}, nil
			})
		})
		a := e.post(t, "echo", `{"input":"a"}`)
		if a.envelope(t, 429); !strings.Contains(string(a.body), `"durationMs":2000,`) {
			t.Errorf("set by %v: %s", step, a.body)
		}
		if got := a.Header.Get("Retry-After"); got != "7" {
			t.Errorf("set by %v: Retry-After is %q", step, got)
		}
		whole := clock.Now().Add(30*time.Second-1).Unix() + 1 // rounded up
		if got, want := a.Header.Get("X-RateLimit-Reset"), strconv.FormatInt(whole, 10); got != want {
			t.Errorf("set by %v: X-RateLimit-Reset is %s, want %s", step, got, want)
		}
	}
}
