package metrics

import (
	"diagnostics/gateway/internal/egress"

	"github.com/prometheus/client_golang/prometheus"
)

// Egress counts what leaves: it is an egress.Observer.
type Egress struct {
	Refusals

	connections map[egress.Connection]prometheus.Counter
}

// NewEgress makes its counters.
func NewEgress(r prometheus.Registerer) *Egress {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "diagnostics_egress_connections_total",
		Help: "TCP connections that were begun to targets, providers and the operator's resolvers, by outcome: " +
			"ok, refused (by the other side), unreachable, timeout, canceled (no caller waits any more), denied (by the " +
			"address policy at the socket), shortage (of this host's own) or failed.",
	}, []string{"outcome"})
	r.MustRegister(vec)
	return &Egress{Refusals: NewRefusals(r, "dial"), connections: children(vec, egress.Connections())}
}

// Connected implements egress.Observer.
func (e *Egress) Connected(c egress.Connection) { inc(e.connections, c) }
