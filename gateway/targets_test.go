package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/httpapi"
	"diagnostics/gateway/internal/limits/ratelimit"
)

// Every target case goes through the whole edge, under limits that refuse everybody: what step 7 lets pass is 429 (or
// 501 before it), what it does not is 400, and neither a packet nor a query for a name leaves.
func TestTargetCasesAtTheEdge(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("internal/tools/testdata/targets.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ ID, Slug, Input, Expect, Why string }
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	n := egresstest.New(t)
	s := gatewayOn(t, n.Client(nil), certs.Checker{}, fakeWorker(t), func(c *httpapi.Config) {
		c.Limiter = limiter{decision: ratelimit.Decision{Limit: 1, RetryAfter: time.Second}}
	})
	var refused, accepted int
	for _, tt := range cases {
		body, err := json.Marshal(map[string]string{"input": tt.Input})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.Client().Post(s.URL+"/api/tools/"+tt.Slug, "application/json", strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		// Some inputs that are too long make a body that is.
		wrong := http.StatusBadRequest
		if len(body) > httpapi.MaxBodyBytes {
			wrong = http.StatusRequestEntityTooLarge
		}
		passed := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusNotImplemented
		switch {
		case tt.Expect == "reject" && resp.StatusCode == wrong:
			refused++
		case tt.Expect != "reject" && passed:
			accepted++
		default:
			t.Errorf("%s %s %q: status %d, want %s (%s): %s", tt.ID, tt.Slug, tt.Input[:min(80, len(tt.Input))],
				resp.StatusCode, tt.Expect, tt.Why, answer)
		}
	}
	if queries, dials := n.Queries(), n.Dials(); len(queries)+len(dials) > 0 {
		t.Errorf("left the gateway: %v %v", queries, dials)
	}
	t.Logf("%d cases: %d refused and %d taken, without a packet", len(cases), refused, accepted)
	if refused == 0 || accepted == 0 || refused+accepted != len(cases) {
		t.Errorf("%d refused and %d taken of %d", refused, accepted, len(cases))
	}
}
