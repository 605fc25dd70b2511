package httpapi

import (
	"net/netip"
	"sync"
	"time"
)

// asksEvery is longer than the time between two questions of a gateway for readiness, which is a second.
const asksEvery = 3 * time.Second

// gateways are the addresses that have lately asked with a token whether the worker is ready: the gateways that use it.
type gateways struct {
	mu   sync.Mutex
	last map[netip.Addr]time.Time
}

// asked takes note of a question from an address with a port.
func (g *gateways) asked(remote string) {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.prune()
	g.last[peer.Addr()] = time.Now()
}

// count returns how many gateways use the worker now.
func (g *gateways) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.prune()
	return len(g.last)
}

func (g *gateways) prune() {
	for a, asked := range g.last {
		if time.Since(asked) > asksEvery {
			delete(g.last, a)
		}
	}
}
