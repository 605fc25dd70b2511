package icmp

import (
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/hostroute"
	"diagnostics/worker/internal/exchange"
)

// table is the kernel of a test: its routes, all over one link, and its notices of changes.
type table struct {
	way    map[netip.Addr]hostroute.Kind
	link   hostroute.Link
	broken error
	asked  int
	// dropped is how many packets the host has dropped.
	dropped uint64
}

var (
	to4, to6 = netip.MustParseAddr("11.0.0.1"), netip.MustParseAddr("2a10::1")
	near6    = netip.MustParseAddr("2a10:77::1")
)

// newTable has IPv4 and not IPv6.
func newTable() *table {
	k := &table{way: map[netip.Addr]hostroute.Kind{}, link: hostroute.Link{Index: 2, Up: true}}
	k.set(hostroute.Out, to4)
	k.set(hostroute.Out, hostroute.Anchors(false)...)
	k.set(hostroute.Nowhere, to6)
	k.set(hostroute.Nowhere, hostroute.Anchors(true)...)
	return k
}

func (k *table) set(w hostroute.Kind, to ...netip.Addr) {
	for _, a := range to {
		k.way[a] = w
	}
}

func (k *table) watcher(log *strings.Builder) *routeWatcher {
	w := &routeWatcher{
		log: slog.New(slog.NewTextHandler(log, nil)),
		route: func(a netip.Addr) (hostroute.Route, error) {
			k.asked++
			return hostroute.Route{Kind: k.way[a], Links: []int{k.link.Index}}, k.broken
		},
		link:     func(int) (hostroute.Link, error) { return k.link, k.broken },
		dropped:  func() uint64 { return k.dropped },
		next:     func() ([]hostroute.Link, error) { return nil, nil },
		followed: map[*routeWatch]struct{}{}, links: map[int]hostroute.Link{},
	}
	w.meet()
	return w
}

// hold follows the way to an address anew.
func (w *routeWatcher) hold(t *testing.T, when string, to netip.Addr, want error) {
	t.Helper()
	f := w.follow(to, false)
	defer f.Close()
	if err := f.Cut(); !errors.Is(err, want) {
		t.Errorf("%s: %v to %v, want %v", when, err, to, want)
	}
}

// A way that was there and is gone is this host's fault; a family that never was is how the host is made, and a route
// that refuses is configured on purpose.
func TestWhatIsCutOff(t *testing.T) {
	t.Parallel()
	k := newTable()
	w := k.watcher(&strings.Builder{})
	w.hold(t, "at the start", to4, nil)
	w.hold(t, "a family that never was", to6, nil)
	k.set(hostroute.Nowhere, to4)
	w.hold(t, "a route that is gone", to4, exchange.ErrCutOff)
	k.broken = hostroute.ErrNoAnswer
	w.hold(t, "a kernel that cannot be asked", to4, nil)
	k.broken = nil
	k.set(hostroute.Here, to4)
	w.hold(t, "this host itself", to4, nil)
	k.set(hostroute.Refused, to4)
	w.hold(t, "a net that is refused", to4, nil)
	k.set(hostroute.Refused, hostroute.Anchors(false)...)
	w.hold(t, "all that is refused", to4, exchange.ErrCutOff)
	k.set(hostroute.Out, append(hostroute.Anchors(true), to6)...)
	w.hold(t, "a family that came later", to6, nil)
	k.set(hostroute.Nowhere, append(hostroute.Anchors(true), to6)...)
	w.hold(t, "and went", to6, exchange.ErrCutOff)
}

// A family is there where the internet can be reached. That one destination can, or is this host, makes no family of it
// that others could have lost.
func TestOneDestinationMakesNoFamily(t *testing.T) {
	t.Parallel()
	for _, known := range []hostroute.Kind{hostroute.Out, hostroute.Here} {
		k := newTable()
		w := k.watcher(&strings.Builder{})
		k.set(known, near6)
		w.hold(t, "the one", near6, nil)
		w.hold(t, "another", to6, nil)
	}
}

// A family that appeared and vanished between two queries was present all the same.
func TestAFamilyBetweenTwoJobs(t *testing.T) {
	t.Parallel()
	k := newTable()
	w := k.watcher(&strings.Builder{})
	k.set(hostroute.Out, hostroute.Anchors(true)...)
	w.changed(nil)
	k.set(hostroute.Nowhere, hostroute.Anchors(true)...)
	w.changed(nil)
	w.hold(t, "behind it", to6, exchange.ErrCutOff)
}

