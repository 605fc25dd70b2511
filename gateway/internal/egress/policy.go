package egress

import (
	"net"
	"net/netip"
	"time"

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

// unready is the failure while nothing is known of this host yet: a dial could lead to the host itself. That is our
// fault and not the target's.
func unready(cause error) error {
	return &fault.Error{
		Kind:       fault.Busy,
		Sentence:   "This service cannot make connections at the moment. Please try again in a few seconds.",
		RetryAfter: time.Second,
		Cause:      cause,
	}
}

// Permit judges an address for a dial: public, not denied, not this host's own. The error is a *fault.Error of kind
// Refused whose sentence does not name the address, or of kind Busy as long as this host's own addresses are not known.
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
	own, err := c.own()
	switch {
	case err != nil:
		return unready(err)
	case own[a]:
		return fault.New(fault.Refused, sentenceOwn)
	}
	return nil
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
