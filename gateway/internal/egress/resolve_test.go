package egress_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/miekg/dns"
)

var equateAddrs = cmp.Options{cmpopts.EquateComparable(netip.Addr{}), cmpopts.EquateComparable(netip.AddrPort{}),
	cmpopts.EquateEmpty()}

func TestResolve(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		"both.example.com. 300 IN A 93.184.216.34",
		"both.example.com. 300 IN A 93.184.216.35",
		"both.example.com. 300 IN A 93.184.216.34",
		"both.example.com. 300 IN AAAA 2606:4700::1",
		"www.example.com. 300 IN CNAME both.example.com.",
		"four.example.com. 300 IN A 93.184.216.34",
		"six.example.com. 300 IN AAAA 2606:4700::1",
		"dns64.example.com. 300 IN A 93.184.216.34",
		"dns64.example.com. 300 IN AAAA 64:ff9b::5db8:d822",
		"dns64mixed.example.com. 300 IN A 93.184.216.34",
		"dns64mixed.example.com. 300 IN AAAA 64:ff9b::5db8:d822",
		"dns64mixed.example.com. 300 IN AAAA 2606:4700::1",
	)
	c := n.Client(nil)
	for _, test := range []struct {
		host   string
		v4, v6 []netip.Addr
	}{
		{"both.example.com", addrs("93.184.216.34", "93.184.216.35"), addrs("2606:4700::1")},
		{"www.example.com", addrs("93.184.216.34", "93.184.216.35"), addrs("2606:4700::1")},
		{"four.example.com", addrs("93.184.216.34"), nil},
		{"six.example.com", nil, addrs("2606:4700::1")},
		{"dns64.example.com", addrs("93.184.216.34"), nil},
		{"dns64mixed.example.com", addrs("93.184.216.34"), addrs("2606:4700::1")},
		{"93.184.216.36", addrs("93.184.216.36"), nil},
		{"2606:4700::2", nil, addrs("2606:4700::2")},
	} {
		r, err := c.Resolve(t.Context(), host(t, test.host))
		if err != nil {
			t.Errorf("%s: %v", test.host, err)
		}
		if diff := cmp.Diff(test.v4, r.V4, equateAddrs) + cmp.Diff(test.v6, r.V6, equateAddrs); diff != "" {
			t.Errorf("%s: %s", test.host, diff)
		}
	}
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	deny, err := target.ParseDenylist("denied.example.net,93.184.216.99")
	if err != nil {
		t.Fatal(err)
	}
	n := egresstest.New(t)
	n.Records(
		"mixed.example.com. 300 IN A 93.184.216.34",
		"mixed.example.com. 300 IN A 127.0.0.1",
		"mixed46.example.com. 300 IN A 93.184.216.34",
		"mixed46.example.com. 300 IN AAAA fd00::1",
		"nat64.example.com. 300 IN AAAA 64:ff9b::5db8:d822",
		"mapped.example.com. 300 IN AAAA ::ffff:93.184.216.34",
		"own.example.com. 300 IN A 93.184.216.50",
		"deniedaddress.example.com. 300 IN A 93.184.216.99",
		"www.denied.example.net. 300 IN A 93.184.216.34",
		"aliasdenied.example.com. 300 IN CNAME www.denied.example.net.",
		"internal.example.com. 300 IN CNAME metadata.google.internal.",
		"metadata.google.internal. 300 IN A 93.184.216.34",
		"single.example.com. 300 IN CNAME intranet.",
		"intranet. 300 IN A 93.184.216.34",
		"escaped.example.com. 300 IN CNAME a\\032b.svc.",
		"a\\032b.svc. 300 IN A 93.184.216.34",
		"internal6.example.com. 300 IN A 93.184.216.34",
	)
	n.Handle("lopsided.example.com", func(q *dns.Msg) *dns.Msg {
		if q.Question[0].Qtype == dns.TypeAAAA {
			return egresstest.Reply(q, 0, "lopsided.example.com. 300 IN CNAME db.internal.",
				"db.internal. 300 IN AAAA 2606:4700::1")
		}
		return egresstest.Reply(q, 0, "lopsided.example.com. 300 IN A 93.184.216.34")
	})
	c := n.Client(func(s *egress.Settings) { s.Deny = deny },
		egress.WithOwnAddresses(func() []netip.Addr { return addrs("93.184.216.50") }))
	for _, name := range []string{
		"mixed.example.com", "mixed46.example.com", "nat64.example.com", "mapped.example.com", "own.example.com",
		"deniedaddress.example.com", "www.denied.example.net", "aliasdenied.example.com", "internal.example.com",
		"single.example.com", "escaped.example.com", "lopsided.example.com", "93.184.216.99", "93.184.216.50",
	} {
		r, err := c.Resolve(t.Context(), host(t, name))
		if !fault.Is(err, fault.Refused) || len(r.All()) != 0 {
			t.Errorf("%s: %v, %v", name, r.All(), err)
		}
		if s := sentence(err); strings.Contains(s, "127.0.0.1") || strings.Contains(s, "fd00") ||
			strings.Contains(s, "google") {
			t.Errorf("%s: the sentence names what is inside: %s", name, s)
		}
	}
	if _, err := c.Resolve(t.Context(), host(t, "internal6.example.com")); err != nil {
		t.Errorf("a name that only begins like a private one: %v", err)
	}
}

