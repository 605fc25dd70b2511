package probe_test

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"diagnostics/worker/internal/echo"
	"diagnostics/worker/internal/probe"
)

// near is a network with one router, and the destination right behind it. Both answer at once.
type near struct{ router netip.Addr }

type nearFlow struct {
	near
	to      netip.Addr
	deliver func(echo.Answer)
}

func (n near) Open(to netip.Addr, deliver func(echo.Answer)) (echo.Flow, error) {
	return nearFlow{n, to, deliver}, nil
}

func (near) Follow(netip.Addr) echo.RouteWatch { return watch{} }

type watch struct{}

func (watch) Cut() error    { return nil }
func (watch) WasCut() error { return nil }
func (watch) Close()        {}

func (f nearFlow) Send(seq uint16, ttl int) (time.Time, error) {
	now := time.Now()
	answer := echo.Answer{Seq: seq, Kind: echo.Reply, From: f.to, TTL: 63, At: now.Add(time.Millisecond)}
	if ttl == 1 {
		answer.Kind, answer.From = echo.TimeExceeded, f.router
	}
	go f.deliver(answer)
	return now, nil
}

func (nearFlow) Close() {}

// A probe asks a network what comes back, and makes a result of it: here of a network in memory.
func ExampleProber_Traceroute() {
	prober := probe.New(near{netip.MustParseAddr("192.31.196.1")}, probe.Options{})
	trace, err := prober.Traceroute(context.Background(), netip.MustParseAddr("1.1.1.1"), echo.Probe{})
	if err != nil {
		panic(err)
	}
	for _, hop := range trace.Hops {
		fmt.Println(hop.TTL, *hop.Address, hop.Received, "of", hop.Sent)
	}
	fmt.Println(trace.StopReason)
	// Output:
	// 1 192.31.196.1 3 of 3
	// 2 1.1.1.1 3 of 3
	// reached
}
