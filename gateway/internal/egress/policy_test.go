package egress_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

func TestPermit(t *testing.T) {
	t.Parallel()
	deny, err := target.ParseDenylist("198.41.0.0/24,2001:500::/32")
	if err != nil {
		t.Fatal(err)
	}
	own := func() []netip.Addr { return addrs("93.184.216.34", "2606:4700::53", "10.0.0.7") }
	n := egresstest.New(t)
	c := n.Client(func(s *egress.Settings) { s.Deny = deny }, egress.WithOwnAddresses(own))
	for address, permitted := range map[string]bool{
		"93.184.216.33":             true,
		"93.184.216.34":             false, // own
		"93.184.216.35":             true,
		"2606:4700::53":             false, // own
		"2606:4700::54":             true,
		"198.40.255.255":            true,
		"198.41.0.0":                false, // denied
		"198.41.0.255":              false,
		"198.41.1.0":                true,
		"2001:500::1":               false,
		"2001:501::1":               true,
		"127.0.0.1":                 false,
		"10.0.0.7":                  false,
		"169.254.169.254":           false,
		"::1":                       false,
		"fe80::1":                   false,
		"2606:4700::54%eth0":        false,
		"::ffff:93.184.216.33":      false,
		"64:ff9b::5db8:d821":        false,
		"2002:5db8:d821::1":         false,
		"255.255.255.255":           false,
		"1.0.0.0":                   true,
		"2000::":                    true,
		"3fff:ffff:ffff:ffff::":     true,
		"4000::":                    false,
		"1fff:ffff:ffff:ffff::ffff": false,
	} {
		err := c.Permit(netip.MustParseAddr(address))
		if permitted != (err == nil) {
			t.Errorf("Permit(%s) = %v", address, err)
		}
		if err == nil {
			continue
		}
		if s := wantFault(t, err, fault.Refused); strings.Contains(s, address) {
			t.Errorf("the sentence names the address: %s", s)
		}
	}
	if err := c.Permit(netip.Addr{}); !fault.Is(err, fault.Refused) {
		t.Errorf("the zero address: %v", err)
	}
}

func TestAllowOwnAddressesLiftsOnlyThat(t *testing.T) {
	t.Parallel()
	own := func() []netip.Addr { return addrs("93.184.216.34", "127.0.0.1") }
	c := egresstest.New(t).Client(func(s *egress.Settings) { s.AllowOwnAddresses = true }, egress.WithOwnAddresses(own))
	if err := c.Permit(netip.MustParseAddr("93.184.216.34")); err != nil {
		t.Errorf("own public address: %v", err)
	}
	if err := c.Permit(netip.MustParseAddr("127.0.0.1")); err == nil {
		t.Error("loopback is permitted")
	}
}

func TestOwnAddressesAreTheInterfaces(t *testing.T) {
	t.Parallel()
	own := egress.InterfaceAddresses()
	if !own[netip.MustParseAddr("127.0.0.1")] {
		t.Errorf("loopback is missing from %v", own)
	}
	for a := range own {
		if a.Zone() != "" || a.Is4In6() {
			t.Errorf("%v is not in the form that a dial is judged in", a)
		}
	}
}

func TestRereadOnceAMinute(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	reads := 0
	get := egress.Reread(func() int { reads++; return reads }, func() time.Time { return now })
	for _, test := range []struct {
		step time.Duration
		want int
	}{
		{0, 1}, {time.Minute - 1, 1}, {1, 2}, {time.Minute - 1, 2}, {time.Hour, 3},
	} {
		now = now.Add(test.step)
		if got := get(); got != test.want {
			t.Errorf("after %v: reading %d, want %d", test.step, got, test.want)
		}
	}
}

func TestDialRefusesBeforeTheSocket(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Listen("127.0.0.1:80")
	c := n.Client(nil)
	_, err := c.Dial(t.Context(), netip.MustParseAddrPort("127.0.0.1:80"))
	wantFault(t, err, fault.Refused)
	if dials := n.Dials(); len(dials) != 0 {
		t.Errorf("dialled %v", dials)
	}
}

