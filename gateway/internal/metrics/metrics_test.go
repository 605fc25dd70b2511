package metrics_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/metrics"
	"diagnostics/gateway/internal/redis/breaker"
	"diagnostics/gateway/internal/remote"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// text is the exposition of a registry.
func text(r *prometheus.Registry) string {
	w := httptest.NewRecorder()
	promhttp.HandlerFor(r, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func want(t *testing.T, r *prometheus.Registry, lines ...string) {
	t.Helper()
	got := text(r)
	for _, line := range lines {
		if !strings.Contains(got, "diagnostics_"+line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}

// What has no place among the values of a label is not counted, and adds none.
func TestOnlyKnownValues(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	e, p, d, w := metrics.NewEgress(r), metrics.NewProviders(r), metrics.NewRedis(r), metrics.NewWorker(r)
	before := strings.Count(text(r), "\n")
	for range 2 {
		e.Connected(egress.ConnectionOK)
		e.Refused(fault.RulePrivateAddress)
		p.Asked(upstream.RDAP, upstream.Limited, time.Second)
		d.Waited(time.Millisecond)
		d.Asked(breaker.Limits, time.Millisecond, false)
		d.Asked(breaker.CacheGet, time.Millisecond, true)
		w.Asked("ping", remote.OutcomeBusy, time.Second)
	}
	w.Asked("packet-loss", remote.OutcomeLost, time.Second)
	e.Connected("forged")
	e.Refused("forged")
	p.Asked("forged", upstream.OK, time.Second)
	p.Asked(upstream.ASN, "forged", time.Second)
	p.Paused("forged", "server", time.Second)
	w.Asked("forged", remote.OutcomeOK, time.Second)
	want(t, r, `egress_connections_total{outcome="ok"} 2`, `egress_connections_total{outcome="timeout"} 0`,
		`guard_refusals_total{reason="private_address",stage="dial"} 2`,
		`provider_requests_total{outcome="limited",provider="rdap"} 2`,
		`provider_request_duration_seconds_sum{provider="rdap"} 2`,
		`redis_wait_seconds_count 2`, `redis_operation_duration_seconds_count{operation="limits"} 2`, `redis_errors_total{operation="limits"} 0`,
		`redis_errors_total{operation="cache_get"} 2`, `redis_errors_total{operation="check"} 0`,
		`worker_requests_total{outcome="busy",slug="ping"} 2`, `worker_request_duration_seconds_count{slug="ping"} 2`,
		`worker_requests_total{outcome="lost",slug="packet-loss"} 1`, `worker_request_duration_seconds_count{slug="packet-loss"} 0`, `worker_request_duration_seconds_count{slug="traceroute"} 0`)
	if after := strings.Count(text(r), "\n"); after != before {
		t.Errorf("%d lines, and %d at the start", after, before)
	}
}

// A server is paused until its pause ends, however often it sends a Retry-After.
func TestPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := prometheus.NewRegistry()
		p := metrics.NewProviders(r)
		p.Paused(upstream.RDAP, "a", 10*time.Second)
		p.Paused(upstream.RDAP, "a", 20*time.Second)
		p.Paused(upstream.RDAP, "b", time.Minute)
		p.Paused(upstream.WHOIS, "a", time.Hour)
		want(t, r, `provider_pauses_total{provider="rdap"} 3`, `provider_pause_seconds_total{provider="rdap"} 90`,
			`provider_paused{provider="rdap"} 2`, `provider_paused{provider="whois"} 1`, `provider_paused{provider="rdap_redirector"} 0`)
		time.Sleep(20 * time.Second)
		want(t, r, `provider_paused{provider="rdap"} 1`)
		time.Sleep(time.Minute)
		want(t, r, `provider_paused{provider="rdap"} 0`, `provider_pauses_total{provider="rdap"} 3`)
	})
}

// Two who name one cache share its counts.
func TestCaches(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	caches := metrics.NewCaches(r)
	caches.Of("dns").Hit()
	caches.Of("dns").Hit()
	caches.Of("dns").Miss()
	caches.Of("dns").Share()
	caches.Of("rdap")
	want(t, r, `cache_requests_total{cache="dns",result="hit"} 2`, `cache_requests_total{cache="dns",result="miss"} 1`,
		`shared_runs_total{cache="dns"} 1`, `cache_requests_total{cache="rdap",result="hit"} 0`)
}
