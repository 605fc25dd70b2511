// Package metrics has the metrics of both services as processes, in Prometheus' text format: the build, lines of the
// log that were lost, Go's runtime, and the system's numbers of the process.
package metrics

import (
	"net/http"
	"regexp"
	"runtime"

	"diagnostics/daemon"
	"diagnostics/daemon/files"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// liveHeap shows memory that is never let go: the rest of the heap grows until the next collection, however little of
// it is in use.
var liveHeap = regexp.MustCompile(`^/gc/heap/live:bytes$`)

// Register adds the metrics of every service: the process_ metrics as far as its rights allow, and the go_ metrics with
// go_gc_heap_live_bytes. dropped is how many lines of the log could not be written. It panics where r has one of them.
func Register(r prometheus.Registerer, dropped func() uint64) {
	goRuntime := collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: liveHeap})
	r.MustRegister(
		collectors.NewGoCollector(goRuntime),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		Gauge("diagnostics_build_info", "Always 1; the labels name the build.", prometheus.Labels{
			"version": daemon.Version(), "commit": daemon.Commit(), "goversion": runtime.Version(),
		}, func() int { return 1 }),
		Counter("diagnostics_foreign_log_lines_total", "Lines that libraries tried to print; none is shown.", nil,
			daemon.ForeignLines),
		Counter("diagnostics_dropped_log_lines_total", "Lines of the log that could not be written.", nil, dropped),
	)
}

// Counter is a count that is kept elsewhere. labels may be nil.
func Counter(name, help string, labels prometheus.Labels, count func() uint64) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels},
		func() float64 { return float64(count()) })
}

// Gauge is a number that is kept elsewhere. labels may be nil.
func Gauge[N int | int64](name, help string, labels prometheus.Labels, value func() N) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels},
		func() float64 { return float64(value()) })
}

// Handler answers /metrics of the private listener.
func Handler(r *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{Registry: r})
}

// Reloads counts how often each watched file has changed, and could or could not be used then.
func Reloads(r prometheus.Registerer, watcher *files.Watcher) {
	for _, f := range watcher.All() {
		for result, count := range map[string]func() uint64{"ok": f.Reloaded, "failed": f.Failed} {
			r.MustRegister(Counter("diagnostics_reloads_total",
				"Changes of the files of tokens, passwords and certificates, by whether they could be used.",
				prometheus.Labels{"file": f.Name(), "result": result}, count))
		}
	}
}
