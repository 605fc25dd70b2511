// Package addresslimit bounds what visitors make this service do to one address, by whatever names they come to it. The
// limits of the edge count what a visitor typed: four hundred names of one address are four hundred targets there.
//
// A run pays for each address once, before its first dial: with one request of the client's own share of the address,
// and, only where that passes, with one of what all clients share of it. The clients of another place share half of
// that among them, which is charged in between. A client also has at most Ports different ports of an address in a
// window. Repeating a port is free, and so is all that one run does to a port after the first time.
package addresslimit

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/tool"
)

const (
	// Ports is how many different ports of one address a client may have tried in a window. It is no setting: more of
	// them is a port scan.
	Ports = 20
	// shares is how many parts of an address's requests a client's own is one of.
	shares = 10
)

// Limiter charges addresses. It is safe for concurrent use.
type Limiter struct {
	limiter         ratelimit.Limiter
	all, own, ports ratelimit.Limit
}

// New makes a Limiter of so many requests to an address in a window over all clients; 0 leaves the rule on ports alone.
func New(l ratelimit.Limiter, requests int, window time.Duration) *Limiter {
	own := requests / shares
	if requests > 0 {
		own = max(own, 1) // 0 would be no limit
	}
	return &Limiter{
		limiter: l,
		all:     ratelimit.Limit{Requests: requests, Window: window},
		own:     ratelimit.Limit{Requests: own, Window: window},
		ports:   ratelimit.Limit{Requests: Ports, Window: window},
	}
}

// The codes of refusals.
const (
	codeOwn   = "ADDRESS_SHARE_USED"
	codeAll   = "ADDRESS_BUSY"
	codePorts = "TOO_MANY_PORTS"
)

// Allow is an egress.ChargeFunc. What is done for no client is not charged.
func (l *Limiter) Allow(ctx context.Context, to netip.AddrPort) error {
	caller := tool.CallerOf(ctx)
	if caller.Client == "" {
		return nil
	}
	run := runOf(ctx)
	at := run.attempt(to.Addr())
	// Two dials of one run to one address pay once: the second waits for what becomes of the first.
	at.mu.Lock()
	defer at.mu.Unlock()
	keys := keysOf(caller, to.Addr())
	d, err := l.limiter.Take(ctx, l.stages(keys, at, to.Port())...)
	switch {
	case err != nil:
		return fmt.Errorf("charge the limits of an address: %w", err)
	case !d.Allowed:
		rule, code := keys.refusal(d.Key)
		run.refuse(rule)
		return fault.LimitedFor(d.RetryAfter, code)
	}
	at.paid, at.ports[to.Port()] = true, true
	return nil
}

// keys name the buckets of an address. No part but the last can hold a "|".
type keys struct {
	all, own, ports string
	peer            string // of all clients of another place, empty for a client of this one
}

func keysOf(c tool.Caller, a netip.Addr) keys {
	address := "|" + a.String()
	k := keys{all: "address" + address, own: "own|" + c.Client + address, ports: "ports|" + c.Client + address}
	if c.Place != "" {
		k.peer = "peer-address|" + c.Place + address
	}
	return k
}

func (k keys) refusal(by string) (rule fault.Rule, code string) {
	switch by {
	case k.own:
		return fault.LimitClientAddress, codeOwn
	case k.ports:
		return fault.LimitPorts, codePorts
	case k.peer:
		return fault.LimitPeer, codeAll
	}
	return fault.LimitAddress, codeAll
}

// stages are what the run has not paid for yet. The client's own two, ports and its share of the address, are one
// stage: each is charged, also where the other refuses. What all clients share comes last: what a client's own limits
// refuse must not be charged there. So a port counts as tried also where either share refuses it.
func (l *Limiter) stages(k keys, at *attempt, port uint16) []ratelimit.Stage {
	var own, peer, all ratelimit.Stage
	if port != 0 && !at.ports[port] {
		own = append(own, ratelimit.Charge{Key: k.ports, Limit: l.ports, Item: port})
	}
	if !at.paid {
		own = append(own, ratelimit.Charge{Key: k.own, Limit: l.own})
		if k.peer != "" {
			peer = append(peer, ratelimit.Charge{Key: k.peer, Limit: ratelimit.Half(l.all)})
		}
		all = append(all, ratelimit.Charge{Key: k.all, Limit: l.all})
	}
	return []ratelimit.Stage{own, peer, all}
}

// Run is what one run has paid for so far.
type Run struct {
	mu       sync.Mutex
	attempts map[netip.Addr]*attempt
	refused  []fault.Rule // each once
}

// attempt is one address of a run. It is locked while the limits are checked.
type attempt struct {
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

func (r *Run) attempt(a netip.Addr) *attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.attempts == nil {
		r.attempts = make(map[netip.Addr]*attempt)
	}
	if r.attempts[a] == nil {
		r.attempts[a] = &attempt{ports: make(map[uint16]bool)}
	}
	return r.attempts[a]
}
