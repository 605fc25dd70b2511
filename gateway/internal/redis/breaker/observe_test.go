package breaker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"diagnostics/gateway/internal/redis/breaker"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// heard records the calls that it observes.
type heard struct {
	mu    sync.Mutex
	calls []string
	waits int
}

func (h *heard) Waited(time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waits++
}

func (h *heard) Asked(o breaker.Operation, _ time.Duration, failed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, fmt.Sprint(o, " ", failed))
}

// Every call that is made is observed, a missing key as a success; one whose caller has left, and one that is not made,
// are not.
func TestCallsAreTold(t *testing.T) {
	t.Parallel()
	o := &redis.UniversalOptions{Addrs: []string{miniredis.RunT(t).Addr()}}
	breaker.Tune(o)
	h := &heard{}
	b := breaker.New(redis.NewUniversalClient(o), slog.New(slog.DiscardHandler), breaker.WithObserver(h))
	t.Cleanup(func() { _ = b.Close() })
	gives := func(err error) func(context.Context, redis.UniversalClient) error {
		return func(context.Context, redis.UniversalClient) error { return err }
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	_ = b.Do(t.Context(), breaker.Limits, gives(nil))
	_ = b.Do(t.Context(), breaker.CacheGet, gives(redis.Nil))
	_ = b.Do(left, breaker.CacheSet, gives(context.Canceled))
	_ = b.Check(t.Context())
	_ = b.Do(t.Context(), breaker.CacheSet, gives(errors.New("connection lost")))
	if err := b.Do(t.Context(), breaker.CacheGet, gives(nil)); !errors.Is(err, breaker.ErrDown) {
		t.Errorf("a call in an outage: %v", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	want := []string{"limits false", "cache_get false", "check false", "cache_set true"}
	if !slices.Equal(h.calls, want) || h.waits != len(want) {
		t.Errorf("told %q after %d waits, want %q", h.calls, h.waits, want)
	}
}
