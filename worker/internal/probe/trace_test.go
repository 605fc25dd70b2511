package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// traceOver runs one trace over a network in a bubble and gives how long it took on the bubble's clock.
func traceOver(t *testing.T, n *simNet, o Options) (r workerapi.Traced, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var err error
		r, err = New(n, o).Traceroute(t.Context(), simTarget, exchange.Probe{})
		took = time.Since(start)
		if err != nil {
			t.Fatal(err)
		}
		if n.opened != n.closed {
			t.Errorf("%d flows opened, %d closed", n.opened, n.closed)
		}
		// Answers still on their way would otherwise outlive the bubble.
		time.Sleep(10 * time.Second)
	})
	return r, took
}

// shown gives the address of each hop; "*" for a silent and "?" for a hidden one.
func shown(r workerapi.Traced) string {
	var out []string
	for _, h := range r.Hops {
		switch {
		case h.Hidden:
			out = append(out, "?")
		case h.Address == nil:
			out = append(out, "*")
		default:
			out = append(out, strings.TrimPrefix(*h.Address, "11.0.0."))
		}
	}
	return strings.Join(out, " ")
}

func TestTrace(t *testing.T) {
	t.Parallel()
	private := netip.MustParseAddr("10.1.2.3")
	tests := []struct {
		name    string
		change  func(n *simNet)
		routers int
		hops    string
		stop    string
		reached bool
		says    string // part of what is said of the whole
	}{
		{name: "clean path", routers: 8, hops: "1 2 3 4 5 6 7 8 11.9.9.9", stop: "reached", reached: true, says: "TRACE_REACHED hop=9"},
		{name: "destination next door", routers: 0, hops: "11.9.9.9", stop: "reached", reached: true, says: "TRACE_REACHED hop=1 "},
		{name: "29 routers are traced", routers: 29, stop: "reached", reached: true,
			hops: "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 11.9.9.9"},
		{name: "30 routers are too many", routers: 30, stop: "maxHops", says: "TRACE_TOO_LONG most=30",
			hops: "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30"},
		{name: "a silent router", routers: 4, hops: "1 2 * 4 11.9.9.9", stop: "reached", reached: true,
			says: "TRACE_SILENT_ROUTERS hops=[3] within=1", change: func(n *simNet) {
				n.routers[2] = silentRouter()
			}},
		{name: "a router that answers once", routers: 4, hops: "1 2 3 4 11.9.9.9", stop: "reached", reached: true,
			says: "TRACE_LIMITED hops=[3]", change: func(n *simNet) { n.routers[2].every = time.Minute }},
		{name: "a private router", routers: 4, hops: "1 2 ? 4 11.9.9.9", stop: "reached", reached: true,
			says: "TRACE_HIDDEN hops=[3]", change: func(n *simNet) { n.routers[2].addresses[0] = private }},
		{name: "nine silent routers are no gap", routers: 12, hops: "1 2 * * * * * * * * * 12 11.9.9.9", stop: "reached", reached: true,
			change: func(n *simNet) { silence(n, 3, 11) }},
		{name: "ten silent routers are none if the destination answers", routers: 13, stop: "reached", reached: true,
			hops: "1 2 * * * * * * * * * * 13 11.9.9.9", change: func(n *simNet) { silence(n, 3, 12) }},
		{name: "25 silent routers are none if the destination answers", routers: 25, stop: "reached", reached: true,
			hops: strings.Repeat("* ", 25) + "11.9.9.9", change: func(n *simNet) { silence(n, 1, 25) }},
		{name: "destination silent", routers: 3, hops: "1 2 3" + strings.Repeat(" *", 10), stop: "gapLimit", says: "TRACE_SILENT_BEYOND hop=3 within=2",
			change: func(n *simNet) { n.dest.kind = 0 }},
		{name: "all silent", routers: 3, hops: "*" + strings.Repeat(" *", 9), stop: "gapLimit", says: "TRACE_ALL_SILENT within=2",
			change: func(n *simNet) { silence(n, 1, 3); n.dest.kind = 0 }},
		{name: "20 routers and silence are a gap", routers: 20, stop: "gapLimit", change: func(n *simNet) { n.dest.kind = 0 },
			hops: "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20" + strings.Repeat(" *", 10)},
		{name: "21 routers and silence reach the last hop", routers: 21, stop: "maxHops", says: "TRACE_TOO_LONG most=30 within=2", change: func(n *simNet) { n.dest.kind = 0 },
			hops: "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21" + strings.Repeat(" *", 9)},
		{name: "host unreachable", routers: 5, hops: "1 2 3 3", stop: "unreachable", says: "refusal=REFUSAL_HOST",
			change: func(n *simNet) { n.routers[2].refuses = exchange.HostUnreachable }},
		{name: "port unreachable by a router", routers: 5, hops: "1 2 3 3", stop: "unreachable", says: "TRACE_PORT_REFUSED hop=4",
			change: func(n *simNet) { n.routers[2].refuses = exchange.PortUnreachable }},
		{name: "no route at a router", routers: 5, hops: "1 2 3", stop: "unreachable", says: "TRACE_UNDELIVERABLE hop=3 refusal=REFUSAL_NETWORK",
			change: func(n *simNet) {
				n.routers[2].kind, n.routers[2].refuses = exchange.NetUnreachable, exchange.NetUnreachable
			}},
		{name: "prohibited", routers: 5, hops: "1 2 3 3", stop: "prohibited", says: "TRACE_BLOCKED hop=4 refusal=REFUSAL_PROHIBITED",
			change: func(n *simNet) { n.routers[2].refuses = exchange.Prohibited }},
		{name: "the destination prohibits", routers: 2, hops: "1 2 11.9.9.9", stop: "prohibited", says: "TRACE_REFUSED_BY_TARGET hop=3",
			change: func(n *simNet) { n.dest.kind = exchange.Prohibited }},
		{name: "port unreachable by the destination", routers: 2, hops: "1 2 11.9.9.9", stop: "unreachable", says: "refusal=REFUSAL_PORT",
			change: func(n *simNet) { n.dest.kind = exchange.PortUnreachable }},
		{name: "packet too big ends nothing", routers: 4, hops: "1 2 3 4 11.9.9.9", stop: "reached", reached: true,
			change: func(n *simNet) { n.routers[1].kind = exchange.TooBig }},
		{name: "the destination answers from elsewhere", routers: 2, hops: "1 2 99", stop: "reached", reached: true,
			change: func(n *simNet) { n.dest.addresses[0] = public11(99) }},
		{name: "duplicates", routers: 4, hops: "1 2 3 4 11.9.9.9", stop: "reached", reached: true, change: func(n *simNet) {
			for i := range n.routers {
				n.routers[i].copies = 2
			}
			n.dest.copies = 2
		}},
		{name: "behind a satellite", routers: 4, hops: "1 2 3 4 11.9.9.9", stop: "reached", reached: true, change: func(n *simNet) {
			for i := 1; i < 4; i++ {
				n.routers[i].rtt += 700 * time.Millisecond
			}
			n.dest.rtt += 700 * time.Millisecond
		}},
		{name: "the destination answers the reach probe alone", routers: 2, hops: "1 2 11.9.9.9", stop: "reached", reached: true,
			says: "TRACE_RATIONED", change: func(n *simNet) { n.dest.every = time.Hour }},
		{name: "the refusal comes to the reach probe alone", routers: 4, hops: "1 2", stop: "unreachable", says: "TRACE_REFUSED refusal=REFUSAL_HOST",
			change: func(n *simNet) {
				silence(n, 3, 3)
				n.routers[2] = simNode{addresses: []netip.Addr{private}, refuses: exchange.HostUnreachable, every: time.Hour,
					drops: map[int]bool{}}
			}},
		{name: "a router that translates the port", routers: 4, hops: "1 2 11.9.9.9 11.9.9.9 11.9.9.9", stop: "reached", reached: true,
			says: "TRACE_BORROWED hops=[3 4]", change: func(n *simNet) {
				n.routers[2].addresses[0], n.routers[3].addresses[0] = simTarget, simTarget
			}},
		{name: "a router that forges the destination's address", routers: 2, hops: "11.9.9.9 2 11.9.9.9", stop: "reached", reached: true,
			says: "TRACE_BORROWED hops=[1]", change: func(n *simNet) {
				n.routers[0].addresses[0] = simTarget
			}},
		{name: "translated, and silent behind", routers: 3, hops: "1 2 11.9.9.9" + strings.Repeat(" *", 10), stop: "gapLimit",
			says: "TRACE_BORROWED hops=[3]", change: func(n *simNet) {
				n.routers[2].addresses[0], n.dest.kind = simTarget, 0
			}},
		{name: "a translated router says too big", routers: 2, hops: "1 11.9.9.9 11.9.9.9", stop: "reached", reached: true,
			says: "TRACE_BORROWED hops=[2]", change: func(n *simNet) {
				n.routers[1].addresses[0], n.routers[1].kind = simTarget, exchange.TooBig
			}},
		{name: "translated, and refused by a router behind", routers: 3, hops: "1 11.9.9.9 3", stop: "unreachable",
			says: "TRACE_UNDELIVERABLE hop=3", change: func(n *simNet) {
				n.routers[1].addresses[0] = simTarget
				n.routers[2].kind, n.routers[2].refuses = exchange.HostUnreachable, exchange.HostUnreachable
			}},
		{name: "damaged replies", routers: 2, hops: "1 2 11.9.9.9", stop: "reached", reached: true, says: "TRACE_REACHED hop=3",
			change: func(n *simNet) { n.dest.damages = firstDropped(0, 100) }},
		{name: "a lossy destination", routers: 2, hops: "1 2 11.9.9.9", stop: "reached", reached: true,
			says: "TRACE_LOSS_AT_END", change: func(n *simNet) { n.dest.drops = map[int]bool{1: true} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := chain(tt.routers)
			if tt.change != nil {
				tt.change(n)
			}
			r, took := traceOver(t, n, Options{})
			if got := shown(r); got != tt.hops {
				t.Errorf("hops\n got %s\nwant %s", got, tt.hops)
			}
			if r.StopReason != tt.stop || r.Reached != tt.reached {
				t.Errorf("stopReason %s, reached %v; want %s, %v", r.StopReason, r.Reached, tt.stop, tt.reached)
			}
			if got := said(r, workerapi.AboutTrace, 0); !strings.Contains(got, tt.says) {
				t.Errorf("%s, want %s", got, tt.says)
			}
			if took > workerapi.TracerouteLimit {
				t.Errorf("took %v", took)
			}
			checkShape(t, r)
		})
	}
}

