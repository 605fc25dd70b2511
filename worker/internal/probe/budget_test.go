package probe

import (
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
