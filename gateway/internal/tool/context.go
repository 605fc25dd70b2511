package tool

import "context"

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
