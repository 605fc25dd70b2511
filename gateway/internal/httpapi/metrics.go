package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"diagnostics/gateway/internal/connections"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
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
			Help: "Requests that a rate limit refused, as a whole or in one of their steps.",
		}, []string{"slug"}),
	}
	m.registry.MustRegister(m.requests, m.duration, m.costs, m.inFlight, m.limited,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Build tells which build this is.
func (m *Metrics) Build(version, commit, goVersion string) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "diagnostics_build_info",
		Help:        "Always 1; the labels tell the build.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit, "goversion": goVersion},
	}, func() float64 { return 1 }))
}

// RedisUp tells whether Redis serves; it is absent where none is configured.
func (m *Metrics) RedisUp(up func() bool) {
	m.switched("diagnostics_redis_up", "1 while Redis serves, 0 while memory stands in for it.", up)
}

// WorkerUp tells whether the worker takes jobs; it is absent where none is configured.
func (m *Metrics) WorkerUp(up func() bool) {
	m.switched("diagnostics_worker_up", "1 while the worker says that it takes jobs, 0 while its tools fail.", up)
}

// switched registers a gauge of 1 and 0.
func (m *Metrics) switched(name, help string, on func() bool) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
		if on() {
			return 1
		}
		return 0
	}))
}

// LogLines tells how many lines libraries tried to print, and how many of our own could not be written.
func (m *Metrics) LogLines(foreign, dropped func() uint64) {
	m.counter("diagnostics_foreign_log_lines_total", "Lines that libraries tried to print; none is shown.", foreign)
	m.counter("diagnostics_dropped_log_lines_total", "Lines of the log that could not be written.", dropped)
}

// AuditLines tells how many lines of the audit log could not be written; it is absent where none is kept.
func (m *Metrics) AuditLines(dropped func() uint64) {
	m.counter("diagnostics_dropped_audit_lines_total", "Lines of the audit log that could not be written.", dropped)
}

// counter registers a count that is kept elsewhere.
func (m *Metrics) counter(name, help string, count func() uint64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
		func() float64 { return float64(count()) }))
}

// watch tells of the connections and of what requests hold.
func (m *Metrics) watch(counts func() connections.Counts, held func() int64) {
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "diagnostics_connections",
			Help: "Open connections of the public listener.",
		}, func() float64 { return float64(counts().Open) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "diagnostics_held_bytes",
			Help: "Bytes that large runs hold, and large answers that wait for their readers.",
		}, func() float64 { return float64(held()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "diagnostics_readers_cut_total",
			Help: "Connections that were closed since their readers did not read.",
		}, func() float64 { return float64(counts().Cut) }),
	)
	m.watchClosed("evicted", "Connections that made room: no more may be open (full), or no more of their peer (peer), "+
		"the process has no more files (files), or requests that are not whole yet have too many bytes (unfinished).",
		counts, map[string]func(connections.Counts) int{
			"full":       func(c connections.Counts) int { return c.EvictedFull },
			"peer":       func(c connections.Counts) int { return c.EvictedPeer },
			"files":      func(c connections.Counts) int { return c.EvictedFiles },
			"unfinished": func(c connections.Counts) int { return c.EvictedUnfinished },
		})
	m.watchClosed("refused", "Connections that found no room: no more may be open (full), or of their peer (peer).",
		counts, map[string]func(connections.Counts) int{
			"full": func(c connections.Counts) int { return c.RefusedFull },
			"peer": func(c connections.Counts) int { return c.RefusedPeer },
		})
}

// watchClosed counts connections that were closed for each of some reasons.
func (m *Metrics) watchClosed(
	verb, help string, counts func() connections.Counts, reasons map[string]func(connections.Counts) int,
) {
	for reason, of := range reasons {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name:        "diagnostics_connections_" + verb + "_total",
			Help:        help,
			ConstLabels: prometheus.Labels{"reason": reason},
		}, func() float64 { return float64(of(counts())) }))
	}
}

// Handler serves the registry, for the private listener alone.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

func (m *Metrics) finished(slug string, status int, o outcome, elapsed time.Duration) {
	m.requests.WithLabelValues(slug, statusLabel(status), string(o)).Inc()
	m.duration.WithLabelValues(slug).Observe(elapsed.Seconds())
}

func (m *Metrics) cost(slug string, used time.Duration) {
	m.costs.WithLabelValues(slug).Observe(used.Seconds())
}

func statusLabel(status int) string {
	if status == 0 {
		return "canceled"
	}
	return strconv.Itoa(status)
}
