package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"diagnostics/gateway/internal/egress/shortage"
)

// Families names the families that families this host can reach.
type Families struct{ V4, V6 bool }

// Has reports whether the family of the address is present.
func (f Families) Has(a netip.Addr) bool { return a.Is4() && f.V4 || a.Is6() && f.V6 }

// Families names the families that families this host has: none as long as nothing is known of its routes, which
// Resolve fails with. One that it has had since the start counts: without a route it is lost, which dials report as
// this service's own fault.
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
		return Families{}, shortage.Fault(err)
	}
	return f, nil
}

// Any public address of each family does: only the kernel's routing table is queried for the route to it.
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

// everPresent keeps the families that a reading has found once. A default route that is gone is a fault of this host
// and not the lack of a family, which is a matter of how the host is made. The readings are made one after the other.
func everPresent(read func() (Families, error)) func() (Families, error) {
	var ever Families
	return func() (Families, error) {
		now, err := read()
		if err != nil {
			return Families{}, err
		}
		ever = Families{V4: ever.V4 || now.V4, V6: ever.V6 || now.V6}
		return ever, nil
	}
}

// sourceFor returns the kernel's source address towards to: the zero address where it has no route. An error means
// that the kernel could not be queried. Connecting a UDP socket sends no packet.
func sourceFor(network, to string) (netip.Addr, error) {
	var d net.Dialer
	conn, err := d.DialContext(context.Background(), network, to)
	if err != nil {
		return netip.Addr{}, notQueried(err)
	}
	defer func() { _ = conn.Close() }()
	local, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return netip.Addr{}, err
	}
	return local.Addr().Unmap(), nil
}

// notQueried returns the error where it means that the kernel could not be queried, else nil. All but those of a
// shortage (ENETUNREACH, EAFNOSUPPORT, EACCES of a route of type prohibit and so on) are the routing table's answer,
// and two of those are as well: no address to send from, and no link.
func notQueried(err error) error {
	if !shortage.Is(err) || errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.ENETDOWN) {
		return nil
	}
	return err
}

const (
	// refreshAfter is how old a fact about this host (its addresses, its routes) may grow. A reading takes
	// microseconds, and a gateway that starts before its network is up must notice within seconds.
	refreshAfter = 2 * time.Second
	// retryAfter is the pause after a reading that failed twice.
	retryAfter = 100 * time.Millisecond
)

// hostFact keeps a fact about this host and reads it again once it is too old. It starts no goroutine: the reading
// happens in the first call that finds the fact too old.
type hostFact[T any] struct {
	read func() (T, error)
	now  func() time.Time

	mu    sync.Mutex
	value T
	known bool      // a reading has succeeded
	err   error     // of the last reading
	due   time.Time // for the next reading
}

func newHostFact[T any](read func() (T, error)) *hostFact[T] {
	return &hostFact[T]{read: read, now: time.Now}
}

// get gives the fact. A reading that fails leaves the last good one standing; an error means that there is none yet.
func (f *hostFact[T]) get() (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.now(); !now.Before(f.due) {
		f.refresh(now)
	}
	if f.known {
		return f.value, nil
	}
	return f.value, f.err
}

func (f *hostFact[T]) refresh(now time.Time) {
	value, err := f.read()
	if err != nil { // what is missing now is usually there a moment later
		value, err = f.read()
	}
	f.err = err
	if err != nil {
		f.due = now.Add(retryAfter)
		return
	}
	f.value, f.known, f.due = value, true, now.Add(refreshAfter)
}
