package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// Families says which families this host can reach.
type Families struct{ V4, V6 bool }

// Has tells whether the family of the address is present.
func (f Families) Has(a netip.Addr) bool { return a.Is4() && f.V4 || a.Is6() && f.V6 }

// Families says which families this host can reach now: none as long as nothing is known of its routes, which Resolve
// fails with.
func (c *Client) Families() Families {
	f, _ := c.knownFamilies()
	return f
}

// knownFamilies is Families. The error is a *fault.Error of kind Busy.
func (c *Client) knownFamilies() (Families, error) {
	switch c.settings.Families {
	case FamiliesIPv4:
		return Families{V4: true}, nil
	case FamiliesIPv6:
		return Families{V6: true}, nil
	case FamiliesBoth:
		return Families{V4: true, V6: true}, nil
	}
	f, err := c.families()
	if err != nil {
		return Families{}, unready(err)
	}
	return f, nil
}

// Any public address of each family does: only the kernel's routing table is asked for the way to it.
const (
	someV4 = "1.1.1.1:53"
	someV6 = "[2606:4700:4700::1111]:53"
)

// detectFamilies is EGRESS_FAMILIES=auto. A private IPv4 source is fine, since NAT is normal; a ULA or link-local IPv6
// source means that no global route exists, whatever the default route says.
func detectFamilies(source func(network, to string) (netip.Addr, error)) (Families, error) {
	v4, err := source("udp4", someV4)
	if err != nil {
		return Families{}, err
	}
	v6, err := source("udp6", someV6)
	if err != nil {
		return Families{}, err
	}
	return Families{V4: v4.IsValid(), V6: v6.IsGlobalUnicast() && !v6.IsPrivate()}, nil
}

// sourceFor asks the kernel for the source address towards to: the zero address where it has no route. An error means
// that the kernel could not be asked. Connecting a UDP socket sends no packet.
func sourceFor(network, to string) (netip.Addr, error) {
	var d net.Dialer
	conn, err := d.DialContext(context.Background(), network, to)
	if err != nil {
		return netip.Addr{}, shortage(err)
	}
	defer func() { _ = conn.Close() }()
	local, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return netip.Addr{}, err
	}
	return local.Addr().Unmap(), nil
}

// shortages are the errors of a socket call that say that this host has run out of files, memory or ports. All others
// (ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT, EACCES of a route of type prohibit and so on) are the routing table's
// answer.
var shortages = []syscall.Errno{
	syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EAGAIN, syscall.ENOSPC,
}

// shortage gives the error where it is one of a shortage, else nil.
func shortage(err error) error {
	if slices.ContainsFunc(shortages, func(errno syscall.Errno) bool { return errors.Is(err, errno) }) {
		return err
	}
	return nil
}
