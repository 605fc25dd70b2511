package places

import (
	"context"
	"diagnostics/gateway/internal/remote"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
)

// addresses are those of a place's URL, as they were when a connection to it was last made.
type addresses struct{ last atomic.Pointer[[]netip.Addr] }

// lookUp resolves an authority as the dial that follows does. A failure keeps the addresses.
func (a *addresses) lookUp(ctx context.Context, authority string) {
	host, _, err := net.SplitHostPort(authority)
	if err != nil {
		return
	}
	if found, err := remote.LookUp(ctx, host); err == nil {
		a.last.Store(&found)
	}
}

func (a *addresses) have(addr netip.Addr) bool {
	last := a.last.Load()
	return last != nil && slices.Contains(*last, addr)
}

// HasAddress reports whether an address is that of another place, which visitors do not reach through this service.
func (s *Set) HasAddress(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(*s.current.Load(), func(p *peer) bool {
		literal, err := netip.ParseAddr(p.URL.Hostname())
		return err == nil && literal.Unmap() == a || p.addresses.have(a)
	})
}

// HasHost reports whether a canonical name is the host of another place's URL.
func (s *Set) HasHost(name string) bool {
	return slices.ContainsFunc(*s.current.Load(), func(p *peer) bool {
		return strings.EqualFold(strings.TrimSuffix(p.URL.Hostname(), "."), name)
	})
}
