//go:build !linux

package hostroute

import (
	"errors"
	"net/netip"
)

// Kernel sends no queries on this system: the service runs on Linux, and elsewhere only for development.
type Kernel struct{}

// Open has nothing to open.
func Open(Packets) *Kernel { return &Kernel{} }

// To takes every address for one that is reached through a link.
func (*Kernel) To(a netip.Addr) (Kind, error) {
	if !usable(a) {
		return 0, ErrNoAnswer
	}
	return Out, nil
}

// Route is To.
func (k *Kernel) Route(a netip.Addr) (Route, error) {
	kind, err := k.To(a)
	return Route{Kind: kind}, err
}

// Link finds no links.
func (*Kernel) Link(int) (Link, error) { return Link{}, ErrNoAnswer }

// Close has nothing to close.
func (*Kernel) Close() {}

// Changes receives nothing on this system.
type Changes struct{}

// OpenChanges fails: this system reports no changes.
func OpenChanges() (*Changes, error) { return nil, errors.ErrUnsupported }

// Next is never called.
func (*Changes) Next() ([]Link, error) { return nil, errors.ErrUnsupported }

// Close has nothing to close.
func (*Changes) Close() {}
