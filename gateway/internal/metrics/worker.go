package metrics

import (
	"time"

	"diagnostics/gateway/internal/remote"
	"diagnostics/gateway/internal/workerclient"

	"github.com/prometheus/client_golang/prometheus"
)

// Worker counts the jobs that the worker is given: it is a workerclient.Observer.
type Worker struct {
	requests  map[string]map[remote.Outcome]prometheus.Counter
	durations map[string]prometheus.Observer
}

// NewWorker makes its metrics.
func NewWorker(r prometheus.Registerer) *Worker {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "diagnostics_worker_requests_total",
		Help: "Jobs for the worker by what became of them: ok, busy (no slot, or no packets left), limited (a client's " +
			"share of the slots), shortage (the worker's host or this one lacks something), timeout, lost (it cannot be " +
			"reached), failed (another answer than a good one) or canceled (the visitor left).",
	}, []string{"slug", "outcome"})
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "diagnostics_worker_request_duration_seconds",
		Help:    "Time from a job's request to the end of the worker's answer, where it could be reached.",
		Buckets: []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 7.5, 10, 20},
	}, []string{"slug"})
	r.MustRegister(requests, durations)
	w := &Worker{
		requests:  make(map[string]map[remote.Outcome]prometheus.Counter),
		durations: make(map[string]prometheus.Observer),
	}
	for _, slug := range workerclient.Slugs() {
		w.requests[slug] = children(requests, remote.Outcomes(), slug)
		w.durations[slug] = durations.WithLabelValues(slug)
	}
	return w
}

// Asked implements workerclient.Observer.
func (w *Worker) Asked(slug string, o remote.Outcome, took time.Duration) {
	inc(w.requests[slug], o)
	if d, ok := w.durations[slug]; ok && o != remote.OutcomeLost { // most of those are not even tried
		d.Observe(took.Seconds())
	}
}