func TestAWayThatIsFollowed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		happens func(*table, *routeWatcher)
		was     error
	}{
		"nothing":        {func(*table, *routeWatcher) {}, nil},
		"another route":  {func(_ *table, w *routeWatcher) { w.changed(nil) }, nil},
		"another link":   {func(_ *table, w *routeWatcher) { w.changed([]hostroute.Link{{Index: 3}}) }, nil},
		"the link is up": {func(k *table, w *routeWatcher) { w.changed([]hostroute.Link{k.link}) }, nil},
		"a route that went and came": {func(k *table, w *routeWatcher) {
			k.set(hostroute.Nowhere, to4)
			w.changed(nil)
			k.set(hostroute.Out, to4)
			w.changed(nil)
		}, exchange.ErrCutOff},
		"a link that went and came": {func(k *table, w *routeWatcher) {
			w.changed([]hostroute.Link{{Index: 2}, k.link})
		}, exchange.ErrCutOff},
		"a carrier that went and came": {func(k *table, w *routeWatcher) {
			k.link.Downs++
			w.changed([]hostroute.Link{k.link})
		}, exchange.ErrCutOff},
		"a carrier change without a notice yet": {func(k *table, _ *routeWatcher) { k.link.Downs++ }, exchange.ErrCutOff},
		"a net that someone refuses": {func(k *table, w *routeWatcher) {
			k.set(hostroute.Refused, to4)
			w.changed(nil)
		}, nil},
	} {
		k := newTable()
		w := k.watcher(&strings.Builder{})
		f := w.follow(to4, false)
		test.happens(k, w)
		if err := f.Cut(); err != nil {
			t.Errorf("%s: now %v", name, err)
		}
		if err := f.WasCut(); !errors.Is(err, test.was) {
			t.Errorf("%s: %v, want %v", name, err, test.was)
		}
		f.Close()
		if f.Close(); len(w.followed) != 0 {
			t.Errorf("%s: it is followed still", name)
		}
		// Who begins afterwards begins anew.
		again := w.follow(to4, false)
		if err := again.WasCut(); err != nil {
			t.Errorf("%s: for the next %v", name, err)
		}
	}
}

// Where no send reports dropped packets, the kernel's counter shows them: earlier drops are not the job's.
func TestDroppedPacketsOfWhichNobodyTells(t *testing.T) {
	t.Parallel()
	for silent, want := range map[bool]error{true: exchange.ErrShortage, false: nil} {
		k := newTable()
		w := k.watcher(&strings.Builder{})
		w.follow(to4, silent).Close()
		k.dropped = 3
		f := w.follow(to4, silent)
		if err := f.WasCut(); err != nil {
			t.Errorf("none of its own: %v", err)
		}
		k.dropped = 4
		if err := f.WasCut(); !errors.Is(err, want) {
			t.Errorf("one of its own: %v, want %v", err, want)
		}
	}
}

// The kernel counts a send that met the error of an earlier packet as dropped; such a one was sent again and is none.
func TestErrorsOfEarlierPacketsAreNoneThatWereDropped(t *testing.T) {
	t.Parallel()
	k := newTable()
	w := k.watcher(&strings.Builder{})
	past := uint64(0)
	w.dropped = droppedBut(w.dropped, func() uint64 { return past })
	k.dropped, past = 7, 2
	f := w.follow(to4, true)
	for _, tt := range []struct {
		dropped, past uint64
		want          error
	}{{9, 4, nil}, {9, 5, nil}, {10, 4, exchange.ErrShortage}} {
		k.dropped, past = tt.dropped, tt.past
		if err := f.WasCut(); !errors.Is(err, tt.want) {
			t.Errorf("%d dropped, %d of them sent again: %v, want %v", tt.dropped, tt.past, err, tt.want)
		}
	}
}

func TestOutDiscards(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]uint64{
		"": 0, "Ip6OutDiscards": 0, "Ip6OutDiscards \tmany\n": 0,
		"Ip6InDiscards   \t7\nIp6OutDiscards                  \t27\nIp6OutNoRoutes 3\n": 27,
	} {
		if got := outDiscards([]byte(text)); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// A probe costs no query of its own, unless the kernel sends no notices of changes.
func TestWhenTheKernelIsAsked(t *testing.T) {
	t.Parallel()
	k := newTable()
	w := k.watcher(&strings.Builder{})
	f := w.follow(to4, false)
	before := k.asked
	for range 10 {
		_ = f.Cut()
	}
	if k.asked != before {
		t.Errorf("asked %d times for ten probes", k.asked-before)
	}
	w.next = nil
	k.set(hostroute.Nowhere, to4)
	if err := f.Cut(); !errors.Is(err, exchange.ErrCutOff) {
		t.Errorf("without word of changes: %v", err)
	}
}

// A lost route is logged at most once in a while, without the destination.
func TestALostRouteIsLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		k := newTable()
		w := k.watcher(&log)
		k.set(hostroute.Nowhere, to4)
		for range 10 {
			w.hold(t, "lost", to4, exchange.ErrCutOff)
			time.Sleep(logEvery/5 + time.Second)
		}
		lines := slices.Collect(strings.Lines(log.String()))
		if len(lines) != 2 || !strings.Contains(lines[0], "family=4") || strings.Contains(log.String(), to4.String()) {
			t.Errorf("%q", lines)
		}
	})
}
