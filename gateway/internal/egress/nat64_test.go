package egress_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

func prefixes(list ...string) (all []netip.Prefix) {
	for _, p := range list {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}

// Every address of IPv4 that the policy refuses is refused below every prefix, whatever the octet of bits 64 to 71 and
// the suffix are. A public one stays allowed.
func TestTranslatedAddresses(t *testing.T) {
	t.Parallel()
	deny, err := target.ParseDenylist("198.41.0.0/24")
	if err != nil {
		t.Fatal(err)
	}
	own := func() []netip.Addr { return addrs("93.184.216.34") }
	c := egresstest.New(t).Client(func(s *egress.Settings) {
		s.Deny, s.HostAddresses = deny, prefixes("93.184.217.0/24")
		s.NAT64 = prefixes("2a0e::/32", "2a0f:0:100::/40", "2a0f:1:122::/48", "2a0f:2:122:300::/56", "2a0f:3:122:344::/64",
			"2a0e:1:2:64::/96")
	}, egress.WithOwnAddresses(own))
	for address, permitted := range map[string]bool{
		"2a0e:1:2:64::a00:1":            false, // 10.0.0.1
		"2a0e:0:5db8:d823::":            true,
		"2a0e:0:a00:1::":                false,
		"2a0e:0:a00:1:ff00::1":          false,
		"2a0f:0:15d:b8d8:23::":          true,
		"2a0f:0:10a:0:1::":              false, // 10.0.0.1
		"2a0f:0:17f:0:1::":              false, // 127.0.0.1
		"2a0f:1:122:5db8:d8:2300::":     true,
		"2a0f:1:122:a9fe:a9:fe00::":     false, // 169.254.169.254
		"2a0f:1:122:a9fe:ffa9:feff::1":  false,
		"2a0f:2:122:35d:b8:d823::":      true,
		"2a0f:2:122:30a:0:1::":          false,
		"2a0f:3:122:344:5d:b8d8:2300::": true,
		"2a0f:3:122:344:0a:0:100:0":     false,
		"2a0f:3:122:344:5d:b8d8:2200::": false, // own
		"2a0f:3:122:344:5d:b8d9:2200::": false, // of HOST_ADDRESSES
		"2a0f:3:122:344:c6:2900:100:0":  false, // denied
		"2a0f:3:122:344:c6:2901:100:0":  true,
		"2a0f:4::a00:1":                 true, // below no prefix
	} {
		err := c.Permit(netip.MustParseAddr(address))
		if permitted != (err == nil) {
			t.Errorf("Permit(%s) = %v", address, err)
		}
		if err != nil {
			wantFault(t, err, fault.Refused)
		}
	}
}

func TestTranslatedNames(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		"inside.example.com. 300 IN AAAA 2a0e:1:2:64::a00:1",
		"public.example.com. 300 IN AAAA 2a0e:1:2:64::5db8:d822",
		"synthesised.example.com. 300 IN A 93.184.216.34",
		"synthesised.example.com. 300 IN AAAA 2a0e:1:2:64::5db8:d822",
		"other.example.com. 300 IN A 93.184.216.35",
		"other.example.com. 300 IN AAAA 2a0e:1:2:64::5db8:d822",
		"mixed.example.com. 300 IN A 93.184.216.34",
		"mixed.example.com. 300 IN AAAA 2a0e:1:2:64::a00:1",
	)
	c := n.Client(func(s *egress.Settings) { s.NAT64 = prefixes("2a0e:1:2:64::/96") })
	for name, want := range map[string][]netip.Addr{
		"inside.example.com":      nil,
		"mixed.example.com":       nil,
		"public.example.com":      addrs("2a0e:1:2:64::5db8:d822"),
		"synthesised.example.com": addrs("93.184.216.34"),
		"other.example.com":       addrs("2a0e:1:2:64::5db8:d822", "93.184.216.35"),
	} {
		r, err := c.Resolve(t.Context(), host(t, name))
		if want == nil {
			wantFault(t, err, fault.Refused)
			continue
		}
		if diff := cmp.Diff(want, r.All(), equateAddrs); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	_, err := c.Dial(t.Context(), netip.MustParseAddrPort("[2a0e:1:2:64::7f00:1]:80"))
	wantFault(t, err, fault.Refused)
	if dials := n.Dials(); len(dials) > 0 {
		t.Errorf("dialled %v", dials)
	}
}

// What is known when a dial begins may change before it reaches the socket.
func TestPrefixesCountAtTheSocket(t *testing.T) {
	t.Parallel()
	c := egresstest.New(t).Client(func(s *egress.Settings) { s.NAT64 = prefixes("2a0e:1:2:64::/96") })
	to := netip.MustParseAddrPort("[2a0e:1:2:64::a00:1]:80")
	_, err := c.DialSocket(t.Context(), "tcp6", to)
	if !fault.Is(err, fault.Refused) {
		t.Errorf("%v", err)
	}
}

func TestTranslatedAddressesAreCountedAsEmbedded(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	var charged []netip.AddrPort
	c := n.Client(func(s *egress.Settings) {
		s.NAT64 = prefixes("2a0e:1:2:64::/96", "2a0e:1:2::/48")
		s.Charge = func(_ context.Context, to netip.AddrPort) error {
			charged = append(charged, to)
			return nil
		}
	})
	_, _ = c.Dial(t.Context(), netip.MustParseAddrPort("[2a0e:1:2:64::5db8:d822]:80"))
	_, _ = c.Dial(t.Context(), netip.MustParseAddrPort("[2a0e:1:3:64::5db8:d822]:80"))
	// The /48 reads 0.100.0.0 of the first one, which is not public: nothing is dialled or charged.
	want := []netip.AddrPort{netip.MustParseAddrPort("[2a0e:1:3:64::5db8:d822]:80")}
	if !slices.Equal(charged, want) {
		t.Errorf("charged %v", charged)
	}
	for key, counted := range map[string]string{
		"2a0e:1:2:64::5db8:d822": "93.184.216.34", "2606:4700::1": "2606:4700::1", "example.com": "example.com", "": "",
		"AS15169": "AS15169", "93.184.216.34": "93.184.216.34",
	} {
		if got := c.CountedKey(key); got != counted {
			t.Errorf("%s is counted as %s", key, got)
		}
	}
	charged = nil
	only := n.Client(func(s *egress.Settings) {
		s.NAT64 = prefixes("2a0e:1:2:64::/96")
		s.Charge = func(_ context.Context, to netip.AddrPort) error {
			charged = append(charged, to)
			return nil
		}
	})
	_, _ = only.Dial(t.Context(), netip.MustParseAddrPort("[2a0e:1:2:64::5db8:d822]:80"))
	if want := []netip.AddrPort{netip.MustParseAddrPort("93.184.216.34:80")}; !slices.Equal(charged, want) {
		t.Errorf("charged %v", charged)
	}
}

// Each resolver is queried. One that fails later keeps its prefixes, and a change is logged once.
func TestPrefixesAreDiscovered(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	second := n.NameServer("192.0.2.54:53")
	n.Records("ipv4only.arpa. 3000 IN AAAA 2a0e:1:2:64::c000:aa", "ipv4only.arpa. 3000 IN AAAA 2a0e:1:2:64::c000:ab")
	second.Records("ipv4only.arpa. 7000 IN A 192.0.0.170")
	for i := range 20 {
		second.Records(fmt.Sprintf("ipv4only.arpa. 7000 IN AAAA 2a0f:%x::c000:aa", i+1))
	}
	c := n.Client(func(s *egress.Settings) {
		s.Resolvers = append(s.Resolvers, netip.MustParseAddrPort("192.0.2.54:53"))
		s.NAT64 = prefixes("2a10:64::/96")
	})
	var lines bytes.Buffer
	log := slog.New(slog.NewTextHandler(&lines, nil))
	if wait := c.Discover(t.Context(), log); wait != 3000*time.Second {
		t.Errorf("the next search is after %v", wait)
	}
	got := c.TranslationPrefixes()
	if len(got) != 2+8 || !slices.Contains(got, prefixes("2a0e:1:2:64::/96")[0]) ||
		!slices.Contains(got, prefixes("2a10:64::/96")[0]) {
		t.Errorf("found %v", got)
	}
	wantFault(t, c.Permit(netip.MustParseAddr("2a0e:1:2:64::a00:1")), fault.Refused)

	n.Handle("ipv4only.arpa", func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure) })
	if wait := c.Discover(t.Context(), log); wait != time.Minute {
		t.Errorf("after a failure the next search is after %v", wait)
	}
	if again := c.TranslationPrefixes(); !slices.Equal(got, again) {
		t.Errorf("a failure left %v", again)
	}
	if count := strings.Count(lines.String(), "\n"); count != 1 {
		t.Errorf("%d lines: %s", count, &lines)
	}
	n.Handle("ipv4only.arpa", func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetReply(q) })
	c.Discover(t.Context(), log)
	if now := c.TranslationPrefixes(); len(now) != 1+8 || strings.Count(lines.String(), "\n") != 2 {
		t.Errorf("after an answer without prefixes: %v %s", now, &lines)
	}
}

func TestWatchTranslation(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("ipv4only.arpa. 3000 IN AAAA 2a0e:1:2:64::c000:aa")
	c := n.Client(nil)
	<-c.WatchTranslation(slog.New(slog.DiscardHandler))
	wantFault(t, c.Permit(netip.MustParseAddr("2a0e:1:2:64::a00:1")), fault.Refused)

	silent := egresstest.New(t)
	silent.Handle("ipv4only.arpa", func(*dns.Msg) *dns.Msg { return nil })
	silent.Client(nil).WatchTranslation(slog.New(slog.DiscardHandler)) // ends with Close
}
