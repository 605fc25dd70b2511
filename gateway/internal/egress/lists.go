package egress

import (
	"net/netip"
	"slices"
	"sync/atomic"

	"diagnostics/gateway/internal/target"
)

// lists are what the operator refuses. They may change while runs use them.
type lists struct {
	deny atomic.Pointer[target.Denylist]
	host atomic.Pointer[[]netip.Prefix]
}

func (c *Client) deny() target.Denylist { return *c.lists.deny.Load() }

// SetDenyFile replaces what is refused beside Settings.Deny.
func (c *Client) SetDenyFile(more target.Denylist) {
	c.lists.deny.Store(new(c.settings.Deny.With(more)))
}

// SetHostFile replaces what is refused as this host's own beside Settings.HostAddresses.
func (c *Client) SetHostFile(more []netip.Prefix) {
	c.lists.host.Store(new(slices.Concat(c.settings.HostAddresses, more)))
}

// DeniesKey reports whether the operator refuses a tool.Job's DenyKey.
func (c *Client) DeniesKey(key string) bool { return c.deny().DeniesKey(key) }

func (c *Client) isHostAddress(a netip.Addr) bool {
	return slices.ContainsFunc(*c.lists.host.Load(), func(p netip.Prefix) bool { return p.Contains(a) })
}
