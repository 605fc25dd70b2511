//go:build !linux

package hostroute

import "net/netip"

// Kernel asks nobody here: only Linux is what the service is run on, and what another system lets a developer try.
type Kernel struct{}

// Open has nothing to open.
func Open() *Kernel { return &Kernel{} }

// To takes every address for one that is reached through a link.
func (*Kernel) To(a netip.Addr) (Way, error) {
	if !usable(a) {
		return 0, ErrNoAnswer
	}
	return Out, nil
}

// Close has nothing to close.
func (*Kernel) Close() {}
