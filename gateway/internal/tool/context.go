package tool

import (
	"context"
)

// Caller is the client of a run, for the limits, the worker and the logs. Tools do not use it.
type Caller struct {
	// RequestID is the request's own id.
	RequestID string
	// Client is the client as the limits count it: an IPv4 address, or an IPv6 /64.
	Client string
	// Network is the client's network that shares the worker's slots: an IPv6 /48; empty for IPv4.
	Network string
	// Place is the place whose client it is, by its ID; empty for a client of this place. Client and Network are
	// pseudonyms of that place then.
	Place string
}

type callerKey struct{}

// WithCaller marks the context with the run's caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller of WithCaller, or the zero Caller.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

type chargeKey struct{}

// WithCharge lets a run charge the rate limit of its target for more than the one request that it began with.
func WithCharge(ctx context.Context, charge func(ctx context.Context, requests int) error) context.Context {
	return context.WithValue(ctx, chargeKey{}, charge)
}

// ChargeTarget charges the limit of the run's target for so many requests, all of them or none, where the run is about
// to cost the target more than others do. The buckets that all clients share are charged, not those of the client.
// Errors are a *fault.Error of kind Limited, and those of the ctx and of the limiter; without WithCharge there is none.
func ChargeTarget(ctx context.Context, requests int) error {
	charge, ok := ctx.Value(chargeKey{}).(func(context.Context, int) error)
	if !ok {
		return nil
	}
	return charge(ctx, requests)
}
