package httpapi

import (
	"sync"
	"time"

	"diagnostics/gateway/internal/fault"
)

// places bounds what is in flight. Nobody waits for a place: a queue would only hold the doomed longer.
type places struct {
	mu        sync.Mutex
	total     int
	byClient  map[string]int
	max       int
	perClient int // 0: no limit
}

func newPlaces(limit, perClient int) *places {
	return &places{byClient: make(map[string]int), max: limit, perClient: perClient}
}

// take gives a place back by release, or says who is over: Limited for the client, Busy for the instance.
func (p *places) take(client string) (release func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.perClient > 0 && p.byClient[client] >= p.perClient {
		return nil, &fault.Error{Kind: fault.Limited, RetryAfter: time.Second,
			Sentence: "Too many of your diagnostics are running at once. Wait until one has finished."}
	}
	if p.total >= p.max {
		return nil, &fault.Error{Kind: fault.Busy, RetryAfter: time.Second,
			Sentence: "The service is busy. Please try again in a moment."}
	}
	p.total++
	p.byClient[client]++
	return sync.OnceFunc(func() { p.give(client) }), nil
}

func (p *places) give(client string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total--
	if p.byClient[client]--; p.byClient[client] == 0 {
		delete(p.byClient, client)
	}
}