// The rows of a translated or forged address are marked and noted, and no others; so is the row of damaged replies.
func TestNotesOnBorrowedAddresses(t *testing.T) {
	t.Parallel()
	for _, p := range []exchange.Probe{{}, {Protocol: exchange.UDP, Port: 33434}, {Protocol: exchange.TCP, Port: 443}} {
		n := &portNet{simNet: chain(4)}
		n.routers[0].addresses[0], n.routers[2].addresses[0] = simTarget, simTarget
		n.dest.damages = firstDropped(0, 100)
		r := tracePort(t, n, p)
		if len(r.Hops) != 5 || r.StopReason != workerapi.StopReached {
			t.Fatalf("%v: %s", p, shown(r))
		}
		for i, h := range r.Hops {
			noted := said(r, workerapi.AboutHop, h.TTL) != ""
			if want := i == 0 || i == 2; h.TargetAddress != want || noted != (want || i == 4) {
				t.Errorf("%v: hop %d: %+v", p, h.TTL, h)
			}
		}
	}
}

// silence makes the routers from the first to the last hop silent.
func silence(n *simNet, first, last int) {
	for i := first; i <= last; i++ {
		n.routers[i-1] = silentRouter()
	}
}

// firstDropped drops the probes from one to another as they come to a node.
func firstDropped(from, to int) map[int]bool {
	drops := map[int]bool{}
	for i := from; i <= to; i++ {
		drops[i] = true
	}
	return drops
}

