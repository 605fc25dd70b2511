// Package memory counts what a run holds in memory, at any depth below the edge, where what
// all runs hold is bounded. A run that holds too much ends: its context does.
package memory

import (
	"context"
	"io"
)

type counterKey struct{}

// WithCounter passes to count what is taken on behalf of the context. It may be called from several goroutines, and
// after the run has ended.
func WithCounter(ctx context.Context, count func(bytes int)) context.Context {
	return context.WithValue(ctx, counterKey{}, count)
}

// Count adds bytes that the run holds from now on, to its end.
func Count(ctx context.Context, bytes int) {
	if count, ok := ctx.Value(counterKey{}).(func(int)); ok {
		count(bytes)
	}
}

// Reader counts what is read of r, for a caller that keeps it.
func Reader(ctx context.Context, r io.Reader) io.Reader { return reader{ctx, r} }

type reader struct {
	ctx  context.Context
	from io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	Count(r.ctx, n)
	return n, err
}
