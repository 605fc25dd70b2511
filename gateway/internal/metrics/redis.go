package metrics

import (
	"time"

	"diagnostics/gateway/internal/redis/breaker"

	"github.com/prometheus/client_golang/prometheus"
)

// Redis measures the calls to Redis: it is a breaker.Observer.
type Redis struct {
	waits     prometheus.Histogram
	durations map[breaker.Operation]prometheus.Observer
	failures  map[breaker.Operation]prometheus.Counter
}

// NewRedis makes its metrics.
func NewRedis(r prometheus.Registerer) *Redis {
	buckets := []float64{.0002, .0005, .001, .0025, .005, .01, .025, .05, .1, .15, .225, .5}
	waits := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "diagnostics_redis_wait_seconds",
		Help: "Wait of an operation for a free connection to Redis, before its own time: " +
			"this gateway's load, not Redis's.",
		Buckets: buckets,
	})
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "diagnostics_redis_operation_duration_seconds",
		Help: "Time that Redis took for the limits of a request (limits), to read or write the cache, or for a look at its " +
			"health (check), failures included, and not the wait for a connection. Nothing is asked while Redis is down.",
		Buckets: buckets,
	}, []string{"operation"})
	failures := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "diagnostics_redis_errors_total",
		Help: "What Redis was asked for that failed, so that memory stood in.",
	}, []string{"operation"})
	r.MustRegister(waits, durations, failures)
	out := &Redis{
		waits:     waits,
		durations: make(map[breaker.Operation]prometheus.Observer),
		failures:  children(failures, breaker.Operations()),
	}
	for _, o := range breaker.Operations() {
		out.durations[o] = durations.WithLabelValues(string(o))
	}
	return out
}

// Waited implements breaker.Observer.
func (r *Redis) Waited(took time.Duration) { r.waits.Observe(took.Seconds()) }

// Asked implements breaker.Observer.
func (r *Redis) Asked(o breaker.Operation, took time.Duration, failed bool) {
	r.durations[o].Observe(took.Seconds())
	if failed {
		inc(r.failures, o)
	}
}