// checkShape holds a result against what the contract says of every result.
func checkShape(t testing.TB, r workerapi.Traced) {
	t.Helper()
	for i, h := range r.Hops {
		if h.TTL != i+1 {
			t.Errorf("hop %d has TTL %d", i+1, h.TTL)
		}
		if h.Sent < 1 || h.Sent > 3 || len(h.RTTsMs) != h.Sent {
			t.Errorf("hop %d: sent %d, %d RTTs", h.TTL, h.Sent, len(h.RTTsMs))
		}
		answered := len(h.RTTsMs)
		for _, rtt := range h.RTTsMs {
			if rtt == nil {
				answered--
			}
		}
		if answered != h.Received {
			t.Errorf("hop %d: received %d, %d RTTs", h.TTL, h.Received, answered)
		}
		if want := lossPercent(h.Sent, h.Received); h.LossPercent != want {
			t.Errorf("hop %d: loss %v, want %v", h.TTL, h.LossPercent, want)
		}
		if (h.BestMs == nil) != (h.Received == 0) || (h.AverageMs == nil) != (h.Received == 0) ||
			(h.WorstMs == nil) != (h.Received == 0) {
			t.Errorf("hop %d: statistics %v %v %v with %d received", h.TTL, h.BestMs, h.AverageMs, h.WorstMs, h.Received)
		}
		if h.Addresses == nil || (h.Address == nil) != (len(h.Addresses) == 0) {
			t.Errorf("hop %d: address %v, addresses %v", h.TTL, h.Address, h.Addresses)
		}
		if h.Hidden && (h.Address != nil || !strings.Contains(said(r, workerapi.AboutHop, h.TTL), "HOP_PRIVATE")) {
			t.Errorf("hop %d is hidden with address %v: %v", h.TTL, h.Address, r.Facts)
		}
	}
	if said(r, workerapi.AboutTrace, 0) == "" {
		t.Error("nothing is said of the whole")
	}
}

