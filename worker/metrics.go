package main

import (
	"net/http"
	"strconv"
	"time"

	"diagnostics/daemon/files"
	"diagnostics/daemon/metrics"
	"diagnostics/worker/internal/httpapi"
	"diagnostics/worker/internal/icmp"

	"github.com/prometheus/client_golang/prometheus"
)

// workerMetrics are the worker's metrics, in a registry of their own. No label holds anything that a request sent, and
// every series is there from the start.
type workerMetrics struct {
	registry *prometheus.Registry
	jobs     *prometheus.CounterVec
	duration *prometheus.HistogramVec
	limited  *prometheus.CounterVec
	waits    prometheus.Histogram
}

// newMetrics makes them; dropped is how many lines of the log could not be written.
func newMetrics(dropped func() uint64) *workerMetrics {
	m := &workerMetrics{
		registry: prometheus.NewRegistry(),
		jobs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "diagnostics_worker_jobs_total",
			Help: "Requests for jobs by tool, status (canceled: who asked left) and outcome: whose fault it was.",
		}, []string{"tool", "status", "outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "diagnostics_worker_job_duration_seconds",
			Help:    "Time from a request to the end of its answer, of those that a job ran for.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 1.5, 2, 3, 4, 5, 7.5, 10, 15, 20},
		}, []string{"tool"}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "diagnostics_worker_jobs_limited_total",
			Help: "Jobs that were refused since every slot was taken (slots), or every one that one client or the clients " +
				"of one network (group) or of one other place (place) may hold, or since WORKER_PACKETS_PER_SECOND or " +
				"WORKER_TARGET_PACKETS_PER_SECOND left no packet in time (packets).",
		}, []string{"tool", "limit"}),
		waits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "diagnostics_worker_packet_wait_seconds",
			Help:    "Time that a probe was held back by the limits on packets a second.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}),
	}
	m.registry.MustRegister(m.jobs, m.duration, m.limited, m.waits)
	metrics.Register(m.registry, dropped)
	m.begin()
	return m
}

// begin makes every series, at zero.
func (m *workerMetrics) begin() {
	for _, tool := range httpapi.Tools() {
		m.duration.WithLabelValues(tool)
		for _, e := range httpapi.Endings() {
			m.jobs.WithLabelValues(tool, statusLabel(e.Status), string(e.Outcome))
		}
		for _, limit := range httpapi.Limits() {
			m.limited.WithLabelValues(tool, string(limit))
		}
	}
}

// JobEnded implements httpapi.Observer.
func (m *workerMetrics) JobEnded(tool string, e httpapi.Ending, took time.Duration) {
	m.jobs.WithLabelValues(tool, statusLabel(e.Status), string(e.Outcome)).Inc()
	if e.Ran() {
		m.duration.WithLabelValues(tool).Observe(took.Seconds())
	}
}

// Limited implements httpapi.Observer.
func (m *workerMetrics) Limited(tool string, by httpapi.Limit) {
	m.limited.WithLabelValues(tool, string(by)).Inc()
}

// waited counts how long a probe was held back.
func (m *workerMetrics) waited(d time.Duration) { m.waits.Observe(d.Seconds()) }

func statusLabel(status int) string {
	if status == 0 {
		return "canceled"
	}
	return strconv.Itoa(status)
}

// watchJobs adds the number of jobs that run, and its limit.
func (m *workerMetrics) watchJobs(inUse func() int, slots int) {
	m.registry.MustRegister(
		metrics.Gauge("diagnostics_worker_jobs_in_flight", "Jobs that run now.", nil, inUse),
		metrics.Gauge("diagnostics_worker_jobs_max", "Jobs that may run at once: WORKER_MAX_CONCURRENT.", nil,
			func() int { return slots }))
}

// sockets is the part of *icmp.Engine that metrics read.
type sockets interface {
	Mode() icmp.Mode
	Absent(family int) error
	Counters() icmp.Counters
}

// watchSockets adds the metrics of the sockets and the packets.
func (m *workerMetrics) watchSockets(engine sockets) {
	m.registry.MustRegister(metrics.Gauge("diagnostics_worker_mode",
		"Always 1; the label is the kind of the sockets, raw or datagram.",
		prometheus.Labels{"mode": string(engine.Mode())}, func() int { return 1 }))
	for _, family := range []int{4, 6} {
		m.registry.MustRegister(metrics.Gauge("diagnostics_worker_family_up",
			"1 where ICMP sockets of the address family are open, 0 where its jobs fail.",
			prometheus.Labels{"family": strconv.Itoa(family)}, func() int {
				if engine.Absent(family) != nil {
					return 0
				}
				return 1
			}))
	}
	for _, p := range packetCounters {
		m.registry.MustRegister(metrics.Counter("diagnostics_worker_packets_"+p.name+"_total", p.help, nil,
			func() uint64 { return p.of(engine.Counters()) }))
	}
}

var packetCounters = []struct {
	name, help string
	of         func(icmp.Counters) uint64
}{
	{"sent", "Probes sent.", func(c icmp.Counters) uint64 { return c.Sent }},
	{"send_errors", "Probes that could not be sent.", func(c icmp.Counters) uint64 { return c.SendErrors }},
	{
		"received", "ICMP messages received, for any flow, and answers to TCP probes.",
		func(c icmp.Counters) uint64 { return c.Received },
	},
	{"unmatched", "Received messages that answered no live probe.", func(c icmp.Counters) uint64 { return c.Unmatched }},
	{
		"doubted", "Received messages that proved too little to be accepted while forged ones came.",
		func(c icmp.Counters) uint64 { return c.Doubted },
	},
	{
		"dropped", "Received messages that the kernel dropped for want of room.",
		func(c icmp.Counters) uint64 { return c.Dropped },
	},
	{
		"panics", "Received messages that were dropped because reading them panicked.",
		func(c icmp.Counters) uint64 { return c.Panics },
	},
}

// watchFiles adds the metrics of the watched files.
func (m *workerMetrics) watchFiles(watcher *files.Watcher) { metrics.Reloads(m.registry, watcher) }

// watchCertificate adds the time at which the worker's certificate expires, in Unix time.
func (m *workerMetrics) watchCertificate(expiry func() int64) {
	m.registry.MustRegister(metrics.Gauge("diagnostics_worker_certificate_expiry_timestamp_seconds",
		"When the worker's certificate expires, in Unix time.", nil, expiry))
}

// handler serves them, for the private listener alone.
func (m *workerMetrics) handler() http.Handler { return metrics.Handler(m.registry) }
