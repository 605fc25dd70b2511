package netpolicy

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"
)

// TestReverseZonesAreNotPublic turns each reverse zone back into its block and asks Judge about both ends.
func TestReverseZonesAreNotPublic(t *testing.T) {
	t.Parallel()
	n := 0
	for name, zone := range zones {
		if zone.Kind != kindReverse {
			continue
		}
		n++
		block, ok := blockOf(name)
		if !ok {
			t.Errorf("%s is not a reverse zone", name)
			continue
		}
		for _, a := range []netip.Addr{block.Addr(), LastOf(block)} {
			if v := Judge(a); v.Public {
				t.Errorf("%s is refused, but %s is public", name, a)
			}
		}
	}
	if want := len(reverseZones) + 16 + 64; n != want {
		t.Errorf("%d reverse zones, want %d", n, want)
	}
}

// blockOf is the block whose reverse zone the name is.
func blockOf(name string) (netip.Prefix, bool) {
	if labels, ok := strings.CutSuffix(name, ".in-addr.arpa"); ok {
		return blockFrom(strings.Split(labels, "."), 10, 8, 4)
	}
	labels, ok := strings.CutSuffix(name, ".ip6.arpa")
	if !ok {
		return netip.Prefix{}, false
	}
	return blockFrom(strings.Split(labels, "."), 16, 4, 16)
}

func blockFrom(labels []string, base, width, size int) (netip.Prefix, bool) {
	b := make([]byte, size)
	for i := range labels {
		n, err := strconv.ParseUint(labels[len(labels)-1-i], base, width)
		if err != nil {
			return netip.Prefix{}, false
		}
		bit := i * width
		b[bit/8] |= byte(n << (8 - width - bit%8))
	}
	a, ok := netip.AddrFromSlice(b)
	return netip.PrefixFrom(a, len(labels)*width), ok
}

func TestZonesAreCanonical(t *testing.T) {
	t.Parallel()
	for name, zone := range zones {
		if got, err := CanonicalName(name, false); err != nil || got != name || zone.Name != name {
			t.Errorf("%s: canonical %q, %v", name, got, err)
		}
		if zone.Source == "" || zone.Kind == "" {
			t.Errorf("%s has an empty column", name)
		}
		if _, ok := zones.find("x." + name); !ok {
			t.Errorf("x.%s is not covered", name)
		}
		if z, ok := zones.find("x" + name); ok && z.Name == name {
			t.Errorf("x%s is covered by %s", name, name)
		}
	}
	if want := len(specialNames) + len(cloudNames) + len(reverseZones) + 16 + 64; len(zones) != want {
		t.Errorf("%d zones, want %d: one is written twice", len(zones), want)
	}
}
