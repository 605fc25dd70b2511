//go:build lab

package icmp

import (
	"errors"
	"net/netip"
	"testing"

	"diagnostics/worker/internal/exchange"
	"diagnostics/worker/internal/labtest"
)

// What this host's own queue drops is an error, and never a probe that left; a queue that is full for a moment is
// waited for.
func TestAFullQueue(t *testing.T) { inEachMode(t, checkAFullQueue) }

func checkAFullQueue(t *testing.T, m Mode) {
	for name, tt := range map[string]struct {
		rate   string
		probes int
		full   bool
	}{
		"for a moment": {"64kbit", 20, false}, // ten milliseconds for each
		"for long":     {"4kbit", 10, true},
	} {
		chain := labtest.NewChain(t, 1)
		e := openIn(t, chain.Source, m)
		for _, dst := range []string{"11.0.1.2", "2a10:1::2"} {
			way := e.Follow(netip.MustParseAddr(dst))
			f, in := openFlow(t, e, netip.MustParseAddr(dst))
			if _, err := f.Send(0, 64); err != nil { // so that the neighbour is known
				t.Fatal(err)
			}
			in.next(t)
			chain.Source.TC("qdisc", "add", "dev", "right", "root", "tbf", "rate", tt.rate, "burst", "200", "limit", "200")
			left := 0
			for seq := range tt.probes {
				switch _, err := f.Send(uint16(seq+1), 64); {
				case err == nil:
					left++
				case !errors.Is(err, exchange.ErrShortage):
					t.Errorf("%s to %s: %v", name, dst, err)
				}
			}
			if m == Datagram && dst == "2a10:1::2" { // whose sends tell nothing: the end of the job does
				if err := way.WasCut(); !errors.Is(err, exchange.ErrShortage) {
					t.Errorf("%s to %s: %v", name, dst, err)
				}
				chain.Source.TC("qdisc", "del", "dev", "right", "root")
				continue
			}
			if err := way.WasCut(); err != nil {
				t.Errorf("%s to %s: %v", name, dst, err)
			}
			if full := left < tt.probes; full != tt.full {
				t.Errorf("%s to %s: %d of %d probes left", name, dst, left, tt.probes)
			}
			for range left {
				in.next(t)
			}
			chain.Source.TC("qdisc", "del", "dev", "right", "root")
		}
	}
}
