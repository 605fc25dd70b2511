package metrics

import "github.com/prometheus/client_golang/prometheus"

// States is a gauge of 1 and 0 for each of a changing set, such as workers, with its name as the label.
func States(name, help, label string, states func() map[string]bool) prometheus.Collector {
	return stateGauge{prometheus.NewDesc(name, help, []string{label}, nil), states}
}

type stateGauge struct {
	desc   *prometheus.Desc
	states func() map[string]bool
}

// Describe implements prometheus.Collector.
func (g stateGauge) Describe(descs chan<- *prometheus.Desc) { descs <- g.desc }

// Collect implements prometheus.Collector.
func (g stateGauge) Collect(out chan<- prometheus.Metric) {
	for name, on := range g.states() {
		value := 0.0
		if on {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, value, name)
	}
}
