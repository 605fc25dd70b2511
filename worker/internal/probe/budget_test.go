package probe

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// grantOf gives the moment at which a packet may leave, whenever that is.
func grantOf(b *Budget, now time.Time, dst netip.Addr) time.Time {
	at, _ := b.grant(now, now.Add(24*time.Hour), dst)
	return at
}

// waits is wait without a last moment.
func (r *reservation) waits(now time.Time) time.Duration {
	wait, _ := r.wait(now, now.Add(24*time.Hour))
	return wait
}

// In all a tenth of a second's worth may go at once, to one address a whole second's.
func TestBudgetLetsABurstGoAndThenPaces(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	for _, tt := range []struct {
		name           string
		all, perTarget int
		apart          time.Duration
	}{{"in all", 100, 0, 10 * time.Millisecond}, {"per address", 0, 10, 100 * time.Millisecond}} {
		b := NewBudget(tt.all, tt.perTarget)
		for i := range 10 {
			if at := grantOf(b, start, simTarget); !at.Equal(start) {
				t.Errorf("%s: packet %d waits %v", tt.name, i+1, at.Sub(start))
			}
		}
		for i := 1; i <= 3; i++ {
			if at := grantOf(b, start, simTarget); at.Sub(start) != time.Duration(i)*tt.apart {
				t.Errorf("%s: packet %d waits %v", tt.name, 10+i, at.Sub(start))
			}
		}
		later := start.Add(time.Hour)
		if at := grantOf(b, later, simTarget); !at.Equal(later) {
			t.Errorf("%s: a packet after an hour waits %v", tt.name, at.Sub(later))
		}
	}
}

func TestBudgetKeepsAddressesApart(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	b := NewBudget(0, 1)
	grantOf(b, now, public11(1))
	if at := grantOf(b, now, public11(2)); !at.Equal(now) {
		t.Errorf("another address waits %v", at.Sub(now))
	}
	if at := grantOf(b, now, public11(1)); at.Sub(now) != time.Second {
		t.Errorf("the same address waits %v", at.Sub(now))
	}
}

func TestBudgetOffIsNone(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	b := NewBudget(0, 0)
	for range 10000 {
		if at := grantOf(b, now, simTarget); !at.Equal(now) {
			t.Fatalf("a packet waits %v", at.Sub(now))
		}
	}
	var none *Budget
	r := none.reservation(simTarget)
	if wait := r.waits(now); wait != 0 {
		t.Errorf("without a budget a packet waits %v", wait)
	}
	r.release(now)
}

func TestBudgetGivesBackWhatAJobDoesNotSpend(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	b := NewBudget(1, 1)
	r := b.reservation(simTarget)
	if wait := r.waits(now); wait > 0 {
		t.Fatalf("the first packet waits %v", wait)
	}
	r.use()
	if wait := r.waits(now); wait != time.Second {
		t.Errorf("the second packet waits %v", wait)
	}
	if wait := r.waits(now.Add(300 * time.Millisecond)); wait != 700*time.Millisecond {
		t.Errorf("asked again, the second packet waits %v", wait)
	}
	r.release(now)
	r.release(now)
	if at := grantOf(b, now, simTarget); at.Sub(now) != time.Second {
		t.Errorf("after it was given back, it takes %v", at.Sub(now))
	}
}

func TestBudgetForgets(t *testing.T) {
	t.Parallel()
	b := NewBudget(0, 10)
	now := time.Unix(1000, 0)
	for i := range 200_000 {
		grantOf(b, now.Add(time.Duration(i)*time.Millisecond),
			netip.AddrFrom4([4]byte{11, byte(i >> 16), byte(i >> 8), byte(i)}))
	}
	if len(b.targets) > 2*sweepAt {
		t.Errorf("%d addresses are remembered", len(b.targets))
	}
}

// Fifty traces at once under a small budget: all are right, none is starved, and the budget holds.
func TestBudgetIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const perSecond = 500
		budget := NewBudget(perSecond, 0)
		nets := make([]*simNet, 50)
		var all sync.WaitGroup
		for i := range nets {
			nets[i] = chain(8)
			all.Go(func() {
				r, err := New(nets[i], Options{Budget: budget}).Traceroute(t.Context(), simTarget, exchange.Probe{})
				if err != nil || shown(r) != "1 2 3 4 5 6 7 8 11.9.9.9" {
					t.Errorf("trace %d: %v %s", i, err, shown(r))
				}
			})
		}
		all.Wait()
		seconds := map[int64]int{}
		for _, n := range nets {
			for _, p := range n.log {
				seconds[p.at.Unix()]++
			}
		}
		for second, sent := range seconds {
			if sent > 2*perSecond {
				t.Errorf("%d packets within second %d", sent, second)
			}
		}
		time.Sleep(10 * time.Second)
	})
}

