//go:build lab

package icmp

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"diagnostics/worker/internal/exchange"
	"diagnostics/worker/internal/labtest"
)

// A link or a route that is gone for a moment while a probe is on its way is noticed without a question, and a route
// that refuses one net is not taken for it.
func TestAWayThatIsLostForAMoment(t *testing.T) { inEachMode(t, checkAWayThatIsLostForAMoment) }

func checkAWayThatIsLostForAMoment(t *testing.T, m Mode) {
	chain := labtest.NewChain(t, 1)
	chain.Source.Sysctl("net.ipv6.conf.all.keep_addr_on_down=1")
	e := openIn(t, chain.Source, m)
	const settled = 100 * time.Millisecond
	for _, tt := range []struct {
		name    string
		happens func()
		was     error
	}{
		{"nothing", func() {}, nil},
		{"another route", func() { chain.Source.IP("route", "add", "11.7.7.0/24", "via", "11.0.0.2") }, nil},
		{"a net is refused", func() { chain.Source.IP("route", "add", "prohibit", "11.0.1.0/24") }, nil},
		{"it is no more", func() { chain.Source.IP("route", "del", "prohibit", "11.0.1.0/24") }, nil},
		{"the default route goes and comes", func() {
			chain.Source.IP("route", "del", "default")
			time.Sleep(settled)
			chain.Source.IP("route", "add", "default", "via", "11.0.0.2")
		}, exchange.ErrCutOff},
		{"the cable is pulled and put back", func() {
			chain.Routers[0].IP("link", "set", "left", "down")
			chain.Routers[0].IP("link", "set", "left", "up")
		}, exchange.ErrCutOff},
		{"the link is switched off and on", func() {
			chain.Source.IP("link", "set", "right", "down")
			chain.Source.IP("link", "set", "right", "up")
			chain.Source.IP("route", "add", "default", "via", "11.0.0.2")
		}, exchange.ErrCutOff},
	} {
		f := e.Follow(netip.MustParseAddr("11.0.1.2"))
		tt.happens()
		time.Sleep(settled)
		if err := f.Cut(); err != nil {
			t.Errorf("%s: afterwards %v", tt.name, err)
		}
		if err := f.WasCut(); !errors.Is(err, tt.was) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.was)
		}
		f.Close()
	}
}

// The way that counts is that of the probes: rules may send ICMP by a table of its own.
func TestICMPRouteIsTheOneWatched(t *testing.T) { inEachMode(t, checkICMPRoute) }

func checkICMPRoute(t *testing.T, m Mode) {
	chain := labtest.NewChain(t, 1)
	e := openIn(t, chain.Source, m)
	hold := func(when string, want error) {
		t.Helper()
		for _, to := range []string{"11.0.1.2", "2a10:1::2"} {
			f := e.Follow(netip.MustParseAddr(to))
			if err := f.Cut(); !errors.Is(err, want) {
				t.Errorf("%s: %v to %s, want %v", when, err, to, want)
			}
			f.Close()
		}
	}
	for family, next := range map[string]string{"-4": "11.0.0.2", "-6": "2a10:0::2"} {
		protocol := map[string]string{"-4": "icmp", "-6": "ipv6-icmp"}[family]
		chain.Source.IP(family, "route", "add", "default", "via", next, "table", "100")
		chain.Source.IP(family, "rule", "add", "ipproto", protocol, "lookup", "100")
		chain.Source.IP(family, "route", "del", "default")
	}
	hold("the others have none", nil)
	for family, next := range map[string]string{"-4": "11.0.0.2", "-6": "2a10:0::2"} {
		chain.Source.IP(family, "route", "add", "default", "via", next)
		chain.Source.IP(family, "route", "replace", "unreachable", "default", "table", "100")
	}
	hold("the others have one", exchange.ErrCutOff)
}
