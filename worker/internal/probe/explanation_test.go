package probe

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// Both sides of each fact on a whole trace: the network that calls for it, and one beside it that does not.
func TestExplanation(t *testing.T) {
	t.Parallel()
	far := func(from int, by time.Duration) func(*simNet) {
		return func(n *simNet) {
			for i := from - 1; i < len(n.routers); i++ {
				n.routers[i].rtt += by
			}
			n.dest.rtt += by
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*simNet)
		says   string
		absent string
	}{
		{"a jump", far(4, 40*time.Millisecond), "TRACE_LATENCY_RISES farther=4 nearer=3 took=41", ""},
		{"a small jump", far(4, 8*time.Millisecond), "", "TRACE_LATENCY_RISES"},
		{"one slow router", func(n *simNet) { n.routers[3].rtt = 50 * time.Millisecond }, "", "TRACE_LATENCY_RISES"},
		{"a jump behind a silent router", func(n *simNet) { silence(n, 3, 3); far(4, 40*time.Millisecond)(n) }, "farther=4 nearer=2", ""},
		{"loss to the end", func(n *simNet) { n.routers[4].drops, n.dest.drops = map[int]bool{1: true}, map[int]bool{1: true} },
			"TRACE_LOSS_FROM hop=5", ""},
		{"loss at the end", func(n *simNet) { n.dest.drops = map[int]bool{1: true} }, "TRACE_LOSS_AT_END answered=2 sent=3 within=1", ""},
		{"loss behind silence", func(n *simNet) { silence(n, 4, 5); n.dest.drops = map[int]bool{1: true} },
			"TRACE_LOSS_SOMEWHERE answered=2 sent=3 within=1", "TRACE_LOSS_FROM"},
		{"loss around silence", func(n *simNet) {
			silence(n, 5, 5)
			n.routers[3].drops, n.dest.drops = map[int]bool{1: true}, map[int]bool{1: true}
		}, "TRACE_LOSS_FROM hop=4", ""},
		{"silence, and all is answered", func(n *simNet) { silence(n, 4, 5) }, "", "LOSS"},
		{"silence, and the way back is a hop shorter", func(n *simNet) { silence(n, 4, 5); n.dest.detour = -1 }, "", "LOSS"},
		{"five pings a second behind silence", func(n *simNet) {
			silence(n, 5, 5)
			n.dest.every = 200 * time.Millisecond
		}, "TRACE_LOSS_RECHECKED", "TRACE_LOSS_FROM"},
		{"loss on the way", func(n *simNet) { n.routers[4].drops = map[int]bool{1: true} }, "TRACE_LIMITED hops=[5]", "TRACE_LOSS"},
		{"silence before the destination", func(n *simNet) { silence(n, 4, 5) }, "TRACE_SILENT_BEFORE_END hop=4 within=1", ""},
		{"silence in the middle", func(n *simNet) { silence(n, 3, 3) }, "TRACE_SILENT_ROUTERS hops=[3] within=1", "TRACE_SILENT_BEFORE_END"},
		{"no router answers", func(n *simNet) { silence(n, 1, 5) }, "TRACE_NO_ROUTER within=1", ""},
		{"the way back is longer", func(n *simNet) { n.dest.detour = 2 }, "TRACE_RETURNS_OTHERWISE back=8 hop=6", ""},
		{"the way back is a hop longer", func(n *simNet) { n.dest.detour = 1 }, "", "TRACE_RETURNS_OTHERWISE"},
		{"the way back is the same", func(*simNet) {}, "", "TRACE_RETURNS_OTHERWISE"},
		{"a slow destination behind silence", func(n *simNet) { silence(n, 3, 3); n.dest.rtt = 1200 * time.Millisecond },
			"TRACE_SILENT_ROUTERS hops=[3] within=1.8", ""},
		{"a router slow to answer", func(n *simNet) { n.routers[2].rtt = 300 * time.Millisecond }, "TRACE_SLOW_ROUTERS hops=[3]", "TRACE_LATENCY"},
		{"a router a little slower", func(n *simNet) { n.routers[2].rtt = n.dest.rtt + 25*time.Millisecond }, "", "TRACE_SLOW"},
		{"a slow destination", func(n *simNet) { n.dest.rtt = 300 * time.Millisecond }, "", "TRACE_SLOW"},
		{"one ping a second", func(n *simNet) { n.dest.every = time.Hour }, "TRACE_RATIONED hop=6", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := chain(5)
			tt.change(n)
			r, _ := traceOver(t, n, Options{})
			all := said(r, workerapi.AboutTrace, 0)
			if !strings.Contains(all, tt.says) || tt.absent != "" && strings.Contains(all, tt.absent) {
				t.Errorf("%q\nwants %q, not %q", all, tt.says, tt.absent)
			}
		})
	}
}

// said writes facts: "HOP_SILENT within=1; …".
func said(r workerapi.Traced, about string, ttl int) string {
	var all []string
	for _, f := range r.Facts {
		if f.About != about || f.TTL != ttl {
			continue
		}
		text := f.Code
		for _, name := range slices.Sorted(maps.Keys(f.Args)) {
			text += fmt.Sprintf(" %s=%v", name, f.Args[name])
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func TestNoteOfTooBig(t *testing.T) {
	t.Parallel()
	n := chain(3)
	n.routers[1].kind = exchange.TooBig
	r, _ := traceOver(t, n, Options{})
	if got := said(r, workerapi.AboutHop, 2); !strings.HasPrefix(got, "HOP_TOO_BIG") || !r.Reached {
		t.Errorf("%s, reached %v", got, r.Reached)
	}
}
