package probe

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/worker/internal/exchange"
)

// measurements are the three jobs by name.
func measurements(p *Prober) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"traceroute":  func(ctx context.Context) error { _, err := p.Traceroute(ctx, simTarget, exchange.Probe{}); return err },
		"ping":        func(ctx context.Context) error { _, err := p.Ping(ctx, simTarget); return err },
		"packet-loss": func(ctx context.Context) error { _, err := p.PacketLoss(ctx, simTarget); return err },
	}
}

// What this host cannot send, at the start or later, is never told as silence or loss of the target.
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
						t.Errorf("%v is told as a shortage", err)
					}
				})
			})
		}
	}
}

// Where the way is lost after the last probe, no further one would tell: the silence that ends the job is asked about.
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

// The other side: who has heard all answers needs no way any more, and a target that is silent stays silent.
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
