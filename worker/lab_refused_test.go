//go:build lab

package main

import (
	"net/netip"
	"strings"
	"testing"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/icmp"
	"diagnostics/worker/internal/labtest"
)

// A network that the operator blocks is reported as such while the default route is up: a retry would not help.
func TestANetThatIsRefused(t *testing.T) {
	t.Parallel()
	inEachMode(t, checkANetThatIsRefused)
}

func checkANetThatIsRefused(t *testing.T, m icmp.Mode) {
	chain := labtest.NewChain(t, 1)
	w := startIn(t, chain, m)
	for kind, sentence := range map[string]string{
		"prohibit": "A rule of the worker's own host forbids", "unreachable": "This worker has no",
		"blackhole": "This worker has no",
	} {
		for family, net := range map[string]string{"-4": "11.9.9.0/24", "-6": "2a10:99::/64"} {
			chain.Source.IP(family, "route", "add", kind, net)
			target := netip.MustParsePrefix(net).Addr().Next()
			for _, path := range []string{workerapi.PathPing, workerapi.PathTraceroute} {
				var ignored any
				_, err := w.ask(path, target, &ignored)
				if err == nil || !strings.Contains(err.Error(), sentence) {
					t.Errorf("%s of %s by %s: %v", path, net, kind, err)
				}
			}
			chain.Source.IP(family, "route", "del", kind, net)
		}
	}
}
