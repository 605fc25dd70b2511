package asn

import (
	"testing"
	"time"
)

// An answer that becomes its block's is kept no longer for it, whatever the clocks say.
func TestABlocksAnswerExpiresWithItsSource(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]time.Duration{
		0: KeepFor, time.Minute: KeepFor - time.Minute, KeepFor - 1: 1, KeepFor: 0, KeepFor + 1: 0,
		time.Hour: 0, -1: 0, -time.Hour: 0,
	} {
		if got := left(now.Add(-age), now); got != want {
			t.Errorf("%v old: %v, want %v", age, got, want)
		}
	}
}
