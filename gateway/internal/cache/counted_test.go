package cache_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/cache/cachestats"
)

// A typed view counts what it has and what it has not, and who waits for another's load is neither.
func TestCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		counts := map[string]*cachestats.Counts{}
		memory := cache.NewMemory(1 << 20)
		defer memory.Close()
		store := cache.NewCounted(memory, func(name string) *cachestats.Counts {
			counts[name] = new(cachestats.Counts)
			return counts[name]
		})
		answers := cache.NewLoading[string](store, "answers", time.Hour)
		load := func(context.Context) (string, time.Duration, error) {
			time.Sleep(time.Second)
			return "x", time.Minute, nil
		}
		get := func() { _, _ = answers.Get(t.Context(), "key", nil, load) }
		var asking sync.WaitGroup
		for range 3 { // of which two wait for the first
			asking.Go(get)
		}
		asking.Wait()
		get()
		get()
		c := counts["answers"]
		if len(counts) != 1 || c.Misses() != 1 || c.Shared() != 2 || c.Hits() != 2 {
			t.Errorf("%d caches; %d misses, %d shared, %d hits", len(counts), c.Misses(), c.Shared(), c.Hits())
		}
	})
}
