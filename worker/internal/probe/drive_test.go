package probe

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// floodPlan is answered once more for each answer that it takes, and ends at its limit.
type floodPlan struct {
	plan
	end     time.Time
	flood   func()
	asked   int
	answers int
}

func (p *floodPlan) next(now time.Time) step {
	p.asked++
	return step{done: p.asked > 3, again: now.Add(time.Second)}
}

func (p *floodPlan) limit() time.Time { return p.end }

func (p *floodPlan) answered(exchange.Answer) {
	p.answers++
	p.flood()
}

// Answers that come as fast as they are taken do not keep a job from its end.
func TestAFloodOfAnswersEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &floodPlan{end: time.Now().Add(workerapi.PingLimit)}
		d := &driver{prober: New(nil, Options{}), plan: p, answers: make(chan exchange.Answer, answersHeld)}
		p.flood = func() { d.take(exchange.Answer{}) }
		p.flood()
		if err := d.run(t.Context()); err != nil || p.answers == 0 || p.answers > 5*answersHeld {
			t.Errorf("%v after %d answers", err, p.answers)
		}
	})
}

// waits records the observed waits for the budget.
type waits struct {
	mu  sync.Mutex
	all []time.Duration
}

func (w *waits) add(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, d)
}

// Four pings at once under a budget of ten probes a second take turns: each has a probe every 400 ms, and wants the
// next one half a gap (100 ms) after the last. A ping by itself waits for nothing, however long it pauses between its
// probes.
func TestWaitsAreTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		jobs          int
		longest       time.Duration
		count, atOnce int
	}{
		"one":  {1, 0, 10, 10},
		"four": {4, 300 * time.Millisecond, 40, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &waits{}
				p := New(nil, Options{Budget: NewBudget(10, 0), Waited: w.add})
				var all sync.WaitGroup
				for range tt.jobs {
					job := *p
					job.network = chain(1)
					all.Go(func() {
						if _, err := job.Ping(t.Context(), simTarget); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				atOnce := 0
				for _, d := range w.all {
					if d < 0 {
						t.Errorf("a wait of %v", d)
					}
					if d == 0 {
						atOnce++
					}
				}
				if len(w.all) != tt.count || atOnce != tt.atOnce || slices.Max(w.all) != tt.longest {
					t.Errorf("%d were observed, %d of them zero, the longest %v", len(w.all), atOnce, slices.Max(w.all))
				}
			})
		})
	}
}

// measurements are the three jobs by name.
func measurements(p *Prober) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"traceroute":  func(ctx context.Context) error { _, err := p.Traceroute(ctx, simTarget, exchange.Probe{}); return err },
		"ping":        func(ctx context.Context) error { _, err := p.Ping(ctx, simTarget); return err },
		"packet-loss": func(ctx context.Context) error { _, err := p.PacketLoss(ctx, simTarget); return err },
	}
}

// A failure to send, at the start or later, is never reported as silence or loss of the target.
func TestOwnFaultsAreNoLoss(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		make func() *simNet
		want error
	}{
		"the system has no room, at once": {func() *simNet { return failing(exchange.ErrShortage, 0) }, exchange.ErrShortage},
		"the system has no room, later":   {func() *simNet { return failing(exchange.ErrShortage, 3) }, exchange.ErrShortage},
		"a rule forbids it":               {func() *simNet { return failing(exchange.ErrForbidden, 0) }, exchange.ErrForbidden},
		// No rule has let the first pass and not the second: a table is full.
		"it is forbidden, later": {func() *simNet { return failing(exchange.ErrForbidden, 1) }, exchange.ErrShortage},
		"no route, later":        {func() *simNet { return failing(exchange.ErrNoRoute, 2) }, exchange.ErrNoRoute},
		"cut off from the start": {func() *simNet { return cut(1, 0) }, exchange.ErrCutOff},
		"cut off in the middle":  {func() *simNet { return cut(30*time.Millisecond, 0) }, exchange.ErrCutOff},
	} {
		for job := range measurements(nil) {
			t.Run(name+"/"+job, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					n := tt.make()
					err := measurements(New(n, Options{}))[job](t.Context())
					if !errors.Is(err, tt.want) {
						t.Errorf("got %v, want %v", err, tt.want)
					}
					if n.opened != n.closed {
						t.Errorf("%d flows opened, %d closed", n.opened, n.closed)
					}
					if n.followed != 0 {
						t.Errorf("%d ways are followed still", n.followed)
					}
					if errors.Is(tt.want, exchange.ErrForbidden) && errors.Is(err, exchange.ErrShortage) {
						t.Errorf("%v is reported as a shortage", err)
					}
				})
			})
		}
	}
}

