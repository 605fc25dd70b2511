package icmp

import (
	"errors"
	"net/netip"
	"testing"

	"diagnostics/hostroute"
	"diagnostics/worker/internal/echo"
)

// A way that was there and is gone is this host's fault, a family that never was is how the host is made.
func TestCutOff(t *testing.T) {
	t.Parallel()
	to4, to6 := netip.MustParseAddr("11.0.0.1"), netip.MustParseAddr("2a10::1")
	way := map[netip.Addr]hostroute.Way{
		some4: hostroute.Out, some6: hostroute.Nowhere, to4: hostroute.Out, to6: hostroute.Nowhere,
	}
	var broken error
	w := &ways{ask: func(a netip.Addr) (hostroute.Way, error) { return way[a], broken }}
	w.look()
	hold := func(when string, to netip.Addr, want error) {
		t.Helper()
		if err := w.cutOff(to); !errors.Is(err, want) {
			t.Errorf("%s: %v to %v, want %v", when, err, to, want)
		}
	}
	hold("at the start", to4, nil)
	hold("a family that never was", to6, nil)
	way[to4] = hostroute.Nowhere
	hold("a route that is gone", to4, echo.ErrCutOff)
	broken = hostroute.ErrNoAnswer
	hold("a kernel that cannot be asked", to4, nil)
	broken = nil
	way[to6] = hostroute.Out
	hold("a family that came later", to6, nil)
	way[to6] = hostroute.Nowhere
	hold("and went", to6, echo.ErrCutOff)
	way[to4] = hostroute.Here
	hold("back", to4, nil)
}
