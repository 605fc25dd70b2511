package openapi

import (
	"context"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/apitest"
	"diagnostics/gateway/internal/tool"

	"github.com/google/go-cmp/cmp"
)

type target struct{}

func (target) LimitKey() string { return "" }

func described(slug, text string) tool.Tool {
	return tool.New(tool.Spec[target, int]{
		Slug: slug, OpenAPI: text,
		Parse: func(tool.Input) (target, error) { return target{}, nil },
		Run:   func(context.Context, target) (int, error) { return 0, nil },
	})
}

const day = `# What day it is.
operation:
  summary: Tell the day # of the week
  description: |
    The day of the week.

    # not a comment
      and further in
  input: {type: string, maxLength: 2048, description: 'A {result} of {slug}.'}
  # Nothing to choose.
  requestExamples:
    typical: {value: {input: today}}
  responseExamples:
    typical:
      value: {data: {day: Monday, at: '2026-07-01T11:00:00Z'},
        durationMs: 1, requestId: 3f1c2a4e-98b0-4f4c-9a55-3c0d5a0e1b11}

schemas:
  WeekDay:
    type: object
    required: [day, at]
    properties:
      day: {$ref: '#/components/schemas/DayName'}

      at: {$ref: '#/components/schemas/Moment'}
  DayName: {type: string, minLength: 3}
`