// outcome is how a job of some kind ended.
type outcome struct {
	took           time.Duration
	err            error
	stop           string
	sent, received int
	loss           float64
}

// kinds run a job of each kind.
var kinds = map[string]struct {
	limit  time.Duration
	probes int // of a series
	run    func(context.Context, *Prober, netip.Addr) outcome
}{
	"ping": {workerapi.PingLimit, workerapi.PingProbes, func(ctx context.Context, p *Prober, dst netip.Addr) outcome {
		r, err := p.Ping(ctx, dst)
		return outcome{err: err, stop: r.StopReason, sent: r.Sent, received: r.Received, loss: r.LossPercent}
	}},
	"packet-loss": {workerapi.PacketLossLimit, workerapi.LossProbes, func(ctx context.Context, p *Prober, dst netip.Addr) outcome {
		r, err := p.PacketLoss(ctx, dst)
		return outcome{err: err, stop: r.StopReason, sent: r.Sent, received: r.Received, loss: r.LossPercent}
	}},
	"traceroute": {workerapi.TracerouteLimit, 0, func(ctx context.Context, p *Prober, dst netip.Addr) outcome {
		r, err := p.Traceroute(ctx, dst, exchange.Probe{})
		o := outcome{err: err, stop: r.StopReason}
		for _, h := range r.Hops {
			o.sent += h.Sent
			o.received += h.Received
			o.loss = max(o.loss, h.LossPercent)
		}
		return o
	}},
}

// together runs so many jobs at once over networks of their own, in a bubble.
func together(t *testing.T, jobs int, budget *Budget, kind string, rtt time.Duration) (all []outcome, sent int) {
	t.Helper()
	all = make([]outcome, jobs)
	nets := make([]*simNet, jobs)
	var running sync.WaitGroup
	for i := range all {
		nets[i] = chain(8)
		nets[i].dest.rtt = rtt
		running.Go(func() {
			start := time.Now()
			all[i] = kinds[kind].run(t.Context(), New(nets[i], Options{Budget: budget}), public11(i))
			all[i].took = time.Since(start)
		})
	}
	running.Wait()
	for _, n := range nets {
		sent += len(n.log)
	}
	return all, sent
}

// 64 pings under a budget of ten packets a second once took 11.2 s, where 5 s is the limit. A series that cannot send
// all of its probes in its time beside the others is rejected at once, and one that is admitted is complete, unless the
// budget is too small even for one. A trace ends at its limit with what it has; one that could send nothing is
// rejected.
func TestNoJobWaitsBeyondItsLimit(t *testing.T) {
	t.Parallel()
	for kind, k := range kinds {
		for _, perSecond := range []int{1, 10, 100} {
			synctest.Test(t, func(t *testing.T) {
				budget := NewBudget(perSecond, 0)
				all, sent := together(t, 64, budget, kind, 20*time.Millisecond)
				refused := 0
				for _, o := range all {
					var busy *BusyError
					switch {
					case errors.As(o.err, &busy):
						refused++
						if o.took != 0 || busy.Free <= 0 || busy.Free > 64*time.Second {
							t.Errorf("%s at %d a second: refused after %v for %v", kind, perSecond, o.took, busy.Free)
						}
					case o.err != nil:
						t.Errorf("%s at %d a second: %v", kind, perSecond, o.err)
					case o.took > k.limit:
						t.Errorf("%s at %d a second: took %v", kind, perSecond, o.took)
					case o.received != o.sent || o.loss != 0:
						t.Errorf("%s at %d a second: %d of %d, %v %%", kind, perSecond, o.received, o.sent, o.loss)
					case kind != "traceroute" && o.sent == 0:
						t.Errorf("%s at %d a second: nothing was sent, and it is reported as %s", kind, perSecond, o.stop)
					case k.probes > 0 && k.probes <= 10*perSecond &&
						(o.sent != k.probes || o.stop != workerapi.StopCompleted):
						t.Errorf("%s at %d a second: %s after %d probes", kind, perSecond, o.stop, o.sent)
					case (k.probes == 0 && perSecond < 100 || k.probes > 10*perSecond) && o.stop != workerapi.StopDeadline:
						t.Errorf("%s at %d a second: %s after %d probes", kind, perSecond, o.stop, o.sent)
					}
				}
				most := int(math.Ceil(k.limit.Seconds()*float64(perSecond)*1.1)) + 1
				within := (k.limit - workerapi.LateAfter).Seconds() * float64(perSecond)
				least := int(min(within-float64(k.probes)-2, 640))
				if sent > most || sent < least {
					t.Errorf("%s at %d a second: %d packets within %v, want %d to %d", kind, perSecond, sent, k.limit, least, most)
				}
				fits := int(within) >= len(all)*max(1, k.probes)
				if (refused == 0) != fits {
					t.Errorf("%s at %d a second: %d refused", kind, perSecond, refused)
				}
				// Nothing is left reserved.
				time.Sleep(time.Second)
				if at, ok := budget.grant(time.Now(), time.Now(), simTarget); !ok {
					t.Errorf("%s at %d a second: a second later a packet has to wait %v", kind, perSecond, time.Until(at))
				}
				time.Sleep(10 * time.Second)
			})
		}
	}
}

