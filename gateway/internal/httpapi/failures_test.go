package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
)

func failedRuns(t *testing.T, e *edge) (runs []failedRun) {
	t.Helper()
	w := httptest.NewRecorder()
	e.Failures().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/debug/failures", nil))
	if err := json.Unmarshal(w.Body.Bytes(), &runs); err != nil || runs == nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return runs
}

func TestFailures(t *testing.T) {
	t.Parallel()
	var end error
	e := newEdge(t, func(context.Context, fakeTarget) (any, error) { return "done", end })
	lookup := &net.DNSError{Name: "secret.example.com", IsNotFound: true}
	for _, run := range []struct {
		input string
		err   error
		add   []string
		want  *failedRun // nil where the run did not begin, or did not fail
	}{
		{"a", nil, nil, nil},
		{"bad", nil, nil, nil},
		{"a", fault.Wrap(fault.Upstream, lookup, "ASN_FAILED", nil), nil,
			&failedRun{Status: 502, Outcome: outcomeUpstream, Operation: "lookup", Code: "not_found"}},
		{"a", context.DeadlineExceeded, []string{ndjson},
			&failedRun{Status: 504, Outcome: outcomeTimeout, Code: "deadline"}},
		{"a", errors.New("secret"), nil, &failedRun{Status: 500, Outcome: outcomeInternal, Code: "other"}},
	} {
		before := len(failedRuns(t, e))
		end = run.err
		a := e.post(t, "echo", `{"input":"`+run.input+`"}`, run.add...)
		runs := failedRuns(t, e)
		if run.want == nil {
			if len(runs) != before {
				t.Errorf("%q: %+v", run.input, runs[0])
			}
			continue
		}
		got := runs[0]
		if got.Time.IsZero() || got.RequestID != a.Header.Get("X-Request-Id") {
			t.Errorf("%+v", got)
		}
		run.want.Tool, run.want.RequestID = "echo", got.RequestID
		run.want.Time, run.want.DurationMs = got.Time, got.DurationMs
		if got != *run.want {
			t.Errorf("%+v, want %+v", got, *run.want)
		}
	}
}

func TestFailuresAreBounded(t *testing.T) {
	t.Parallel()
	var f failures
	for i := range keptFailures + 5 {
		f.add(&requestContext{}, "echo", &problem{status: i}, time.Now())
	}
	if len(f.runs) != keptFailures || f.runs[0].Status != 5 || f.runs[keptFailures-1].Status != keptFailures+4 {
		t.Errorf("%d, from %d", len(f.runs), f.runs[0].Status)
	}
}
