package egress

import (
	"context"
	"net"
	"net/netip"

	"diagnostics/gateway/internal/traffic"
)

// ChargeFunc counts a dial that is about to be made for a visitor against the limits of its address. Its error is a
// *fault.Error of kind Limited, or that of a ctx that has ended. to has the port 0 where another host dials.
type ChargeFunc func(ctx context.Context, to netip.AddrPort) error

// Charge counts a dial that another host makes as Settings.Charge does. A run pays for an address once.
func (c *Client) Charge(ctx context.Context, to netip.AddrPort) error {
	if c.settings.Charge == nil {
		return nil
	}
	return c.settings.Charge(ctx, to)
}

// Admit judges a dial and then charges it: one that is refused, or that this host has no way for, reaches nobody and
// costs the visitor nothing. Dial and the round trips of HTTP do it by themselves: who measures a dial calls it before
// DialAdmitted.
// Errors are those of Permit, of Charge and of traffic.Room, or of kind Busy where there is no way.
func (c *Client) Admit(ctx context.Context, to netip.AddrPort) error {
	if err := c.passable(to.Addr()); err != nil {
		return err
	}
	if err := traffic.Room(ctx, leastConversation); err != nil {
		return err
	}
	return c.Charge(ctx, to)
}

// dialAdmitted connects within ConnectTimeout where Admit has just said that there is a way.
func (c *Client) dialAdmitted(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.bounds.connect)
	defer cancel()
	conn, err := c.dialPassable(ctx, "tcp", to)
	if err != nil {
		return nil, err
	}
	return &pacedConn{Conn: conn}, nil
}

// dialUncharged is dialAdmitted for what is not admitted because it is not to be charged.
func (c *Client) dialUncharged(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	if err := c.passable(to.Addr()); err != nil {
		return nil, err
	}
	return c.dialAdmitted(ctx, to)
}
