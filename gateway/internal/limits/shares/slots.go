package shares

import (
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/holder"
)

// Slots bounds the runs in flight.
type Slots struct{ *shares }

// NewSlots makes slots for so many runs of this instance, and of one client (0: no limit).
func NewSlots(all, perClient int) Slots {
	return Slots{newShares(int64(all), int64(perClient), int64(all))}
}

// Acquire takes a slot, which release gives back; it must be called once. Acquire fails with a fault.Error: Limited for
// the client or its network, Busy for the instance.
func (s Slots) Acquire(of holder.List) (release func(), err error) {
	if full := s.take(of, 1, 1); full != scopeNone {
		return nil, refusal(full,
			fault.Error{Rule: fault.LimitClientInFlight, RetryAfter: time.Second, Code: "TOO_MANY_RUNS"},
			fault.Error{Rule: fault.LimitNetworkInFlight, RetryAfter: time.Second,
				Code: "NETWORK_TOO_MANY_RUNS"},
			fault.Error{Rule: fault.LimitInFlight, RetryAfter: time.Second})
	}
	return func() { s.give(of, 1) }, nil
}
