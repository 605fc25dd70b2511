package httpapi

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/ratelimit"
)

// A request costs the metrics no memory.
func TestCountingAllocatesNothing(t *testing.T) {
	m := NewMetrics()
	m.follow([]string{"uptime"})
	refused := &fault.Error{Kind: fault.Refused, Rule: fault.RulePrivateAddress}
	if n := testing.AllocsPerRun(100, func() {
		m.finished(pathTools+"uptime", ending{http.StatusOK, outcomeOK}, time.Millisecond)
		m.finished(pathConnection+"ping", ending{http.StatusOK, outcomeOK}, time.Millisecond)
		m.finished("/healthz", ending{http.StatusOK, outcomeOK}, time.Millisecond)
		m.refusedBy(pathTools+"uptime", fault.LimitTool)
		m.of(pathTools + "uptime").cost.Observe(.001)
		m.refusals.Refused(refused.Rule)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestLimitsAreKnownByTheirBuckets(t *testing.T) {
	t.Parallel()
	e := newEdge(t, nil)
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.RemoteAddr = "[2001:db8:1:2::3]:1"
	client := e.config.Clients.Identify(r)
	var got []fault.Rule
	for _, stage := range append(e.runStages(client, "uptime", "example.com"), e.sampleStages(client)...) {
		for _, charge := range stage {
			got = append(got, limitOf(ratelimit.Decision{Key: charge.Key}, client))
		}
	}
	got = slices.Compact(got) // there are several networks
	want := []fault.Rule{fault.LimitTool, fault.LimitClient, fault.LimitNetwork, fault.LimitTarget, fault.LimitSamples,
		fault.LimitNetwork}
	if len(client.Networks()) == 0 || !slices.Equal(got, want) {
		t.Errorf("the buckets are of %v, want %v", got, want)
	}
}
