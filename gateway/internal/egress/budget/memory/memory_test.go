package memory

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"
)

func TestCount(t *testing.T) {
	t.Parallel()
	Count(t.Context(), 7) // without a counter
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
	slots := NewSemaphore()
	var releases []func()
	for range cap(slots) {
		release, err := slots.Take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := slots.Take(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with no slot left: %v", err)
	}
	releases[0]()
	if _, err := slots.Take(t.Context()); err != nil {
		t.Error(err)
	}
}

// What has come counts, though the rest never does.
func TestReader(t *testing.T) {
	t.Parallel()
	sum := 0
	ctx := WithCounter(t.Context(), func(n int) { sum += n })
	failing := io.MultiReader(strings.NewReader("12345"), iotest.ErrReader(io.ErrUnexpectedEOF))
	text, err := io.ReadAll(Reader(ctx, failing))
	if string(text) != "12345" || !errors.Is(err, io.ErrUnexpectedEOF) || sum != 5 {
		t.Errorf("%q, %v, counted %d", text, err, sum)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
