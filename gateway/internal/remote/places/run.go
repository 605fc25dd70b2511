package places

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"diagnostics/gateway/internal/apidoc/shape"
	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/remote"
	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"
)

// Run is what to run elsewhere, and for whom: Client and Network as tool.Caller has them, of which the place is given
// pseudonyms alone.
type Run struct {
	Slug, Input     string
	Options         map[string]json.RawMessage
	Client, Network string
}

// Request is the body of a run at another place (docs/contract.md#places).
type Request struct {
	Input   string                     `json:"input"`
	Options map[string]json.RawMessage `json:"options,omitempty"`
	Client  string                     `json:"client"`
	Group   string                     `json:"group,omitempty"`
	// BudgetMs is how long the run may take there.
	BudgetMs int64 `json:"budgetMs"`
}

// answerTime is what of a run's time is left for the way back.
const answerTime = time.Second

// Run runs a tool at another place until the deadline of ctx, which must have one, and passes its steps on. The result
// has no member place. Errors are *fault.Error, or ctx.Err() where the client has left.
func (s *Set) Run(ctx context.Context, id string, r Run) (json.RawMessage, error) {
	began := time.Now()
	p := s.find(id)
	if p == nil { // since the request was parsed
		return nil, remote.Own(fault.Upstream, nil, "This place is not there any more.")
	}
	data, err := s.run(ctx, p, r)
	if s.config.Observer != nil {
		s.config.Observer.Asked(id, remote.OutcomeOf(ctx, err), time.Since(began))
	}
	return data, err
}

func (s *Set) run(ctx context.Context, p *peer, r Run) (json.RawMessage, error) {
	shapes, err := s.config.Shapes()
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	left := time.Until(deadline)
	if left <= answerTime {
		return nil, context.DeadlineExceeded
	}
	key := string(s.config.Key(ctx))
	body, err := json.Marshal(Request{
		Input: r.Input, Options: r.Options,
		Client:   workerapi.Pseudonym(key, "client", r.Client),
		Group:    workerapi.Pseudonym(key, "group", r.Network),
		BudgetMs: (left - answerTime).Milliseconds(),
	})
	if err != nil {
		return nil, fmt.Errorf("encode the request for a place: %w", err)
	}
	answers := answers{slug: r.Slug, shape: shapes[r.Slug], inside: s.config.Translation()}
	call := remote.Call{Method: http.MethodPost, Path: PathTools + r.Slug, Body: body, Limit: left,
		Refuse: func(cause *remote.StatusError) error { return s.refusal(p, answers.inside, cause) }}
	if feed := progress.Of(ctx); feed != nil {
		steps := &steps{answers: answers, feed: feed}
		call.Step, call.Accepted = steps.pass, feed.Begin
	}
	answer, err := p.remote.Do(progress.Ask(ctx, "the place "+p.Name), call)
	if err != nil {
		return nil, err
	}
	memory.Count(ctx, len(answer))
	data, err := answers.read(answer, p.ID)
	if err != nil {
		return nil, p.remote.Unusable(err)
	}
	return data, nil
}

// refusal is the table from a place's statuses to this one's (docs/contract.md#places). What a place says goes to the
// client only where it is about the target, and without private addresses.
func (s *Set) refusal(p *peer, inside remote.Inside, cause *remote.StatusError) error {
	cause.Reason = ""
	said := inside.HideInText(cause.Said)
	switch cause.Status {
	case http.StatusBadRequest:
		return fault.Wrap(fault.Refused, cause, sentence("The place "+p.Name+" refuses this request", said))
	case http.StatusNotFound:
		return fault.Wrap(fault.NotEnabled, cause, "This place does not have this tool yet.")
	case http.StatusNotImplemented:
		return fault.Wrap(fault.NotEnabled, cause, "This tool is not enabled at the place "+p.Name+".")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return &fault.Error{Kind: fault.Busy, Cause: cause, Rule: fault.LimitPlace, RetryAfter: cause.RetryAfter,
			Sentence: fault.AgainIn(cause.RetryAfter, "The place "+p.Name+" is busy.")}
	case http.StatusBadGateway:
		return fault.Wrap(fault.Upstream, cause, sentence("Seen from "+p.Name, said))
	case http.StatusGatewayTimeout:
		return fault.Wrap(fault.Timeout, cause, sentence("Seen from "+p.Name, said))
	}
	s.config.Log.Warn("a place answers with a status that it should not have for this one's requests",
		slog.String("place", p.ID), slog.Int("status", cause.Status))
	return remote.Own(fault.Upstream, cause, "The place "+p.Name+" could not run this diagnostic.")
}

