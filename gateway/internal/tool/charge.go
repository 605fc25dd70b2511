package tool

import "context"

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
