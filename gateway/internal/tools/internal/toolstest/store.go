package toolstest

import (
	"testing"

	"diagnostics/gateway/internal/cache"
)

// Store is an empty cache of one test.
func Store(t *testing.T) cache.Store {
	t.Helper()
	store := cache.NewMemory(1 << 20)
	t.Cleanup(store.Close)
	return store
}
