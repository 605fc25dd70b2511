package httpapi

import (
	"sync"
	"time"

	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/fault"
)

// scope is how far something is used up.
type scope int

const (
	scopeNone scope = iota
	scopeClient
	scopeNetwork
	scopeInstance
)

// shares divides what the instance has a bounded amount of. A client has its own share; the wider networks around it
// have several, so that a subscriber with many networks does not have everything.
type shares struct {
	all       int64
	perClient int64 // 0: no limit for clients and networks
	most      int64 // of one network, however many shares it has

	mu    sync.Mutex
	taken int64
	by    map[string]int64
}

func newShares(all, perClient, most int64) *shares {
	return &shares{all: all, perClient: perClient, most: most, by: make(map[string]int64)}
}

// take takes n, or says whose share would be exceeded; times is how many shares of a client this client may have.
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
}

func (s *shares) count(key string, n int64) {
	if s.by[key] += n; s.by[key] == 0 {
		delete(s.by, key)
	}
}

// total is what is taken at this moment.
func (s *shares) total() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// inflight bounds what is in flight. Nobody waits for a slot: whoever waits would time out all the same.
type inflight struct{ shares *shares }

func newInflight(limit, perClient int) inflight {
	return inflight{newShares(int64(limit), int64(perClient), int64(limit))}
}

// take gives a slot, which release gives back, once, or says who is over: Limited for the client or its network, Busy
// for the instance.
func (f inflight) take(client clientip.Identity) (release func(), err error) {
	switch f.shares.take(client, 1, 1) {
	case scopeClient:
		return nil, &fault.Error{Kind: fault.Limited, Rule: fault.LimitClientInFlight, RetryAfter: time.Second,
			Sentence: "Too many of your diagnostics are running at once. Wait until one has finished."}
	case scopeNetwork:
		return nil, &fault.Error{Kind: fault.Limited, Rule: fault.LimitNetworkInFlight, RetryAfter: time.Second,
			Sentence: "Too many diagnostics from your network are running at once. Wait until one has finished."}
	case scopeInstance:
		return nil, errBusy(fault.LimitInFlight, time.Second)
	}
	return func() { f.shares.give(client, 1) }, nil
}

func errBusy(limit fault.Rule, wait time.Duration) error {
	return &fault.Error{Kind: fault.Busy, Rule: limit, RetryAfter: wait,
		Sentence: "The service is busy. Please try again in a moment."}
}