// sentence is a head, with what a place says where it says anything.
func sentence(head, said string) string {
	if said == "" {
		return head + ": the diagnostic failed."
	}
	return head + ": " + said
}

// answers reads what a place sends of one tool.
type answers struct {
	slug   string
	shape  shape.Tool
	inside remote.Inside
}

// read returns the data of an envelope that a place sends with status 200.
func (a answers) read(envelope []byte, place string) (json.RawMessage, error) {
	var got struct {
		Error string          `json:"error"`
		Data  json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(envelope, &got); err != nil {
		return nil, err
	}
	if got.Error != "" {
		return nil, fmt.Errorf("status 200 with the error %q", got.Error)
	}
	var from struct {
		Place Place `json:"place"`
	}
	if err := json.Unmarshal(got.Data, &from); err != nil {
		return nil, err
	}
	if from.Place.ID != place {
		return nil, fmt.Errorf("a result of the place %q", from.Place.ID)
	}
	all, err := shape.Members(got.Data)
	if err != nil {
		return nil, err
	}
	// What the place says of itself is this side's to say.
	all = slices.DeleteFunc(all, func(m shape.Member) bool { return m.Name == memberPlace })
	data, err := a.shape.Data.Clean(shape.Object(all))
	if err != nil {
		return nil, fmt.Errorf("the result of %s: %w", a.slug, err)
	}
	return a.hide(data)
}

// steps passes the steps of a run on.
type steps struct {
	answers
	feed *progress.Feed
	n    int
}

// pass passes a step on that is of the tool's shape; any other is dropped.
func (s *steps) pass(step json.RawMessage) {
	clean, err := s.shape.Step.Clean(step)
	if err != nil {
		return
	}
	var head struct {
		Kind  string         `json:"kind"`
		Stage progress.Stage `json:"stage"`
		Whom  string         `json:"whom"`
		progress.Known
		AtMs    float64 `json:"atMs"`
		BoundMs float64 `json:"boundMs"`
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(clean, &head) != nil || json.Unmarshal(clean, &all) != nil {
		return
	}
	if head.Kind == progress.KindStage {
		now := time.Now()
		left := time.Duration((head.BoundMs - head.AtMs) * float64(time.Millisecond))
		s.feed.Add(progress.Step{Kind: head.Kind, Value: head.Stage, Whom: head.Whom, Known: head.Known, At: now,
			Until: now.Add(left)})
		return
	}
	value, err := s.hideStep(head.Kind, all[head.Kind])
	if err != nil {
		return
	}
	s.n++
	s.feed.Report(head.Kind, keyOf(value, s.n), value)
}

// keyOf is what a step is about: a later one about the same replaces it. Only hops and replies are that many that it
// matters; every other step stands for itself.
func keyOf(value json.RawMessage, n int) string {
	var numbered struct {
		TTL *int `json:"ttl"`
		Seq *int `json:"seq"`
	}
	switch err := json.Unmarshal(value, &numbered); {
	case err == nil && numbered.TTL != nil:
		return strconv.Itoa(*numbered.TTL)
	case err == nil && numbered.Seq != nil:
		return strconv.Itoa(*numbered.Seq)
	}
	return "#" + strconv.Itoa(n)
}

var errNoValue = errors.New("a step without a value")
