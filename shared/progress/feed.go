// Package progress carries what a run finds out to its readers while it runs. A run reports steps by its
// context; without a reader that costs next to nothing, and a tool that reports none needs nothing.
package progress

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Step is one thing that became known, in its newest state.
type Step struct {
	// Kind is what the thing is, such as "hop"; encoded, the step has Value under this name.
	Kind string
	// Key identifies a thing among those of its kind: a step replaces an older one of the same kind and key.
	Key string
	// Value is encoded as JSON, perhaps later and by several readers: it must not change any more.
	Value any
	// Whom names the queried service, in a stage Asking.
	Whom string
	// Known is what a stage carries, and Until when it is given up; zero where that is the bound of the whole run.
	Known Known
	Until time.Time
	// At is when it became known.
	At time.Time
}

// MostSteps is how many things a feed keeps, which is more than any run has: a trace has at most 30 hops, a check of
// mail some forty parts. New things after that are left out; of known ones the newest state is still kept.
const MostSteps = 256

// Feed is the steps of one run: of each thing the newest state, in the order of their last changes. A reader that
// is slow, or comes late, finds what there is then: it takes no memory, and delays no other. The zero Feed is
// ready for use.
type Feed struct {
	// Room reports whether a step may take so many bytes more; a step without room is left out. nil has room for all.
	// It must not use the Feed, nor be changed once that is in use.
	Room func(bytes int) bool

	mu        sync.Mutex
	last      uint64 // how many changes there were
	begun     bool
	entries   []entry // by change
	changed   chan struct{}
	followers []follower
}

// follower is a feed that receives the steps of another; a quiet one receives no stages but Asking.
type follower struct {
	*Feed
	quiet bool
}

func (f follower) give(s Step) {
	if !f.quiet || s.Kind != KindStage || s.Whom != "" {
		f.Add(s)
	}
}

type entry struct {
	change uint64
	step   Step
}

// Begin signals to readers that the work has begun, though there may be no step yet.
func (f *Feed) Begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.begun {
		return
	}
	f.begun = true
	f.wake()
	for _, follower := range f.followers {
		follower.Begin()
	}
}

// Add puts a step in the place of an older one of the same kind and key. A stage that is set already is no change.
func (f *Feed) Add(s Step) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := 0
	at := slices.IndexFunc(f.entries, func(e entry) bool { return e.step.Kind == s.Kind && e.step.Key == s.Key })
	switch {
	case at >= 0 && s.Kind == KindStage && f.entries[at].step.sameStage(s):
		return
	case at >= 0:
		before = f.entries[at].step.size()
	case len(f.entries) >= MostSteps:
		return
	}
	if more := s.size() - before; more > 0 && f.Room != nil && !f.Room(more) {
		return
	}
	if at >= 0 {
		f.entries = slices.Delete(f.entries, at, at+1)
	}
	f.wake()
	f.entries = append(f.entries, entry{f.last, s})
	for _, follower := range f.followers {
		follower.give(s)
	}
}

// size is how many bytes its value takes where it is encoded, as those of Report are.
func (s Step) size() int {
	text, _ := s.Value.(json.RawMessage)
	return len(text)
}

// sameStage reports whether two stages are the same.
func (s Step) sameStage(other Step) bool {
	return s.Value == other.Value && s.Whom == other.Whom && s.Known == other.Known
}

// wake counts a change, and wakes the readers that wait for one.
func (f *Feed) wake() {
	f.last++
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// AwaitBegin waits until the work has begun, or done is closed; it reports whether the work came first.
func (f *Feed) AwaitBegin(done <-chan struct{}) bool {
	for {
		f.mu.Lock()
		begun, changed := f.begun, f.awaitChange()
		f.mu.Unlock()
		if begun {
			return true
		}
		if ended(done, changed) {
			return false
		}
	}
}

// Next returns the oldest step that changed after a position, and the position behind it. Reading begins at position 0.
// Where there is none it is false, and changed is closed at the next change.
func (f *Feed) Next(after uint64) (s Step, position uint64, ok bool, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.entries {
		if e.change > after {
			return e.step, e.change, true, nil
		}
	}
	return Step{}, f.last, false, f.awaitChange()
}

func (f *Feed) awaitChange() <-chan struct{} {
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return f.changed
}

// lead gives another feed what this one has, and all that it gets until stop is called. No feed may follow itself, not
// by others either.
func (f *Feed) lead(by follower) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.begun {
		by.Begin()
	}
	for _, e := range f.entries {
		by.give(e.step)
	}
	f.followers = append(f.followers, by)
	return func() { f.leave(by) }
}

