package places

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/remote"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/decode"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"
)

// Run is what to run elsewhere, and for whom. The place receives only pseudonyms of Client and Network.
type Run struct {
	Tool            tool.Tool
	Job             tool.Job // of Input and Options
	Input           string
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
// is a pointer to one of the tool's. Errors are *fault.Error, or ctx.Err() if the client has left.
func (s *Set) Run(ctx context.Context, id string, r Run) (any, error) {
	began := time.Now()
	p := s.find(id)
	if p == nil { // since the request was parsed
		return nil, remote.Own(fault.Upstream, nil, "PLACE_GONE", nil)
	}
	data, err := s.run(ctx, p, r)
	if s.config.Observer != nil {
		s.config.Observer.Asked(id, remote.OutcomeOf(ctx, err), time.Since(began))
	}
	return data, err
}

func (s *Set) run(ctx context.Context, p *peer, r Run) (any, error) {
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
	answers := answers{Run: r, inside: s.config.Translation()}
	// The place streams even if nobody follows it here: a failure comes as the code and the arguments of a step.
	steps := &steps{answers: answers, feed: progress.Of(ctx)}
	call := remote.Call{Method: http.MethodPost, Path: PathTools + r.Tool.Slug(), Body: body, Limit: left,
		Step:   steps.pass,
		Refuse: func(cause *remote.StatusError) error { return s.refusal(p, steps.failed, cause) }}
	if steps.feed != nil {
		call.Accepted = steps.feed.Begin
	}
	answer, err := p.remote.Do(progress.Ask(ctx, "the place "+p.Name), call)
	if err != nil {
		return nil, err
	}
	// What decoding may take is counted before it begins, and few answers are decoded at once.
	release, err := s.decoding.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	memory.Count(ctx, len(answer)+decode.Cost(len(answer)))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	result, err := answers.read(answer, p.ID)
	if err != nil {
		return nil, p.remote.Unusable(err)
	}
	return result, nil
}

// refusal maps a place's status to a failure here (docs/contract.md#places). there is the conclusion that the place
// sent for a run that failed, or nil. Sentences of a place are never passed on.
func (s *Set) refusal(p *peer, there *finding.Conclusion, cause *remote.StatusError) error {
	cause.Reason = ""
	if there == nil {
		there = &finding.Conclusion{}
	}
	place := finding.Args{"place": p.Name}
	switch cause.Status {
	case http.StatusBadRequest:
		if there.Code == "" {
			return fault.Wrap(fault.Refused, cause, "PLACE_REFUSES", place)
		}
		return fault.SeenFrom(fault.Refused, cause, p.Name, *there)
	case http.StatusNotFound:
		return fault.Wrap(fault.NotEnabled, cause, "PLACE_WITHOUT_TOOL", nil)
	case http.StatusNotImplemented:
		return fault.Wrap(fault.NotEnabled, cause, "PLACE_TOOL_OFF", place)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if there.Code != "" {
			lacking := fault.SeenFrom(fault.Busy, cause, p.Name, *there).ByRule(fault.RuleShortage)
			lacking.RetryAfter = cause.RetryAfter
			return lacking
		}
		return fault.Wrap(fault.Busy, cause, "PLACE_BUSY", place).ByRule(fault.LimitPlace).Again(cause.RetryAfter)
	case http.StatusBadGateway:
		return fault.SeenFrom(fault.Upstream, cause, p.Name, *there)
	case http.StatusGatewayTimeout:
		return fault.SeenFrom(fault.Timeout, cause, p.Name, *there)
	}
	s.config.Log.Warn("a place answers with a status that it should not have for this one's requests",
		slog.String("place", p.ID), slog.Int("status", cause.Status))
	return remote.Own(fault.Upstream, cause, "PLACE_FAILED", place)
}

// answers reads what a place sends of one run.
type answers struct {
	Run
	inside remote.Inside
}

// read returns the result of an envelope that a place sends with status 200.
func (a answers) read(envelope []byte, place string) (any, error) {
	var got struct {
		Error string          `json:"error,omitempty"`
		Data  json.RawMessage `json:"data"`
	}
	if err := decode.Into(envelope, &got); err != nil {
		return nil, err
	}
	if got.Error != "" {
		return nil, fmt.Errorf("status 200 with the error %.100q", got.Error)
	}
	var from struct {
		Place struct {
			ID string `json:"id"`
		} `json:"place"`
	}
	if err := decode.Into(got.Data, &from); err != nil {
		return nil, err
	}
	if from.Place.ID != place {
		return nil, fmt.Errorf("a result of the place %.40q", from.Place.ID)
	}
	result := reflect.New(a.Tool.Result())
	err := decode.Into(got.Data, result.Interface())
	if err == nil {
		err = a.Job.Adopt(result.Interface())
	}
	if err != nil {
		return nil, fmt.Errorf("the result of %s: %w", a.Tool.Slug(), err)
	}
	if a.Tool.NeedsWorker() { // other results hold addresses only as the target's own data
		hide(a.inside, result)
	}
	return result.Interface(), nil
}

// steps passes the steps of a run on to feed, which is nil if nobody follows it.
type steps struct {
	answers
	feed   *progress.Feed
	failed *finding.Conclusion // the last step, if it concluded a run that failed
	n      int
}

// stage is a step of the kind progress.KindStage. An older place sends no time.
type stage struct {
	Stage progress.Stage `json:"stage" wire:"enum=resolving|connecting|handshake|waiting|reading|asking"`
	Whom  string         `json:"whom,omitempty"`
	progress.Known
	AtMs    float64 `json:"atMs,omitempty"`
	BoundMs float64 `json:"boundMs,omitempty"`
}

// longest is more than any run takes.
const longest = float64(time.Hour / time.Millisecond)

// pass passes a step on that is one of the tool's; any other is dropped. The conclusion of a failure is kept for the
// last line.
func (s *steps) pass(step json.RawMessage) {
	s.failed = nil
	var members map[string]json.RawMessage
	if decode.Into(step, &members) != nil {
		return
	}
	var kind string
	if members["kind"] == nil || decode.Into(members["kind"], &kind) != nil {
		return
	}
	if kind == tool.KindConclusion && s.fails(members[kind]) || s.feed == nil {
		return
	}
	if kind == progress.KindStage {
		var got stage
		if decode.Into(step, &got) != nil {
			return
		}
		hide(s.inside, reflect.ValueOf(&got))
		now := time.Now()
		left := min(max(0, got.BoundMs-got.AtMs), longest)
		s.feed.Add(progress.Step{Kind: kind, Value: got.Stage, Whom: got.Whom, Known: got.Known, At: now,
			Until: now.Add(time.Duration(left * float64(time.Millisecond)))})
		return
	}
	of, known := s.Tool.Steps()[kind]
	if !known || members[kind] == nil {
		return
	}
	value := reflect.New(of)
	if decode.Into(members[kind], value.Interface()) != nil {
		return
	}
	if reported, is := value.Interface().(finding.Adopter); is && reported.Adopt(s.Tool.Findings()) != nil {
		return
	}
	hide(s.inside, value)
	s.n++
	s.feed.Report(kind, keyOf(value.Interface(), s.n), value.Interface())
}

// fails reports whether the run failed with this conclusion. It keeps such a conclusion for the last line.
func (s *steps) fails(conclusion json.RawMessage) bool {
	var got finding.Conclusion
	if conclusion == nil || decode.Into(conclusion, &got) != nil || got.Adopt(fault.Rows) != nil {
		return false
	}
	hide(s.inside, reflect.ValueOf(&got))
	s.failed = &got
	return s.Tool.Findings()[got.Code].State == ""
}

// keyOf returns what a step is about: a later one about the same replaces it. Only hops and replies are so many that it
// matters; every other step is about itself.
func keyOf(value any, n int) string {
	switch v := value.(type) {
	case *workerapi.Hop:
		return strconv.Itoa(v.TTL)
	case *workerapi.Reply:
		return strconv.Itoa(v.Seq)
	}
	return "#" + strconv.Itoa(n)
}
