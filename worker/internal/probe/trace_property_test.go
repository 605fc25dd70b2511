package probe

import (
	"maps"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"

	"pgregory.net/rapid"
)

// TestTraceOfAnyPathReturnsThatPath draws a path: routers with one to three legs, public or private, near or far,
// silent or losing up to two of three answers, answering twice, out of order; and a destination that answers, is silent
// or refuses. The trace must return that path.
func TestTraceOfAnyPathReturnsThatPath(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := drawNet(rt)
		var r workerapi.Traced
		synctest.Test(t, func(t *testing.T) {
			var err error
			if r, err = New(n, Options{}).Traceroute(t.Context(), simTarget, exchange.Probe{}); err != nil {
				rt.Errorf("error %v", err)
			}
			time.Sleep(10 * time.Second)
		})
		comparePath(rt, n, r)
		checkShape(rapidTB{TB: t, rt: rt}, r)
	})
}

// rapidTB reports through rapid, so that it can shrink.
type rapidTB struct {
	testing.TB
	rt *rapid.T
}

func (t rapidTB) Helper()                           {}
func (t rapidTB) Error(args ...any)                 { t.rt.Error(args...) }
func (t rapidTB) Errorf(format string, args ...any) { t.rt.Errorf(format, args...) }

func drawNet(rt *rapid.T) *simNet {
	n := &simNet{}
	far := rapid.IntRange(1, 300).Draw(rt, "far")
	silent := 0
	for i := range rapid.IntRange(0, workerapi.MaxHops-1).Draw(rt, "routers") {
		r := drawRouter(rt, i+1, far)
		// Ten silent routers in a row are a gap; another test has those.
		if r.kind == 0 {
			silent++
		} else {
			silent = 0
		}
		if silent == workerapi.GapLimit {
			r, silent = router(i+1, time.Millisecond), 0
		}
		n.routers = append(n.routers, r)
	}
	n.dest = destination(time.Duration(far) * time.Millisecond)
	if rapid.IntRange(0, 2).Draw(rt, "lossy destination") == 0 {
		// One of the first three that come to it is answered, so that it has an address, and the last of its own TTL, which
		// is what determines its place.
		kept := rapid.IntRange(0, workerapi.ProbesPerHop-1).Draw(rt, "kept")
		n.dest.drops, n.dest.spared = map[int]bool{}, seqOf(workerapi.ProbesPerHop-1, len(n.routers)+1)
		for nth := range 12 {
			n.dest.drops[nth] = nth != kept && rapid.Bool().Draw(rt, "lost")
		}
	}
	// Its answers may come back over fewer hops, or over more.
	n.dest.detour = rapid.IntRange(-3, 3).Draw(rt, "detour")
	n.dest.copies = rapid.IntRange(0, 2).Draw(rt, "copies of the destination")
	n.dest.kind = rapid.SampledFrom([]exchange.Kind{
		exchange.Reply, exchange.Reply, exchange.Reply, 0, exchange.Prohibited, exchange.PortUnreachable,
		exchange.HostUnreachable,
	}).Draw(rt, "destination")
	// A destination that refuses is probed at its own TTL only, so arrival order does not matter.
	if n.dest.kind != exchange.Reply {
		n.dest.drops = nil
	}
	return n
}

func drawRouter(rt *rapid.T, index, far int) simNode {
	r := router(index, 0)
	if rapid.IntRange(0, 3).Draw(rt, "silent") == 0 {
		return silentRouter()
	}
	// A router is up to half again as slow as the destination: routers answer ICMP on their slow path.
	for range workerapi.ProbesPerHop {
		r.rtts = append(r.rtts, time.Duration(rapid.IntRange(1, far+far/2).Draw(rt, "rtt"))*time.Millisecond)
	}
	for leg := 1; leg < rapid.IntRange(1, 3).Draw(rt, "legs"); leg++ {
		r.addresses = append(r.addresses, public11(1000*leg+index))
	}
	if rapid.IntRange(0, 5).Draw(rt, "private") == 0 {
		r.addresses = []netip.Addr{netip.AddrFrom4([4]byte{10, 0, 0, byte(index)})}
	}
	kept := rapid.IntRange(0, 2).Draw(rt, "kept")
	r.drops = map[int]bool{}
	for nth := range workerapi.ProbesPerHop {
		if nth != kept && rapid.Bool().Draw(rt, "dropped") {
			r.drops[nth] = true
		}
	}
	r.copies = rapid.IntRange(0, 1).Draw(rt, "copies")
	switch rapid.IntRange(0, 7).Draw(rt, "temper") {
	case 0:
		r.kind = exchange.TooBig
	case 1:
		// A rate limit; how many of three answers it leaves depends on the pace.
		r.drops, r.every = nil, time.Duration(rapid.IntRange(1, 2000).Draw(rt, "every"))*time.Millisecond
	}
	return r
}

