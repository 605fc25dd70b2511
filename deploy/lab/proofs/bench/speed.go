package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"time"

	"diagnostics/lab"
)

// The engine's own pace and waits, which no trace can beat.
const (
	sendGap           = time.Millisecond
	listenRouters     = time.Second
	listenDestination = 2 * time.Second
)

// path is one way to measure, with the rivals and the bounds on the ratio of our time to theirs. address gives the nth
// destination: each trace has one of its own, so that nothing is shared or remembered.
type path struct {
	name    string
	address func(n int) netip.Addr
	rivals  []rival
	// whole, where it is set, is the bound on our whole time. What is compared with the rivals' whole time is then when
	// our last answer came: behind that we only listen for what never comes.
	whole time.Duration
}

type rival struct {
	name  string
	args  []string
	bound float64
	slow  bool
}

var (
	fastTraceroute = rival{name: "traceroute -n -N 16", args: []string{"traceroute", "-n", "-N", "16"}, bound: 1}
	mtr            = rival{name: "mtr -r -c 3 -n", args: []string{"mtr", "-r", "-c", "3", "-n"}, bound: 0.05, slow: true}
	icmpTraceroute = rival{name: "traceroute -n -I", args: []string{"traceroute", "-n", "-I"}, bound: 0.1, slow: true}
)

func paths() []path {
	dirty := fastTraceroute
	dirty.bound = 0.7
	in := func(a, b, c byte) func(int) netip.Addr {
		return func(n int) netip.Addr { return netip.AddrFrom4([4]byte{a, b, c, byte(1 + n)}) }
	}
	return []path{
		{name: "clean path", address: in(11, 90, 0), rivals: []rival{fastTraceroute, mtr}},
		{name: "dirty path (private, silent, rate-limited, spread, lossy)", address: in(11, 91, 0),
			rivals: []rival{dirty, mtr}, whole: 1500 * time.Millisecond},
		{name: "silent destination", address: in(11, 92, 3), rivals: []rival{icmpTraceroute}},
	}
}

// refill is how long the rate-limited router needs until it is as fresh for the next tool as it was for the last.
const refill = 1100 * time.Millisecond

// speed runs each path's tools in turn and prints the medians and their ratios.
func (b *bench) speed(ctx context.Context) error {
	start, err := b.startup(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\nwall time, median [least – most] of %d; a rival's start in the namespace (%v) is taken off\n",
		b.options.runs, round(start))
	t := table{name: "traces", head: []string{"", "ours", "rival", "its time", "ratio", "bound"}}
	var errs []error
	for _, p := range paths() {
		errs = append(errs, b.comparePath(ctx, p, start, &t))
	}
	b.tables = append(b.tables, t)
	return errors.Join(errs...)
}

// startup is what `ip netns exec` itself costs.
func (b *bench) startup(ctx context.Context) (time.Duration, error) {
	var all []time.Duration
	for range 9 {
		took, err := b.command(ctx, "true")
		if err != nil {
			return 0, err
		}
		all = append(all, took)
	}
	return median(all), nil
}

