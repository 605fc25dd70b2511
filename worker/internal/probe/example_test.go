package probe_test

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"diagnostics/worker/internal/exchange"
	"diagnostics/worker/internal/probe"
)

// near is a network with one router, and the destination right behind it. Both answer at once.
type near struct{ router netip.Addr }

type nearFlow struct {
	near
	to      netip.Addr
	deliver func(exchange.Answer)
}

func (n near) Open(to netip.Addr, deliver func(exchange.Answer)) (exchange.Flow, error) {
	return nearFlow{n, to, deliver}, nil
}

func (near) Follow(netip.Addr) exchange.RouteWatch { return watch{} }

type watch struct{}

func (watch) Cut() error    { return nil }
func (watch) WasCut() error { return nil }
func (watch) Close()        {}

func (f nearFlow) Send(seq uint16, ttl int) (time.Time, error) {
	now := time.Now()
	answer := exchange.Answer{Seq: seq, Kind: exchange.Reply, From: f.to, TTL: 63, At: now.Add(time.Millisecond)}
	if ttl == 1 {
		answer.Kind, answer.From = exchange.TimeExceeded, f.router
	}
	go f.deliver(answer)
	return now, nil
}

func (nearFlow) Close() {}

// A probe asks a network what comes back, and makes a result of it: here of a network in memory.
func ExampleProber_Traceroute() {
	prober := probe.New(near{netip.MustParseAddr("192.31.196.1")}, probe.Options{})
	trace, err := prober.Traceroute(context.Background(), netip.MustParseAddr("1.1.1.1"), exchange.Probe{})
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
