package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"diagnostics/gateway/internal/tool"
)

// probing is an edge whose tool costs its target nine requests more where the target's name begins with a p.
func probing(t *testing.T, target int) *edge {
	t.Helper()
	return newEdge(t, func(ctx context.Context, target fakeTarget) (any, error) {
		if strings.HasPrefix(string(target), "p") {
			if err := tool.ChargeTarget(context.WithoutCancel(ctx), 9); err != nil {
				return nil, err
			}
		}
		return "done", nil
	}, trusting, defaults, func(c *Config) { c.Limits.Target.Requests = target })
}

// A run that charges ten takes them from the target's bucket alone, all or none, and the headers show it.
func TestRunsThatChargeTheirTarget(t *testing.T) {
	t.Parallel()
	e := probing(t, 35)
	for i, want := range []struct {
		target    string
		status    int
		remaining string
	}{
		{"p.example.com", 200, "25"}, {"p.example.com", 200, "15"}, {"p.example.com", 200, "5"},
		// The fourth finds five, of which its own request takes one: what is refused takes no more.
		{"p.example.com", 429, "0"},
		{"another.example.com", 200, "29"},
	} {
		a := e.post(t, "echo", `{"input":"`+want.target+`"}`)
		if a.StatusCode != want.status || a.Header.Get("X-RateLimit-Remaining") != want.remaining ||
			(a.Header.Get("Retry-After") != "") != (want.status == 429) {
			t.Errorf("run %d: %d, %v %s", i, a.StatusCode, a.Header, a.body)
		}
	}
	if left := e.passed(t, 9, "198.51.100.2", "p.example.com"); left != 0 {
		t.Errorf("%d probing runs passed", left)
	}
	w := httptest.NewRecorder()
	e.config.Metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if want := `diagnostics_rate_limited_total{from="client",limit="target",slug="echo"} 10`; !strings.Contains(w.Body.String(), want) {
		t.Errorf("no %s", want)
	}
}

// A limit below the price, and none at all, let a run pass that finds a full bucket.
func TestChargesOfSmallLimits(t *testing.T) {
	t.Parallel()
	for limit, passed := range map[int]int{0: 5, 1: 1, 2: 1, 9: 1, 10: 1, 11: 1, 20: 2} {
		e := probing(t, limit)
		if n := e.passed(t, 5, "198.51.100.1", "p.example.com"); n != passed {
			t.Errorf("%d a window: %d runs passed, want %d", limit, n, passed)
		}
	}
}
