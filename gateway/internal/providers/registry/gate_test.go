package registry

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/pace"
	"diagnostics/gateway/internal/tool/finding"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	finding.Mistaken = func(mistake string) { panic(mistake) }
	goleak.VerifyTestMain(m)
}

// one is the server of these tests.
var one = Server{
	Provider: upstream.WHOIS, Authority: "whois.one.net:43", Pace: pace.Pace{Burst: 2, Every: time.Second},
	Args: finding.Args{"provider": "WHOIS_SERVER", "server": "whois.one.net"},
}

func newGate(t *testing.T, buckets pace.Buckets) (*Gate, *cache.Memory) {
	t.Helper()
	store := cache.NewMemory(1 << 16)
	t.Cleanup(store.Close)
	var limiter *pace.Limiter
	if buckets != nil {
		limiter = pace.New(buckets)
	}
	return NewGate("whois", store, limiter, upstream.Discard{}, time.Now), store
}

// wantPaused holds err to the error of a pause.
func wantPaused(t *testing.T, err error, wait time.Duration) {
	t.Helper()
	failed, ok := errors.AsType[*fault.Error](err)
	if !ok || failed.Kind != fault.Busy || failed.Code != "PROVIDER_PAUSED" || failed.Rule != fault.RuleProviderWait ||
		failed.RetryAfter != wait || failed.Args["server"] != "whois.one.net" {
		t.Errorf("%v, want a pause of %v", err, wait)
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, _ := newGate(t, nil)
		wantPaused(t, g.Pause(t.Context(), one, 30*time.Second), 30*time.Second)
		other := one
		other.Authority = "whois.other.net:43"
		if err := g.Wait(t.Context(), other, 0); err != nil {
			t.Errorf("another server: %v", err)
		}
		time.Sleep(29 * time.Second)
		wantPaused(t, g.Wait(t.Context(), one, time.Hour), time.Second)
		time.Sleep(time.Second)
		if err := g.Wait(t.Context(), one, 0); err != nil {
			t.Errorf("after the pause: %v", err)
		}
	})
}

// However the clock is set meanwhile, no more is reported than the whole pause, and at least a second.
func TestPauseWhileTheClockIsSet(t *testing.T) {
	t.Parallel()
	for set, want := range map[time.Duration]time.Duration{
		0: 30 * time.Second, 10 * time.Second: 20 * time.Second, time.Hour: time.Second, -time.Hour: 30 * time.Second,
	} {
		g, _ := newGate(t, nil)
		now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
		g.now = func() time.Time { return now }
		_ = g.Pause(t.Context(), one, 30*time.Second)
		now = now.Add(set)
		wantPaused(t, g.Wait(t.Context(), one, 0), want)
	}
}

// Instances of older versions, which may share the store, write only the moment.
func TestPauseOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for left, want := range map[time.Duration]time.Duration{
			30 * time.Second: 30 * time.Second, -time.Hour: time.Second, 2 * time.Hour: time.Hour,
		} {
			g, store := newGate(t, nil)
			note := []byte(time.Now().Add(left).UTC().Format(time.RFC3339Nano))
			if err := store.Set(t.Context(), "whois-pause:"+one.Authority, note, time.Minute); err != nil {
				t.Fatal(err)
			}
			wantPaused(t, g.Wait(t.Context(), one, 0), want)
		}
	})
}

// Another writer can put anything into a shared store.
func TestNotesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, note := range []string{
		"", "soon", "2026-06-15T12:00:30Z ", "2026-06-15T12:00:30Z 30", "2026-06-15T12:00:30Z -30s",
		"2026-06-15T12:00:30Z 0s", "2026-06-15T12:00:30Z 1h0m0.1s", "2026-06-15 30s",
	} {
		if until, whole, ok := readNote(note); ok {
			t.Errorf("%q is read as %v of %v", note, until, whole)
		}
	}
	if _, whole, ok := readNote("9999-06-15T12:00:30Z 1h0m0s"); !ok || whole != MaxPause {
		t.Errorf("%v, %v", whole, ok)
	}
}

// buckets have no token for one client, for the first queries, and then one after a wait.
type buckets struct {
	busy        int
	after, wait time.Duration
	reserved    func()
}

func (b *buckets) Take(_ context.Context, key string, size int, every time.Duration) (bool, time.Duration, error) {
	switch {
	case strings.Contains(key, "|"): // the client's share
		b.busy--
		return b.busy < 0, b.after, nil
	case size <= one.Pace.Burst: // half of the bucket
		return false, time.Hour, nil
	}
	if b.reserved != nil {
		b.reserved()
	}
	return true, time.Duration(one.Pace.Burst)*every + b.wait, nil
}

// A pause that another instance begins while a query waits for its pace stops that query.
func TestPauseDuringTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &buckets{wait: 2 * time.Second}
		g, _ := newGate(t, b)
		b.reserved = func() { _ = g.Pause(t.Context(), one, 7*time.Second) }
		wantPaused(t, g.Wait(t.Context(), one, 0), 5*time.Second)
	})
}

func TestPatience(t *testing.T) {
	t.Parallel()
	for patience, c := range map[time.Duration]struct {
		waited time.Duration
		ok     bool
	}{
		0: {0, false}, 4*time.Second - 1: {2 * time.Second, false}, 4 * time.Second: {4 * time.Second, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			g, _ := newGate(t, &buckets{busy: 2, after: 2 * time.Second})
			began := time.Now()
			err := g.Wait(t.Context(), one, patience)
			if failed, busy := errors.AsType[*fault.Error](err); time.Since(began) != c.waited || (err == nil) != c.ok ||
				busy && failed.Rule != fault.LimitProviderShare {
				t.Errorf("patience of %v: %v after %v", patience, err, time.Since(began))
			}
		})
	}
}

func TestPatienceEndsWithTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, _ := newGate(t, &buckets{busy: 1, after: 9 * time.Second})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := g.Wait(ctx, one, 10*time.Second); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
