package metrics

import (
	"maps"
	"sync"
	"time"

	"diagnostics/gateway/internal/egress/upstream"

	"github.com/prometheus/client_golang/prometheus"
)

// requestBuckets are those of the times that other services take, in seconds.
var requestBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// Providers counts the queries to providers: it is an upstream.Observer.
type Providers struct {
	requests  map[upstream.Provider]map[upstream.Outcome]prometheus.Counter
	durations map[upstream.Provider]prometheus.Observer
	pauses    map[upstream.Provider]*pauses
}

// NewProviders makes its counters.
func NewProviders(r prometheus.Registerer) *Providers {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "diagnostics_provider_requests_total",
		Help: "Requests to providers by what became of them. own_fault is this host's own, or its resolver's; a resolver's " +
			"failed is also what it says of a name whose own servers fail.",
	}, []string{"provider", "outcome"})
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "diagnostics_provider_request_duration_seconds",
		Help:    "Time that a request to a provider took, without the wait for a turn.",
		Buckets: requestBuckets,
	}, []string{"provider"})
	r.MustRegister(requests, durations)
	p := &Providers{
		requests:  map[upstream.Provider]map[upstream.Outcome]prometheus.Counter{},
		durations: map[upstream.Provider]prometheus.Observer{},
		pauses:    map[upstream.Provider]*pauses{},
	}
	for _, name := range upstream.Providers() {
		p.requests[name] = children(requests, upstream.Outcomes(), string(name))
		p.durations[name] = durations.WithLabelValues(string(name))
	}
	for _, name := range upstream.Pausing() {
		p.pauses[name] = newPauses(r, name)
	}
	return p
}

// Asked implements upstream.Observer.
func (p *Providers) Asked(name upstream.Provider, o upstream.Outcome, took time.Duration) {
	inc(p.requests[name], o)
	if d, ok := p.durations[name]; ok {
		d.Observe(took.Seconds())
	}
}

// Paused implements upstream.Observer.
func (p *Providers) Paused(name upstream.Provider, server string, wait time.Duration) {
	if of, ok := p.pauses[name]; ok {
		of.begin(server, time.Now().Add(wait))
		of.count.Inc()
		of.seconds.Add(wait.Seconds())
	}
}

// maxPaused bounds how many paused servers of a provider are known here. Beyond it the gauge stays.
const maxPaused = 1024

// pauses are the servers of one provider that this instance leaves alone until their Retry-After has passed.
type pauses struct {
	count, seconds prometheus.Counter

	mu    sync.Mutex
	until map[string]time.Time
}

func newPauses(r prometheus.Registerer, provider upstream.Provider) *pauses {
	labels := prometheus.Labels{"provider": string(provider)}
	p := &pauses{
		count: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "diagnostics_provider_pauses_total", Help: "Pauses that servers of a provider have asked this instance for.",
			ConstLabels: labels,
		}),
		seconds: prometheus.NewCounter(prometheus.CounterOpts{
			Name:        "diagnostics_provider_pause_seconds_total",
			Help:        "Time of the pauses that servers of a provider have asked this instance for.",
			ConstLabels: labels,
		}),
		until: make(map[string]time.Time),
	}
	r.MustRegister(p.count, p.seconds, Gauge("diagnostics_provider_paused",
		"Servers of a provider that are left alone now, since they asked this instance for a pause.", labels,
		func() int { return p.now(time.Now()) }))
	return p
}

func (p *pauses) begin(server string, until time.Time) {
	if p.now(time.Now()) >= maxPaused {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until[server] = until
}

// now is how many pauses have not ended, and forgets the others.
func (p *pauses) now(at time.Time) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.until, func(_ string, until time.Time) bool { return !at.Before(until) })
	return len(p.until)
}
