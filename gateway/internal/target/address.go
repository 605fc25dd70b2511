package target

import (
	"net/netip"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

// Address is a public address literal.
type Address struct{ addr netip.Addr }

// ParseAddress takes a public address literal.
func ParseAddress(s string) (Address, error) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return Address{}, fail(fault.Invalid, wantAddress, "NOT_AN_ADDRESS", finding.Args{"input": show(s)})
	}
	if err := permitAddr(a, wantAddress); err != nil {
		return Address{}, err
	}
	return Address{addr: a}, nil
}

// Addr is the address.
func (a Address) Addr() netip.Addr { return a.addr }

// String is the address.
func (a Address) String() string { return a.addr.String() }

// LimitKey is the address.
func (a Address) LimitKey() string { return a.addr.String() }
