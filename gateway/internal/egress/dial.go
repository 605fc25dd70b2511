package egress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/parallel"
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
	return c.settings.Charge(ctx, netip.AddrPortFrom(c.CountedAddress(to.Addr()), to.Port()))
}

// Admit judges a dial and then charges it: one that is refused, or that this host has no route for, is neither made
// nor charged. Dial and the round trips of HTTP call it themselves: a caller that measures a dial calls it before
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

// dialAdmitted connects within ConnectTimeout where Admit has just returned nil.
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

// Dial connects over TCP to an address that is permitted now, within ConnectTimeout, once Admit has returned nil. The
// errors of Admit are *fault.Error, and so is, of kind Busy, a failure of this host's own; all other errors are the
// socket's (so that a caller can distinguish ECONNREFUSED from a timeout).
func (c *Client) Dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	if err := c.Admit(ctx, to); err != nil {
		return nil, err
	}
	return c.DialAdmitted(ctx, to)
}

// DialAdmitted is Dial for a caller that has called Admit just before: the address is still judged at the socket.
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

// dialPassable connects, and judges at the socket. Once the dial has ended it judges again: an
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

// controlFor judges the real address of a socket call again, and compares it with the wanted one. It also
// bounds what the socket takes before the first read.
func (c *Client) controlFor(wanted netip.AddrPort) func(context.Context, string, string, syscall.RawConn) error {
	return func(ctx context.Context, network, address string, socket syscall.RawConn) error {
		actual, err := netip.ParseAddrPort(address)
		if err != nil {
			return fault.Wrap(fault.Refused, err, codeNotPublic, nil).ByRule(fault.RuleChangedAddress)
		}
		if actual != wanted {
			return fault.Wrap(fault.Refused, fmt.Errorf("dialled %v in place of %v", actual, wanted), codeNotPublic, nil).
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
// addresses are judged for this one connection. No client is charged: it is for a server that this service or a
// provider's answer names, and not the visitor's input. Errors are those of Resolve, or *fault.Error: Refused,
// Upstream, Timeout, or Busy for what this host itself lacks.
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

// connectFault makes a fault.Error of the error of a race of connections.
func connectFault(ctx context.Context, host target.Host, err error) error {
	var known *fault.Error
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil, fault.IsTimeout(err), errors.Is(err, context.Canceled):
		return fault.Wrap(fault.Timeout, err, codeConnectTimeout, finding.Args{"host": host.Short()}.With(connectSeconds))
	}
	return fault.Wrap(fault.Upstream, err, connectCode(err), finding.Args{"host": host.Short()})
}

const (
	// headStart is how long an attempt is alone before the next one begins (RFC 8305 section 8), so that a family whose
	// packets vanish costs a quarter of a second and not the round trip.
	headStart = 250 * time.Millisecond
	// maxDials bounds the connections that one name can make this service begin.
	maxDials = 6
)

// dialResult is what came of one attempt of a race.
type dialResult struct {
	conn    net.Conn
	address netip.Addr
	took    time.Duration
	err     error
	panic   *parallel.Panic
}

func (r dialResult) close() {
	if r.conn != nil {
		_ = r.conn.Close()
	}
}

// race connects to the first of the addresses that answers, each dialled (and with it judged) for itself. It returns
// when no attempt is left: the losers' connections are closed. The error is the most informative one. A
// panic of any attempt is raised here, with no connection left open.
func race(ctx context.Context, plan dialPlan, port uint16) (dialResult, error) {
	if len(plan.addresses) == 1 { // no race
		only := plan.attempt(ctx, netip.AddrPortFrom(plan.addresses[0], port))
		return only, only.err
	}
	return raceAll(ctx, plan, port)
}

func raceAll(ctx context.Context, plan dialPlan, port uint16) (dialResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	waiting := plan.addresses[:min(len(plan.addresses), maxDials)]
	results := make(chan dialResult, len(waiting))
	running := 0
	begin := func() {
		to := netip.AddrPortFrom(waiting[0], port)
		waiting = waiting[1:]
		running++
		var r dialResult
		parallel.Go(func() { r = plan.attempt(ctx, to) }, func(p *parallel.Panic) {
			r.panic = p
			results <- r
		})
	}

	next := time.NewTicker(headStart)
	defer next.Stop()
	var failures []error
	for begin(); running > 0; {
		select {
		case r := <-results:
			running--
			if r.panic != nil || r.err == nil || fault.Is(r.err, fault.Refused) {
				cancel()
				return settle(r, results, running)
			}
			failures = append(failures, r.err)
		case <-next.C:
			if len(waiting) == 0 {
				continue
			}
		}
		if len(waiting) > 0 {
			begin()
			next.Reset(headStart)
		}
	}
	return dialResult{}, mostInformative(failures)
}

func (p dialPlan) attempt(ctx context.Context, to netip.AddrPort) dialResult {
	if p.admit != nil {
		if err := p.admit(ctx, to); err != nil {
			return dialResult{address: to.Addr(), err: err}
		}
	}
	if progress.Of(ctx) != nil {
		ctx = progress.Know(ctx, progress.Known{Address: to.Addr().String()})
	}
	began := time.Now()
	conn, err := p.dial(ctx, to)
	return dialResult{conn: conn, address: to.Addr(), took: time.Since(began), err: err}
}

// settle ends a race with the attempt that decided it: it waits for the others and closes their connections.
func settle(decided dialResult, others <-chan dialResult, running int) (dialResult, error) {
	panicked := decided.panic
	for range running {
		other := <-others
		other.close()
		panicked = cmp.Or(panicked, other.panic)
	}
	if panicked != nil {
		decided.close()
		panic(panicked)
	}
	return decided, decided.err
}

// mostInformative picks the failure to report: a refusal by the target outranks silence, silence outranks the
// lack of a route. An attempt that this host could not make, or that was not made because a limit was reached, leaves
// open what its address would have answered, so that the target cannot be judged, whatever the other attempts returned.
func mostInformative(failures []error) error {
	weight := func(err error) int {
		switch {
		case fault.Is(err, fault.Limited), fault.Is(err, fault.Busy):
			return 3
		case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET):
			return 2
		case fault.IsTimeout(err):
			return 1
		}
		return 0
	}
	most := failures[0]
	for _, err := range failures[1:] {
		if weight(err) > weight(most) {
			most = err
		}
	}
	return most
}
