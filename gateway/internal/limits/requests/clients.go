package requests

import (
	"math"
	"net/netip"

	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/limits/ratelimit"
)

// ClientLimit multiplies the buckets of the clients in a network. The zero ClientLimit leaves them as they are.
type ClientLimit struct {
	Network netip.Prefix
	Factor  float64
	// Label names the entry in metrics.
	Label string
}

// times returns the limit of these clients: at least 1, unless the limit is off.
func (c ClientLimit) times(limit ratelimit.Limit) ratelimit.Limit {
	if c.Label != "" && limit.Requests > 0 {
		limit.Requests = int(min(max(math.Round(float64(limit.Requests)*c.Factor), 1), maxRequests))
	}
	return limit
}

// SetClientLimits replaces the list.
func (l *Limiter) SetClientLimits(list []ClientLimit) { l.clients.Store(&list) }

// ClientLimit returns the entry of the narrowest network that holds the client, or the zero ClientLimit.
func (l *Limiter) ClientLimit(client clientip.Identity) (narrowest ClientLimit) {
	list := l.clients.Load()
	if list == nil {
		return narrowest
	}
	a := client.Addr()
	for _, c := range *list {
		if c.Network.Contains(a) && (narrowest.Label == "" || c.Network.Bits() > narrowest.Network.Bits()) {
			narrowest = c
		}
	}
	return narrowest
}
