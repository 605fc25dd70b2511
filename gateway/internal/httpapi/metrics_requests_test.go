package httpapi

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/ratelimit"
)

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
