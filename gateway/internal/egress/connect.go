package egress

import (
	"context"
	"errors"
	"net"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
)

// ConnectUncharged connects over TCP to the first address of a host that answers. The host is looked up and all of its
// addresses are judged for this one connection. Nobody is charged: it is for a server that this service or a provider's
// answer names, and not the visitor's input. Errors are those of Resolve, or *fault.Error: Refused, Upstream, Timeout,
// or Busy for what this host itself lacks.
func (c *Client) ConnectUncharged(ctx context.Context, host target.Host, port uint16) (net.Conn, error) {
	resolution, err := c.Resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	if err := resolution.Reachable(); err != nil {
		return nil, err
	}
	won, err := race(ctx, dialPlan{addresses: resolution.All(), dial: c.dialUncharged}, port)
	if err != nil {
		return nil, connectFault(ctx, host, err)
	}
	return won.conn, nil
}

// connectFault gives the failure of a race its kind and its sentence.
func connectFault(ctx context.Context, host target.Host, err error) error {
	var known *fault.Error
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil, fault.IsTimeout(err), errors.Is(err, context.Canceled):
		return fault.Wrap(fault.Timeout, err, host.Short()+" "+timeoutSentences[phaseConnect])
	}
	return fault.Wrap(fault.Upstream, err, host.Short()+" "+connectSentence(err))
}
