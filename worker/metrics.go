package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"diagnostics/daemon"
	"diagnostics/worker/internal/httpapi"
	"diagnostics/worker/internal/icmp"
)

// metrics are the worker's counters in the Prometheus text format, version 0.0.4. A dozen numbers need no client
// library in the one process that may open raw sockets.
type metrics struct {
	mu   sync.Mutex
	jobs map[jobLabels]jobTotals
}

type jobLabels struct {
	tool   string
	status int
}

type jobTotals struct {
	count   uint64
	seconds float64
}

func newMetrics() *metrics { return &metrics{jobs: map[jobLabels]jobTotals{}} }

// JobEnded implements httpapi.Observer.
func (m *metrics) JobEnded(tool string, status int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	labels := jobLabels{tool, status}
	totals := m.jobs[labels]
	totals.count++
	totals.seconds += took.Seconds()
	m.jobs[labels] = totals
}

// handler writes them all.
func (m *metrics) handler(engine *icmp.Engine, api *httpapi.Server, droppedLines func() uint64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		m.writeJobs(w)
		writeGauge(w, "worker_places_in_use", "Jobs that run now.", api.PlacesInUse())
		c := engine.Counters()
		writeCounter(w, "worker_packets_sent_total", "Probes sent.", c.Sent)
		writeCounter(w, "worker_packets_send_errors_total", "Probes that could not be sent.", c.SendErrors)
		writeCounter(w, "worker_packets_received_total",
			"ICMP messages received, whoever they were for, and answers to TCP probes.", c.Received)
		writeCounter(w, "worker_packets_unmatched_total", "Those of them that answered no live probe.", c.Unmatched)
		writeCounter(w, "worker_packets_doubted_total",
			"Those that proved too little to be believed while forged ones came.", c.Doubted)
		writeCounter(w, "worker_packets_dropped_total", "Messages that the kernel dropped for want of room.", c.Dropped)
		writeCounter(w, "worker_packets_panics_total", "Messages dropped because reading them panicked.", c.Panics)
		writeCounter(w, "worker_foreign_log_lines_total", "Lines that libraries tried to print; none is shown.",
			daemon.ForeignLines())
		writeCounter(w, "worker_dropped_log_lines_total", "Lines of the log that could not be written.", droppedLines())
		writeRuntime(w)
	})
}

func (m *metrics) writeJobs(w http.ResponseWriter) {
	m.mu.Lock()
	jobs := maps.Clone(m.jobs)
	m.mu.Unlock()
	labels := slices.SortedFunc(maps.Keys(jobs), func(a, b jobLabels) int {
		return cmp.Or(cmp.Compare(a.tool, b.tool), cmp.Compare(a.status, b.status))
	})
	writeHead(w, "worker_jobs_total", "Requests for jobs by tool and HTTP status.", "counter")
	for _, l := range labels {
		fmt.Fprintf(w, "worker_jobs_total{tool=%q,status=\"%d\"} %d\n", l.tool, l.status, jobs[l].count)
	}
	writeHead(w, "worker_jobs_seconds_total", "Time that these requests took together.", "counter")
	for _, l := range labels {
		fmt.Fprintf(w, "worker_jobs_seconds_total{tool=%q,status=\"%d\"} %g\n", l.tool, l.status, jobs[l].seconds)
	}
}

// writeRuntime tells what the process holds, by the names that Prometheus has for it. What /proc tells it may not be
// able to read: it has given its rights away.
func writeRuntime(w http.ResponseWriter) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	writeGauge(w, "go_goroutines", "Goroutines that exist now.", runtime.NumGoroutine())
	writeGauge(w, "go_memstats_heap_alloc_bytes", "Bytes of the heap that are in use, or not yet collected.", m.HeapAlloc)
	writeGauge(w, "go_gc_heap_live_bytes", "Bytes of the heap that the last collection found in use.", daemon.LiveHeap())
	writeGauge(w, "go_memstats_sys_bytes", "Bytes of memory obtained from the system.", m.Sys)
}

func writeHead(w http.ResponseWriter, name, help, kind string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func writeGauge[N int | uint64](w http.ResponseWriter, name, help string, value N) {
	writeHead(w, name, help, "gauge")
	fmt.Fprintf(w, "%s %d\n", name, value)
}

func writeCounter(w http.ResponseWriter, name, help string, value uint64) {
	writeHead(w, name, help, "counter")
	fmt.Fprintf(w, "%s %d\n", name, value)
}
