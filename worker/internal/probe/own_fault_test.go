package probe

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/worker/internal/echo"
)

// measurements are the three jobs by name.
func measurements(p *Prober) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"traceroute":  func(ctx context.Context) error { _, err := p.Traceroute(ctx, simTarget); return err },
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
		"the system has no room, at once": {func() *simNet { return failing(echo.ErrShortage, 0) }, echo.ErrShortage},
		"the system has no room, later":   {func() *simNet { return failing(echo.ErrShortage, 3) }, echo.ErrShortage},
		"a rule forbids it, later":        {func() *simNet { return failing(echo.ErrForbidden, 1) }, echo.ErrForbidden},
		"no route, later":                 {func() *simNet { return failing(echo.ErrNoRoute, 2) }, echo.ErrNoRoute},
		"cut off from the start":          {func() *simNet { return cut(1, 0) }, echo.ErrCutOff},
		"cut off in the middle":           {func() *simNet { return cut(30*time.Millisecond, 0) }, echo.ErrCutOff},
	} {
		for job := range measurements(nil) {
			t.Run(name+"/"+job, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					n := tt.make()
					if err := measurements(New(n, Options{}))[job](t.Context()); !errors.Is(err, tt.want) {
						t.Errorf("got %v, want %v", err, tt.want)
					}
					if n.opened != n.closed {
						t.Errorf("%d flows opened, %d closed", n.opened, n.closed)
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
				if err := measurements(New(n, Options{}))[job](t.Context()); !errors.Is(err, echo.ErrCutOff) {
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
		if _, err := New(n, Options{}).PacketLoss(t.Context(), simTarget); !errors.Is(err, echo.ErrCutOff) {
			t.Errorf("got %v", err)
		}
	})
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
