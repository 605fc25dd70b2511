package addresslimit

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/tool"

	"pgregory.net/rapid"
)

const window = time.Minute

// world is a Limiter whose time stands still until it is advanced.
type world struct {
	*Limiter
	now time.Time
}

func newWorld(requests int) *world {
	w := &world{now: time.Unix(1_700_000_000, 0)}
	w.Limiter = New(ratelimit.NewMemory(ratelimit.WithClock(func() time.Time { return w.now })), requests, window)
	return w
}

func begin(client string) context.Context {
	ctx, _ := Begin(tool.WithCaller(context.Background(), tool.Caller{Client: client}))
	return ctx
}

// run dials the ports of an address in one run and gives the error of the first that is refused.
func (w *world) run(client, address string, ports ...uint16) error {
	ctx := begin(client)
	for _, port := range ports {
		if err := w.Allow(ctx, netip.AddrPortFrom(netip.MustParseAddr(address), port)); err != nil {
			return err
		}
	}
	return nil
}

// passed counts the runs of n that pass.
func (w *world) passed(n int, client, address string, ports ...uint16) int {
	passed := 0
	for range n {
		if w.run(client, address, ports...) == nil {
			passed++
		}
	}
	return passed
}

func wantLimited(t *testing.T, err error, code string, wait time.Duration) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Limited || f.RetryAfter != wait ||
		f.Code != code || f.Args["wait"] == nil {
		t.Errorf("got %+v, want %s and %s", err, code, wait)
	}
}

const one, other = "93.184.216.34", "2606:2800:220:1::34"

func TestAClientHasATenth(t *testing.T) {
	t.Parallel()
	w := newWorld(1200)
	if n := w.passed(700, "a", one, 443); n != 120 {
		t.Errorf("%d of a client's runs passed, want 120", n)
	}
	wantLimited(t, w.run("a", one, 443), codeOwn, time.Second)
	if err := w.run("a", other, 443); err != nil {
		t.Errorf("another address: %v", err)
	}
	// Nine others have a tenth each, whatever the first was refused.
	for i := range 9 {
		if n := w.passed(121, fmt.Sprint("client ", i), one, 443); n != 120 {
			t.Errorf("%d runs of client %d passed, want 120", n, i)
		}
	}
	wantLimited(t, w.run("late", one, 443), codeAll, time.Second)
	if err := w.run("late", other, 443); err != nil {
		t.Errorf("another address: %v", err)
	}
	w.now = w.now.Add(window / 1200)
	if err := w.run("late", one, 443); err != nil {
		t.Errorf("once one has leaked away: %v", err)
	}
}

func TestARunPaysForAnAddressOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(10) // a client has one
	if err := w.run("a", one, 443, 443, 80, 443, 0); err != nil {
		t.Errorf("one run: %v", err)
	}
	wantLimited(t, w.run("a", one, 443), codeOwn, window)
	// Two addresses of one run are two.
	ctx := begin("b")
	for _, address := range []string{one, other} {
		if err := w.Allow(ctx, netip.AddrPortFrom(netip.MustParseAddr(address), 80)); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	wantLimited(t, w.run("b", other, 80), codeOwn, window)
}

