package egress

import (
	"context"
	"net"
	"net/netip"
)

// Families says which families this host can reach.
type Families struct{ V4, V6 bool }

// Has tells whether the family of the address is present.
func (f Families) Has(a netip.Addr) bool { return a.Is4() && f.V4 || a.Is6() && f.V6 }

// Families says which families this host can reach now.
func (c *Client) Families() Families {
	switch c.settings.Families {
	case FamiliesIPv4:
		return Families{V4: true}
	case FamiliesIPv6:
		return Families{V6: true}
	case FamiliesBoth:
		return Families{V4: true, V6: true}
	}
	return c.families.get()
}

// Any public address of each family does: only the kernel's routing table is asked for the way to it.
const (
	someV4 = "1.1.1.1:53"
	someV6 = "[2606:4700:4700::1111]:53"
)

// detectFamilies is EGRESS_FAMILIES=auto. A private IPv4 source is fine, since NAT is normal; a ULA or link-local IPv6
// source means that no global route exists, whatever the default route says.
func detectFamilies(source func(network, to string) (netip.Addr, bool)) Families {
	var f Families
	_, f.V4 = source("udp4", someV4)
	v6, routed := source("udp6", someV6)
	f.V6 = routed && v6.IsGlobalUnicast() && !v6.IsPrivate()
	return f
}

// sourceFor asks the kernel for the source address towards to. Connecting a UDP socket sends no packet.
func sourceFor(network, to string) (netip.Addr, bool) {
	var d net.Dialer
	conn, err := d.DialContext(context.Background(), network, to)
	if err != nil {
		return netip.Addr{}, false
	}
	defer func() { _ = conn.Close() }()
	local, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return netip.Addr{}, false
	}
	return local.Addr().Unmap(), true
}
