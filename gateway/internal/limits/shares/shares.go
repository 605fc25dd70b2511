// Package shares divides what this instance has a bounded amount of among its clients: run slots and memory. A client
// has a share of its own; the wider networks around it have several, so that a subscriber with many networks does not
// get everything. There is no queue: a request that finds no share is refused at once.
package shares

import (
	"sync"

	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/fault"
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
	all       int64
	perClient int64 // 0: no limit for clients and networks
	most      int64 // of one network, however many shares it has
	perPlace  int64 // of all clients of another place

	mu    sync.Mutex
	taken int64
	by    map[string]int64
}

func newShares(all, perClient, most int64) *shares {
	return &shares{all: all, perClient: perClient, most: most, perPlace: max(1, all/2), by: make(map[string]int64)}
}

// take takes n, or reports whose share would be exceeded; times is how many shares this client may have.
func (s *shares) take(id clientip.Identity, n, times int64) scope {
	s.mu.Lock()
	defer s.mu.Unlock()
	full := s.over(id, n, s.perClient*times)
	if full == scopeNone {
		s.add(id, n)
	}
	return full
}

func (s *shares) give(id clientip.Identity, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(id, -n)
}

func (s *shares) over(id clientip.Identity, n, share int64) scope {
	if share > 0 {
		if s.by[id.LimitKey()]+n > share {
			return scopeClient
		}
		for _, network := range id.Networks() {
			if s.by[network.Key]+n > min(share*int64(network.Times), s.most) {
				return scopeNetwork
			}
		}
	}
	if place := id.OfPlace(); place != "" && s.by[placeKey(place)]+n > s.perPlace {
		return scopePlace
	}
	if s.taken+n > s.all {
		return scopeInstance
	}
	return scopeNone
}

func (s *shares) add(id clientip.Identity, n int64) {
	s.taken += n
	s.count(id.LimitKey(), n)
	for _, network := range id.Networks() {
		s.count(network.Key, n)
	}
	if place := id.OfPlace(); place != "" {
		s.count(placeKey(place), n)
	}
}

// placeKey is no key of a client: those of places hold a pseudonym, and no address holds a space.
func placeKey(place string) string { return "place " + place }

func (s *shares) count(key string, n int64) {
	if s.by[key] += n; s.by[key] == 0 {
		delete(s.by, key)
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
	instance.Kind, instance.Sentence = fault.Busy, "The service is busy. Please try again in a moment."
	return &instance
}
