package egress

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/fault"
)

// exempts reports whether the request sets Exempt and goes to one of the operator's own hosts, on its port.
func (c *Client) exempts(r Request) bool {
	return r.Exempt && slices.Contains(c.settings.ExemptHosts, r.URL.Authority())
}

// exemptDialPlan finds an exempt host through the system's resolver. The families of EGRESS_FAMILIES are those of the
// internet and say nothing of the operator's own network, so all addresses are tried.
func (c *Client) exemptDialPlan(ctx context.Context, r Request) (dialPlan, error) {
	began := time.Now()
	addresses, err := c.exemptAddresses(ctx, r)
	if err != nil {
		return dialPlan{}, err
	}
	return dialPlan{addresses: r.limit(addresses), lookup: time.Since(began), dial: c.dialExemptHost}, nil
}

func (c *Client) exemptAddresses(ctx context.Context, r Request) ([]netip.Addr, error) {
	host := r.URL.Host()
	if host.IsAddr() {
		return []netip.Addr{host.Addr()}, nil
	}
	found, err := c.lookupExempt(ctx, host.Name())
	switch {
	case fault.Is(err, fault.Busy):
		return nil, err
	case err != nil && fault.IsTimeout(err):
		return nil, fault.Wrap(fault.Timeout, err, "DEPENDENCY_TIMEOUT", nil)
	case err != nil:
		return nil, fault.Wrap(fault.Upstream, err, "DEPENDENCY_NOT_FOUND", nil)
	}
	var addresses []netip.Addr
	for _, a := range found {
		a = a.Unmap()
		if r.Family == 0 || a.Is4() == (r.Family == 4) {
			addresses = append(addresses, a)
		}
	}
	if len(addresses) == 0 {
		return nil, fault.New(fault.Upstream, "DEPENDENCY_NO_ADDRESS", nil)
	}
	return addresses, nil
}

// dialExemptHost is Dial without the judgement.
func (c *Client) dialExemptHost(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.bounds.connect)
	defer cancel()
	return c.connect(ctx, c.dialExempt, networkFor("tcp", to.Addr()), to)
}

// lookupSystem resolves as this host's other programs do: its hosts file, its resolvers, its search domains.
func (c *Client) lookupSystem(ctx context.Context, host string) ([]netip.Addr, error) {
	recorder := shortage.DialRecorder{Dial: new(net.Dialer).DialContext, OwnFault: c.OwnFault}
	r := net.Resolver{PreferGo: true, Dial: recorder.Connect}
	found, err := r.LookupNetIP(ctx, "ip", host)
	if own := recorder.Of(err); own != nil {
		return nil, own
	}
	return found, err
}
