package clientip

import (
	"net/netip"
	"slices"
	"testing"
)

func TestNetworks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		addr string
		want []Network
	}{
		{"2001:db8:1:2345::9", []Network{{"2001:db8:1:2300::/56", 4}, {"2001:db8:1::/48", 16}}},
		{"2001:db8:1:23ff:ffff::9", []Network{{"2001:db8:1:2300::/56", 4}, {"2001:db8:1::/48", 16}}},
		{"2001:db8:1:2400::", []Network{{"2001:db8:1:2400::/56", 4}, {"2001:db8:1::/48", 16}}},
		{"192.0.2.1", nil},
	} {
		if got := (Identity{Peer: netip.MustParseAddr(c.addr)}).Networks(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.addr, got, c.want)
		}
	}
	if got := (Identity{}).Networks(); got != nil {
		t.Errorf("no networks: %v", got)
	}
}