func TestTraceShowsEveryLeg(t *testing.T) {
	t.Parallel()
	n := chain(4)
	n.routers[1].addresses = []netip.Addr{public11(30), public11(20), public11(10)}
	n.routers[2].addresses = []netip.Addr{public11(40), netip.MustParseAddr("192.168.0.1")}
	r, _ := traceOver(t, n, Options{})
	want := []string{"11.0.0.30", "11.0.0.10", "11.0.0.20"}
	if diff := cmp.Diff(want, r.Hops[1].Addresses); diff != "" {
		t.Errorf("the first round's address first, the others in order (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"11.0.0.40"}, r.Hops[2].Addresses); diff != "" {
		t.Errorf("a private leg shows (-want +got):\n%s", diff)
	}
	if got := said(r, workerapi.AboutHop, 3); r.Hops[2].Hidden || !strings.Contains(got, "HOP_PARTLY_PRIVATE") {
		t.Errorf("hop 3: hidden %v, %s", r.Hops[2].Hidden, got)
	}
}

func TestTraceHoldsTogether(t *testing.T) {
	t.Parallel()
	n := chain(8)
	r, took := traceOver(t, n, Options{})
	if took > 100*time.Millisecond {
		t.Errorf("a clean path of nine hops took %v", took)
	}
	last := map[int]time.Time{}
	var previous simPacket
	for i, p := range n.log {
		if i > 0 && p.at.Sub(previous.at) < sendGap {
			t.Errorf("probes %d and %d are %v apart", i-1, i, p.at.Sub(previous.at))
		}
		// The routers here are near: all but the first probes leave after an answer to the one before.
		at, again := last[p.ttl]
		switch gap := p.at.Sub(at); {
		case !again:
		case gap < unansweredGap, gap < roundGap && gap >= n.routers[min(p.ttl, 8)-1].rtt+sendGap && p.ttl <= 8:
			t.Errorf("TTL %d was probed again after %v", p.ttl, gap)
		}
		last[p.ttl], previous = p.at, p
	}
	if n.log[0].ttl != reachTTL {
		t.Errorf("the first probe has TTL %d", n.log[0].ttl)
	}
	flows := map[int]int{}
	for _, p := range n.log {
		flows[p.flow]++
	}
	if len(flows) != workerapi.ProbesPerHop {
		t.Errorf("%d flows, want one a round", len(flows))
	}
	for ttl := 1; ttl <= 8; ttl++ {
		if got := n.sentTo()[ttl]; got != r.Hops[ttl-1].Sent {
			t.Errorf("hop %d says %d sent, it was %d", ttl, r.Hops[ttl-1].Sent, got)
		}
	}
}

func TestTraceKnocksSparingly(t *testing.T) {
	t.Parallel()
	n := chain(8)
	n.dest.rtt = 300 * time.Millisecond
	traceOver(t, n, Options{})
	if n.dest.seen > 1+workerapi.GapLimit+4*workerapi.ProbesPerHop {
		t.Errorf("the destination was sent %d probes", n.dest.seen)
	}
}

func TestTraceRTTs(t *testing.T) {
	t.Parallel()
	n := chain(1)
	n.routers[0].rtts = []time.Duration{4 * time.Millisecond, 2 * time.Millisecond, 9 * time.Millisecond}
	r, _ := traceOver(t, n, Options{})
	h := r.Hops[0]
	if *h.BestMs != 2 || *h.AverageMs != 5 || *h.WorstMs != 9 || *h.RTTsMs[0] != 4 || *h.RTTsMs[1] != 2 ||
		*h.RTTsMs[2] != 9 {
		t.Errorf("best %v average %v worst %v of %v %v %v", *h.BestMs, *h.AverageMs, *h.WorstMs, *h.RTTsMs[0], *h.RTTsMs[1],
			*h.RTTsMs[2])
	}
}

func TestTraceDeadline(t *testing.T) {
	t.Parallel()
	n := chain(20)
	// One probe a second: after five seconds the trace is far from done.
	r, took := traceOver(t, n, Options{Budget: NewBudget(0, 1)})
	if r.StopReason != workerapi.StopDeadline || r.Reached {
		t.Errorf("stopReason %s, reached %v", r.StopReason, r.Reached)
	}
	if took != workerapi.TracerouteLimit {
		t.Errorf("took %v", took)
	}
	if got := shown(r); got != "1 2 3 4" {
		t.Errorf("hops %s", got)
	}
	checkShape(t, r)
}

func TestTraceRaw(t *testing.T) {
	t.Parallel()
	n := chain(3)
	n.routers[1].addresses[0] = netip.MustParseAddr("10.1.2.3")
	n.routers[2].drops = map[int]bool{1: true}
	plain, _ := traceOver(t, n, Options{})
	if plain.Raw != nil {
		t.Errorf("raw text without leave: %q", *plain.Raw)
	}
	n = chain(3)
	n.routers[1].addresses[0] = netip.MustParseAddr("10.1.2.3")
	n.routers[2].drops = map[int]bool{1: true}
	r, _ := traceOver(t, n, Options{Raw: true})
	want := "traceroute to 11.9.9.9 (11.9.9.9), 30 hops max\n" +
		" 1  11.0.0.1  1.000 ms  1.000 ms  1.000 ms\n" +
		" 2  10.1.2.3  2.000 ms  2.000 ms  2.000 ms\n" +
		" 3  11.0.0.3  3.000 ms *  3.000 ms\n" +
		" 4  11.9.9.9  4.000 ms  4.000 ms  4.000 ms\n"
	if diff := cmp.Diff(want, *r.Raw); diff != "" {
		t.Error(diff)
	}
	if all := fmt.Sprint(r.Facts); strings.Contains(all, "10.1.2.3") {
		t.Errorf("a private address outside the raw text: %q", all)
	}
}

func TestTraceNotes(t *testing.T) {
	t.Parallel()
	n := chain(5)
	n.routers[0].every = time.Hour
	n.routers[1] = silentRouter()
	n.dest.drops = firstDropped(1, 11)
	r, _ := traceOver(t, n, Options{})
	for ttl, want := range map[int]string{
		1: "HOP_LIMITED answered=1 sent=3 within=1",
		2: "HOP_SILENT within=1",
		3: "", 4: "", 5: "",
		6: "HOP_DESTINATION_LOSS answered=1 sent=3 within=1",
	} {
		if got := said(r, workerapi.AboutHop, ttl); got != want {
			t.Errorf("hop %d: %q, want %q", ttl, got, want)
		}
	}
}

func TestTraceErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		net  *simNet
		want error
	}{
		{"family absent", &simNet{openErr: exchange.ErrFamily}, exchange.ErrFamily},
		{"no route", &simNet{sendErr: exchange.ErrNoRoute}, exchange.ErrNoRoute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := New(tt.net, Options{}).Traceroute(t.Context(), simTarget, exchange.Probe{})
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v", err)
			}
			if tt.net.opened != tt.net.closed {
				t.Errorf("%d flows opened, %d closed", tt.net.opened, tt.net.closed)
			}
		})
	}
}

func TestTraceIsCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := chain(5)
		n.dest.kind = 0
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		start := time.Now()
		_, err := New(n, Options{}).Traceroute(ctx, simTarget, exchange.Probe{})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took != 100*time.Millisecond {
			t.Errorf("ended %v after the start, cancelled after 100ms", took)
		}
		if n.opened != n.closed {
			t.Errorf("%d flows opened, %d closed", n.opened, n.closed)
		}
		time.Sleep(time.Second)
	})
}

func TestTraceIgnoresForeignAnswers(t *testing.T) {
	t.Parallel()
	start := time.Now()
	tr := newTrace(start)
	tr.sent(request{seq: seqOf(0, 1), ttl: 1}, start)
	before := *tr
	for _, seq := range []uint16{0, seqOf(0, 2), seqOf(2, 30), seqOf(2, 30) + 1, 65535} {
		tr.answered(exchange.Answer{Seq: seq, Kind: exchange.Reply, From: simTarget, At: start})
	}
	if !reflect.DeepEqual(before.ttls, tr.ttls) || tr.replied != 0 || tr.reach.answered {
		t.Error("an answer to a probe that was never sent changed the trace")
	}
}

func TestTraceTellsOfALoop(t *testing.T) {
	t.Parallel()
	n := chain(30)
	for i := 4; i < 30; i++ {
		n.routers[i].addresses[0] = public11(5 + i%2)
	}
	n.dest.kind = 0
	r, _ := traceOver(t, n, Options{})
	if got := said(r, workerapi.AboutTrace, 0); !strings.Contains(got, "TRACE_LOOPS") {
		t.Error(got)
	}
}

