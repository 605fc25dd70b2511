package metrics

import (
	"time"

	"diagnostics/gateway/internal/remote"

	"github.com/prometheus/client_golang/prometheus"
)

// Places counts the runs at other places: it is a places.Observer. A place is an ID of the operator's list.
type Places struct {
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
}

// NewPlaces makes their metrics; states reports, by ID, which of the places take runs.
func NewPlaces(r prometheus.Registerer, states func() map[string]bool) *Places {
	p := &Places{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "diagnostics_place_requests_total",
			Help: "Runs at other places by what became of them, as for diagnostics_worker_requests_total; busy is also a " +
				"limit of the other place.",
		}, []string{"place", "outcome"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "diagnostics_place_request_duration_seconds",
			Help:    "Time from a run's request to the end of the other place's answer, where it could be reached.",
			Buckets: []float64{.005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30},
		}, []string{"place"}),
	}
	r.MustRegister(p.requests, p.durations, States("diagnostics_place_up",
		"1 while another place says that it takes runs, 0 while runs there fail.", "place", states))
	return p
}

// Follow makes the counters of a place, so that each begins at zero.
func (p *Places) Follow(id string) {
	p.durations.WithLabelValues(id)
	for _, o := range remote.Outcomes() {
		p.requests.WithLabelValues(id, string(o))
	}
}

// Asked implements places.Observer.
func (p *Places) Asked(place string, o remote.Outcome, took time.Duration) {
	p.requests.WithLabelValues(place, string(o)).Inc()
	if o != remote.OutcomeLost { // most of those are not even tried
		p.durations.WithLabelValues(place).Observe(took.Seconds())
	}
}
