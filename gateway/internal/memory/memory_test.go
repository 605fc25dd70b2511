package memory

import (
	"context"
	"errors"
	"testing"
)

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

func TestTurns(t *testing.T) {
	t.Parallel()
	turns := NewTurns()
	var releases []func()
	for range cap(turns) {
		release, err := turns.Take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := turns.Take(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with no turn left: %v", err)
	}
	releases[0]()
	if _, err := turns.Take(t.Context()); err != nil {
		t.Error(err)
	}
}
