package egress_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"

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

// The control hook is the second lock: even where the first was passed with another address, the socket is not
// connected.
func TestControlHookJudgesTheRealAddress(t *testing.T) {
	t.Parallel()
	c := egresstest.New(t).Client(nil)
	wanted := netip.MustParseAddrPort("93.184.216.34:80")
	for actual, permitted := range map[string]bool{
		"93.184.216.34:80": true,
		"93.184.216.34:81": false,
		"93.184.216.35:80": false,
		"127.0.0.1:80":     false,
		"[::1]:80":         false,
		"":                 false,
		"example.com:80":   false,
	} {
		err := c.ControlFor(wanted)(t.Context(), "tcp4", actual, nil)
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
	if a := c.DNS().QueryServer(t.Context(), n.Loopback(), "outside.example.com",
		dns.TypeA); a.Code != dnsclient.CodeConnRefused {
		t.Errorf("a visitor's question went to a private server: %+v", a)
	}
}
