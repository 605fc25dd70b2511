package progress

import (
	"context"
	"encoding/json"
	"time"
)

type feedKey struct{}

// With gives a run a feed for its steps.
func With(ctx context.Context, f *Feed) context.Context { return context.WithValue(ctx, feedKey{}, f) }

// Of is the feed of a run, nil where nobody can read along.
func Of(ctx context.Context) *Feed {
	f, _ := ctx.Value(feedKey{}).(*Feed)
	return f
}

// MaxBytes is how long a step's value may be as JSON; a longer one is not told, since the answer has it.
const MaxBytes = 16 << 10

// Report tells a step: what of its kind it is about, and what is known of that now. The value is encoded before Report
// returns, so whoever has it may change it.
func Report(ctx context.Context, kind, key string, value any) {
	if f := Of(ctx); f != nil {
		f.Report(kind, key, value)
	}
}

// Report is the function of that name for who has the feed.
func (f *Feed) Report(kind, key string, value any) {
	if text, err := json.Marshal(value); err == nil && len(text) <= MaxBytes {
		f.Add(Step{Kind: kind, Key: key, Value: json.RawMessage(text), At: time.Now()})
	}
}

// Stage is what a run is busy with.
type Stage string

// The stages. Of several things that are done at once the newest is told.
const (
	Resolving  Stage = "resolving"  // names are being looked up
	Connecting Stage = "connecting" // a connection is being made
	Waiting    Stage = "waiting"    // a question was sent, nothing has come yet
	Reading    Stage = "reading"    // an answer is coming in
	Asking     Stage = "asking"     // somebody else is asked, who is named
)

// KindStage is the kind of a step that tells a stage.
const KindStage = "stage"

type askingKey struct{}

// Enter tells that a run is in a stage now, unless somebody is being asked.
func Enter(ctx context.Context, s Stage) {
	if f := Of(ctx); f != nil && ctx.Value(askingKey{}) == nil {
		f.Add(Step{Kind: KindStage, Value: s, At: time.Now()})
	}
}

// Ask tells that somebody is being asked: a registry, a resolver, the worker. The stages on the way there, which are
// entered with the context that it gives, are not told.
func Ask(ctx context.Context, whom string) context.Context {
	f := Of(ctx)
	if f == nil {
		return ctx
	}
	f.Add(Step{Kind: KindStage, Value: Asking, Whom: whom, At: time.Now()})
	return context.WithValue(ctx, askingKey{}, true)
}

// Follow gives whoever reads along what another run tells that ctx waits for, until stop is called. Where somebody is
// being asked, the stages of that run are on the way there, and are not told.
func Follow(ctx context.Context, run *Feed) (stop func()) {
	f := Of(ctx)
	if f == nil {
		return func() {}
	}
	return run.lead(follower{Feed: f, quiet: ctx.Value(askingKey{}) != nil})
}
