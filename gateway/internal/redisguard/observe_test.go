package redisguard_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"diagnostics/gateway/internal/redisguard"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// heard remembers what it is told.
type heard struct {
	mu    sync.Mutex
	calls []string
}

func (h *heard) Asked(o redisguard.Operation, _ time.Duration, failed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, fmt.Sprint(o, " ", failed))
}

// Every call that is made is told, a missing key as a success; one whose caller has left, and one that is not made, are
// not.
func TestCallsAreTold(t *testing.T) {
	t.Parallel()
	o := &redis.UniversalOptions{Addrs: []string{miniredis.RunT(t).Addr()}}
	redisguard.Tune(o)
	h := &heard{}
	g := redisguard.New(redis.NewUniversalClient(o), slog.New(slog.DiscardHandler), redisguard.WithObserver(h))
	t.Cleanup(func() { _ = g.Close() })
	gives := func(err error) func(context.Context, redis.UniversalClient) error {
		return func(context.Context, redis.UniversalClient) error { return err }
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	_ = g.Do(t.Context(), redisguard.Limits, gives(nil))
	_ = g.Do(t.Context(), redisguard.CacheGet, gives(redis.Nil))
	_ = g.Do(left, redisguard.CacheSet, gives(context.Canceled))
	_ = g.Check(t.Context())
	_ = g.Do(t.Context(), redisguard.CacheSet, gives(errors.New("connection lost")))
	if err := g.Do(t.Context(), redisguard.CacheGet, gives(nil)); !errors.Is(err, redisguard.ErrDown) {
		t.Errorf("a call in an outage: %v", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	want := []string{"limits false", "cache_get false", "check false", "cache_set true"}
	if !slices.Equal(h.calls, want) {
		t.Errorf("told %q, want %q", h.calls, want)
	}
}
