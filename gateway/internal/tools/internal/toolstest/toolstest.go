// Package toolstest is what the tools' tests share: a private web with its certificate authority, a worker, canned
// answers, and a way to run a job. No production code imports it.
package toolstest

import (
	"context"
	"encoding/json"
	"testing"

	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

// HostPort parses a target, with port 443 where none is given.
func HostPort(t testing.TB, s string) target.HostPort {
	t.Helper()
	hp, err := target.ParseHostPort(s, 443)
	if err != nil {
		t.Fatal(err)
	}
	return hp
}

// Fields gives a result as the page sees it.
func Fields(t *testing.T, result any) map[string]any {
	t.Helper()
	out, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(out, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

// Run parses the input and runs the tool on it.
func Run(ctx context.Context, tl tool.Tool, in tool.Input) (any, error) {
	job, err := tl.Parse(in)
	if err != nil {
		return nil, err
	}
	return job.Run(ctx)
}

// MustRun runs the tool on an input that must give a result.
func MustRun[R any](t testing.TB, tl tool.Tool, in tool.Input) R {
	t.Helper()
	result, err := Run(t.Context(), tl, in)
	if err != nil {
		t.Fatal(err)
	}
	return result.(R)
}

// Options reads the options object of a request body.
func Options(t *testing.T, body string) tool.Options {
	t.Helper()
	var o tool.Options
	if err := json.Unmarshal([]byte(body), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// Text is the text, or <null>.
func Text(s *string) string {
	if s == nil {
		return "<null>"
	}
	return *s
}

// Number is the number, or -1 for null.
func Number(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}