func TestTwentyPorts(t *testing.T) {
	t.Parallel()
	w := newWorld(0)
	for port := range uint16(Ports) {
		if err := w.run("a", one, port+1); err != nil {
			t.Errorf("port %d: %v", port+1, err)
		}
		w.now = w.now.Add(time.Second)
	}
	// Twenty seconds on, the first is forgotten in forty.
	wantLimited(t, w.run("a", one, 21), codePorts, 40*time.Second)
	if err := w.run("a", one, 20); err != nil {
		t.Errorf("a port again: %v", err)
	}
	for name, err := range map[string]error{
		"another client": w.run("b", one, 21), "another address": w.run("a", other, 21), "no port": w.run("a", one, 0),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Within one run each port counts for itself.
	wantLimited(t, w.run("a", one, 1, 21, 2), codePorts, 41*time.Second) // port 2 is now the oldest
	w.now = w.now.Add(41*time.Second - time.Microsecond)
	wantLimited(t, w.run("a", one, 21), codePorts, time.Second)
	w.now = w.now.Add(time.Microsecond)
	if err := w.run("a", one, 21); err != nil {
		t.Errorf("when the oldest is forgotten: %v", err)
	}
}

// What the rule on ports refuses charges nothing that others share.
func TestAScanCostsNobodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(30) // a client has three
	for port := range uint16(200) {
		_ = w.run("scanner", one, port+1)
	}
	passed := 0
	for i := range 100 {
		passed += w.passed(1, fmt.Sprint("client ", i), one, 443)
	}
	if passed != 27 {
		t.Errorf("%d of the others passed, want what the scanner's three left of thirty", passed)
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	for requests, want := range map[int]int{0: 300, 1: 1, 9: 1, 10: 1, 19: 1, 20: 2, 1200: 120} {
		if n := newWorld(requests).passed(300, "a", one, 443); n != want {
			t.Errorf("of %d requests a client has %d, want %d", requests, n, want)
		}
	}
}

func TestWorkForNoVisitorIsNotCharged(t *testing.T) {
	t.Parallel()
	w := newWorld(10)
	for _, ctx := range []context.Context{context.Background(), begin("")} {
		for port := range uint16(50) {
			if err := w.Allow(ctx, netip.AddrPortFrom(netip.MustParseAddr(one), port+1)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestRefusedIsRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(10)
	to := netip.MustParseAddrPort(one + ":80")
	for i, want := range []bool{false, true} {
		ctx, run := Begin(tool.WithCaller(context.Background(), tool.Caller{Client: "a"}))
		err := w.Allow(ctx, to)
		if by := run.Refused(); slices.Equal(by, []fault.Rule{fault.LimitClientAddress}) != want || (err != nil) != want {
			t.Errorf("run %d: %v, refused by %v", i, err, by)
		}
	}
	// The limit of all clients together and that of different ports are distinguished.
	for i := range shares {
		ctx, run := Begin(tool.WithCaller(context.Background(), tool.Caller{Client: fmt.Sprint("c", i)}))
		_ = w.Allow(ctx, to)
		if by := run.Refused(); (i == shares-1) != slices.Equal(by, []fault.Rule{fault.LimitAddress}) {
			t.Errorf("client %d: refused by %v", i, by)
		}
	}
	ctx, run := Begin(tool.WithCaller(context.Background(), tool.Caller{Client: "p"}))
	wide := newWorld(0)
	for port := range uint16(Ports + 2) {
		_ = wide.Allow(ctx, netip.AddrPortFrom(to.Addr(), port+1))
	}
	if by := run.Refused(); !slices.Equal(by, []fault.Rule{fault.LimitPorts}) {
		t.Errorf("many ports: refused by %v", by)
	}
	// Without a run every dial pays for itself.
	ctx = tool.WithCaller(context.Background(), tool.Caller{Client: "b"})
	if err := errors.Join(w.Allow(ctx, to), w.Allow(ctx, to)); err == nil {
		t.Error("two dials without a run are one")
	}
}

// counting is a Limiter that counts the buckets it is called with.
type counting struct {
	ratelimit.Limiter
	asked  atomic.Int32
	others sync.WaitGroup // that come before it answers
	err    error
}

func (c *counting) Take(ctx context.Context, stages ...ratelimit.Stage) (ratelimit.Decision, error) {
	for _, s := range stages {
		c.asked.Add(int32(len(s)))
	}
	if c.err != nil {
		return ratelimit.Decision{}, c.err
	}
	c.others.Wait()
	return c.Limiter.Take(ctx, stages...)
}

func TestDialsAtOncePayOnce(t *testing.T) {
	t.Parallel()
	c := &counting{Limiter: ratelimit.NewMemory()}
	l := New(c, 1200, window)
	ctx := begin("a")
	var all sync.WaitGroup
	c.others.Add(40)
	for i := range 40 {
		all.Go(func() {
			c.others.Done()
			if err := l.Allow(ctx, netip.AddrPortFrom(netip.MustParseAddr(one), 80+uint16(i%2))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := c.asked.Load(); n != 4 {
		t.Errorf("%d buckets were asked for, want two ports, the client's share and the address", n)
	}
}

// A store that fails fails the dial, which is then not paid for.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	c := &counting{Limiter: ratelimit.NewMemory(), err: context.Canceled}
	l := New(c, 1200, window)
	ctx, to := begin("a"), netip.MustParseAddrPort(one+":80")
	if err := l.Allow(ctx, to); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	c.err = nil
	if err := l.Allow(ctx, to); err != nil || c.asked.Load() != 6 {
		t.Errorf("%v, %d buckets asked for", err, c.asked.Load())
	}
}

// However nine clients' runs interleave, on whatever ports: the tenth finds its whole share of an address.
func TestNobodyIsLockedOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		requests := rapid.IntRange(1, 60).Draw(t, "requests")
		share := max(requests/10, 1)
		w := newWorld(requests)
		others := min(9, requests/share-1)
		for _, who := range rapid.SliceOfN(rapid.IntRange(0, max(others-1, 0)), 0, 200).Draw(t, "runs") {
			if others > 0 {
				_ = w.run(fmt.Sprint("client ", who), one, rapid.Uint16Range(0, 40).Draw(t, "port"))
			}
		}
		if n := w.passed(share+1, "honest", one, 443); n != share {
			t.Fatalf("%d of the client's %d passed, of %d for the address", n, share, requests)
		}
	})
}
