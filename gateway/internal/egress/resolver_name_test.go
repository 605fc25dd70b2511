package egress_test

import (
	"net/netip"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
)

// TestResolverName: a name is remembered for one resolver, and no longer than a fact about this host may be old.
func TestResolverName(t *testing.T) {
	t.Parallel()
	first, second := netip.MustParseAddrPort("9.9.9.9:53"), netip.MustParseAddrPort("10.0.0.53:53")
	own := false
	c := egresstest.New(t).Client(func(s *egress.Settings) {
		s.OwnAddress = func(a netip.Addr) bool { return own && a == first.Addr() }
	})
	check := func(resolver netip.AddrPort, want string) {
		t.Helper()
		if got := c.ResolverName(resolver); got != want {
			t.Errorf("%s is shown as %q, not %q", resolver, got, want)
		}
	}
	check(first, "9.9.9.9:53")
	check(second, "system")
	check(first, "9.9.9.9:53")
	own = true
	check(first, "9.9.9.9:53")
	c.AgeResolverName()
	check(first, "system")
}
