// Package metrics implements for Prometheus the observer interfaces that the packages below the edge declare, so that
// these do not depend on Prometheus. Every counter is created at startup, so that it begins at zero and an observation
// costs one addition. No label holds anything that a client, a target or a provider sent: a value that a label does not
// list is not counted under it.
package metrics

import (
	"diagnostics/gateway/internal/fault"

	"github.com/prometheus/client_golang/prometheus"
)

// Refusals counts the targets that the address policy refused at one stage, by rule.
type Refusals map[fault.Rule]prometheus.Counter

// NewRefusals makes the counters of a stage: "input", what a visitor typed, or "dial", what a run was led to.
func NewRefusals(r prometheus.Registerer, stage string) Refusals {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "diagnostics_guard_refusals_total",
		Help: "Targets that the address policy refused, by the rule: what a visitor typed (input), and what a run was " +
			"led to, in the answers for a name, a redirect or at the socket (dial).",
		ConstLabels: prometheus.Labels{"stage": stage},
	}, []string{"reason"})
	r.MustRegister(vec)
	return children(vec, fault.Refusals())
}

// Refused counts a refusal by the rule.
func (r Refusals) Refused(by fault.Rule) { inc(r, by) }

// children looks up the counter of each value that the last label of a vector has.
func children[L ~string](vec *prometheus.CounterVec, values []L, before ...string) map[L]prometheus.Counter {
	out := make(map[L]prometheus.Counter, len(values))
	for _, v := range values {
		out[v] = vec.WithLabelValues(append(before[:len(before):len(before)], string(v))...)
	}
	return out
}

func inc[L ~string](counters map[L]prometheus.Counter, value L) {
	if counter, ok := counters[value]; ok {
		counter.Inc()
	}
}

// Counter is a count that is kept elsewhere. labels may be nil.
func Counter[N int | int64 | uint64](name, help string, labels prometheus.Labels, count func() N) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels},
		func() float64 { return float64(count()) })
}

// Gauge is a number that is kept elsewhere. labels may be nil.
func Gauge[N int | int64](name, help string, labels prometheus.Labels, value func() N) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels},
		func() float64 { return float64(value()) })
}

// Switch is a gauge of 1 and 0.
func Switch(name, help string, on func() bool) prometheus.Collector {
	return Gauge(name, help, nil, func() int {
		if on() {
			return 1
		}
		return 0
	})
}
