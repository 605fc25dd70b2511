package tool

import (
	"context"
)

// Caller is on whose behalf a run is made, for the limits, the worker and the logs. It says nothing to a tool.
type Caller struct {
	// RequestID is the request's own id.
	RequestID string
	// Client names the visitor as the limits count them: an IPv4 address, or an IPv6 /64.
	Client string
	// Network names the network around the visitor that shares the worker's slots: an IPv6 /48; empty for IPv4.
	Network string
}

type callerKey struct{}

// WithCaller marks the context with the run's caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf gives the caller of WithCaller, or the zero Caller.
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
// to cost the target more than others do. What all clients share pays, not the visitor. Errors are a *fault.Error of
// kind Limited, and those of the ctx and of the limiter; without WithCharge there is none.
func ChargeTarget(ctx context.Context, requests int) error {
	charge, ok := ctx.Value(chargeKey{}).(func(context.Context, int) error)
	if !ok {
		return nil
	}
	return charge(ctx, requests)
}
