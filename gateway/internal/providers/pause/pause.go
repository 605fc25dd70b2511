// Package pause records the pauses that servers of providers request. They are kept where the answers are, so that
// instances that share those share this too.
package pause

import (
	"context"
	"strings"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

// Max is the longest pause, whatever a server requests.
const Max = time.Hour

// Within is a pause of at least a second and at most Max.
func Within(wait time.Duration) time.Duration { return min(max(wait, time.Second), Max) }

// Pauses records those of one kind of servers.
type Pauses struct {
	store cache.Store
	kind  string
	now   func() time.Time
}

// New returns Pauses in a store, for a kind such as "rdap".
func New(store cache.Store, kind string, now func() time.Time) Pauses {
	return Pauses{store: store, kind: kind, now: now}
}

// Begin records that a server is to be left alone for so long.
func (p Pauses) Begin(ctx context.Context, server string, wait time.Duration) {
	note := p.now().Add(wait).UTC().Format(time.RFC3339Nano) + " " + wait.String()
	// A store that fails costs the server one more request, no more.
	_ = p.store.Set(context.WithoutCancel(ctx), p.key(server), []byte(note), wait)
}

// Left is what is left of a server's pause, at least a second. A pause lasts as long as its record is stored; the time
// in the record only says how much of it is left, since clocks may differ between instances.
func (p Pauses) Left(ctx context.Context, server string) (wait time.Duration, paused bool) {
	kept, ok, err := p.store.Get(ctx, p.key(server))
	if err != nil || !ok {
		return 0, false
	}
	until, whole, ok := read(string(kept))
	if !ok {
		return 0, false
	}
	return min(max(until.Sub(p.now()), time.Second), whole), true
}

func (p Pauses) key(server string) string { return p.kind + "-pause:" + server }

// read reads what Begin has written. Older versions, which may share the store, wrote no length.
func read(note string) (until time.Time, whole time.Duration, ok bool) {
	moment, length, complete := strings.Cut(note, " ")
	until, err := time.Parse(time.RFC3339Nano, moment)
	if err != nil {
		return time.Time{}, 0, false
	}
	if !complete {
		return until, Max, true
	}
	whole, err = time.ParseDuration(length)
	return until, whole, err == nil && whole > 0 && whole <= Max
}

// TryLater is the failure of a provider that requested a pause. Its kind is Busy where this service has
// sent the provider too many requests: that is not the provider's fault.
func TryLater(kind fault.Kind, wait time.Duration, code string, args finding.Args) *fault.Error {
	return fault.New(kind, code, args).ByRule(fault.RuleProviderWait).Again(wait)
}
