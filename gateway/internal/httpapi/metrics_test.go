package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestBoundsAreTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		runs, connections int
		want              []string
	}{
		"limits":    {runs: 7, connections: 11, want: []string{"diagnostics_runs_max 7", "diagnostics_connections_max 11"}},
		"unlimited": {runs: 1, connections: 0, want: []string{"diagnostics_runs_max 1", "diagnostics_connections_max 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEdge(t, nil, func(c *Config) { c.MaxInFlight, c.MaxConnections = test.runs, test.connections })
			w := httptest.NewRecorder()
			e.config.Metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			for _, want := range test.want {
				if !strings.Contains(w.Body.String(), "\n"+want+"\n") {
					t.Errorf("no %q in the metrics", want)
				}
			}
		})
	}
}
