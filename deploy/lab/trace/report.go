package trace

import (
	"net/netip"
	"strconv"
	"strings"
)

// Reported is a hop as mtr reports it.
type Reported struct {
	// Address is the zero one where nothing answered.
	Address     netip.Addr
	LossPercent float64
}

// ParseReport reads the output of `mtr -n -r`.
func ParseReport(out []byte) []Reported {
	var hops []Reported
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || !strings.HasSuffix(fields[0], ".|--") {
			continue
		}
		loss, err := strconv.ParseFloat(strings.TrimSuffix(fields[2], "%"), 64)
		if err != nil {
			continue
		}
		hop := Reported{LossPercent: loss}
		if a, err := netip.ParseAddr(fields[1]); err == nil {
			hop.Address = a
		}
		hops = append(hops, hop)
	}
	return hops
}
