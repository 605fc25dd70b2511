package memory

import "testing"

func TestCount(t *testing.T) {
	t.Parallel()
	Count(t.Context(), 7) // nobody counts
	sum := 0
	ctx := WithCounter(t.Context(), func(n int) { sum += n })
	Count(ctx, 1)
	Count(ctx, 2)
	if sum != 3 {
		t.Errorf("counted %d, want 3", sum)
	}
}
