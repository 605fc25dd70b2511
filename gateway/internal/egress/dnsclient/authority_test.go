package dnsclient_test

import (
	"net/netip"
	"sync/atomic"
	"testing"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"

	"github.com/miekg/dns"
)

// Each query of a zone's own server is sent anew, also where the first packet is lost.
func TestAuthoritiesAreAskedEachTime(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	server := n.NameServer("93.184.216.1:53")
	var asked atomic.Int32
	server.Handle("example.com", func(q *dns.Msg) *dns.Msg {
		if asked.Add(1) == 1 {
			return nil
		}
		m := egresstest.Reply(q, dns.RcodeSuccess, "example.com. 300 IN A 93.184.216.34")
		m.Authoritative = !q.RecursionDesired && !q.AuthenticatedData
		return m
	})
	c := newClient(t, n, brisk)
	for run := range 2 {
		a := c.AskAuthority(t.Context(), netip.MustParseAddrPort("93.184.216.1:53"), "example.com", dns.TypeA)
		if a.Code != "" || !a.Authoritative || a.Cached || a.TTL != 300 {
			t.Errorf("run %d: %+v", run, a)
		}
	}
	if asked.Load() != 3 {
		t.Errorf("asked %d times, want one that was lost and one each run", asked.Load())
	}
}

// Silence is waited for twice, and no longer than the caller waits.
func TestSilentAuthority(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	server := n.NameServer("93.184.216.1:53")
	server.Handle("example.com", func(*dns.Msg) *dns.Msg { return nil })
	c := newClient(t, n, brisk)
	a := c.AskAuthority(t.Context(), netip.MustParseAddrPort("93.184.216.1:53"), "example.com", dns.TypeA)
	if asked := server.QueriesFor("example.com", dns.TypeA); a.Code != dnsclient.CodeTimeout || asked != 2 {
		t.Errorf("%s after %d questions", a.Code, asked)
	}
}

// What DNSSEC finds to fail is for those who requested it, and is not kept for others.
func TestUncheckedQueriesAreApart(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Handle("example.com", func(q *dns.Msg) *dns.Msg {
		if !q.CheckingDisabled {
			return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure)
		}
		return egresstest.Reply(q, dns.RcodeSuccess, "example.com. 300 IN A 93.184.216.34")
	})
	c := newClient(t, n)
	for range 2 {
		if a := c.QueryUnchecked(t.Context(), "example.com", dns.TypeA); a.Code != "" || len(a.Records) != 1 {
			t.Errorf("unchecked: %+v", a)
		}
		if a := c.Query(t.Context(), "example.com", dns.TypeA); a.Code != dnsclient.CodeServFail {
			t.Errorf("checked: %+v", a)
		}
	}
	if asked := n.QueriesFor("example.com", dns.TypeA); asked != 1+2 {
		t.Errorf("asked %d times", asked)
	}
}
