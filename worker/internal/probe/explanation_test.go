package probe

import (
	"strings"
	"testing"
	"time"

	"diagnostics/worker/internal/exchange"
)

// TestExplanation draws both sides of each sentence: the network that calls for it, and one beside it that does not.
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
		{"a jump", far(4, 40*time.Millisecond), "The largest rise in latency, 41.0 ms, is between hop 3 and hop 4", ""},
		{"a small jump", far(4, 8*time.Millisecond), "", "largest step"},
		{"one slow router", func(n *simNet) { n.routers[3].rtt = 50 * time.Millisecond }, "", "largest step"},
		{"a jump behind a silent router", func(n *simNet) { silence(n, 3, 3); far(4, 40*time.Millisecond)(n) }, "between hop 2 and hop 4", ""},
		{"loss to the end", func(n *simNet) { n.routers[4].drops, n.dest.drops = map[int]bool{1: true}, map[int]bool{1: true} },
			"Loss begins at hop 5 and continues to the destination", ""},
		{"loss at the end", func(n *simNet) { n.dest.drops = map[int]bool{1: true} }, "Loss begins at the destination itself: it answered 2 of 3 probes within 1 s", ""},
		{"loss behind silence", func(n *simNet) { silence(n, 4, 5); n.dest.drops = map[int]bool{1: true} },
			"The destination answered 2 of 3 probes within 1 s. Where the others were lost is unknown", "Loss begins"},
		{"loss around silence", func(n *simNet) {
			silence(n, 5, 5)
			n.routers[3].drops, n.dest.drops = map[int]bool{1: true}, map[int]bool{1: true}
		}, "Loss begins at hop 4 and continues to the destination", ""},
		{"silence, and all is answered", func(n *simNet) { silence(n, 4, 5) }, "", "oss"},
		{"silence, and the way back is a hop shorter", func(n *simNet) { silence(n, 4, 5); n.dest.detour = -1 }, "", "oss"},
		{"five pings a second behind silence", func(n *simNet) {
			silence(n, 5, 5)
			n.dest.every = 200 * time.Millisecond
		}, "and one more after a second's pause: it may limit", "Loss begins"},
		{"loss on the way", func(n *simNet) { n.routers[4].drops = map[int]bool{1: true} }, "routers limit ICMP", "Loss begins"},
		{"silence before the destination", func(n *simNet) { silence(n, 4, 5) }, "Right before the destination nothing answered within 1 s (from hop 4 on)", ""},
		{"silence in the middle", func(n *simNet) { silence(n, 3, 3) }, "Hop 3 did not answer within 1 s", "Right before"},
		{"no router answers", func(n *simNet) { silence(n, 1, 5) }, "No router on the way answered within 1 s", ""},
		{"the way back is longer", func(n *simNet) { n.dest.detour = 2 }, "Hop 6 is 6 hops away, but its answers seem to come back over 8", ""},
		{"the way back is a hop longer", func(n *simNet) { n.dest.detour = 1 }, "", "come back over"},
		{"the way back is the same", func(*simNet) {}, "", "come back over"},
		{"a slow destination behind silence", func(n *simNet) { silence(n, 3, 3); n.dest.rtt = 1200 * time.Millisecond },
			"Hop 3 did not answer within 1.8 s", ""},
		{"one ping a second", func(n *simNet) { n.dest.every = time.Hour }, "It is shown at hop 6", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := chain(5)
			tt.change(n)
			r, _ := traceOver(t, n, Options{})
			all := strings.Join(r.Explanation, " ")
			if !strings.Contains(all, tt.says) || tt.absent != "" && strings.Contains(all, tt.absent) {
				t.Errorf("%q\nwants %q, not %q", all, tt.says, tt.absent)
			}
		})
	}
}

func TestNoteOfTooBig(t *testing.T) {
	t.Parallel()
	n := chain(3)
	n.routers[1].kind = exchange.TooBig
	r, _ := traceOver(t, n, Options{})
	if note := r.Hops[1].Note; note == nil || !strings.Contains(*note, "too big") || !r.Reached {
		t.Errorf("note %v, reached %v", note, r.Reached)
	}
}
