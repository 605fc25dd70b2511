package egress

import (
	"net"
	"net/netip"

	"diagnostics/gateway/internal/fault"
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
// Refused whose sentence does not name the address.
func (c *Client) Permit(a netip.Addr) error {
	if !netpolicy.Judge(a).Public { // the zero and every zoned address are not
		return fault.New(fault.Refused, sentenceNotPublic)
	}
	if c.settings.Deny.DeniesAddr(a) {
		return fault.New(fault.Refused, sentenceDenied)
	}
	if !c.settings.AllowOwnAddresses && c.own.get()[a] {
		return fault.New(fault.Refused, sentenceOwn)
	}
	return nil
}

// interfaceAddresses lists the addresses of this host's interfaces. A service that listens on every interface would
// otherwise be reachable through its own public address, from behind its own firewall.
func interfaceAddresses() map[netip.Addr]bool {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var own []netip.Addr
	for _, a := range list {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, prefix.Addr())
		}
	}
	return setOf(own)
}

func setOf(list []netip.Addr) map[netip.Addr]bool {
	set := make(map[netip.Addr]bool, len(list))
	for _, a := range list {
		set[a.Unmap().WithZone("")] = true
	}
	return set
}
