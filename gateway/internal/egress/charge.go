package egress

import (
	"context"
	"net"
	"net/netip"
)

// ChargeFunc counts a dial that is about to be made for a visitor against the limits of its address. Its error is a
// *fault.Error of kind Limited, or that of a ctx that has ended. to has the port 0 where another host dials.
type ChargeFunc func(ctx context.Context, to netip.AddrPort) error

// Charge counts a dial as Settings.Charge does. Dial and the exchanges of HTTP do it by themselves, and a run pays for
// an address once: who measures a dial, or has another host make it, calls it before.
func (c *Client) Charge(ctx context.Context, to netip.AddrPort) error {
	if c.settings.Charge == nil {
		return nil
	}
	return c.settings.Charge(ctx, to)
}

// dialTCP is Dial for what is charged already, or is not to be charged.
func (c *Client) dialTCP(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.bounds.connect)
	defer cancel()
	return c.dial(ctx, "tcp", to)
}

// chargeFor is how the dials of a request are charged: nil for not at all.
func (c *Client) chargeFor(r Request) ChargeFunc {
	if r.Uncharged {
		return nil
	}
	return c.Charge
}
