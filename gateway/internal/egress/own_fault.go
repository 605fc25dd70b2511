package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/fault"
	"diagnostics/hostroute"
)

// connect dials an address that may be dialled. A failure of this host's own is a *fault.Error of kind Busy, all others
// are the socket's. Nothing is tried where the kernel has no way for it: it would wait for a link that is down as it
// waits for a silent target. What goes over the connection counts for the run.
func (c *Client) connect(ctx context.Context, dial DialFunc, network string, to netip.AddrPort) (net.Conn, error) {
	if err := c.cutOff(to.Addr()); err != nil {
		return nil, shortage.Fault(err)
	}
	return c.reach(ctx, dial, network, to)
}

// passable is Permit for a dial: of kind Busy too where the kernel has no way. The kernel is queried once for both.
func (c *Client) passable(a netip.Addr) error {
	kind, err := c.judge(a)
	if err != nil {
		return c.refused(err)
	}
	if kind == 0 {
		err = c.cutOff(a)
	} else {
		err = c.cutOffBy(a, kind)
	}
	if err != nil {
		return shortage.Fault(err)
	}
	return nil
}

// reach is connect without the question for a way.
func (c *Client) reach(ctx context.Context, dial DialFunc, network string, to netip.AddrPort) (net.Conn, error) {
	datagrams, began := strings.HasPrefix(network, "udp"), time.Now()
	if !datagrams {
		traffic.Dialled(ctx)
	}
	if err := processor.Spend(ctx, weight.Connection, 1); err != nil {
		return nil, err
	}
	conn, err := dial(ctx, network, to)
	own := c.OwnFault(err, to.Addr(), began)
	if !datagrams {
		c.settings.Observer.Connected(connectionOf(ctx, err, own))
	}
	switch {
	case err == nil:
		return traffic.Count(ctx, conn, datagrams), nil
	case own != nil:
		return nil, own
	}
	return nil, err
}

var errNoRoute = errors.New("this host has no route, or its link is down")

// OwnFault gives the *fault.Error of kind Busy where the failure of a dial or a round trip with an address is this
// host's own, and nil where it is not: a target must not be called dead because this host has
// run out of files, has lost its route, or was short of processor time while it waited. The wait began at since. A dead
// next hop cannot be distinguished from a dead target.
func (c *Client) OwnFault(err error, to netip.Addr, since time.Time) error {
	var known *fault.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		if known.Kind == fault.Busy {
			return known
		}
		return nil
	case shortage.Is(err), noReply(err) && c.cutOff(to) != nil:
		return shortage.Fault(err)
	case fault.IsTimeout(err):
		return c.settings.Delay.Fault(since, err)
	}
	return nil
}

// Starved reports whether a silence that began then may be this process's own, which lacked the processor to notice an
// answer.
func (c *Client) Starved(since time.Time) bool { return c.settings.Delay.Starved(since) }

// ambiguous are the errors of a socket that this host and a router on the way may give alike.
var ambiguous = []syscall.Errno{
	syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.EHOSTDOWN, syscall.EACCES, syscall.EPERM, syscall.EINVAL,
	syscall.EAFNOSUPPORT, syscall.EPROTONOSUPPORT,
}

// noReply reports whether in a failure the other side has said nothing.
func noReply(err error) bool {
	return fault.IsTimeout(err) ||
		slices.ContainsFunc(ambiguous, func(errno syscall.Errno) bool { return errors.Is(err, errno) })
}

// cutOff is an error where the kernel itself has no way to the address, or cannot be queried: its answer is the only
// one that no router on the way can have given. A net that the operator refuses, while there is a way to others, is
// reported by the dial's own error. A family that this host never had is another matter, and so is an address with a
// zone: the kernel is queried without its link, and would judge another. Its dial names the link.
func (c *Client) cutOff(a netip.Addr) error {
	if !a.IsValid() || a.Zone() != "" {
		return nil
	}
	kind, err := c.route(a.Unmap())
	if err != nil {
		return err
	}
	return c.cutOffBy(a, kind)
}

func (c *Client) cutOffBy(a netip.Addr, kind hostroute.Kind) error {
	if kind.Lost(a.Unmap(), c.route) && c.Families().Has(a) {
		return errNoRoute
	}
	return nil
}
