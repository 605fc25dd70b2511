package icmp

import (
	"net/netip"
	"sync"
	"time"
)

// suspects keeps the suspicions about what the live flows of one kind are told.
type suspects struct {
	// forged is about the errors of all destinations.
	forged *suspicion

	mu           sync.RWMutex
	destinations map[netip.Addr]*destination
}

// destination is what the live flows to one address share.
type destination struct {
	flows  int // guarded by mu of suspects
	forged *suspicion
}

func newSuspects(limit int64, pace time.Duration) suspects {
	return suspects{forged: newSuspicion(limit, pace), destinations: map[netip.Addr]*destination{}}
}

// enter gives the suspicion about a destination to one more flow.
func (s *suspects) enter(dst netip.Addr) *suspicion {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.destinations[dst]
	if d == nil {
		d = &destination{forged: newSuspicion(destinationLimit, destinationPace)}
		s.destinations[dst] = d
	}
	d.flows++
	return d.forged
}

// leave is that a flow to a destination has ended.
func (s *suspects) leave(dst netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.destinations[dst]
	if d.flows--; d.flows == 0 {
		delete(s.destinations, dst)
	}
}

// of gives the suspicion about a destination; nil where no live flow aims at it.
func (s *suspects) of(dst netip.Addr) *suspicion {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if d := s.destinations[dst]; d != nil {
		return d.forged
	}
	return nil
}
