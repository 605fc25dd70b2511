//go:build lab

package icmp

import (
	"errors"
	"net/netip"
	"testing"

	"diagnostics/worker/internal/exchange"
	"diagnostics/worker/internal/labtest"
)

func TestSizedProbes(t *testing.T) { inEachMode(t, checkSizedProbes) }

// Packets of a size leave whole, whatever this host has learnt of the path; a router states its next link's MTU; and
// what this host's own link does not carry is an error of its own.
func checkSizedProbes(t *testing.T, m Mode) {
	chain := labtest.NewChain(t, 2)
	chain.Routers[1].IP("link", "set", "right", "mtu", "1400")
	e := openIn(t, chain.Source, m)
	for _, dst := range []string{"11.0.2.2", "2a10:2::2"} {
		f, in := openFlow(t, e, netip.MustParseAddr(dst))
		sized, narrow := f.(exchange.SizedFlow), chain.Path(netip.MustParseAddr(dst))[1]
		seq := uint16(0)
		send := func(ttl, size int) exchange.Answer {
			t.Helper()
			seq++
			if _, err := sized.SendSized(seq, ttl, size); err != nil {
				t.Fatalf("%s, %d octets: %v", dst, size, err)
			}
			return in.next(t)
		}
		for range 2 { // the second after the kernel has learnt it
			a := send(64, 1500)
			if a.Kind != exchange.TooBig || a.MTU != 1400 || a.Seq != seq || a.From.String() != narrow {
				t.Errorf("%s: %+v", dst, a)
			}
		}
		if a := send(64, 1400); a.Kind != exchange.Reply || a.Damaged || a.Seq != seq || a.MTU != 0 {
			t.Errorf("%s: %+v", dst, a)
		}
		if a := send(1, 1500); a.Kind != exchange.TimeExceeded || a.Seq != seq {
			t.Errorf("%s: %+v", dst, a)
		}
	}
	chain.Source.IP("link", "set", "right", "mtu", "1450")
	for _, dst := range []string{"11.0.2.2", "2a10:2::2"} {
		f, in := openFlow(t, e, netip.MustParseAddr(dst))
		sized := f.(exchange.SizedFlow)
		watch := e.Follow(netip.MustParseAddr(dst))
		if _, err := sized.SendSized(1, 64, 1451); !errors.Is(err, exchange.ErrSize) {
			t.Errorf("%s: %v", dst, err)
		}
		if _, err := sized.SendSized(2, 64, 1450); err != nil {
			t.Errorf("%s: %v", dst, err)
		}
		if a := in.next(t); a.Seq != 2 || a.Kind != exchange.TooBig {
			t.Errorf("%s: %+v", dst, a)
		}
		in.checkEmpty(t)
		if err := watch.WasCut(); err != nil {
			t.Errorf("%s: %v", dst, err)
		}
		watch.Close()
	}
}
