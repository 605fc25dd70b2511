// Package registry has what the clients of registries (rdap, whois) share: the gate before each server, the reading of
// moments, and how long answers are kept.
package registry

import (
	"context"
	"errors"
	"strings"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/pace"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
)

// Server is a server that queries are sent to.
type Server struct {
	Provider upstream.Provider
	// Authority is its host and port.
	Authority string
	Pace      pace.Pace
	// Args name the server in a sentence.
	Args finding.Args
}

// Gate holds queries to the paces of servers and to the pauses that they request. Pauses are kept where the answers
// are, so that instances that share those share the pauses too.
type Gate struct {
	pauses   cache.Store
	prefix   string
	paces    *pace.Limiter
	observer upstream.Observer
	now      func() time.Time
}

// NewGate returns a Gate for servers of a kind, such as "rdap". A nil paces does not limit.
func NewGate(
	kind string, pauses cache.Store, paces *pace.Limiter, observer upstream.Observer, now func() time.Time,
) *Gate {
	return &Gate{prefix: kind + "-pause:", pauses: pauses, paces: paces, observer: observer, now: now}
}

// Wait returns nil once the server may be queried. While its pace allows no query, Wait tries again as long as patience
// lasts. It fails with a *fault.Error (Busy) or with the error of ctx.
func (g *Gate) Wait(ctx context.Context, s Server, patience time.Duration) error {
	for began := time.Now(); ; {
		err := g.paused(ctx, s)
		if err == nil {
			err = g.paces.Wait(ctx, s.Authority, s.Pace, tool.CallerOf(ctx))
		}
		if err == nil {
			return g.paused(ctx, s) // the pause may have begun during the wait
		}
		busy, ok := errors.AsType[*fault.Error](err)
		if !ok || busy.Rule != fault.LimitProviderShare || busy.RetryAfter > patience-time.Since(began) {
			return err
		}
		timer := time.NewTimer(busy.RetryAfter)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// MaxPause is the longest pause, whatever a server requests.
const MaxPause = time.Hour

// BoundPause returns a pause of at least a second and at most MaxPause.
func BoundPause(wait time.Duration) time.Duration { return min(max(wait, time.Second), MaxPause) }

// Pause begins a pause that a server requested, and returns the error of the query that it refused.
func (g *Gate) Pause(ctx context.Context, s Server, wait time.Duration) error {
	note := g.now().Add(wait).UTC().Format(time.RFC3339Nano) + " " + wait.String()
	// A store that fails costs the server one more query, no more.
	_ = g.pauses.Set(context.WithoutCancel(ctx), g.prefix+s.Authority, []byte(note), wait)
	g.observer.Paused(s.Provider, s.Authority, wait)
	return TryLater(fault.Busy, wait, "PROVIDER_PAUSED", s.Args)
}

// paused returns the error of a pause that has not ended. A pause lasts as long as its note is stored; the time in the
// note only says how much of it is left, at least a second, since clocks may differ between instances.
func (g *Gate) paused(ctx context.Context, s Server) error {
	note, ok, err := g.pauses.Get(ctx, g.prefix+s.Authority)
	if err != nil || !ok {
		return nil //nolint:nilerr // a store that fails costs the server one more query, no more
	}
	until, whole, ok := readNote(string(note))
	if !ok {
		return nil
	}
	left := min(max(until.Sub(g.now()), time.Second), whole)
	return TryLater(fault.Busy, left, "PROVIDER_PAUSED", s.Args)
}

// readNote reads what Pause has written. Older versions, which may share the store, wrote no length.
func readNote(note string) (until time.Time, whole time.Duration, ok bool) {
	moment, length, complete := strings.Cut(note, " ")
	until, err := time.Parse(time.RFC3339Nano, moment)
	if err != nil {
		return time.Time{}, 0, false
	}
	if !complete {
		return until, MaxPause, true
	}
	whole, err = time.ParseDuration(length)
	return until, whole, err == nil && whole > 0 && whole <= MaxPause
}

// TryLater is the failure of a provider that requested a pause. Its kind is Busy if this service has sent the provider
// too many queries: that is not the provider's fault.
func TryLater(kind fault.Kind, wait time.Duration, code string, args finding.Args) *fault.Error {
	return fault.New(kind, code, args).ByRule(fault.RuleProviderWait).Again(wait)
}