// Where the route is lost after the last probe, no further probe would show it: the route is checked at the end of the
// job's silence.
func TestCutOffAfterTheLastProbe(t *testing.T) {
	t.Parallel()
	for job := range measurements(nil) {
		t.Run(job, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				whole := cut(0, 0)
				began := time.Now()
				if err := measurements(New(whole, Options{}))[job](t.Context()); err != nil {
					t.Fatal(err)
				}
				n := cut(whole.log[len(whole.log)-1].at.Sub(began)+time.Millisecond, 0)
				if err := measurements(New(n, Options{}))[job](t.Context()); !errors.Is(err, exchange.ErrCutOff) {
					t.Errorf("got %v", err)
				}
				if len(n.log) != len(whole.log) {
					t.Errorf("%d probes of %d had left", len(n.log), len(whole.log))
				}
			})
		})
	}
}

// A link that was gone for a moment between two probes of a series is seen as well.
func TestALinkThatComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := chain(3)
		n.cutAfter, n.backAfter = 950*time.Millisecond, 1250*time.Millisecond
		if _, err := New(n, Options{}).PacketLoss(t.Context(), simTarget); !errors.Is(err, exchange.ErrCutOff) {
			t.Errorf("got %v", err)
		}
	})
}

// A link that comes back before the next probe, or after the last one, may have lost what was under way: answers on
// their way back. Where nothing was, nothing is lost.
func TestALinkThatFlapsBetweenTwoProbes(t *testing.T) {
	t.Parallel()
	const short, long = 4 * time.Millisecond, 60 * time.Millisecond
	for name, tt := range map[string]struct {
		down, up time.Duration
		rtt      time.Duration
		want     error
	}{
		"between two probes":               {610 * time.Millisecond, 790 * time.Millisecond, long, exchange.ErrCutOff},
		"for less":                         {1250 * time.Millisecond, 1390 * time.Millisecond, long, exchange.ErrCutOff},
		"for a moment":                     {1259 * time.Millisecond, 1261 * time.Millisecond, long, exchange.ErrCutOff},
		"behind the last":                  {1850 * time.Millisecond, 3500 * time.Millisecond, long, exchange.ErrCutOff},
		"to the end":                       {1850 * time.Millisecond, 0, long, exchange.ErrCutOff},
		"when all is answered":             {610 * time.Millisecond, 790 * time.Millisecond, short, nil},
		"when the last of all is answered": {1810 * time.Millisecond, 3500 * time.Millisecond, short, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := chain(3)
				n.dest.rtt, n.cutAfter, n.backAfter = tt.rtt, tt.down, tt.up
				r, err := New(n, Options{}).Ping(t.Context(), simTarget)
				if !errors.Is(err, tt.want) || err == nil && r.LossPercent != 0 {
					t.Errorf("%d of %d, %s, %v, want %v", r.Received, r.Sent, r.StopReason, err, tt.want)
				}
			})
		})
	}
}

// The other side: a job with all its answers needs no route any more, and a silent target stays silent.
func TestWhatIsNoOwnFault(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]func() *simNet{
		"cut off when all is heard": func() *simNet { n := chain(3); n.cutAfter = 20 * time.Second; return n },
		"a silent target":           func() *simNet { n := chain(3); n.dest.kind = 0; return n },
	} {
		for job := range measurements(nil) {
			t.Run(name+"/"+job, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					if err := measurements(New(n(), Options{}))[job](t.Context()); err != nil {
						t.Errorf("got %v", err)
					}
				})
			})
		}
	}
}

// failing is a network on which packets but the first few fail.
func failing(err error, after int) *simNet {
	n := chain(3)
	n.dest.kind = 0 // so that even a short trace has more to send
	n.sendErr, n.sendErrAfter = err, after
	return n
}

func cut(after, back time.Duration) *simNet {
	n := chain(3)
	n.dest.kind = 0
	n.cutAfter, n.backAfter = after, back
	return n
}

// A result has the time at which its first probe left, also of one that the budget delayed.
func TestMeasuredAt(t *testing.T) {
	t.Parallel()
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of a bubble's clock
	for name, wait := range map[string]time.Duration{"at once": 0, "held back": time.Second} {
		n := chain(2)
		budget := NewBudget(0, 2)
		for range 3 * int(wait/time.Second) {
			grantOf(budget, start, simTarget)
		}
		r, _ := pingOver(t, n, Options{Budget: budget})
		if want := start.Add(wait); !r.MeasuredAt.Equal(want) || r.MeasuredAt.Location() != time.UTC {
			t.Errorf("%s: %v, want %v", name, r.MeasuredAt, want)
		}
	}
	n := chain(3)
	r, _ := traceOver(t, n, Options{})
	if want := n.log[0].at.UTC().Truncate(time.Millisecond); !r.MeasuredAt.Equal(want) || r.Shared {
		t.Errorf("a trace: %v, want %v", r.MeasuredAt, want)
	}
}
