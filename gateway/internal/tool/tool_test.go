package tool

import (
	"context"
	"errors"
	"testing"

	"diagnostics/gateway/internal/fault"
)

// name is a target that is limited and denied by itself.
type name string

func (n name) LimitKey() string { return string(n) }

// registered is a target that is limited by one name and denied by another.
type registered struct{ typed, limit string }

func (r registered) LimitKey() string { return r.limit }
func (r registered) DenyKey() string  { return r.typed }

func parseName(in Input) (name, error) {
	if in.Text == "" {
		return "", fault.New(fault.Invalid, "NAME_MISSING", nil)
	}
	return name(in.Text), nil
}

func TestNewErasesTheTypes(t *testing.T) {
	t.Parallel()
	tl := New(Spec[name, int]{
		Slug: "length", Worker: true, OpenAPI: "operation:", Parse: parseName,
		Run: func(_ context.Context, n name) (int, error) { return len(n), nil },
	})
	if tl.Slug() != "length" || !tl.NeedsWorker() || tl.OpenAPI() != "operation:" {
		t.Errorf("slug %q, worker %t, description %q", tl.Slug(), tl.NeedsWorker(), tl.OpenAPI())
	}
	job, err := tl.Parse(Input{Text: "example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if job.LimitKey() != "example.com" || job.DenyKey() != "example.com" {
		t.Errorf("limit key %q, deny key %q", job.LimitKey(), job.DenyKey())
	}
	if got, err := job.Run(t.Context()); err != nil || got != any(11) {
		t.Errorf("run: %v, %v", got, err)
	}
}

func TestParseErrorsStayTheirOwn(t *testing.T) {
	t.Parallel()
	tl := New(Spec[name, int]{Slug: "length", Parse: parseName})
	if _, err := tl.Parse(Input{}); !fault.Is(err, fault.Invalid) {
		t.Errorf("parse: %v", err)
	}
}

func TestRunGetsTheContextAndKeepsItsError(t *testing.T) {
	t.Parallel()
	failure := errors.New("unforeseen")
	tl := New(Spec[name, int]{
		Slug: "fails", Parse: parseName,
		Run: func(ctx context.Context, _ name) (int, error) {
			if CallerOf(ctx).RequestID != "an id" {
				t.Errorf("request id %q", CallerOf(ctx).RequestID)
			}
			return 0, failure
		},
	})
	job, err := tl.Parse(Input{Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := job.Run(WithCaller(t.Context(), Caller{RequestID: "an id"})); !errors.Is(err, failure) {
		t.Errorf("run: %v", err)
	}
}

func TestDenyKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	tl := New(Spec[registered, int]{
		Slug:  "registration",
		Parse: func(in Input) (registered, error) { return registered{typed: in.Text, limit: "example.com"}, nil },
	})
	job, err := tl.Parse(Input{Text: "www.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if job.LimitKey() != "example.com" || job.DenyKey() != "www.example.com" {
		t.Errorf("limit key %q, deny key %q", job.LimitKey(), job.DenyKey())
	}
}

func TestCallerWithoutOne(t *testing.T) {
	t.Parallel()
	if c := CallerOf(context.Background()); c != (Caller{}) {
		t.Errorf("caller %+v", c)
	}
}
