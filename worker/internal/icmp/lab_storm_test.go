//go:build lab

package icmp

import (
	"net/netip"
	"testing"
	"time"

	"diagnostics/worker/internal/exchange"
)

// Errors that quote every identifier, and of the request no more than its header, reach no flow to a silent host, in
// neither family. The header of a request that left is believed of an IPv4 router as long as nobody guesses.
func TestStormOfForgedErrors(t *testing.T) { inEachMode(t, checkStormOfForgedErrors) }

func checkStormOfForgedErrors(t *testing.T, m Mode) {
	chain := silent(t)
	e := openIn(t, chain.Source, m)
	for _, tt := range []struct {
		dst     string
		kind    [2]byte
		request byte
	}{
		{"11.0.1.2", [2]byte{v4Unreachable, 13}, v4EchoRequest},
		{"2a10:1::2", [2]byte{v6Unreachable, 1}, v6EchoRequest},
	} {
		dst := netip.MustParseAddr(tt.dst)
		f, in := openFlow(t, e, dst)
		if _, err := f.Send(1, 64); err != nil {
			t.Fatal(err)
		}
		own := identityOf(f)
		request := own.request(tt.request, 1)
		if dst.Is6() {
			// The kernel has filled it in; whatever it is, it must not be enough.
			request[2], request[3] = 1, 2
		}
		header, forger := quoteOf(dst, nextICMPv6), newForger(t, chain, dst.Is6())
		honest := func() {
			forger.send(append(tt.kind[:], 0, 0, 0, 0, 0, 0), header, request[:headerLength])
		}
		honest()
		if dst.Is6() {
			in.checkEmpty(t)
		} else if a := in.next(t); a.Seq != 1 || a.Kind != exchange.Prohibited {
			t.Errorf("%v: %+v", dst, a)
		}
		began := time.Now()
		sent := chain.Storm(t, dst, tt.kind[0], tt.kind[1], 1)
		t.Logf("%v: %d forged errors in %v", dst, sent, time.Since(began).Round(time.Millisecond))
		// Of the storm, a datagram socket was handed only what has its identifier.
		for range destinationLimit {
			forger.send(append(tt.kind[:], 0, 0, 0, 0, 0, 0), header, put16(request[:headerLength], 2, own.sum+1))
		}
		honest()
		in.checkEmpty(t)
		forger.send(append(tt.kind[:], 0, 0, 0, 0, 0, 0), header, request[:])
		if a := in.next(t); a.Seq != 1 || a.Kind != exchange.Prohibited {
			t.Errorf("%v: after the storm: %+v", dst, a)
		}
	}
	c := e.Counters()
	t.Logf("%+v", c)
	if c.Doubted != 1 || c.Dropped > 0 {
		t.Errorf("%d errors were doubted and %d lost, want the one honest error that came after the storm and none",
			c.Doubted, c.Dropped)
	}
}
