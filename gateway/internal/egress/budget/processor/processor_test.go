package processor_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/fault"

	"go.uber.org/goleak"
)

// metered returns a context whose run ends as a run of the service does.
func metered(t *testing.T) (context.Context, *processor.Meter) {
	t.Helper()
	ctx, end := context.WithCancelCause(t.Context())
	t.Cleanup(func() { end(nil) })
	ctx = processor.WithMeter(ctx, end)
	return ctx, processor.Of(ctx)
}

func TestSpend(t *testing.T) {
	t.Parallel()
	ctx, m := metered(t)
	if err := m.SpendTime(processor.Max); err != nil || ctx.Err() != nil {
		t.Fatalf("at the bound: %v, %v", err, ctx.Err())
	}
	for range 2 {
		err := processor.Spend(ctx, weight.NSEC3Hash, 1)
		f, is := errors.AsType[*fault.Error](context.Cause(ctx))
		if !fault.Is(err, fault.Busy) || !fault.IsOwn(err) || !is || f.Rule != fault.LimitProcessor {
			t.Errorf("past the bound: %v, %v", err, context.Cause(ctx))
		}
	}
}

// Work that can be left undone leaves room for the rest of the run, and costs nothing if it is.
func TestTake(t *testing.T) {
	t.Parallel()
	ctx, m := metered(t)
	n := 0
	for m.Take(time.Millisecond) {
		n++
	}
	if want := int((processor.Max - processor.Reserve) / time.Millisecond); n != want || m.Take(time.Microsecond) {
		t.Errorf("%d ms, want %d", n, want)
	}
	if m.Take(time.Hour); m.SpendTime(processor.Reserve) != nil || ctx.Err() != nil {
		t.Errorf("no room for the rest: %v", m.Spent())
	}
	if err := m.SpendTime(1); err == nil || m.Take(0) {
		t.Errorf("room past the bound: %v", m.Spent())
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	ctx, m := metered(t)
	work := weight.Work{Cost: processor.Max / 10, Unit: 1}
	text, err := io.ReadAll(processor.Reader(ctx, oneByOne{strings.NewReader("0123456789")}, work))
	if string(text) != "0123456789" || err != nil || m.Spent() != processor.Max {
		t.Errorf("%q, %v, %v", text, err, m.Spent())
	}
	text, err = io.ReadAll(processor.Reader(ctx, strings.NewReader("x"), work))
	if len(text) > 0 || !fault.Is(err, fault.Busy) {
		t.Errorf("%q, %v", text, err)
	}
}

type oneByOne struct{ io.Reader }

func (o oneByOne) Read(p []byte) (int, error) { return o.Reader.Read(p[:1]) }

func TestWithoutMeter(t *testing.T) {
	t.Parallel()
	m := processor.Of(t.Context())
	if m.SpendTime(time.Hour) != nil || !m.Take(time.Hour) || processor.Spend(t.Context(), weight.RDAP, 1<<30) != nil {
		t.Error("no one counts")
	}
	text, err := io.ReadAll(processor.Reader(t.Context(), strings.NewReader("x"), weight.RDAP))
	if string(text) != "x" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