// brisk shortens a try of the DNS, so that silence need not be waited for.
var brisk = egress.WithBounds(egress.HTTPTimeout, egress.ConnectTimeout, 300*time.Millisecond)

func TestResolveFailures(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("nodata.example.com. 300 IN TXT x")
	script := func(name string, a, aaaa func(q *dns.Msg) *dns.Msg) {
		n.Handle(name, func(q *dns.Msg) *dns.Msg {
			if q.Question[0].Qtype == dns.TypeA {
				return a(q)
			}
			return aaaa(q)
		})
	}
	silence := func(*dns.Msg) *dns.Msg { return nil }
	servfail := func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, dns.RcodeServerFailure) }
	expired := func(q *dns.Msg) *dns.Msg {
		m := servfail(q).SetEdns0(1232, false)
		why := &dns.EDNS0_EDE{InfoCode: dns.ExtendedErrorCodeSignatureExpired, ExtraText: "last week"}
		m.IsEdns0().Option = []dns.EDNS0{why}
		return m
	}
	refused := func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, dns.RcodeRefused) }
	nodata := func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, 0) }
	nxdomain := func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, dns.RcodeNameError) }
	address := func(q *dns.Msg) *dns.Msg {
		if q.Question[0].Qtype == dns.TypeA {
			return egresstest.Reply(q, 0, q.Question[0].Name+" 300 IN A 93.184.216.34")
		}
		return egresstest.Reply(q, 0, q.Question[0].Name+" 300 IN AAAA 2606:4700::1")
	}
	loop := func(q *dns.Msg) *dns.Msg {
		return egresstest.Reply(q, 0, "loop.example.com. 300 IN CNAME loop.example.com.")
	}
	script("silent.example.com", silence, silence)
	script("servfail.example.com", servfail, servfail)
	script("bogus.example.com", expired, expired)
	n.Records("private.example.com. 300 IN A 10.1.2.3")
	script("refused.example.com", refused, nodata)
	script("halfsilent.example.com", nodata, silence)
	script("nxsilent.example.com", nxdomain, silence)
	script("nxnodata.example.com", nxdomain, nodata)
	script("only4.example.com", address, servfail)
	script("only6.example.com", silence, address)
	script("loop.example.com", loop, loop)
	c := n.Client(nil, brisk)
	for _, test := range []struct {
		name     string
		kind     fault.Kind // 0: no error
		sentence string
	}{
		{"nowhere.example.com", fault.NoAddress, "nowhere.example.com does not exist."},
		{"nodata.example.com", fault.NoAddress, "nodata.example.com has no address."},
		{"silent.example.com", fault.Timeout, "The name servers of silent.example.com did not answer."},
		{"servfail.example.com", fault.Upstream, "The name servers of servfail.example.com failed (SERVFAIL)."},
		{"bogus.example.com", fault.Upstream,
			"bogus.example.com fails DNSSEC validation: Signature Expired (extended DNS error 7), “last week”."},
		{"private.example.com", fault.Refused,
			"private.example.com leads to an address that is not public, which nobody outside its network can reach."},
		{"refused.example.com", fault.Upstream, "The name servers of refused.example.com failed (REFUSED)."},
		{"halfsilent.example.com", fault.Timeout, "The name servers of halfsilent.example.com did not answer."},
		{"nxsilent.example.com", fault.Timeout, "The name servers of nxsilent.example.com did not answer."},
		{"nxnodata.example.com", fault.NoAddress, "nxnodata.example.com has no address."},
		{"loop.example.com", fault.Upstream, "The name servers of loop.example.com gave an invalid answer."},
		{"only4.example.com", 0, ""},
		{"only6.example.com", 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, err := c.Resolve(t.Context(), host(t, test.name))
			if test.kind == 0 {
				if err != nil || len(r.All()) != 1 {
					t.Errorf("%v, %v", r.All(), err)
				}
				return
			}
			if s := wantFault(t, err, test.kind); s != test.sentence {
				t.Errorf("%q, want %q", s, test.sentence)
			}
		})
	}
}

func TestResolveEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Handle("silent.example.com", func(*dns.Msg) *dns.Msg { return nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := n.Client(nil).Resolve(ctx, host(t, "silent.example.com"))
	wantFault(t, err, fault.Timeout)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the cause is %v", err)
	}
}

func TestResolutionOrderAndFamilies(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		"both.example.com. 300 IN A 93.184.216.34",
		"both.example.com. 300 IN A 93.184.216.35",
		"both.example.com. 300 IN A 93.184.216.36",
		"both.example.com. 300 IN AAAA 2606:4700::1",
		"both.example.com. 300 IN AAAA 2606:4700::2",
		"four.example.com. 300 IN A 93.184.216.34",
		"six.example.com. 300 IN AAAA 2606:4700::1",
	)
	both := egress.Families{V4: true, V6: true}
	const noIPv6 = "This service has no IPv6 connection, and the target has only IPv6 addresses."
	const noIPv4 = "This service has no IPv4 connection, and the target has only IPv4 addresses."
	for _, test := range []struct {
		name     string
		host     egress.Families
		want     []netip.Addr
		sentence string
	}{
		{"both.example.com", both, addrs("2606:4700::1", "93.184.216.34", "2606:4700::2", "93.184.216.35", "93.184.216.36"), ""},
		{"both.example.com", egress.Families{V4: true}, addrs("93.184.216.34", "93.184.216.35", "93.184.216.36"), ""},
		{"both.example.com", egress.Families{V6: true}, addrs("2606:4700::1", "2606:4700::2"), ""},
		{"six.example.com", egress.Families{V4: true}, nil, noIPv6},
		{"2606:4700::1", egress.Families{V4: true}, nil, noIPv6},
		{"four.example.com", egress.Families{V6: true}, nil, noIPv4},
		{"both.example.com", egress.Families{}, nil, "This service has no connection to the internet at the moment."},
	} {
		r, err := n.Client(nil, egress.WithFamilies(test.host)).Resolve(t.Context(), host(t, test.name))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, r.All(), equateAddrs); diff != "" {
			t.Errorf("%s with %v: %s", test.name, test.host, diff)
		}
		switch err := r.Reachable(); {
		case test.sentence == "" && err != nil:
			t.Errorf("%s with %v: %v", test.name, test.host, err)
		case test.sentence != "" && wantFault(t, err, fault.Upstream) != test.sentence:
			t.Errorf("%s with %v: %v", test.name, test.host, err)
		}
		if len(r.V4)+len(r.V6) == 0 {
			t.Errorf("%s with %v: the addresses of a lacking family are missing", test.name, test.host)
		}
		for _, a := range slices.Concat(r.V4, r.V6) {
			if err := r.NoRoute(a); (err == nil) != test.host.Has(a) || err != nil && !fault.Is(err, fault.Upstream) {
				t.Errorf("%v with %v: %v", a, test.host, err)
			}
		}
	}
}

