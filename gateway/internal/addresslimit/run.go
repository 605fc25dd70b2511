package addresslimit

import (
	"context"
	"net/netip"
	"slices"
	"sync"

	"diagnostics/gateway/internal/fault"
)

// Run is what one run has paid for so far.
type Run struct {
	mu      sync.Mutex
	visits  map[netip.Addr]*visit
	refused []fault.Rule // each once
}

// visit is one address of a run. It is held while the limits are asked.
type visit struct {
	mu    sync.Mutex
	paid  bool
	ports map[uint16]bool
}

type runKey struct{}

// Begin marks the context of a run that begins: what is dialled under it pays together.
func Begin(ctx context.Context) (context.Context, *Run) {
	r := &Run{}
	return context.WithValue(ctx, runKey{}, r), r
}

// runOf gives the run of Begin; without it every dial pays for itself.
func runOf(ctx context.Context) *Run {
	if r, ok := ctx.Value(runKey{}).(*Run); ok {
		return r
	}
	return &Run{}
}

// Refused gives the limits that have refused an address of the run so far, each once.
func (r *Run) Refused() []fault.Rule {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.refused)
}

func (r *Run) refuse(by fault.Rule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.refused, by) {
		r.refused = append(r.refused, by)
	}
}

func (r *Run) visit(a netip.Addr) *visit {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.visits == nil {
		r.visits = make(map[netip.Addr]*visit)
	}
	if r.visits[a] == nil {
		r.visits[a] = &visit{ports: make(map[uint16]bool)}
	}
	return r.visits[a]
}