func document(t *testing.T, tools ...tool.Tool) string {
	t.Helper()
	text, err := Document(tools)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestDocument(t *testing.T) {
	t.Parallel()
	other := strings.NewReplacer("WeekDay", "Month", "DayName", "MonthName", "the day", "the month").Replace(day)
	text := document(t, described("week-day", day), described("month", other))
	d, err := apitest.Load([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	request := map[string]any{"input": "today"}
	want := []apitest.Tool{
		{Slug: "month", Summary: "Tell the month", Input: "A {result} of {slug}.", Typical: request},
		{Slug: "week-day", Summary: "Tell the day", Input: "A {result} of {slug}.", Typical: request},
	}
	if diff := cmp.Diff(want, d.Tools()); diff != "" {
		t.Error(diff)
	}
	for _, path := range []string{
		"POST /api/tools/week-day", "POST /api/tools/month", "GET /api/openapi.yaml", "GET /tools/{slug}",
	} {
		if !slices.Contains(d.Paths(), path) {
			t.Errorf("no %s among %v", path, d.Paths())
		}
	}
	for _, kept := range []string{
		"\n      operationId: 'week-day'\n",
		"\n      description: |\n        The day of the week.\n\n        # not a comment\n          and further in\n",
		"\n                  data: {$ref: '#/components/schemas/WeekDay'}\n",
		"\n              examples:\n                typical:\n                  value: {data: {day: Monday,",
		"\n    DayName: {type: string, minLength: 3}\n",
	} {
		if !strings.Contains(text, kept) {
			t.Errorf("no %q in\n%s", kept, text)
		}
	}
	for _, gone := range []string{
		"/api/tools/{slug}", "Nothing to choose", "What day it is", "puts them together", "served once",
	} {
		if strings.Contains(text, gone) {
			t.Errorf("%q is served", gone)
		}
	}
}

// between is a piece of day.
func between(from, to string) string {
	return day[strings.Index(day, from):strings.Index(day, to)]
}

// What a tool does not say leaves nothing behind.
func TestOptionalParts(t *testing.T) {
	t.Parallel()
	lean := strings.Replace(day, between("  description:", "  input:"), "", 1)
	lean = strings.Replace(lean, between("  responseExamples:", "\nschemas:"), "", 1)
	text := document(t, described("week-day", lean))
	if _, err := apitest.Load([]byte(text)); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(text) {
		if _, _, _, is := placeholder(line); is {
			t.Errorf("left over: %s", line)
		}
	}
}

// The parts that tools may have are those that openapi.yaml has a place for.
func TestEveryPartHasAPlace(t *testing.T) {
	t.Parallel()
	var places []string
	for line := range strings.Lines(shared) {
		if _, _, name, is := placeholder(line); is {
			places = append(places, name)
		}
	}
	// The schema of the options is made from the tool's Spec.
	want := slices.Sorted(slices.Values(append([]string{"options"}, parts...)))
	if slices.Sort(places); !slices.Equal(places, want) {
		t.Errorf("openapi.yaml has places for %v, tools have %v", places, want)
	}
}

func TestWhatIsMissingOrMalformedIsNamed(t *testing.T) {
	t.Parallel()
	without := func(line string) string {
		before, rest, _ := strings.Cut(day, line)
		_, after, _ := strings.Cut(rest, "\n")
		return before + after
	}
	responses := between("  responseExamples:", "\nschemas:")
	in := func(old, fresh string) string { return strings.Replace(day, old, fresh, 1) }
	tests := []struct{ name, text, want string }{
		{"no file", "", "write this file, and give it to the tool's Spec as OpenAPI"},
		{"an empty file", " \n", "write this file, and give it to the tool's Spec as OpenAPI"},
		{"nothing in it", "# later\n", "missing: operation.summary, operation.input, " +
			"operation.requestExamples, schemas.WeekDay (the tool's result)"},
		{"no summary", without("  summary:"), "missing: operation.summary"},
		{"no input", without("  input:"), "missing: operation.input"},
		{"options by hand", in("  input:", "  options: {}\n  input:"), "operation.options is none of summary"},
		{"no request", in("  requestExamples:\n    typical: {value: {input: today}}\n", ""),
			"missing: operation.requestExamples"},
		{"an empty part", in(" Tell the day # of the week", ""), "missing: operation.summary"},
		{"an empty part that need not be", in(responses, "  responseExamples:\n\n"), "missing: operation.responseExamples"},
		{"a part of another name", in("summary:", "title:"), "operation.title is none of summary, description, input,"},
		{"a part that stands twice", in("  input:", "  summary: again\n  input:"), "the key summary stands twice"},
		{"no result", in("  WeekDay:", "  Weekday:"), "missing: schemas.WeekDay (the tool's result)"},
		{"no schemas", day[:strings.Index(day, "schemas:")], "missing: schemas.WeekDay (the tool's result)"},
		{"a schema that stands twice", day + "  DayName: {type: string}\n", "the key DayName stands twice"},
		{"a schema that is shared already", day + "  Timings: {type: string}\n",
			"there is a schema Timings elsewhere already"},
		{"a third key", day + "paths:\n  /: {}\n", "paths is neither operation nor schemas"},
		{"a tab", in("  input:", "\tinput:"), `a line is neither a key nor indented by two spaces below one: "\tinput:`},
		{"one space", in("  input:", " input:"), "a line is neither a key nor indented"},
		{"an indented start", "  summary: x\n", "a line is neither a key nor indented"},
		{"no key", day + "a line\n", "a line is neither a key nor indented"},
		{"no space behind the colon", in("summary: Tell", "summary:Tell"), "a line is neither a key nor indented"},
	}
	for _, tt := range tests {
		text, err := Document([]tool.Tool{described("week-day", tt.text)})
		want := "gateway/internal/tools/weekday/openapi.yaml: " + tt.want
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s…", tt.name, err, want)
		}
		if text != "" {
			t.Errorf("%s: a document all the same", tt.name)
		}
	}
}

func TestSchemaOfTwoTools(t *testing.T) {
	t.Parallel()
	second := strings.ReplaceAll(day, "WeekDay", "Month")
	_, err := Document([]tool.Tool{described("week-day", day), described("month", second)})
	const want = "gateway/internal/tools/month/openapi.yaml: there is a schema DayName elsewhere already"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestTheSharedPartMayBeBroken(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"x", "paths:\n  x\n", "components:\n  x\n", "components:\n  schemas:\n    x\n",
	} {
		if got, err := assemble(text, nil); err == nil {
			t.Errorf("%q: taken as %q", text, got)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for slug, want := range map[string]string{
		"uptime":           "gateway/internal/tools/uptime/openapi.yaml Uptime",
		"my-ip":            "gateway/internal/tools/myip/openapi.yaml MyIp",
		"email-dns-health": "gateway/internal/tools/emaildnshealth/openapi.yaml EmailDnsHealth",
	} {
		if got := File(slug) + " " + ResultName(slug); got != want {
			t.Errorf("%s: %s, want %s", slug, got, want)
		}
	}
}
