package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"diagnostics/lab"
)

// atOnce runs many traces at once, each to an address of its own, and holds every hop of each against the lab's truth.
func (b *bench) atOnce(ctx context.Context) error {
	n := b.options.flood
	before, err := b.cpu()
	if err != nil {
		return err
	}
	traces, errs := make([]trace, n), make([]error, n)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range n {
		wg.Go(func() { _, errs[i] = b.job(ctx, "traceroute", floodTarget(i), &traces[i]) })
	}
	wg.Wait()
	took := time.Since(start)
	after, err := b.cpu()
	if err := errors.Join(append(errs, err)...); err != nil {
		return fmt.Errorf("traces at once: %w", err)
	}
	right, lost := 0, 0
	for i, t := range traces {
		r, l := t.judge(b.lab.PathTo(floodTarget(i)))
		right, lost = right+r, lost+l
	}
	fmt.Printf("\n%d traces at once: %d right in every hop, %d probes unanswered; %v in all, %.0f traces a second, %v "+
		"of processor time each\n",
		n, right, lost, round(took), float64(n)/took.Seconds(), ((after - before) / time.Duration(n)).Round(time.Microsecond))
	if right < n {
		return fmt.Errorf("%d of %d traces are wrong", n-right, n)
	}
	return nil
}

// floodTarget gives the nth address on the clean path, a quarter of them IPv4 as far as that goes.
func floodTarget(n int) netip.Addr {
	if n%4 == 0 && n/4 < 200 {
		return netip.AddrFrom4([4]byte{11, 90, 0, byte(50 + n/4)})
	}
	a := netip.MustParseAddr("2a10:90::").As16()
	a[12], a[13], a[14], a[15] = 1, byte(n>>16), byte(n>>8), byte(n)
	return netip.AddrFrom16(a)
}

// judge tells whether a trace has exactly the hops of the path (1) or not (0), and how many probes went unanswered.
func (t trace) judge(truth []lab.Hop) (right, lost int) {
	if len(t.Hops) != len(truth) || t.StopReason != "reached" {
		return 0, 0
	}
	right = 1
	for i, h := range t.Hops {
		lost += h.Sent - h.Received
		if len(h.Addresses) == 0 || !slices.Equal(h.Addresses, truth[i].Addresses) {
			right = 0
		}
	}
	return right, lost
}
