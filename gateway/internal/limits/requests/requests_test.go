package requests

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/ratelimit"
)

// limiterFunc is a ratelimit.Limiter.
type limiterFunc func(...ratelimit.Stage) (ratelimit.Decision, error)

func (f limiterFunc) Take(_ context.Context, stages ...ratelimit.Stage) (ratelimit.Decision, error) {
	return f(stages...)
}

// The refusal of each bucket names its limit.
func TestRefusalsNameTheirLimit(t *testing.T) {
	t.Parallel()
	per := ratelimit.Limit{Requests: 2, Window: time.Minute}
	client := clientip.Identity{Peer: netip.MustParseAddr("2001:db8:1:2::3")}
	refusing := ""
	var keys []string
	l := New(limiterFunc(func(stages ...ratelimit.Stage) (ratelimit.Decision, error) {
		keys = nil
		for _, stage := range stages {
			for _, charge := range stage {
				keys = append(keys, charge.Key)
			}
		}
		return ratelimit.Decision{Key: refusing, Limit: 2, RetryAfter: time.Second}, nil
	}), Limits{Tool: per, Client: per, Target: per, Samples: per, Pages: per})
	allow := map[string]func() error{
		"run": func() error {
			_, err := l.AllowRun(t.Context(), client, "uptime", "example.com", 0)
			return err
		},
		"sample": func() error {
			_, err := l.AllowSample(t.Context(), client)
			return err
		},
		"page": func() error {
			_, err := l.AllowPage(t.Context(), client)
			return err
		},
	}
	for kind, want := range map[string][]fault.Rule{
		"page":   {fault.LimitPages, fault.LimitNetwork, fault.LimitNetwork},
		"run":    {fault.LimitTool, fault.LimitClient, fault.LimitNetwork, fault.LimitNetwork, fault.LimitTarget},
		"sample": {fault.LimitSamples, fault.LimitNetwork, fault.LimitNetwork},
	} {
		_ = allow[kind]()
		var got []fault.Rule
		for _, refusing = range slices.Clone(keys) {
			refused, is := errors.AsType[*fault.Error](allow[kind]())
			if !is || refused.Kind != fault.Limited {
				t.Fatalf("%s: %v", refusing, refused)
			}
			got = append(got, refused.Rule)
		}
		if !slices.Equal(got, want) {
			t.Errorf("a %s is refused by %v, want %v", kind, got, want)
		}
	}
}

// A limiter that fails refuses nothing.
func TestExtraChargeOfAFailingLimiter(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	l := New(limiterFunc(func(...ratelimit.Stage) (ratelimit.Decision, error) { return ratelimit.Decision{}, failed }),
		Limits{Target: ratelimit.Limit{Requests: 300, Window: time.Minute}})
	extra := l.Extra(clientip.Identity{}, "example.com")
	if err := extra.Allow(t.Context(), 9); !errors.Is(err, failed) || extra.Refused() {
		t.Errorf("%v, refused %v", err, extra.Refused())
	}
}
