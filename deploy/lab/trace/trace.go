// Package trace reads what the system's traceroute prints, so that tests can lay it beside the truth.
package trace

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Parse reads the output of `traceroute -n`: for each hop the addresses that answered, in order, each once. A hop that
// nothing answered is an empty list.
func Parse(out []byte) [][]netip.Addr {
	var hops [][]netip.Addr
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		if _, err := strconv.Atoi(fields[0]); err != nil {
			continue
		}
		hop := []netip.Addr{}
		for _, f := range fields[1:] {
			// Times, stars and marks are never spelt as addresses.
			if a, err := netip.ParseAddr(f); err == nil && !slices.Contains(hop, a) {
				hop = append(hop, a)
			}
		}
		hops = append(hops, hop)
	}
	return hops
}
