package main

import (
	"fmt"
	"testing"
	"time"

	"diagnostics/daemon/daemontest"
	"diagnostics/daemon/daemontest/testca"

	"github.com/alicebob/miniredis/v2"
)

// startMeasured runs a gateway that has everything of which there are metrics.
func startMeasured(t *testing.T, env ...string) *started {
	t.Helper()
	dir, ca := t.TempDir(), testca.New(t, "workers")
	put := func(name string, content []byte) string { return daemontest.File(t, dir, name, content) }
	cert, key := ca.Issue(t, time.Hour, "gateway")
	redis := miniredis.RunT(t)
	redis.RequireAuth("password")
	return start(t, append([]string{"RATE_LIMIT_REDIS_URL=redis://" + redis.Addr(),
		"RATE_LIMIT_REDIS_TOKEN_FILE=" + put("password", []byte("password")),
		"AUDIT_LOG_FILE=" + dir + "/audit.log",
		"DENY_TARGETS_FILE=" + put("targets", nil), "HOST_ADDRESSES_FILE=" + put("addresses", nil),
		"DENY_CLIENTS_FILE=" + put("clients", nil), "CLIENT_LIMITS_FILE=" + put("limits", []byte("192.0.2.1 2 office")),
		"PLACE_ID=own", "PLACES_FILE=" + put("places", fmt.Appendf(nil,
			`[{"id":"fra","name":"F","url":"https://127.0.0.1:1","tokenFile":%q}]`, put("peer", []byte(placeToken)))),
		"PEER_LISTEN_ADDR=127.0.0.1:0", "PEER_TOKEN=" + placeToken,
		"PEER_TLS_CERT_FILE=" + dir + "/cert", "PEER_TLS_KEY_FILE=" + dir + "/key",
		"ENABLE_WORKER_TOOLS=true", "DIAGNOSTICS_WORKER_URL=https://127.0.0.1:1",
		"DIAGNOSTICS_WORKER_TOKEN_FILE=" + put("token", []byte("token")),
		"DIAGNOSTICS_WORKER_CA_FILE=" + put("ca", ca.PEM()),
		"DIAGNOSTICS_WORKER_CLIENT_CERT_FILE=" + put("cert", cert),
		"DIAGNOSTICS_WORKER_CLIENT_KEY_FILE=" + put("key", key)}, env...)...)
}

// TestMetricsTable keeps the table of the gateway's metrics equal to /metrics.
func TestMetricsTable(t *testing.T) {
	t.Parallel()
	s := startMeasured(t)
	_, text := s.get(t, s.metrics+"/metrics")
	daemontest.Section(t, "../docs/metrics.md", "<!-- metrics:gateway -->", "<!-- /metrics:gateway -->",
		daemontest.MetricsTable(text), *update)
}