// A probe that would leave too late for its answer to be received is not sent: it would count as lost.
func TestASeriesSendsNothingThatItCannotListenTo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name           string
		rtt            time.Duration
		sent, received int
		loss           float64
	}{
		{"near", 20 * time.Millisecond, 15, 15, 0},
		// Twice as long as the answers take: the probe of the fourteenth second would be cut.
		{"far", 700 * time.Millisecond, 14, 14, 0},
		// The answer to the probe of the twelfth second would come after the end: whether it came is not known.
		{"late", 3 * time.Second, 13, 12, 0},
		// No answer has come that would show how long to wait.
		{"beyond all patience", 20 * time.Second, 13, 0, 100},
	} {
		synctest.Test(t, func(t *testing.T) {
			all, _ := together(t, 1, NewBudget(0, 1), "packet-loss", tt.rtt)
			o := all[0]
			if o.err != nil || o.sent != tt.sent || o.received != tt.received || o.loss != tt.loss ||
				o.stop != workerapi.StopDeadline || o.took != workerapi.PacketLossLimit {
				t.Errorf("%s: %+v", tt.name, o)
			}
			time.Sleep(30 * time.Second)
		})
	}
}

// A budget reserves nothing for a moment that comes too late, on both sides of it.
func TestBudgetGrantsNothingThatComesTooLate(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	for name, b := range map[string]*Budget{
		"in all": NewBudget(1, 0), "per address": NewBudget(0, 1), "both": NewBudget(1, 1),
	} {
		grantOf(b, now, simTarget)
		if at, ok := b.grant(now, now.Add(time.Second-1), simTarget); ok || at.Sub(now) != time.Second {
			t.Errorf("%s: granted for %v", name, at.Sub(now))
		}
		// It was not, and so the next has not to wait for it.
		if at, ok := b.grant(now, now.Add(time.Second), simTarget); !ok || at.Sub(now) != time.Second {
			t.Errorf("%s: %t, %v", name, ok, at.Sub(now))
		}
	}
	// What one limit refuses does not charge the other.
	b := NewBudget(10, 1)
	grantOf(b, now, public11(1))
	for range 5 {
		b.grant(now, now, public11(1))
	}
	if at := grantOf(b, now, public11(2)); at.Sub(now) != 100*time.Millisecond {
		t.Errorf("another address waits %v", at.Sub(now))
	}
}

