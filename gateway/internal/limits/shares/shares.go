// Package shares divides what this instance has a bounded amount of among its clients: run slots and memory. A client
// has a share of its own; the wider networks around it have several, so that a subscriber with many networks does not
// get everything. There is no queue: a request that finds no share is refused at once.
package shares

import (
	"sync"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/holder"
)

// scope is whose share is used up.
type scope int

const (
	scopeNone scope = iota
	scopeClient
	scopeNetwork
	scopePlace
	scopeInstance
)

// shares is a bounded amount with the parts of it that are taken.
type shares struct {
	all        int64
	perClient  int64 // 0: no limit for clients and networks
	perNetwork int64 // however many shares it has
	perPlace   int64 // of all clients of another place

	mu    sync.Mutex
	taken int64
	by    map[string]int64
}

func newShares(all, perClient, perNetwork int64) *shares {
	return &shares{all: all, perClient: perClient, perNetwork: perNetwork, perPlace: max(1, all/2),
		by: make(map[string]int64)}
}

// take takes n, or reports whose share would be exceeded; times is how many shares this client may have.
func (s *shares) take(of holder.List, n, times int64) scope {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range of {
		if most := s.most(h, times); most > 0 && s.by[h.Key]+n > most {
			return scopes[h.Kind]
		}
	}
	if s.taken+n > s.all {
		return scopeInstance
	}
	s.add(of, n)
	return scopeNone
}

func (s *shares) give(of holder.List, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(of, -n)
}

var scopes = map[holder.Kind]scope{
	holder.Client: scopeClient, holder.Network: scopeNetwork, holder.Place: scopePlace,
}

// most is how much a holder may have; 0 is no limit.
func (s *shares) most(h holder.Holder, times int64) int64 {
	switch h.Kind {
	case holder.Place:
		return s.perPlace
	case holder.Network:
		return min(s.perClient*times*h.Times, s.perNetwork)
	}
	return s.perClient * times
}

func (s *shares) add(of holder.List, n int64) {
	s.taken += n
	for _, h := range of {
		if s.by[h.Key] += n; s.by[h.Key] == 0 {
			delete(s.by, h.Key)
		}
	}
}

// Total is what is taken now.
func (s *shares) Total() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// refusal is the failure of a request for which there is no share; none of the three is used for scopeNone.
// One place that holds its half is refused as where the instance is full.
func refusal(full scope, client, network, instance fault.Error) error {
	switch full {
	case scopeClient:
		client.Kind = fault.Limited
		return &client
	case scopeNetwork:
		network.Kind = fault.Limited
		return &network
	}
	if full == scopePlace {
		instance.Rule = fault.LimitPeer
	}
	instance.Kind, instance.Code = fault.Busy, "SERVICE_BUSY"
	return &instance
}
