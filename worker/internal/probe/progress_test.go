package probe

import (
	"context"
	"net/netip"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"

	"github.com/google/go-cmp/cmp"
)

// followed is the context of a run with a subscriber from a moment on.
func followed(t *testing.T, after time.Duration) (context.Context, *progress.Feed) {
	t.Helper()
	run, reader := new(progress.Feed), new(progress.Feed)
	if after == 0 {
		progress.Follow(progress.With(t.Context(), reader), run)
	} else {
		time.AfterFunc(after, func() { progress.Follow(progress.With(t.Context(), reader), run) })
	}
	return progress.With(t.Context(), run), reader
}

// stepsOf gives the newest state of each thing of a kind, by key.
func stepsOf[T any](f *progress.Feed, kind string) map[string]T {
	all, position := map[string]T{}, uint64(0)
	for {
		s, next, ok, _ := f.Next(position)
		if position = next; !ok {
			return all
		}
		if s.Kind == kind {
			all[s.Key] = s.Value.(T)
		}
	}
}

// A subscriber of a trace, from the start or later, has its hops in the end as the result has them, but for what only
// the end can decide.
func TestHopsAsTheyAreHeard(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{"from the start": 0, "later": 30 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := chain(6)
			n.routers[2] = silentRouter()
			n.routers[3].addresses[0] = netip.MustParseAddr("10.1.2.3")
			n.routers[4].rtt = 500 * time.Millisecond
			synctest.Test(t, func(t *testing.T) {
				ctx, reader := followed(t, after)
				r, err := New(n, Options{}).Traceroute(ctx, simTarget, exchange.Probe{})
				if err != nil {
					t.Fatal(err)
				}
				steps := stepsOf[workerapi.Hop](reader, kindHop)
				for _, h := range r.Hops {
					s, known := steps[strconv.Itoa(h.TTL)]
					if h.Received == 0 {
						if known {
							t.Errorf("a silent hop is reported: %+v", s)
						}
						continue
					}
					h.Note = nil
					if h.Address != nil && *h.Address == simTarget.String() {
						// The destination's row also counts the probes beyond it, which only the end can decide.
						s.Sent, s.Received, s.RTTsMs, s.LossPercent = h.Sent, h.Received, h.RTTsMs, h.LossPercent
						s.BestMs, s.AverageMs, s.WorstMs = h.BestMs, h.AverageMs, h.WorstMs
					}
					if diff := cmp.Diff(h, s); diff != "" {
						t.Errorf("hop %d (- result, + step): %s", h.TTL, diff)
					}
				}
				time.Sleep(10 * time.Second)
			})
		})
	}
}

func TestRepliesAsTheyAreHeard(t *testing.T) {
	t.Parallel()
	n := chain(2)
	n.dest.drops = map[int]bool{3: true}
	synctest.Test(t, func(t *testing.T) {
		ctx, reader := followed(t, 500*time.Millisecond)
		r, err := New(n, Options{}).Ping(ctx, simTarget)
		if err != nil {
			t.Fatal(err)
		}
		steps := stepsOf[workerapi.Reply](reader, kindReply)
		if len(steps) != r.Received {
			t.Errorf("%d steps, %d replies", len(steps), r.Received)
		}
		for _, reply := range r.Replies {
			if s, known := steps[strconv.Itoa(reply.Seq)]; known != (reply.RTTMs != nil) || known && cmp.Diff(reply, s) != "" {
				t.Errorf("reply %+v, step %+v", reply, s)
			}
		}
		time.Sleep(10 * time.Second)
	})
}

// The work has begun with the first probe that leaves: a job that sends none was not taken.
func TestAJobBeginsWithItsFirstProbe(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			n := chain(1)
			if fails {
				n.sendErr = exchange.ErrShortage
			}
			ctx, reader := followed(t, 0)
			_, err := New(n, Options{}).Ping(ctx, simTarget)
			ended := make(chan struct{})
			close(ended)
			if begun := reader.AwaitBegin(ended); begun == fails || (err != nil) != fails {
				t.Errorf("fails %t: begun %t, %v", fails, begun, err)
			}
			time.Sleep(10 * time.Second)
		})
	}
}