// Real routers answer ICMP on their slow path, some of them after most of a second, while the destination answers in
// tens of milliseconds.
func TestSlowRoutersAreHeard(t *testing.T) {
	t.Parallel()
	for _, slow := range []time.Duration{90, 200, 250, 800, 990} {
		slow *= time.Millisecond
		for _, far := range []time.Duration{20 * time.Millisecond, 60 * time.Millisecond} {
			t.Run(fmt.Sprintf("%v beside %v", slow, far), func(t *testing.T) {
				t.Parallel()
				n := chain(8)
				n.routers[2].rtt, n.routers[5].rtt, n.dest.rtt = slow, slow, far
				r, took := traceOver(t, n, Options{})
				if got := shown(r); got != "1 2 3 4 5 6 7 8 11.9.9.9" {
					t.Errorf("hops %s", got)
				}
				for _, h := range r.Hops {
					if h.Received != 3 || said(r, workerapi.AboutHop, h.TTL) != "" {
						t.Errorf("hop %d: %d of %d, %v", h.TTL, h.Received, h.Sent, r.Facts)
					}
				}
				// Nothing is missing: the last answer ends it.
				if last := max(n.sentAt(3, 2), n.sentAt(6, 2)) + slow; took != last {
					t.Errorf("took %v, the last answer came after %v", took, last)
				}
			})
		}
	}
}

// Both sides of each bound: how long after the last probe an answer is accepted, and when the trace ends.
func TestTraceListens(t *testing.T) {
	t.Parallel()
	const near = 9 * time.Millisecond
	for _, tt := range []struct {
		name     string
		router   time.Duration // the third round trip of hop 8; 0 for none
		dest     time.Duration // 0 for none
		received int           // of hop 8
		reached  bool
		listened time.Duration // after the last probe; 0 where the last answer ends it
	}{
		{"all is heard", 8 * time.Millisecond, near, 3, true, 0},
		{"a router within a second", listenRouters - time.Millisecond, near, 3, true, 0},
		{"a router past a second", listenRouters + 2*grace, near, 2, true, listenRouters},
		{"a router that keeps silent", 0, near, 2, true, listenRouters},
		{"a destination past a second", 8 * time.Millisecond, 1200 * time.Millisecond, 3, true, 0},
		{"a destination within two seconds", 8 * time.Millisecond, listenDestination - time.Millisecond, 3, true, 0},
		{"a destination that keeps silent", 8 * time.Millisecond, 0, 3, false, listenDestination},
		// Whatever is behind a way of that length may take as long.
		{"a router behind a long way", 1300 * time.Millisecond, 1200 * time.Millisecond, 3, true, 0},
		{"a silent router before a slow destination", 0, 1200 * time.Millisecond, 2, true, 1800 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := chain(8)
			eight := &n.routers[7]
			eight.rtts, eight.drops = []time.Duration{eight.rtt, eight.rtt, tt.router}, map[int]bool{2: tt.router == 0}
			n.dest.rtt = tt.dest
			if tt.dest == 0 {
				n.dest.kind = 0
			}
			r, took := traceOver(t, n, Options{})
			if got := r.Hops[7].Received; got != tt.received || r.Reached != tt.reached {
				t.Errorf("%d answers of hop 8, want %d; reached %v", got, tt.received, r.Reached)
			}
			last := n.log[len(n.log)-1].at.Sub(n.log[0].at)
			want := last + tt.listened
			if tt.listened == 0 {
				want = max(n.sentAt(8, 2)+tt.router, n.sentAt(9, 0)+tt.dest)
			}
			if took < want || took > want+25*time.Millisecond {
				t.Errorf("took %v, %v after the last probe; want %v", took, took-last, want)
			}
		})
	}
}

// A destination that answers late is there, with all of its answers.
func TestSlowDestinationIsReached(t *testing.T) {
	t.Parallel()
	for _, far := range []time.Duration{1100, 1200, 1500, 1900} {
		n := chain(8)
		n.dest.rtt = far * time.Millisecond
		r, took := traceOver(t, n, Options{})
		if !r.Reached || shown(r) != "1 2 3 4 5 6 7 8 11.9.9.9" || r.Hops[8].Received != 3 {
			t.Errorf("%d ms: %s, %s", far, shown(r), r.StopReason)
		}
		if most := n.dest.rtt + 100*time.Millisecond; took > most {
			t.Errorf("%d ms: took %v", far, took)
		}
	}
}

// The far TTLs are asked on a path whose end keeps silent, and it ends in time for the bound of the benchmarks.
func TestTraceSilentDestinationEndsSoon(t *testing.T) {
	t.Parallel()
	n := chain(8)
	n.dest.kind = 0
	r, took := traceOver(t, n, Options{})
	if r.StopReason != workerapi.StopGapLimit || took < listenDestination || took > 2500*time.Millisecond {
		t.Errorf("%s after %v", r.StopReason, took)
	}
}

// Many silent routers cost one time of listening, not one for each ten of them.
func TestSilentRoutersCostOneWait(t *testing.T) {
	t.Parallel()
	for _, silent := range []int{1, 9, 12, 25} {
		n := chain(silent + 2)
		silence(n, 2, silent+1)
		r, took := traceOver(t, n, Options{})
		if !r.Reached || len(r.Hops) != silent+3 || took > 1500*time.Millisecond {
			t.Errorf("%d silent routers: %s, %d hops after %v", silent, r.StopReason, len(r.Hops), took)
		}
	}
}