func first(addresses []string) string {
	if len(addresses) == 0 {
		return ""
	}
	return addresses[0]
}

// comparePath holds a trace against the network that it is of.
func comparePath(rt *rapid.T, n *simNet, r workerapi.Traced) {
	wantStop, ends := workerapi.StopReached, len(n.routers)+1
	switch n.dest.kind {
	case 0:
		last := lastAnswering(n)
		ends = min(last+workerapi.GapLimit, workerapi.MaxHops)
		wantStop = workerapi.StopMaxHops
		if last+workerapi.GapLimit <= workerapi.MaxHops {
			wantStop = workerapi.StopGapLimit
		}
	case exchange.Prohibited:
		wantStop = workerapi.StopProhibited
	case exchange.PortUnreachable, exchange.HostUnreachable:
		wantStop = workerapi.StopUnreachable
	}
	if r.StopReason != wantStop || r.Reached != (wantStop == workerapi.StopReached) {
		rt.Errorf("stopReason %s, reached %v; want %s", r.StopReason, r.Reached, wantStop)
	}
	if len(r.Hops) != ends {
		rt.Fatalf("%d hops, want %d", len(r.Hops), ends)
	}
	if r.Reached {
		compareDestination(rt, n, r.Hops[ends-1])
		r.Hops = r.Hops[:ends-1]
	}
	for i, h := range r.Hops {
		node := simNode{}
		switch {
		case i < len(n.routers):
			node = n.routers[i]
		case i == len(n.routers):
			node = n.dest
		}
		compareHop(rt, node, h)
	}
}

// compareDestination holds the last row against the first three probes that came to the destination.
func compareDestination(rt *rapid.T, n *simNet, h workerapi.Hop) {
	want := 0
	for nth := range workerapi.ProbesPerHop {
		if !n.dest.drops[nth] {
			want++
		}
	}
	if h.Sent != workerapi.ProbesPerHop || h.Received != want || *h.Address != simTarget.String() {
		rt.Errorf("destination: %d of %d from %s, want %d", h.Received, h.Sent, *h.Address, want)
	}
}

func lastAnswering(n *simNet) int {
	for i := len(n.routers); i > 0; i-- {
		if n.routers[i-1].kind != 0 {
			return i
		}
	}
	return 0
}

func compareHop(rt *rapid.T, node simNode, h workerapi.Hop) {
	if h.Sent != workerapi.ProbesPerHop {
		rt.Errorf("hop %d: %d sent", h.TTL, h.Sent)
	}
	wantReceived := 0
	want := map[string]bool{}
	wantFirst := ""
	for round := range workerapi.ProbesPerHop {
		if node.kind == 0 || node.drops[round] {
			continue
		}
		wantReceived++
		if a := node.addresses[round%len(node.addresses)]; public(a) {
			want[a.String()] = true
			if wantFirst == "" {
				wantFirst = a.String()
			}
		}
	}
	if node.every > 0 {
		if h.Received < 1 || !slices.Contains(slices.Collect(maps.Keys(want)), first(h.Addresses)) && !h.Hidden {
			rt.Errorf("hop %d: a rate-limited router shows as %v, %d received", h.TTL, h.Addresses, h.Received)
		}
		return
	}
	if h.Received != wantReceived {
		rt.Errorf("hop %d: %d received, want %d", h.TTL, h.Received, wantReceived)
	}
	if h.Hidden != (wantReceived > 0 && len(want) == 0) {
		rt.Errorf("hop %d: hidden %v", h.TTL, h.Hidden)
	}
	if len(h.Addresses) != len(want) {
		rt.Errorf("hop %d: addresses %v, want %v", h.TTL, h.Addresses, want)
	}
	for _, a := range h.Addresses {
		if !want[a] {
			rt.Errorf("hop %d: address %s is not there", h.TTL, a)
		}
	}
	if wantFirst != "" && (h.Address == nil || *h.Address != wantFirst) {
		rt.Errorf("hop %d: address %v, want %s", h.TTL, h.Address, wantFirst)
	}
}