// Both sides of what fits: beside so many pings one more is admitted, and beside one more it is not, until they end.
func TestAdmission(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	ping := func() demand { return newSeries(now, pingShape).demand() }
	for _, tt := range []struct {
		name           string
		all, perTarget int
		same           bool // all to one address
		fits           int
	}{
		{"in all", 10, 0, false, 9},
		{"in all, to one address", 10, 0, true, 9},
		{"to one address", 0, 10, true, 10}, // a second's worth may go at once
		{"to many addresses", 0, 10, false, 100},
		{"no limit", 0, 0, true, 100},
		{"too few for one", 1, 0, false, 1},
	} {
		b := NewBudget(tt.all, tt.perTarget)
		var admitted []*reservation
		for i := range 100 {
			r := b.reservation(public11(i))
			if tt.same {
				r = b.reservation(simTarget)
			}
			free, ok := r.admit(now, ping())
			if ok {
				admitted = append(admitted, &r)
			} else if free <= 0 || free > workerapi.PingLimit {
				t.Fatalf("%s: rejected for %v", tt.name, free)
			}
		}
		if len(admitted) != tt.fits {
			t.Errorf("%s: %d are admitted, want %d", tt.name, len(admitted), tt.fits)
		}
		for _, r := range admitted {
			r.release(now)
		}
		if r := b.reservation(simTarget); len(b.jobs) != 0 {
			t.Errorf("%s: %d jobs are left", tt.name, len(b.jobs))
		} else if _, ok := r.admit(now, ping()); !ok {
			t.Errorf("%s: none is admitted after the others", tt.name)
		}
	}
}

// A trace that would cost an admitted series a probe is rejected; without series none is.
func TestAdmissionOfTraces(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	b := NewBudget(10, 0)
	trace := func() bool {
		r := b.reservation(simTarget)
		_, ok := r.admit(now, newTrace(now).demand())
		return ok
	}
	for range 3 {
		if !trace() {
			t.Fatal("a trace is rejected without a series")
		}
	}
	admitted := 0
	for i := range 20 {
		r := b.reservation(public11(i))
		if _, ok := r.admit(now, newSeries(now, pingShape).demand()); ok {
			admitted++
		}
	}
	if admitted == 0 || admitted > 6 {
		t.Errorf("%d pings are admitted beside three traces", admitted)
	}
	if trace() {
		t.Error("a trace is admitted beside a full budget")
	}
}

// Jobs of all kinds that come one after the other: every admitted series is complete, and ends in its time.
func TestAdmittedSeriesAreComplete(t *testing.T) {
	t.Parallel()
	for _, perSecond := range []int{10, 30, 100} {
		synctest.Test(t, func(t *testing.T) {
			budget := NewBudget(perSecond, 0)
			var running sync.WaitGroup
			complete := 0
			var mu sync.Mutex
			names := []string{"ping", "ping", "packet-loss", "ping"}
			for i := range 120 {
				kind := names[i%len(names)]
				if kind == "packet-loss" && perSecond < 30 {
					kind = "ping"
				}
				running.Go(func() {
					start := time.Now()
					o := kinds[kind].run(t.Context(), New(chain(2), Options{Budget: budget}), public11(i))
					if _, busy := errors.AsType[*BusyError](o.err); busy {
						return
					}
					if o.err != nil || o.sent != kinds[kind].probes || o.received != o.sent || o.stop != workerapi.StopCompleted {
						t.Errorf("%d a second: %s %d: %+v after %v", perSecond, kind, i, o, time.Since(start))
					}
					mu.Lock()
					complete++
					mu.Unlock()
				})
				time.Sleep(170 * time.Millisecond) // of the bubble's clock
			}
			running.Wait()
			if complete < 10 {
				t.Errorf("%d a second: %d jobs were admitted", perSecond, complete)
			}
			time.Sleep(10 * time.Second)
		})
	}
}

// Jobs whose clients leave return what they reserved, to those that wait.
func TestCancelledJobsGiveBackTheirPackets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := NewBudget(10, 0)
		ctx, cancel := context.WithCancel(t.Context())
		var leaving sync.WaitGroup
		for i := range 8 {
			n := chain(1)
			leaving.Go(func() {
				if _, err := New(n, Options{Budget: budget}).Ping(ctx, public11(i)); !errors.Is(err, context.Canceled) {
					t.Errorf("job %d: %v", i, err)
				}
			})
		}
		synctest.Wait()
		if at, _ := budget.grant(time.Now(), time.Now(), simTarget); time.Until(at) < 500*time.Millisecond {
			t.Fatalf("a packet waits %v: the jobs reserved none", time.Until(at))
		}
		cancel()
		leaving.Wait()
		start := time.Now()
		r, err := New(chain(1), Options{Budget: budget}).Ping(t.Context(), simTarget)
		if err != nil || r.Sent != 10 || r.Received != 10 || time.Since(start) > 2500*time.Millisecond {
			t.Errorf("%v: %d of %d after %v", err, r.Received, r.Sent, time.Since(start))
		}
		time.Sleep(10 * time.Second)
	})
}
