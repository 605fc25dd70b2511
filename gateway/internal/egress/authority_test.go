package egress_test

import (
	"net/netip"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"

	"github.com/miekg/dns"
)

// A zone's own server is judged and charged before it is asked.
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
