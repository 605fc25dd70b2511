package egress_test

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/cache/clocktest"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func TestOwnAddressesAreTheInterfaces(t *testing.T) {
	t.Parallel()
	own, err := egress.InterfaceAddresses()
	if err != nil {
		t.Fatal(err)
	}
	if !own[netip.MustParseAddr("127.0.0.1")] {
		t.Errorf("loopback is missing from %v", own)
	}
	for a := range own {
		if a.Zone() != "" || a.Is4In6() {
			t.Errorf("%v is not in the form that a dial is judged in", a)
		}
	}
}

func TestSourceFor(t *testing.T) {
	t.Parallel()
	loopback := netip.MustParseAddr("127.0.0.1")
	if source, err := egress.SourceFor("udp4", "127.0.0.1:9"); err != nil || source != loopback {
		t.Errorf("towards loopback: %v, %v", source, err)
	}
	// An address of the other family is one that this socket has no route to.
	if source, err := egress.SourceFor("udp4", "[::1]:9"); err != nil || source.IsValid() {
		t.Errorf("without a route: %v, %v", source, err)
	}
}

func TestAShortageIsNoAnswer(t *testing.T) {
	t.Parallel()
	dial := func(call string, errno syscall.Errno) error {
		return &net.OpError{Op: "dial", Net: "udp4", Err: os.NewSyscallError(call, errno)}
	}
	for errno, short := range map[syscall.Errno]bool{
		syscall.EMFILE:  true,
		syscall.ENFILE:  true,
		syscall.ENOBUFS: true,
		syscall.ENOMEM:  true,
		syscall.EAGAIN:  true,
		syscall.ENOSPC:  true,

		syscall.ENETUNREACH:     false,
		syscall.EHOSTUNREACH:    false,
		syscall.EADDRNOTAVAIL:   false,
		syscall.EAFNOSUPPORT:    false,
		syscall.EPROTONOSUPPORT: false,
		syscall.EACCES:          false,
		syscall.EPERM:           false,
		syscall.EINVAL:          false,
	} {
		if err := egress.NotQueried(dial("connect", errno)); (err != nil) != short {
			t.Errorf("%v: %v", errno, err)
		}
	}
	if err := egress.NotQueried(nil); err != nil {
		t.Errorf("no error: %v", err)
	}
}

var errUnread = errors.New("too many open files")

// reading is one call: how many of the readings that it takes fail, and what it gives.
type reading struct {
	after time.Duration // since the call before
	fail  int           // of the readings that take place
	want  int           // the number of the reading whose value is given, 0 for an error
	reads int           // readings so far
}

func TestHostFact(t *testing.T) {
	t.Parallel()
	const age, pause = 2 * time.Second, 100 * time.Millisecond
	for name, steps := range map[string][]reading{
		"read again when it is too old": {
			{0, 0, 1, 1}, {age - 1, 0, 1, 1}, {1, 0, 2, 2}, {age - 1, 0, 2, 2}, {time.Hour, 0, 3, 3},
		},
		"one failure is tried again at once": {
			{0, 1, 2, 2}, {age, 1, 4, 4}, {age - 1, 1, 4, 4}, {1, 1, 6, 6},
		},
		"a failure leaves the last good value": {
			{0, 0, 1, 1}, {age, 2, 1, 3}, {pause - 1, 2, 1, 3}, {1, 2, 1, 5}, {time.Hour, 2, 1, 7},
		},
		"and is mended by the next reading": {
			{0, 0, 1, 1}, {age, 2, 1, 3}, {pause, 0, 4, 4}, {age - 1, 0, 4, 4}, {1, 0, 5, 5},
		},
		"nothing is known yet": {
			{0, 2, 0, 2}, {pause - 1, 0, 0, 2}, {1, 2, 0, 4}, {pause, 0, 5, 5}, {age - 1, 0, 5, 5}, {1, 2, 5, 7},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := clocktest.New()
			reads, fail := 0, 0
			get := egress.HostFact(func() (int, error) {
				reads++
				if fail > 0 {
					fail--
					return -1, errUnread
				}
				return reads, nil
			}, clock.Now)
			for i, step := range steps {
				clock.Pass(step.after)
				clock.Step(time.Duration(1-2*(i%2)) * time.Hour) // the time of day is set meanwhile
				fail = step.fail
				got, err := get()
				if (err == nil) != (step.want > 0) || err != nil && !errors.Is(err, errUnread) {
					t.Errorf("step %d: error %v", i, err)
				}
				if err == nil && got != step.want || reads != step.reads {
					t.Errorf("step %d: reading %d of %d, want %d of %d", i, got, reads, step.want, step.reads)
				}
			}
		})
	}
}