// The control hook is the second lock: even where the first was passed with another address, the socket is not connected.
func TestControlHookJudgesTheRealAddress(t *testing.T) {
	t.Parallel()
	c := egresstest.New(t).Client(nil)
	asked := netip.MustParseAddrPort("93.184.216.34:80")
	for actual, permitted := range map[string]bool{
		"93.184.216.34:80": true,
		"93.184.216.34:81": false,
		"93.184.216.35:80": false,
		"127.0.0.1:80":     false,
		"[::1]:80":         false,
		"":                 false,
		"example.com:80":   false,
	} {
		err := c.ControlFor(asked)(t.Context(), "tcp4", actual, nil)
		if permitted != (err == nil) {
			t.Errorf("hook on %q: %v", actual, err)
		}
		if err != nil {
			wantFault(t, err, fault.Refused)
		}
	}
}

func TestControlHookStopsASwappedDialer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var accepted atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted.Store(true)
			_ = conn.Close()
		}
	}()
	loopback := netip.MustParseAddrPort(l.Addr().String())

	var c *egress.Client
	swap := func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
		d := net.Dialer{ControlContext: c.ControlFor(to)}
		return d.DialContext(ctx, network, loopback.String())
	}
	c = egresstest.New(t).Client(nil, egress.WithDialer(swap))
	_, err = c.Dial(t.Context(), netip.MustParseAddrPort("93.184.216.34:80"))
	wantFault(t, err, fault.Refused)

	_, err = c.DialSocket(t.Context(), "tcp4", loopback)
	if f := new(fault.Error); !errors.As(err, &f) || f.Kind != fault.Refused {
		t.Errorf("the real dialer: %v", err)
	}
	_ = l.Close()
	<-done
	if accepted.Load() {
		t.Error("a connection was made")
	}
}

// Without anything injected: the operator's resolver is reached where it is, on loopback, and what it says is not.
func TestRealSockets(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	n.Records("inside.example.com. 300 IN A 127.0.0.1", "outside.example.com. 300 IN A 93.184.216.34")
	c, err := egress.New(egress.Settings{Resolvers: []netip.AddrPort{n.Loopback()}, Families: egress.FamiliesBoth})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	if r, err := c.Resolve(t.Context(), host(t, "outside.example.com")); err != nil || len(r.V4) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = c.Resolve(t.Context(), host(t, "inside.example.com"))
	wantFault(t, err, fault.Refused)
	_, err = c.Dial(t.Context(), netip.MustParseAddrPort(l.Addr().String()))
	wantFault(t, err, fault.Refused)
	if a := c.QueryServer(t.Context(), n.Loopback(), "outside.example.com", dns.TypeA); a.Code != egress.CodeConnRefused {
		t.Errorf("a visitor's question went to a private server: %+v", a)
	}
	if source, ok := egress.SourceFor("udp4", "127.0.0.1:9"); !ok || source != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("source towards loopback: %v, %v", source, ok)
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
		c := egresstest.New(t).Client(func(s *egress.Settings) { s.Families = setting }, egress.WithFamilies(egress.Families{V6: true}))
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
	const none = ""
	for _, test := range []struct {
		v4, v6 string
		want   egress.Families
	}{
		{none, none, egress.Families{}},
		{"10.0.0.2", none, egress.Families{V4: true}},
		{"93.184.216.34", none, egress.Families{V4: true}},
		{none, "2606:4700::1", egress.Families{V6: true}},
		{none, "fd00::1", egress.Families{}},
		{none, "fe80::1", egress.Families{}},
		{"10.0.0.2", "fdff::1", egress.Families{V4: true}},
		{"10.0.0.2", "2606:4700::1", egress.Families{V4: true, V6: true}},
	} {
		got := egress.DetectFamilies(func(network, to string) (netip.Addr, bool) {
			source := test.v4
			if network == "udp6" {
				source = test.v6
			}
			if source == none {
				return netip.Addr{}, false
			}
			return netip.MustParseAddr(source), true
		})
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("v4 from %q, v6 from %q: %s", test.v4, test.v6, diff)
		}
	}
}
