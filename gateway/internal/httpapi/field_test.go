package httpapi

import (
	"context"
	"errors"
	"strings"
	"testing"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

// A 400 names the member of the body that it is about, whatever its sentence repeats of the input.
func TestInvalidField(t *testing.T) {
	t.Parallel()
	e := newEdge(t, func(_ context.Context, target fakeTarget) (any, error) {
		switch target {
		case "option":
			return nil, fault.OfOption("family", "OPTION_NOT_FLAG", nil)
		case "wrapped":
			return nil, errors.Join(errors.New("outer"), fault.OfOption("family", "OPTION_NOT_FLAG", nil))
		case "upstream":
			return nil, fault.New(fault.Upstream, "ASN_FAILED", nil)
		}
		return nil, fault.New(fault.NoAddress, "NO_ADDRESS", finding.Args{"host": string(target)})
	})
	for _, tt := range []struct {
		name, body string
		status     int
		field      string
	}{
		{"a wrong option", `{"input":"a","options":{"family":"x"}}`, 400, "options.family"},
		{"an option of another type", `{"input":"a","options":{"family":4}}`, 400, "options.family"},
		{"an option that the run refuses", `{"input":"option"}`, 400, "options.family"},
		{"the same, wrapped", `{"input":"wrapped"}`, 400, "options.family"},
		{"an input named like an option", `{"input":"family"}`, 400, "input"},
		{"an input of another form", `{"input":"bad"}`, 400, "input"},
		{"a refused input", `{"input":"refused"}`, 400, "input"},
		{"a denied input", `{"input":"denied.example.com"}`, 400, "input"},
		{"a long input", `{"input":"` + strings.Repeat("a", 2049) + `"}`, 400, "input"},
		{"an input of another type", `{"input":7}`, 400, "input"},
		{"no input", `{}`, 400, "input"},
		{"options of another type", `{"input":"a","options":7}`, 400, "options"},
		{"no object", `[]`, 400, ""},
		{"another failure", `{"input":"upstream"}`, 502, ""},
	} {
		a := e.post(t, "echo", tt.body)
		a.envelope(t, tt.status)
		if got := a.Header.Get("X-Invalid-Field"); got != tt.field {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.field)
		}
	}
}
