package egress

import (
	"net"
	"net/netip"
	"slices"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/shortage"
	"diagnostics/hostroute"
	"diagnostics/shared/netpolicy"
)

// The sentences of refusals. None names the address: a name's answer may be a private one, and telling it would map
// somebody's inside.
const (
	sentenceNotPublic = "The target is not at a public address. Enter a public hostname or address."
	sentenceOwn       = "The target is an address of this service itself, which is not checked."
	sentenceDenied    = "The operator of this service does not allow this target."
)

// Permit judges an address for a dial: public, not denied, not this host's own. The error is a *fault.Error of kind
// Refused whose sentence does not name the address, or of kind Busy where it cannot be known whether the address is
// this host's own: the dial could lead to the host itself.
func (c *Client) Permit(a netip.Addr) error {
	if !netpolicy.Judge(a).Public { // the zero and every zoned address are not
		return fault.New(fault.Refused, sentenceNotPublic)
	}
	if c.settings.Deny.DeniesAddr(a) {
		return fault.New(fault.Refused, sentenceDenied)
	}
	if c.settings.AllowOwnAddresses {
		return nil
	}
	own, err := c.isOwn(a)
	switch {
	case err != nil:
		return shortage.Fault(err)
	case own:
		return fault.New(fault.Refused, sentenceOwn)
	}
	return nil
}

// isOwn asks the kernel, whose word is of this moment and holds for addresses that no interface has (routes of type
// local, as load balancers and anycast use). The interfaces are asked too: an address of IPv6 that is new to its link,
// or whose link is down, is not routed to this host, but will be.
func (c *Client) isOwn(a netip.Addr) (bool, error) {
	if slices.ContainsFunc(c.settings.HostAddresses, func(p netip.Prefix) bool { return p.Contains(a) }) {
		return true, nil
	}
	own, err := c.own()
	if err != nil || own[a] {
		return true, err
	}
	way, err := c.route(a)
	return way == hostroute.Here, err
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
