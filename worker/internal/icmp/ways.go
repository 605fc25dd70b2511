package icmp

import (
	"net/netip"
	"sync/atomic"

	"diagnostics/hostroute"
	"diagnostics/worker/internal/echo"
)

// Any public address of each family does: only the kernel's routing table is asked for the way to it.
var (
	some4 = netip.MustParseAddr("1.1.1.1")
	some6 = netip.MustParseAddr("2606:4700:4700::1111")
)

// ways tells a way that this host has lost from one that it never had.
type ways struct {
	ask   func(netip.Addr) (hostroute.Way, error)
	close func()
	// had4 and had6 are true once the kernel has had a way to an address of the family.
	had4, had6 atomic.Bool
}

func newWays() *ways {
	kernel := hostroute.Open()
	w := &ways{ask: kernel.To, close: kernel.Close}
	w.look()
	return w
}

// look notes the families that this host has now.
func (w *ways) look() {
	for _, a := range []netip.Addr{some4, some6} {
		_ = w.cutOff(a)
	}
}

// cutOff is echo.ErrCutOff where the way is lost. A kernel that cannot be asked is no reason to end a measurement.
func (w *ways) cutOff(dst netip.Addr) error {
	had := &w.had6
	if dst.Is4() {
		had = &w.had4
	}
	way, err := w.ask(dst)
	switch {
	case err != nil:
		return nil //nolint:nilerr // told above
	case way != hostroute.Nowhere:
		had.Store(true)
	case had.Load():
		return echo.ErrCutOff
	}
	return nil
}