func (b *bench) command(ctx context.Context, args ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", b.lab.Namespace(lab.ServiceHost)}, args...)...)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(start)
	if err != nil {
		return took, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return took, nil
}

// runs are the times of a path's traces.
type runs struct {
	whole, arrived, limits []time.Duration
	theirs                 [][]time.Duration
}

func (b *bench) comparePath(ctx context.Context, p path, start time.Duration, t *table) error {
	r, err := b.measurePath(ctx, p, start)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s\n  %-22s %s\n", p.name, "ours", spread(r.whole))
	fmt.Printf("  %-22s %v: ours is %.2f of it\n", "physical limit", round(median(r.limits)), ratio(r.whole, r.limits))
	name, ours := p.name, r.whole
	var over error
	if p.whole > 0 {
		holds := median(r.whole) <= p.whole
		bound := fmt.Sprintf("%s, at most %s", verdict(holds), ms(p.whole))
		fmt.Printf("  %-22s %s (%s)\n", "our last answer", spread(r.arrived), bound)
		t.add(p.name+": the whole run", ms(median(r.whole)), "–", "–", "–", bound)
		if !holds {
			over = fmt.Errorf("%s: takes more than %v", p.name, p.whole)
		}
		name, ours = p.name+": the last answer", r.arrived
	}
	for i, rival := range p.rivals {
		if len(r.theirs[i]) == 0 {
			continue
		}
		got := ratio(ours, r.theirs[i])
		bound := fmt.Sprintf("%s, at most %.2f", verdict(got <= rival.bound), rival.bound)
		fmt.Printf("  %-22s %s: ours is %.3f of it (%s)\n", rival.name, spread(r.theirs[i]), got, bound)
		t.add(name, ms(median(ours)), rival.name, ms(median(r.theirs[i])), fmt.Sprintf("%.2f", got), bound)
		if got > rival.bound {
			over = errors.Join(over, fmt.Errorf("%s: misses its bound beside %s", p.name, rival.name))
		}
	}
	return over
}

// measurePath runs our trace and its rivals' in turn. Where the last answer counts, it is an error that one came after
// our end: a trace that missed an answer is not compared.
func (b *bench) measurePath(ctx context.Context, p path, start time.Duration) (r runs, err error) {
	icmp, err := b.listenForArrivals()
	if err != nil {
		return r, err
	}
	defer icmp.close()
	r.theirs = make([][]time.Duration, len(p.rivals))
	for n := range b.options.runs {
		pause(ctx, refill)
		var seen trace
		began := time.Now()
		took, err := b.job(ctx, "traceroute", p.address(2*n), &seen)
		if err != nil {
			return r, err
		}
		pause(ctx, refill)
		arrived := icmp.after(began)
		if p.whole > 0 && arrived > took {
			return r, fmt.Errorf("%s: an answer came after %v, and the trace ended after %v", p.name, arrived, took)
		}
		r.whole, r.arrived, r.limits = append(r.whole, took), append(r.arrived, arrived), append(r.limits, seen.limit())
		for i, rival := range p.rivals {
			if rival.slow && (n > 0 || !b.options.mtr) {
				continue
			}
			took, err := b.command(ctx, append(rival.args, p.address(2*n+1).String())...)
			if err != nil {
				return r, err
			}
			r.theirs[i] = append(r.theirs[i], took-start)
			pause(ctx, refill)
		}
	}
	return r, nil
}

// limit is the least that a trace of this path can take: the round trip of the last hop that answered, the probes of
// the hops before it one gap apart, and one wait where anything stayed silent.
func (t trace) limit() time.Duration {
	limit := time.Duration(0)
	silent := false
	for i, h := range t.Hops {
		silent = silent || h.Received < h.Sent
		if h.BestMs != nil {
			limit = max(limit, time.Duration(*h.BestMs*float64(time.Millisecond))+time.Duration(i)*sendGap)
		}
	}
	switch {
	case t.StopReason == "gapLimit":
		return limit + listenDestination
	case silent:
		return limit + listenRouters
	default:
		return limit
	}
}

// pings measures how soon ten probes end: with the round trip of the last.
func (b *bench) pings(ctx context.Context) error {
	var p ping
	took, err := b.job(ctx, "ping", netip.MustParseAddr("11.90.0.200"), &p)
	if err != nil {
		return err
	}
	last := 9*200*time.Millisecond + time.Duration(p.MaxMs*float64(time.Millisecond))
	fmt.Printf("\nping of ten probes: %v, of which %v until the last reply is due; %d replies\n", round(took),
		round(last), p.Received)
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func verdict(holds bool) string {
	if holds {
		return "holds"
	}
	return "MISSED"
}

func median(d []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[len(sorted)/2]
}

func ratio(a, b []time.Duration) float64 { return float64(median(a)) / float64(median(b)) }

func spread(d []time.Duration) string {
	return fmt.Sprintf("%v [%v – %v]", round(median(d)), round(slices.Min(d)), round(slices.Max(d)))
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
