package egress

import (
	"net"
	"net/netip"

	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/fault"
	"diagnostics/hostroute"
	"diagnostics/shared/netpolicy"
)

const codeNotPublic = "TARGET_NOT_PUBLIC"

func denied() error { return fault.New(fault.Refused, "TARGET_DENIED", nil).ByRule(fault.RuleDenied) }

// Permit judges an address for a dial: public, not denied, not this host's own. The error is a *fault.Error of kind
// Refused whose sentence does not name the address, or of kind Busy where it cannot be known whether the address is
// this host's own: the dial could lead to the host itself.
func (c *Client) Permit(a netip.Addr) error {
	_, err := c.judge(a)
	return err
}

// judge is Permit. It also gives the way to a permitted address, 0 where the kernel was not queried for it. Where the
// network translates the address to an IPv4 address, that one must be permitted as well.
func (c *Client) judge(a netip.Addr) (hostroute.Kind, error) {
	kind, err := c.judgeItself(a)
	if err != nil {
		return 0, err
	}
	for _, v4 := range c.embedded(a) {
		if _, err := c.judgeItself(v4); err != nil {
			return 0, err
		}
	}
	return kind, nil
}

// judgeItself is judge without regard to translation.
func (c *Client) judgeItself(a netip.Addr) (hostroute.Kind, error) {
	if v := netpolicy.Judge(a); !v.Public { // the zero and every zoned address are not
		return 0, fault.New(fault.Refused, codeNotPublic, nil).ByRule(fault.RuleOf(v))
	}
	if c.deny().DeniesAddr(a) {
		return 0, denied()
	}
	if c.settings.AllowOwnAddresses {
		return 0, nil
	}
	kind, err := c.routeUnlessOwn(a)
	switch {
	case err != nil:
		return 0, shortage.Fault(err)
	case kind == hostroute.Here:
		return 0, fault.New(fault.Refused, "TARGET_IS_HERE", nil).ByRule(fault.RuleOwnAddress)
	}
	return kind, nil
}

// routeUnlessOwn is Here for an address of this host's own. It queries the kernel, whose answer is current and holds
// for addresses that no interface has (routes of type local, as load balancers and anycast use). The interfaces are
// queried too: an address of IPv6 that is new to its link, or whose link is down, is not routed to this host, but will
// be.
func (c *Client) routeUnlessOwn(a netip.Addr) (hostroute.Kind, error) {
	if c.isHostAddress(a) || c.isOwnName(a) {
		return hostroute.Here, nil
	}
	if c.settings.OwnAddress != nil && c.settings.OwnAddress(a) {
		return hostroute.Here, nil
	}
	own, err := c.own()
	if err != nil {
		return 0, err
	}
	if own[a] {
		return hostroute.Here, nil
	}
	return c.route(a)
}

// interfaceAddresses lists the addresses of this host's interfaces. A service that listens on every interface would
// otherwise be reachable through its own public address, from behind its own firewall.
func interfaceAddresses() (map[netip.Addr]bool, error) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var own []netip.Addr
	for _, a := range list {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, prefix.Addr())
		}
	}
	return setOf(own), nil
}

func setOf(list []netip.Addr) map[netip.Addr]bool {
	set := make(map[netip.Addr]bool, len(list))
	for _, a := range list {
		set[a.Unmap().WithZone("")] = true
	}
	return set
}