// Watched reports whether another feed follows.
func (f *Feed) Watched() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.followers) > 0
}

// leave ends one of the times that a feed follows.
func (f *Feed) leave(by follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at := slices.Index(f.followers, by); at >= 0 {
		f.followers = slices.Delete(f.followers, at, at+1)
	}
}

type feedKey struct{}

// With returns a context that carries a feed for the steps of a run.
func With(ctx context.Context, f *Feed) context.Context { return context.WithValue(ctx, feedKey{}, f) }

// Of returns the feed of a run, nil where there is no reader.
func Of(ctx context.Context) *Feed {
	f, _ := ctx.Value(feedKey{}).(*Feed)
	return f
}

// MaxBytes is how long a step's value may be as JSON; a longer one is left out, since the answer has it.
const MaxBytes = 16 << 10

// Report adds a step to the feed of a run, if there is one. The value is encoded before Report returns, so the caller
// may change it.
func Report(ctx context.Context, kind, key string, value any) {
	if f := Of(ctx); f != nil {
		f.Report(kind, key, value)
	}
}

// Report is the function of that name for a given feed.
func (f *Feed) Report(kind, key string, value any) {
	if text, err := json.Marshal(value); err == nil && len(text) <= MaxBytes {
		f.Add(Step{Kind: kind, Key: key, Value: json.RawMessage(text), At: time.Now()})
	}
}

// Stage is what a run is busy with.
type Stage string

// The stages. Of several at once the newest counts.
const (
	Resolving  Stage = "resolving"  // names are being looked up
	Connecting Stage = "connecting" // a connection is being made
	Handshake  Stage = "handshake"  // that of TLS
	Waiting    Stage = "waiting"    // a question was sent, nothing has come yet
	Reading    Stage = "reading"    // an answer is coming in
	Asking     Stage = "asking"     // another service, which is named, is queried
)

// KindStage is the kind of a step that holds a stage.
const KindStage = "stage"

type askingKey struct{}

// Known is what a connection has come to so far: the address, and how long its phases took, in milliseconds. Attempt is
// 1 for the first of several tries. Zero fields are not known.
type Known struct {
	Address   string  `json:"address,omitempty"`
	DNSMs     float64 `json:"dnsMs,omitempty"`
	ConnectMs float64 `json:"connectMs,omitempty"`
	TLSMs     float64 `json:"tlsMs,omitempty"`
	Attempt   int     `json:"attempt,omitempty"`
}

type knownKey struct{}

// Know returns a context whose stages carry k, beside what those of ctx carry. Of two lookups the longer counts: the
// other one was of the cache.
func Know(ctx context.Context, k Known) context.Context {
	if Of(ctx) == nil {
		return ctx
	}
	before, _ := ctx.Value(knownKey{}).(Known)
	return context.WithValue(ctx, knownKey{}, Known{
		Address: cmp.Or(k.Address, before.Address), DNSMs: max(k.DNSMs, before.DNSMs),
		ConnectMs: cmp.Or(k.ConnectMs, before.ConnectMs), TLSMs: cmp.Or(k.TLSMs, before.TLSMs),
		Attempt: cmp.Or(k.Attempt, before.Attempt),
	})
}

// Enter sets the stage of a run, unless its context is of a call to another service (Ask). Stages with an address are
// kept by address and attempt.
func Enter(ctx context.Context, s Stage) {
	f := Of(ctx)
	if f == nil || ctx.Value(askingKey{}) != nil {
		return
	}
	step := Step{Kind: KindStage, Value: s, At: time.Now()}
	step.Known, _ = ctx.Value(knownKey{}).(Known)
	step.Until, _ = ctx.Deadline()
	if step.Known.Address != "" {
		step.Key = step.Known.Address + " " + strconv.Itoa(step.Known.Attempt)
	}
	f.Add(step)
}

// Ask sets the stage Asking, with the queried service: a registry, a resolver, the worker. Stages that are entered with
// the returned context are left out.
func Ask(ctx context.Context, whom string) context.Context {
	f := Of(ctx)
	if f == nil {
		return ctx
	}
	f.Add(Step{Kind: KindStage, Value: Asking, Whom: whom, At: time.Now()})
	return context.WithValue(ctx, askingKey{}, true)
}

// Follow passes on, to the subscriber of ctx, the steps of another run that ctx waits for, until stop is called. While
// a query is under way, the stages of that run are part of it and are not passed on.
func Follow(ctx context.Context, run *Feed) (stop func()) {
	f := Of(ctx)
	if f == nil {
		return func() {}
	}
	return run.lead(follower{Feed: f, quiet: ctx.Value(askingKey{}) != nil})
}
