// Package processor counts the processor time that a run costs, by the weights of analyze/weight, and bounds it: a
// server's answer must never occupy a core for long. A run over the bound ends: its context does.
package processor

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/fault"
)

const (
	// Max is what a run may cost.
	Max = 500 * time.Millisecond
	// Reserve is the part of Max that is kept for the rest of the run by work that can be left undone.
	Reserve = 100 * time.Millisecond
)

// Meter is what a run has cost. The nil Meter counts nothing and has room for everything.
type Meter struct {
	spent atomic.Int64
	end   func(error)
}

type meterKey struct{}

// WithMeter makes all work on behalf of the context count in one new meter. end ends the run; it is called with a
// *fault.Error of kind Busy each time that work is counted beyond Max.
func WithMeter(ctx context.Context, end func(error)) context.Context {
	return context.WithValue(ctx, meterKey{}, &Meter{end: end})
}

// Of returns the meter of a context, or nil.
func Of(ctx context.Context) *Meter {
	m, _ := ctx.Value(meterKey{}).(*Meter)
	return m
}

// Spent returns what the run has cost.
func (m *Meter) Spent() time.Duration { return time.Duration(m.spent.Load()) }

// Spend counts n bytes or operations that are about to be worked on. If they exceed Max it ends the run and returns the
// *fault.Error.
func (m *Meter) Spend(w weight.Work, n int) error { return m.SpendTime(w.Of(n)) }

// SpendTime is Spend for work whose cost is known.
func (m *Meter) SpendTime(cost time.Duration) error {
	if m == nil || m.spent.Add(int64(cost)) <= int64(Max) {
		return nil
	}
	err := fault.New(fault.Busy, "CHECK_TOO_EXPENSIVE", nil).
		ByRule(fault.LimitProcessor)
	m.end(err)
	return err
}

// Take counts work that can be left undone, and reports whether it may be done: there is room for it and for the rest
// of the run. Work that is refused does not count.
func (m *Meter) Take(cost time.Duration) bool {
	if m == nil {
		return true
	}
	for {
		spent := m.spent.Load()
		if spent+int64(cost) > int64(Max-Reserve) {
			return false
		}
		if m.spent.CompareAndSwap(spent, spent+int64(cost)) {
			return true
		}
	}
}

// Spend is Meter.Spend with the meter of a context.
func Spend(ctx context.Context, w weight.Work, n int) error { return Of(ctx).Spend(w, n) }

// Reader counts what is read of r, as Spend does, and fails when Spend does.
func Reader(ctx context.Context, r io.Reader, w weight.Work) io.Reader {
	if m := Of(ctx); m != nil {
		return reader{m, r, w}
	}
	return r
}

type reader struct {
	meter *Meter
	from  io.Reader
	work  weight.Work
}

func (r reader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if full := r.meter.Spend(r.work, n); full != nil {
		return 0, full
	}
	return n, err
}
