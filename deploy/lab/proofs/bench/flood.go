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
	var right, unfinished, lost int
	var untrue []error
	for i, t := range traces {
		truth := b.lab.PathTo(floodTarget(i))
		lost += t.unanswered()
		switch {
		case !t.agrees(truth):
			untrue = append(untrue, fmt.Errorf("to %v: %+v, where the path is %+v", floodTarget(i), t, truth))
		case t.whole(truth):
			right++
		default:
			unfinished++
		}
	}
	unused, err := b.unused(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\n%d traces at once: %d right in every hop, %d incomplete, %d untrue, %d probes unanswered; "+
		"%v in all, %.0f traces a second, %v of processor time each; %s\n",
		n, right, unfinished, len(untrue), lost, round(took), float64(n)/took.Seconds(),
		((after - before) / time.Duration(n)).Round(time.Microsecond), unused)
	if len(untrue) > 0 {
		return fmt.Errorf("%d of %d traces are untrue: %w", len(untrue), n, errors.Join(untrue[:min(len(untrue), 3)]...))
	}
	if unfinished > 0 {
		return fmt.Errorf("%d of %d traces are incomplete", unfinished, n)
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

// agrees reports whether nothing in a trace contradicts the path: each hop's address is that of its place, and a trace
// that has reached its target has the path's length. A hop without an address, or a trace that ended early and says so,
// or before answers that came seconds late, is incomplete: that is no contradiction.
func (t trace) agrees(truth []lab.Hop) bool {
	if t.StopReason == "reached" && len(t.Hops) != len(truth) {
		return false
	}
	for i, h := range t.Hops {
		if len(h.Addresses) > 0 && (i >= len(truth) || !slices.Equal(h.Addresses, truth[i].Addresses)) {
			return false
		}
	}
	return t.StopReason == "reached" || t.StopReason == "deadline" || t.StopReason == "gapLimit"
}

// whole reports whether a trace that agrees with the path has all of it.
func (t trace) whole(truth []lab.Hop) bool {
	if t.StopReason != "reached" || len(t.Hops) != len(truth) {
		return false
	}
	for _, h := range t.Hops {
		if len(h.Addresses) == 0 {
			return false
		}
	}
	return true
}

// unanswered is how many probes of the trace got no answer.
func (t trace) unanswered() (lost int) {
	for _, h := range t.Hops {
		lost += h.Sent - h.Received
	}
	return lost
}
