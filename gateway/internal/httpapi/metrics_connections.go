package httpapi

import (
	"diagnostics/gateway/internal/conns"
	"diagnostics/gateway/internal/metrics"

	"github.com/prometheus/client_golang/prometheus"
)

// watch tells of the connections and of what requests hold.
func (m *Metrics) watch(counts func() conns.Counts, held func() int64) {
	m.registry.MustRegister(
		metrics.Gauge("diagnostics_connections", "Open connections of the public listener.", nil,
			func() int { return counts().Open }),
		metrics.Gauge("diagnostics_held_bytes",
			"Bytes that large runs hold, and large answers that wait for their readers.", nil, held),
		metrics.Counter("diagnostics_readers_cut_total",
			"Connections that were closed since their readers did not read.", nil, func() int { return counts().Cut }),
	)
	m.watchClosed("evicted", "Connections that made room: no more may be open (full), or no more of their peer (peer), "+
		"the process has no more files (files), or requests that are not whole yet have too many bytes (unfinished).",
		counts, map[string]func(conns.Counts) int{
			"full":       func(c conns.Counts) int { return c.EvictedFull },
			"peer":       func(c conns.Counts) int { return c.EvictedPeer },
			"files":      func(c conns.Counts) int { return c.EvictedFiles },
			"unfinished": func(c conns.Counts) int { return c.EvictedUnfinished },
		})
	m.watchClosed("refused", "Connections that found no room: no more may be open (full), or of their peer (peer).",
		counts, map[string]func(conns.Counts) int{
			"full": func(c conns.Counts) int { return c.RefusedFull },
			"peer": func(c conns.Counts) int { return c.RefusedPeer },
		})
}

// watchClosed counts connections that were closed for each of some reasons.
func (m *Metrics) watchClosed(
	verb, help string, counts func() conns.Counts, reasons map[string]func(conns.Counts) int,
) {
	for reason, of := range reasons {
		m.registry.MustRegister(metrics.Counter("diagnostics_connections_"+verb+"_total", help,
			prometheus.Labels{"reason": reason}, func() int { return of(counts()) }))
	}
}
