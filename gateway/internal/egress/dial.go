package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/shared/progress"
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
// DialAdmitted. Errors are those of Permit, of Charge and of traffic.Room, or of kind Busy where there is no way.
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

// Dial connects over TCP to an address that is permitted now, within ConnectTimeout, once Admit has let it. What
// Admit says is *fault.Error, and so is, of kind Busy, a failure of this host's own; all other errors are the socket's
// (so that a caller can tell ECONNREFUSED from a timeout).
func (c *Client) Dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	if err := c.Admit(ctx, to); err != nil {
		return nil, err
	}
	return c.DialAdmitted(ctx, to)
}

// DialAdmitted is Dial for who has asked Admit just before: the address is still judged at the socket.
func (c *Client) DialAdmitted(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	conn, err := c.dialAdmitted(ctx, to)
	if err != nil {
		return nil, err
	}
	traffic.Hold(conn)
	return conn, nil
}

// dial judges the address and connects. transport is "tcp" or "udp".
func (c *Client) dial(ctx context.Context, transport string, to netip.AddrPort) (net.Conn, error) {
	if err := c.passable(to.Addr()); err != nil {
		return nil, err
	}
	return c.dialPassable(ctx, transport, to)
}

// dialPassable connects, and judges at the socket. Once it knows what has become of the dial it judges again: an
// address may become this host's own while packets to it are repeated, as one of IPv6 does a second after it was added.
func (c *Client) dialPassable(ctx context.Context, transport string, to netip.AddrPort) (net.Conn, error) {
	if transport == "tcp" { // UDP has nothing to connect
		progress.Enter(ctx, progress.Connecting)
	}
	conn, err := c.reach(ctx, c.dialPermitted, networkFor(transport, to.Addr()), to)
	if refused := c.Permit(to.Addr()); refused != nil {
		if conn != nil {
			_ = conn.Close()
		}
		return nil, c.refused(refused)
	}
	if err == nil {
		return conn, nil
	}
	// A refusal of the control hook comes wrapped in the dialer's own error.
	if refused, is := errors.AsType[*fault.Error](err); is {
		return nil, c.refused(refused)
	}
	return nil, err
}

func networkFor(transport string, a netip.Addr) string {
	if a.Is4() {
		return transport + "4"
	}
	return transport + "6"
}

// dialSocket is the real socket layer. Its control hook sees the address that the kernel is about to be given, so even
// a dialer that was handed the wrong one cannot leave.
func (c *Client) dialSocket(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	return dialWith(ctx, net.Dialer{ControlContext: c.controlFor(to)}, network, to)
}

// dialWith connects to an address. Connections live for seconds, so that probes of whether one is still alive would
// only cost four system calls. The dialer's own DialTCP would bind the socket before it connects, and a port that is
// bound is taken for every target, and for the minute after it was closed.
func dialWith(ctx context.Context, d net.Dialer, network string, to netip.AddrPort) (net.Conn, error) {
	d.KeepAlive = -1
	return d.DialContext(ctx, network, to.String())
}

// controlFor judges the real address of a socket call again, and holds it against the one that was asked for. It also
// bounds what the socket takes before anybody reads.
func (c *Client) controlFor(asked netip.AddrPort) func(context.Context, string, string, syscall.RawConn) error {
	return func(ctx context.Context, network, address string, socket syscall.RawConn) error {
		actual, err := netip.ParseAddrPort(address)
		if err != nil {
			return fault.Wrap(fault.Refused, err, sentenceNotPublic).ByRule(fault.RuleChangedAddress)
		}
		if actual != asked {
			return fault.Wrap(fault.Refused, fmt.Errorf("dialled %v in place of %v", actual, asked), sentenceNotPublic).
				ByRule(fault.RuleChangedAddress)
		}
		limitReceive(ctx, network, socket)
		return c.Permit(actual.Addr())
	}
}

// dialExempt connects to one of the operator's own resolvers or exempt hosts, which may well be private. Only newDNS
// and exempt.go hold it.
func dialExempt(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	return dialWith(ctx, net.Dialer{}, network, to)
}

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
