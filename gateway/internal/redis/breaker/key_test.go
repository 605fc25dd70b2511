package breaker_test

import (
	"testing"

	"diagnostics/gateway/internal/redis/breaker"
)

// TestKey: instances of several versions share a server, so that keys must stay what they are.
func TestKey(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"":            "diagnostics:test:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
		"example.com": "diagnostics:test:o3mm9u6vuaVeN4wRgDTidR5oL6ufLTCrE9ISVYbOGUc",
	} {
		if got := breaker.Key("diagnostics:test:", key); got != want {
			t.Errorf("the key of %q is %s", key, got)
		}
	}
}
