package probe

import (
	"fmt"
	"testing"
	"time"

	"diagnostics/shared/workerapi"
)

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
					if h.Received != 3 || h.Note != nil {
						t.Errorf("hop %d: %d of %d, %v", h.TTL, h.Received, h.Sent, h.Note)
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

// Both sides of each bound: how long after the last probe an answer is heard, and when the trace ends.
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