// TestDestinationStandsWhereItIs is about destinations that leave probes of their own TTL unanswered. The nth probe to
// come to the destination is, on a path of four routers, the reach probe (0) and then those of the TTLs from 5 on.
func TestDestinationStandsWhereItIs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		change   func(n *simNet)
		hops     string
		received int
	}{
		{"all is answered", func(*simNet) {}, "1 2 3 4 11.9.9.9", 3},
		{"its own TTL is lost", func(n *simNet) { n.dest.deaf = 5 }, "1 2 3 4 * 11.9.9.9", 3},
		{"its own TTL and the reach probe are lost", func(n *simNet) { n.dest.deaf, n.dest.drops = 5, map[int]bool{0: true} },
			"1 2 3 4 * 11.9.9.9", 2},
		{"its own TTL is lost, and the way back is longer", func(n *simNet) { n.dest.deaf, n.dest.detour = 5, 1 },
			"1 2 3 4 * 11.9.9.9", 3},
		{"its own TTL is lost, and all ways back are longer", func(n *simNet) {
			n.dest.deaf, n.dest.detour, n.routers[3].detour = 5, 3, 3
		}, "1 2 3 4 * 11.9.9.9", 3},
		{"a silent router stands before it", func(n *simNet) { silence(n, 4, 4) }, "1 2 3 * 11.9.9.9", 3},
		{"silent routers, and the way back is a hop shorter", func(n *simNet) { silence(n, 3, 4); n.dest.detour = -1 },
			"1 2 * * 11.9.9.9", 3},
		{"silent routers, and the way back is two hops shorter", func(n *simNet) { silence(n, 3, 4); n.dest.detour = -2 },
			"1 2 * * 11.9.9.9", 3},
		{"silent routers, and the way back is a hop longer", func(n *simNet) { silence(n, 3, 4); n.dest.detour = 1 },
			"1 2 * * 11.9.9.9", 3},
		{"silent routers, a shorter way back, and the reach probe is lost", func(n *simNet) {
			silence(n, 3, 4)
			n.dest.detour, n.dest.drops = -1, map[int]bool{0: true}
		}, "1 2 * * 11.9.9.9", 2},
		{"no router answers, and the way back is a hop shorter", func(n *simNet) { silence(n, 1, 4); n.dest.detour = -1 },
			"* * * * 11.9.9.9", 3},
		{"two silent routers stand before it", func(n *simNet) { silence(n, 3, 4) }, "1 2 * * 11.9.9.9", 3},
		{"it answers one ping a second", func(n *simNet) { n.dest.every = time.Second }, "1 2 3 4 11.9.9.9", 1},
		{"it answers one ping a second behind a silent router", func(n *simNet) {
			silence(n, 4, 4)
			n.dest.every = time.Second
		}, "1 2 3 * 11.9.9.9", 1},
		{"it answers one ping a second over a longer way", func(n *simNet) {
			silence(n, 4, 4)
			n.dest.every, n.dest.detour, n.routers[2].detour = time.Second, 2, 2
		}, "1 2 3 * 11.9.9.9", 1},
		{"it answers one ping a second and its reply has no useful TTL", func(n *simNet) {
			silence(n, 4, 4)
			n.dest.every, n.dest.detour = time.Hour, -6
		}, "1 2 3 11.9.9.9", 1},
		{"it answers five pings a second behind a silent router", func(n *simNet) {
			silence(n, 4, 4)
			n.dest.every = 200 * time.Millisecond
		}, "1 2 3 * 11.9.9.9", 1},
		{"it answers five pings a second, and the way back is a hop shorter", func(n *simNet) {
			silence(n, 3, 4)
			n.dest.every, n.dest.detour = 200*time.Millisecond, -1
		}, "1 2 * * 11.9.9.9", 1},
		{"the first three that get there are lost", func(n *simNet) { n.dest.drops = firstDropped(0, 2) }, "1 2 3 4 11.9.9.9", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := chain(4)
			tt.change(n)
			r, took := traceOver(t, n, Options{})
			if got := shown(r); got != tt.hops || took > 4*time.Second {
				t.Errorf("hops, after %v\n got %s\nwant %s", took, got, tt.hops)
			}
			last := r.Hops[len(r.Hops)-1]
			if last.Sent != 3 || last.Received != tt.received {
				t.Errorf("%d of %d answered, want %d", last.Received, last.Sent, tt.received)
			}
			got := said(r, workerapi.AboutTrace, 0)
			if !r.Reached || !strings.HasPrefix(got, "TRACE_REACHED") && !strings.HasPrefix(got, "TRACE_RATIONED") {
				t.Errorf("reached %v, %s", r.Reached, got)
			}
			checkShape(t, r)
		})
	}
}

// A destination past the window is looked for, although its reply, which came over a shorter way, says that it lies
// within.
func TestDestinationBeyondTheWindowByAShorterWayBack(t *testing.T) {
	t.Parallel()
	n := chain(15)
	silence(n, 2, 15)
	n.dest.detour = -6
	r, took := traceOver(t, n, Options{})
	if last := r.Hops[len(r.Hops)-1]; last.TTL != 16 || last.Received != 3 || took > 4*time.Second {
		t.Errorf("hop %d, %d of %d, after %v: %v", last.TTL, last.Received, last.Sent, took, r.Facts)
	}
}

// One flow goes a longer way: its probes that expire there, answered or not, are not the destination's.
func TestProbesThatExpireOnALongerLegAreNoLoss(t *testing.T) {
	t.Parallel()
	for name, more := range map[string][]simNode{
		"answering": {router(20, 9*time.Millisecond)},
		"silent":    {silentRouter(), router(21, 9*time.Millisecond)},
	} {
		n := chain(7)
		n.dest.rtt = 60 * time.Millisecond
		n.detours = map[int][]simNode{1: more}
		r, _ := traceOver(t, n, Options{})
		last := r.Hops[len(r.Hops)-1]
		if last.TTL != 8 || last.Received != last.Sent || said(r, workerapi.AboutHop, last.TTL) != "" {
			t.Errorf("%s: %d of %d at hop %d", name, last.Received, last.Sent, last.TTL)
		}
	}
}

func TestHopsBack(t *testing.T) {
	t.Parallel()
	for ttl, want := range map[int]int{64: 0, 63: 1, 1: 63, 65: 63, 128: 0, 120: 8, 129: 126, 255: 0, 247: 8} {
		if got := hopsBack(ttl); got != want {
			t.Errorf("TTL %d: %d, want %d", ttl, got, want)
		}
	}
}

