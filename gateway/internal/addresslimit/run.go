package addresslimit

import (
	"context"
	"net/netip"
	"sync"
)

// Run is what one run has paid for so far.
type Run struct {
	mu      sync.Mutex
	visits  map[netip.Addr]*visit
	refused bool
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

// Refused tells whether any address of the run was refused so far.
func (r *Run) Refused() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

func (r *Run) refuse() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = true
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

func (v *visit) pay(port uint16) {
	v.paid, v.ports[port] = true, true
}
