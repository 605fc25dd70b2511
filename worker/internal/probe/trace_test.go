package probe

import (
	"context"
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"

	"github.com/google/go-cmp/cmp"
)

// traceOver runs one trace over a network in a bubble and gives how long it took on the bubble's clock.
func traceOver(t *testing.T, n *simNet, o Options) (r workerapi.Traceroute, took time.Duration) {
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
func shown(r workerapi.Traceroute) string {
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
		says    string // part of the explanation
	}{
		{name: "clean path", routers: 8, hops: "1 2 3 4 5 6 7 8 11.9.9.9", stop: "reached", reached: true, says: "answered at hop 9"},
		{name: "destination next door", routers: 0, hops: "11.9.9.9", stop: "reached", reached: true, says: "hop 1"},
		{name: "29 routers are traced", routers: 29, stop: "reached", reached: true,
			hops: "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 11.9.9.9"},
		{name: "30 routers are too many", routers: 30, stop: "maxHops", says: "within 30 hops",
			hops: "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30"},
		{name: "a silent router", routers: 4, hops: "1 2 * 4 11.9.9.9", stop: "reached", reached: true,
			says: "Hop 3 did not answer within 1 s but forwarded traffic", change: func(n *simNet) {
				n.routers[2] = silentRouter()
			}},
		{name: "a router that answers once", routers: 4, hops: "1 2 3 4 11.9.9.9", stop: "reached", reached: true,
			says: "routers limit ICMP", change: func(n *simNet) { n.routers[2].every = time.Minute }},
		{name: "a private router", routers: 4, hops: "1 2 ? 4 11.9.9.9", stop: "reached", reached: true,
			says: "Hop 3 has a private address", change: func(n *simNet) { n.routers[2].addresses[0] = private }},
		{name: "nine silent routers are no gap", routers: 12, hops: "1 2 * * * * * * * * * 12 11.9.9.9", stop: "reached", reached: true,
			change: func(n *simNet) { silence(n, 3, 11) }},
		{name: "ten silent routers are none if the destination answers", routers: 13, stop: "reached", reached: true,
			hops: "1 2 * * * * * * * * * * 13 11.9.9.9", change: func(n *simNet) { silence(n, 3, 12) }},
		{name: "25 silent routers are none if the destination answers", routers: 25, stop: "reached", reached: true,
			hops: strings.Repeat("* ", 25) + "11.9.9.9", change: func(n *simNet) { silence(n, 1, 25) }},
		{name: "destination silent", routers: 3, hops: "1 2 3" + strings.Repeat(" *", 10), stop: "gapLimit", says: "Nothing answered within 2 s beyond hop 3",
			change: func(n *simNet) { n.dest.kind = 0 }},
		{name: "all silent", routers: 3, hops: "*" + strings.Repeat(" *", 9), stop: "gapLimit", says: "Nothing answered within 2 s, neither",
			change: func(n *simNet) { silence(n, 1, 3); n.dest.kind = 0 }},
		{name: "20 routers and silence are a gap", routers: 20, stop: "gapLimit", change: func(n *simNet) { n.dest.kind = 0 },
			hops: "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20" + strings.Repeat(" *", 10)},
		{name: "21 routers and silence reach the last hop", routers: 21, stop: "maxHops", says: "within 30 hops, and did not answer within 2 s", change: func(n *simNet) { n.dest.kind = 0 },
			hops: "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21" + strings.Repeat(" *", 9)},
		{name: "host unreachable", routers: 5, hops: "1 2 3 3", stop: "unreachable", says: "host unreachable",
			change: func(n *simNet) { n.routers[2].refuses = exchange.HostUnreachable }},
		{name: "no route at a router", routers: 5, hops: "1 2 3", stop: "unreachable", says: "The router at hop 3 cannot deliver to the destination: network unreachable",
			change: func(n *simNet) {
				n.routers[2].kind, n.routers[2].refuses = exchange.NetUnreachable, exchange.NetUnreachable
			}},
		{name: "prohibited", routers: 5, hops: "1 2 3 3", stop: "prohibited", says: "A firewall at hop 4 blocks the probes: administratively prohibited",
			change: func(n *simNet) { n.routers[2].refuses = exchange.Prohibited }},
		{name: "the destination prohibits", routers: 2, hops: "1 2 11.9.9.9", stop: "prohibited", says: "The destination itself, at hop 3",
			change: func(n *simNet) { n.dest.kind = exchange.Prohibited }},
		{name: "port unreachable by the destination", routers: 2, hops: "1 2 11.9.9.9", stop: "unreachable", says: "port unreachable",
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
			says: "limits how often", change: func(n *simNet) { n.dest.every = time.Hour }},
		{name: "the refusal comes to the reach probe alone", routers: 4, hops: "1 2", stop: "unreachable", says: "refuses the probes: host unreachable",
			change: func(n *simNet) {
				silence(n, 3, 3)
				n.routers[2] = simNode{addresses: []netip.Addr{private}, refuses: exchange.HostUnreachable, every: time.Hour,
					drops: map[int]bool{}}
			}},
		{name: "a lossy destination", routers: 2, hops: "1 2 11.9.9.9", stop: "reached", reached: true,
			says: "Loss begins", change: func(n *simNet) { n.dest.drops = map[int]bool{1: true} }},
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
			if got := strings.Join(r.Explanation, " "); !strings.Contains(got, tt.says) {
				t.Errorf("explanation %q does not say %q", got, tt.says)
			}
			if took > workerapi.TracerouteLimit {
				t.Errorf("took %v", took)
			}
			checkShape(t, r)
		})
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
func checkShape(t testing.TB, r workerapi.Traceroute) {
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
		if h.Hidden && (h.Address != nil || h.Note == nil) {
			t.Errorf("hop %d is hidden with address %v and note %v", h.TTL, h.Address, h.Note)
		}
	}
	if len(r.Explanation) == 0 {
		t.Error("no explanation")
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
	if r.Hops[2].Hidden || r.Hops[2].Note == nil || !strings.Contains(*r.Hops[2].Note, "private and hidden") {
		t.Errorf("hop 3: hidden %v, note %v", r.Hops[2].Hidden, r.Hops[2].Note)
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
	if all := strings.Join(r.Explanation, " ") + *r.Hops[1].Note; strings.Contains(all, "10.1.2.3") {
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
		1: "Answered only 1 of 3 probes within 1 s; routers limit ICMP, so this is not loss of your traffic.",
		2: "Did not answer within 1 s, but forwards traffic.",
		6: "The destination answered 1 of 3 probes within 1 s.",
	} {
		if note := r.Hops[ttl-1].Note; note == nil || !strings.HasPrefix(*note, want) {
			t.Errorf("hop %d: note %v, want %q", ttl, note, want)
		}
	}
	for _, ttl := range []int{3, 4, 5} {
		if note := r.Hops[ttl-1].Note; note != nil {
			t.Errorf("hop %d: note %q", ttl, *note)
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
	if got := strings.Join(r.Explanation, " "); !strings.Contains(got, "looping") {
		t.Errorf("explanation %q", got)
	}
}
