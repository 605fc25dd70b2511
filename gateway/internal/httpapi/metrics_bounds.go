package httpapi

import "github.com/prometheus/client_golang/prometheus"

// bounds tells what this instance may have at most, so that alerts need no copy of its settings.
func (m *Metrics) bounds(runs, connections int) {
	for _, b := range []struct {
		name, help string
		most       int
	}{
		{"diagnostics_runs_max", "Tool runs that this instance takes at once (MAX_IN_FLIGHT).", runs},
		{"diagnostics_connections_max", "Connections that may be open (MAX_CONNECTIONS); 0 is no limit.", connections},
	} {
		gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: b.name, Help: b.help})
		gauge.Set(float64(b.most))
		m.registry.MustRegister(gauge)
	}
}
