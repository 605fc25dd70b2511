package httpapi

import (
	"time"

	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/fault"
)

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