func TestPrivateNamesOfAliases(t *testing.T) {
	t.Parallel()
	for name, private := range map[string]bool{
		"example.com":                         false,
		"_sip._tcp.example.com":               false,
		`a\032b.example.com`:                  false,
		`\001\002.cdn.example.com`:            false,
		"-odd-.example.com":                   false,
		"internal.example.com":                false,
		"db.internal":                         true,
		`a\.b.internal`:                       true,
		`\255.db.internal`:                    true,
		"localhost":                           true,
		"intranet":                            true,
		"x.home.arpa":                         true,
		"1.0.0.127.in-addr.arpa":              true,
		"10.0.0.1":                            true,
		"":                                    true,
		strings.Repeat(`\200.`, 20) + `local`: true,
	} {
		if got := egress.IsPrivateName(name); got != private {
			t.Errorf("%q: %v, want %v", name, got, private)
		}
	}
}

func TestNamedServersAreJudged(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.NameServer("10.0.0.53:53").Records("example.com. 300 IN A 93.184.216.34")
	names := n.Client(nil).DNS()
	private := netip.MustParseAddrPort("10.0.0.53:53")
	for way, ask := range map[string]func(context.Context, netip.AddrPort, string, uint16) dnsclient.Answer{
		"shared": names.QueryServer, "fresh": names.QueryServerFresh,
	} {
		if a := ask(t.Context(), private, "example.com", dns.TypeA); a.Code != dnsclient.CodeConnRefused ||
			len(n.Dials()) != 0 {
			t.Errorf("%s: %+v, dials %v", way, a, n.Dials())
		}
	}
}

// A zone's own server is judged and charged before it is queried.
func TestAuthoritiesAreChargedAndJudged(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.NameServer("93.184.216.1:53").Records("example.com. 300 IN A 93.184.216.34")
	money := &till{refuse: []string{"93.184.216.2:53"}}
	c := n.Client(func(s *egress.Settings) {
		money.settings(s)
		var err error
		if s.Deny, err = target.ParseDenylist("93.184.216.3"); err != nil {
			t.Error(err)
		}
	}, egress.WithOwnAddresses(func() []netip.Addr { return []netip.Addr{netip.MustParseAddr("93.184.216.4")} }))
	for server, want := range map[string]fault.Kind{
		"93.184.216.1": 0, "93.184.216.2": fault.Limited, "93.184.216.3": fault.Refused, "93.184.216.4": fault.Refused,
		"10.1.2.3": fault.Refused, "127.0.0.1": fault.Refused, "::1": fault.Refused,
	} {
		at := netip.AddrPortFrom(netip.MustParseAddr(server), 53)
		a, err := c.AskAuthority(t.Context(), at, "example.com", dns.TypeA)
		charged := money.taken()
		switch {
		case want == 0:
			if err != nil || !a.Authoritative || len(a.Records) != 1 || charged != at.String() {
				t.Errorf("%s: %+v, %v, charged %q", server, a, err, charged)
			}
		case !fault.Is(err, want) || (want == fault.Refused) != (charged == ""):
			t.Errorf("%s: %v, charged %q", server, err, charged)
		}
	}
	if dials := n.Dials(); len(dials) != 1 {
		t.Errorf("dialled %v", dials)
	}
}

// A server's addresses are judged as a target's, and found where the resolver finds DNSSEC to fail for its name.
func TestResolveNameServer(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("mixed.example.com. 300 IN A 93.184.216.1", "mixed.example.com. 300 IN A 10.1.2.3")
	n.Handle("bogus.example.com", func(q *dns.Msg) *dns.Msg {
		if !q.CheckingDisabled {
			return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure)
		}
		return egresstest.Reply(q, dns.RcodeSuccess, "bogus.example.com. 300 IN A 93.184.216.1")
	})
	c := n.Client(nil)
	r, err := c.ResolveNameServer(t.Context(), host(t, "bogus.example.com"))
	if err != nil || len(r.V4) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := c.ResolveNameServer(t.Context(), host(t, "mixed.example.com")); !fault.Is(err, fault.Refused) {
		t.Errorf("a private address beside a public one: %v", err)
	}
}
