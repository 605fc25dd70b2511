package main

import (
	"net/netip"
	"testing"

	"diagnostics/lab"
)

// What a trace under load lacks is told from what it says against the truth.
func TestTracesAgainstTheTruth(t *testing.T) {
	t.Parallel()
	one, two, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("192.0.2.9")
	truth := []lab.Hop{{Addresses: []netip.Addr{one}}, {Addresses: []netip.Addr{two}}}
	for name, test := range map[string]struct {
		stop          string
		hops          []netip.Addr // the zero one is silent
		agrees, whole bool
	}{
		"right":                    {"reached", []netip.Addr{one, two}, true, true},
		"a silent hop":             {"reached", []netip.Addr{{}, two}, true, false},
		"ended early":              {"deadline", []netip.Addr{one}, true, false},
		"ended early, all there":   {"deadline", []netip.Addr{one, two}, true, false},
		"ended before anything":    {"deadline", nil, true, false},
		"silent hops beyond":       {"deadline", []netip.Addr{one, {}, {}}, true, false},
		"another router":           {"reached", []netip.Addr{other, two}, false, false},
		"another, and ended early": {"deadline", []netip.Addr{other}, false, false},
		"a hop too near":           {"reached", []netip.Addr{two}, false, false},
		"a hop too many":           {"reached", []netip.Addr{one, two, two}, false, false},
		"a router beyond":          {"deadline", []netip.Addr{one, two, other}, false, false},
		"given up as unreachable":  {"unreachable", []netip.Addr{one}, false, false},
		"given up as silent":       {"gapLimit", []netip.Addr{one}, true, false},
	} {
		got := trace{StopReason: test.stop}
		for _, address := range test.hops {
			h := hop{Sent: 1}
			if address.IsValid() {
				h.Addresses, h.Received = []netip.Addr{address}, 1
			}
			got.Hops = append(got.Hops, h)
		}
		if got.agrees(truth) != test.agrees || test.agrees && got.whole(truth) != test.whole {
			t.Errorf("%s: agrees %t, whole %t", name, got.agrees(truth), got.whole(truth))
		}
	}
}