// fakeHost is the host of a Client: its own addresses and routes, and whether they can be read.
type fakeHost struct {
	clock               *clocktest.Clock
	own                 string
	families            egress.Families
	ownErr, familiesErr error
}

func newFakeHost() *fakeHost {
	return &fakeHost{clock: clocktest.New(), own: web4, families: egress.Families{V4: true, V6: true}}
}

func (h *fakeHost) option() egress.Option {
	own := func() (map[netip.Addr]bool, error) {
		return map[netip.Addr]bool{netip.MustParseAddr(h.own): true}, h.ownErr
	}
	families := func() (egress.Families, error) { return h.families, h.familiesErr }
	return egress.WithHost(own, families, h.clock.Now)
}

func TestNothingIsDialledBeforeTheOwnAddressesAreKnown(t *testing.T) {
	t.Parallel()
	const another = "93.184.216.35"
	h := newFakeHost()
	h.ownErr = errUnread
	n := egresstest.New(t)
	n.Records("example.com. 300 IN A " + another)
	n.Listen(another + ":80")
	c := n.Client(nil, h.option())
	to := netip.MustParseAddrPort(another + ":80")
	for name, try := range map[string]func() error{
		"Permit":  func() error { return c.Permit(to.Addr()) },
		"Resolve": func() error { _, err := c.Resolve(t.Context(), host(t, "example.com")); return err },
		"Dial":    func() error { _, err := c.Dial(t.Context(), to); return err },
		"Do":      func() error { _, err := get(t, c, "http://example.com/"); return err },
		"Follow":  func() error { return follow(t, c, "http://example.com/", 1).Err },
		"socket":  func() error { return c.ControlFor(to)(t.Context(), "tcp4", to.String(), nil) },
	} {
		err := try()
		wantFault(t, err, fault.Busy)
		var f *fault.Error
		if errors.As(err, &f); f.RetryAfter <= 0 || !errors.Is(err, errUnread) {
			t.Errorf("%s: again after %v, cause %v", name, f.RetryAfter, f.Cause)
		}
	}
	wantOnly(t, n, nil)
	wantFault(t, c.Permit(netip.MustParseAddr("127.0.0.1")), fault.Refused)

	h.ownErr = nil
	h.clock.Pass(100 * time.Millisecond)
	if _, err := c.Resolve(t.Context(), host(t, "example.com")); err != nil {
		t.Errorf("once they are known: %v", err)
	}
	wantFault(t, c.Permit(netip.MustParseAddr(h.own)), fault.Refused)
}

func TestOwnAddressesStandWhileTheyCannotBeRead(t *testing.T) {
	t.Parallel()
	h := newFakeHost()
	c := egresstest.New(t).Client(nil, h.option())
	own, another := netip.MustParseAddr(h.own), netip.MustParseAddr("93.184.216.35")
	for _, age := range []time.Duration{0, 2 * time.Second, time.Hour} {
		h.clock.Pass(age)
		wantFault(t, c.Permit(own), fault.Refused)
		if err := c.Permit(another); err != nil {
			t.Errorf("another address, after %v: %v", age, err)
		}
		h.ownErr = errUnread
	}
	h.own, h.ownErr = another.String(), nil
	h.clock.Pass(100 * time.Millisecond)
	wantFault(t, c.Permit(another), fault.Refused)
}

func TestOwnAddressesThatAreAllowedNeedNotBeKnown(t *testing.T) {
	t.Parallel()
	h := newFakeHost()
	h.ownErr = errUnread
	c := egresstest.New(t).Client(func(s *egress.Settings) { s.AllowOwnAddresses = true }, h.option())
	if err := c.Permit(netip.MustParseAddr(h.own)); err != nil {
		t.Error(err)
	}
}

func TestFamiliesThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	h := newFakeHost()
	h.familiesErr = errUnread
	n := egresstest.New(t)
	c := n.Client(nil, h.option())
	for _, target := range []string{"example.com", "93.184.216.35"} {
		_, err := c.Resolve(t.Context(), host(t, target))
		wantFault(t, err, fault.Busy)
		if !errors.Is(err, errUnread) {
			t.Errorf("%s: the cause is %v", target, err)
		}
	}
	if f := c.Families(); f != (egress.Families{}) || len(n.Queries()) != 0 {
		t.Errorf("%v, %d queries", f, len(n.Queries()))
	}
	h.familiesErr = nil
	for _, age := range []time.Duration{100 * time.Millisecond, 2 * time.Second, time.Hour} {
		h.clock.Pass(age)
		r, err := c.Resolve(t.Context(), host(t, "93.184.216.35"))
		if err != nil || r.Reachable() != nil || c.Families() != h.families {
			t.Errorf("after %v: %v, %v, %v", age, err, r.Reachable(), c.Families())
		}
		h.familiesErr = errUnread
	}
	// What the operator has set is not looked up.
	set := n.Client(func(s *egress.Settings) { s.Families = egress.FamiliesIPv4 }, h.option())
	if _, err := set.Resolve(t.Context(), host(t, "93.184.216.35")); err != nil {
		t.Error(err)
	}
}

// A gateway may start before its network is up: then it has no route and no address of its own but loopback.
func TestANetworkThatComesUpIsSeenWithinSeconds(t *testing.T) {
	t.Parallel()
	h := newFakeHost()
	h.families, h.own = egress.Families{}, "127.0.0.1"
	c := egresstest.New(t).Client(nil, h.option())
	own := netip.MustParseAddr(web4)
	if err := c.Permit(own); err != nil || c.Families() != (egress.Families{}) {
		t.Errorf("before: %v, %v", err, c.Families())
	}
	h.families, h.own = egress.Families{V4: true}, own.String()
	h.clock.Pass(2 * time.Second)
	wantFault(t, c.Permit(own), fault.Refused)
	if !c.Families().V4 {
		t.Error("the family is not seen")
	}
}

func TestFamilies(t *testing.T) {
	t.Parallel()
	for setting, want := range map[egress.FamilySetting]egress.Families{
		egress.FamiliesAuto: {V6: true},
		"":                  {V6: true},
		egress.FamiliesIPv4: {V4: true},
		egress.FamiliesIPv6: {V6: true},
		egress.FamiliesBoth: {V4: true, V6: true},
	} {
		c := egresstest.New(t).Client(func(s *egress.Settings) { s.Families = setting },
			egress.WithFamilies(egress.Families{V6: true}))
		if got := c.Families(); got != want {
			t.Errorf("%q: %v, want %v", setting, got, want)
		}
	}
	if _, err := egress.New(egress.Settings{Families: "ipv5"}); err == nil {
		t.Error("ipv5 is taken")
	}
}

func TestDetectFamilies(t *testing.T) {
	t.Parallel()
	const none, short = "", "short"
	for _, test := range []struct {
		v4, v6 string
		want   egress.Families
		fails  bool
	}{
		{none, none, egress.Families{}, false},
		{"10.0.0.2", none, egress.Families{V4: true}, false},
		{"93.184.216.34", none, egress.Families{V4: true}, false},
		{none, "2606:4700::1", egress.Families{V6: true}, false},
		{none, "fd00::1", egress.Families{}, false},
		{none, "fe80::1", egress.Families{}, false},
		{"10.0.0.2", "fdff::1", egress.Families{V4: true}, false},
		{"10.0.0.2", "2606:4700::1", egress.Families{V4: true, V6: true}, false},
		{short, "2606:4700::1", egress.Families{}, true},
		{"10.0.0.2", short, egress.Families{}, true},
	} {
		got, err := egress.DetectFamilies(func(network, _ string) (netip.Addr, error) {
			switch source := map[string]string{"udp4": test.v4, "udp6": test.v6}[network]; source {
			case none:
				return netip.Addr{}, nil
			case short:
				return netip.Addr{}, errUnread
			default:
				return netip.ParseAddr(source)
			}
		})
		if diff := cmp.Diff(test.want, got); diff != "" || (err != nil) != test.fails {
			t.Errorf("v4 from %q, v6 from %q: %v, %s", test.v4, test.v6, err, diff)
		}
	}
}
