package metrics

import (
	"sync"

	"diagnostics/gateway/internal/cache/cachestats"

	"github.com/prometheus/client_golang/prometheus"
)

// Caches counts how often each cache had the answer.
type Caches struct {
	registry prometheus.Registerer

	mu sync.Mutex
	by map[string]*cachestats.Counts
}

// NewCaches makes the metrics of caches that are still to be named.
func NewCaches(r prometheus.Registerer) *Caches {
	return &Caches{registry: r, by: make(map[string]*cachestats.Counts)}
}

// Of gives the counts of a cache by its name, which is one of the code's own: the label is as many values as there are
// names.
func (c *Caches) Of(name string) *cachestats.Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts, ok := c.by[name]
	if !ok {
		counts = new(cachestats.Counts)
		c.by[name] = counts
		const asked = "diagnostics_cache_requests_total"
		const help = "Look-ups in a cache that had the answer (hit) or had it not (miss)."
		c.registry.MustRegister(
			Counter(asked, help, prometheus.Labels{"cache": name, "result": "hit"}, counts.Hits),
			Counter(asked, help, prometheus.Labels{"cache": name, "result": "miss"}, counts.Misses),
			Counter("diagnostics_shared_runs_total", "Requests that were answered with what another one had "+
				"begun to fetch, by the cache in front.", prometheus.Labels{"cache": name}, counts.Shared),
		)
	}
	return counts
}