// An MPLS label stack is shown on the hop that sent it, and on no hidden one.
func TestLabels(t *testing.T) {
	t.Parallel()
	n := chain(3)
	n.routers[1].labels = []exchange.Label{{Value: 24001, TC: 5, TTL: 1}, {Value: 16, Bottom: true, TTL: 255}}
	n.routers[2].labels = n.routers[1].labels
	n.routers[2].addresses = simPrivate
	r, _ := traceOver(t, n, Options{})
	got := r.Hops[1].Labels
	if len(got) != 2 || got[0].Label != 24001 || got[0].TC != 5 || got[0].Bottom || got[0].TTL != 1 || !got[1].Bottom ||
		got[1].TTL != 255 {
		t.Errorf("labels %+v", got)
	}
	if r.Hops[0].Labels != nil || r.Hops[2].Labels != nil {
		t.Errorf("labels where none belong: %+v, %+v", r.Hops[0].Labels, r.Hops[2].Labels)
	}
}

// The destination has answered the reach probe alone, and a firewall refuses the one that asks again a second later.
func TestRefusalOfTheProbeThatAsksAgain(t *testing.T) {
	t.Parallel()
	now := time.Now()
	tr := newTrace(now)
	answer := func(r request, a exchange.Answer) {
		tr.sent(r, now)
		a.Seq, a.At = r.seq, now.Add(time.Millisecond)
		tr.answered(a)
	}
	answer(request{seq: reachSeq, ttl: reachTTL}, exchange.Answer{Kind: exchange.Reply, From: simTarget, TTL: simTTL - 1})
	answer(request{seq: seqOf(0, 1), ttl: 1}, exchange.Answer{Kind: exchange.TimeExceeded, From: public11(1), TTL: simTTL})
	tr.sent(request{seq: seqOf(0, 2), ttl: 2}, now)
	answer(request{seq: recheckSeq, ttl: 2}, exchange.Answer{Kind: exchange.Prohibited, From: public11(2),
		TTL: simTTL - 1})
	r := tr.result(simTarget, false)
	if r.StopReason != workerapi.StopProhibited {
		t.Errorf("the trace ended with %s", r.StopReason)
	}
	if got := said(r, workerapi.AboutTrace, 0); !strings.HasPrefix(got, "TRACE_BLOCKED hop=2 refusal=REFUSAL_PROHIBITED") {
		t.Error(got)
	}
}

// portNet is a simNet whose destination, while it waits for the RST that ends a connection, leaves other SYNs between
// the same ports unanswered.
type portNet struct {
	*simNet
	asked exchange.Probe
}

func (n *portNet) OpenPort(p exchange.Probe, dst netip.Addr, deliver func(exchange.Answer)) (exchange.Flow, error) {
	n.asked = p
	f, err := n.Open(dst, deliver)
	s := f.(*simFlow)
	s.short = p.Protocol == exchange.UDP
	return &portSimFlow{simFlow: s, size: p.Size, tcp: p.Protocol == exchange.TCP}, err
}

type portSimFlow struct {
	*simFlow
	size    int
	tcp     bool
	waiting time.Time // until the connection is ended
}

func (f *portSimFlow) Send(seq uint16, ttl int) (time.Time, error) {
	now := time.Now()
	if !f.tcp || ttl <= len(f.net.routers) {
		return f.SendSized(seq, ttl, f.size)
	}
	if now.Before(f.waiting) {
		f.net.mu.Lock()
		defer f.net.mu.Unlock()
		f.net.log = append(f.net.log, simPacket{at: now, seq: seq, ttl: ttl, flow: f.index})
		return now, nil
	}
	f.waiting = now.Add(f.net.dest.rtt)
	return f.simFlow.Send(seq, ttl)
}

func tracePort(t *testing.T, n *portNet, p exchange.Probe) (r workerapi.Traced) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if r, err = New(n, Options{Raw: true}).Traceroute(t.Context(), simTarget, p); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
	})
	return r
}

// A destination that still waits for an earlier connection to be ended has lost nothing, however far away it is.
func TestSYNsToOneDestination(t *testing.T) {
	t.Parallel()
	for _, ms := range []time.Duration{1, 9, 60, 300} {
		rtt := ms * time.Millisecond
		t.Run(rtt.String(), func(t *testing.T) {
			t.Parallel()
			n := &portNet{simNet: chain(7)}
			n.dest.rtt = rtt
			p := exchange.Probe{Protocol: exchange.TCP, Port: 443}
			r := tracePort(t, n, p)
			last := r.Hops[len(r.Hops)-1]
			if !r.Reached || len(r.Hops) != 8 || last.Received != 3 || last.Sent != 3 {
				t.Errorf("%s, %d hops, the last %+v", r.StopReason, len(r.Hops), last)
			}
			if got := said(r, workerapi.AboutTrace, 0); strings.Contains(got, "TRACE_LOSS") {
				t.Errorf("reported as loss: %s", got)
			}
			if r.Protocol != "tcp" || r.Port == nil || *r.Port != 443 || n.asked != p ||
				!strings.Contains(*r.Raw, "hops max, tcp port 443\n") {
				t.Errorf("%s, port %v, asked for %+v: %s", r.Protocol, r.Port, n.asked, *r.Raw)
			}
			sent := map[string]int{}
			for _, s := range n.log {
				key := fmt.Sprint(s.flow, s.ttl)
				if sent[key]++; sent[key] > 1 || s.flow > workerapi.ProbesPerHop {
					t.Errorf("flow %d: TTL %d", s.flow, s.ttl)
				}
			}
		})
	}
}

// What is lost on the way to a destination is still loss: of the first SYN of a flow nothing else takes the place.
func TestLostSYNs(t *testing.T) {
	t.Parallel()
	n := &portNet{simNet: chain(3)}
	n.dest.drops = map[int]bool{1: true}
	r := tracePort(t, n, exchange.Probe{Protocol: exchange.TCP, Port: 443})
	if last := r.Hops[len(r.Hops)-1]; !r.Reached || last.Sent != 3 || last.Received != 2 {
		t.Errorf("%+v", last)
	}
}

