package probe

import (
	"strings"
	"testing"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

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
		{"it answers one ping a second and its reply does not tell", func(n *simNet) {
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
			if !r.Reached || !strings.Contains(r.Explanation[0], "destination answer") {
				t.Errorf("reached %v, %q", r.Reached, r.Explanation)
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
		t.Errorf("hop %d, %d of %d, after %v: %q", last.TTL, last.Received, last.Sent, took, r.Explanation)
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
		if last := r.Hops[len(r.Hops)-1]; last.TTL != 8 || last.Received != last.Sent || last.Note != nil {
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

// An MPLS label stack is shown on the hop that told it, and on no hidden one.
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
	answer(request{seq: recheckSeq, ttl: 2}, exchange.Answer{Kind: exchange.Prohibited, From: public11(2), TTL: simTTL - 1})
	r := tr.result(simTarget, false)
	if r.StopReason != workerapi.StopProhibited {
		t.Errorf("the trace ended with %s", r.StopReason)
	}
	const want = "A firewall at hop 2 blocks the probes: administratively prohibited."
	if r.Explanation[0] != want {
		t.Errorf("told: %s\nwant: %s", r.Explanation[0], want)
	}
}
