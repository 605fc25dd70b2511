package httpapi

import (
	"net/http"

	"diagnostics/gateway/internal/metrics"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics counts in a registry of its own. No label holds anything that a visitor sent.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	costs    *prometheus.HistogramVec
	inFlight prometheus.Gauge
	limited  *prometheus.CounterVec
	refusals metrics.Refusals

	routes map[string]*routeMetrics // by the route's own pattern
	other  *routeMetrics
}

// NewMetrics makes the gateway's metrics.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "diagnostics_requests_total",
			Help: "Requests by tool or connection route, status (canceled: the client left) and outcome: whose fault it was.",
		}, []string{"slug", "status", "outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "diagnostics_request_duration_seconds",
			Help:    "Time from a request's headers to the end of its answer.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30},
		}, []string{"slug"}),
		costs: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "diagnostics_run_cpu_seconds",
			Help: "Processor time of a run, estimated: what the whole process uses is shared evenly among the runs that are " +
				"under way, so that it is exact for one that is alone. A run of less than a quarter of a millisecond counts " +
				"with the time that it took.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
		}, []string{"slug"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "diagnostics_runs_in_flight",
			Help: "Tool runs at this moment.",
		}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "diagnostics_rate_limited_total",
			Help: "Requests that a limit refused, as a whole or in one of their steps, by the limit.",
		}, []string{"slug", "limit"}),
	}
	m.registry.MustRegister(m.requests, m.duration, m.costs, m.inFlight, m.limited)
	m.refusals = metrics.NewRefusals(m.registry, "input")
	return m
}

// Registerer takes the metrics of what the edge does not know.
func (m *Metrics) Registerer() prometheus.Registerer { return m.registry }

// RedisUp reports whether Redis serves; it is absent where none is configured.
func (m *Metrics) RedisUp(up func() bool) {
	m.registry.MustRegister(metrics.Switch("diagnostics_redis_up",
		"1 while Redis serves, 0 while memory stands in for it.", up))
}

// WorkerUp reports whether the worker takes jobs; it is absent where none is configured.
func (m *Metrics) WorkerUp(up func() bool) {
	m.registry.MustRegister(metrics.Switch("diagnostics_worker_up",
		"1 while the worker says that it takes jobs, 0 while its tools fail.", up))
}

// AuditLines tells how many lines of the audit log could not be written; it is absent where none is kept.
func (m *Metrics) AuditLines(dropped func() uint64) {
	m.registry.MustRegister(metrics.Counter("diagnostics_dropped_audit_lines_total",
		"Lines of the audit log that could not be written.", nil, dropped))
}

// Handler serves the registry, for the private listener alone.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// bounds tells what this instance may have at most, so that alerts need no copy of its settings.
func (m *Metrics) bounds(runs, connections int) {
	m.registry.MustRegister(
		metrics.Gauge("diagnostics_runs_max", "Tool runs that this instance takes at once (MAX_IN_FLIGHT).", nil,
			func() int { return runs }),
		metrics.Gauge("diagnostics_connections_max", "Connections that may be open (MAX_CONNECTIONS); 0 is no limit.",
			nil, func() int { return connections }),
	)
}