func TestUDPTrace(t *testing.T) {
	t.Parallel()
	n := &portNet{simNet: chain(4)}
	r := tracePort(t, n, exchange.Probe{Protocol: exchange.UDP, Port: 33434})
	last := r.Hops[len(r.Hops)-1]
	if !r.Reached || len(r.Hops) != 5 || last.Received != 3 || r.Protocol != "udp" || *r.Port != 33434 {
		t.Errorf("%+v, the last hop %+v", r, last)
	}
	for _, s := range n.log {
		if s.flow >= workerapi.ProbesPerHop {
			t.Errorf("flow %d", s.flow)
		}
	}
}

// Whatever the way, the destination has an address where it answered, and no more probes than three.
func TestTraceOfAnyPathWithSYNs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := &portNet{simNet: drawNet(rt)}
		var r workerapi.Traced
		synctest.Test(t, func(t *testing.T) {
			var err error
			probe := exchange.Probe{Protocol: exchange.TCP, Port: 80}
			if r, err = New(n, Options{}).Traceroute(t.Context(), simTarget, probe); err != nil {
				rt.Errorf("error %v", err)
			}
			time.Sleep(10 * time.Second)
		})
		checkShape(rapidTB{TB: t, rt: rt}, r)
	})
}

func TestNoPortNetwork(t *testing.T) {
	t.Parallel()
	for _, p := range []exchange.Probe{{Protocol: exchange.UDP, Port: 1}, {Protocol: exchange.TCP, Port: 1}} {
		if _, err := New(chain(1), Options{}).Traceroute(t.Context(), simTarget, p); !errors.Is(err, exchange.ErrProtocol) {
			t.Errorf("%v", err)
		}
	}
}

// Silence of the destination is explained for each kind of probe.
func TestSilenceAtPorts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		protocol exchange.Protocol
		change   func(*simNet)
		says     string
	}{
		{exchange.UDP, func(n *simNet) { n.dest.kind = 0 }, "TRACE_UDP_SILENT port=7"},
		{exchange.TCP, func(n *simNet) { n.dest.kind = 0 }, "TRACE_TCP_SILENT port=7"},
		{exchange.UDP, func(n *simNet) { n.dest.drops = map[int]bool{1: true} }, "TRACE_UDP_LIMITED within=1"},
		{exchange.UDP, func(*simNet) {}, ""},
		{exchange.TCP, func(*simNet) {}, ""},
	} {
		n := &portNet{simNet: chain(3)}
		c.change(n.simNet)
		got := said(tracePort(t, n, exchange.Probe{Protocol: c.protocol, Port: 7}), workerapi.AboutTrace, 0)
		ofPort := strings.Contains(got, "TRACE_UDP") || strings.Contains(got, "TRACE_TCP")
		if c.says == "" && ofPort || !strings.Contains(got, c.says) {
			t.Errorf("%s, want %q: %s", c.protocol, c.says, got)
		}
	}
}

// UDP probes ask again as echo requests do where a destination limits its answers. With TCP no round sends a TTL a
// second SYN, and what lies past the window is looked for without.
func TestAskingAgainAtPorts(t *testing.T) {
	t.Parallel()
	rationed := func(n *simNet) { silence(n, 4, 4); n.dest.every = time.Second }
	far := func(n *simNet) { silence(n, 2, 15); n.dest.detour = -6 }
	for _, c := range []struct {
		name     string
		protocol exchange.Protocol
		routers  int
		change   func(*simNet)
		last     int // TTL
		again    bool
	}{
		{"one answer a second", exchange.UDP, 4, rationed, 5, true},
		{"one answer a second", exchange.TCP, 4, rationed, 5, false},
		{"past the window", exchange.UDP, 15, far, 16, true},
		{"past the window", exchange.TCP, 15, far, 16, false},
	} {
		t.Run(c.name+"/"+c.protocol.String(), func(t *testing.T) {
			t.Parallel()
			n := &portNet{simNet: chain(c.routers)}
			c.change(n.simNet)
			r := tracePort(t, n, exchange.Probe{Protocol: c.protocol, Port: 7})
			if last := r.Hops[len(r.Hops)-1]; !r.Reached || last.TTL != c.last {
				t.Errorf("hop %d: %v", last.TTL, r.Facts)
			}
			again := false
			for ttl, sent := range n.sentTo() {
				again = again || sent > workerapi.ProbesPerHop
				if ttl < reachTTL && c.protocol == exchange.TCP && sent > workerapi.ProbesPerHop {
					t.Errorf("%d SYNs with TTL %d", sent, ttl)
				}
			}
			if again != c.again {
				t.Errorf("asked again: %t", again)
			}
		})
	}
}

// The SYNs of a round that goes a longer way expire there, answered or not: the first that gets to the destination is
// farther on.
func TestSYNsOnALongerLeg(t *testing.T) {
	t.Parallel()
	start := time.Now()
	trace := newTrace(start)
	trace.probe = exchange.Probe{Protocol: exchange.TCP, Port: 443}
	for i, s := range []struct {
		seq  uint16
		kind exchange.Kind // 0 for no answer
	}{
		{reachSeq, exchange.Reply}, {seqOf(0, 8), exchange.Reply}, {seqOf(0, 9), 0}, {seqOf(0, 10), 0},
		{seqOf(1, 8), 0}, {seqOf(1, 9), exchange.TimeExceeded}, {seqOf(1, 10), exchange.Reply},
	} {
		at := start.Add(time.Duration(i) * time.Millisecond)
		trace.sent(request{seq: s.seq}, at)
		if s.kind != 0 {
			trace.answered(exchange.Answer{Seq: s.seq, Kind: s.kind, At: at.Add(time.Millisecond)})
		}
	}
	arrivals := trace.arrivals(8)
	for _, s := range arrivals {
		if !s.replied() {
			t.Errorf("%+v", *s)
		}
	}
	if len(arrivals) != 3 {
		t.Errorf("%d arrivals", len(arrivals))
	}
}
