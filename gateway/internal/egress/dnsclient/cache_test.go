package dnsclient_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

func TestAnswersAreKeptForTheirTime(t *testing.T) {
	t.Parallel()
	soa := func(ttl, minimum uint32) string {
		return fmt.Sprintf("example.com. %d IN SOA ns.example.com. hostmaster.example.com. 1 2 3 4 %d", ttl, minimum)
	}
	negative := func(rcode int, authority ...string) func(q *dns.Msg) *dns.Msg {
		return func(q *dns.Msg) *dns.Msg {
			m := egresstest.Reply(q, rcode, authority...)
			m.Ns, m.Answer = m.Answer, nil
			return m
		}
	}
	positive := func(answer ...string) func(q *dns.Msg) *dns.Msg {
		return func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, 0, answer...) }
	}
	for name, test := range map[string]struct {
		script func(q *dns.Msg) *dns.Msg
		keep   time.Duration // 0: not at all
		ttl    uint32
	}{
		"TTL under the bound":        {positive("example.com. 30 IN A 93.184.216.34"), 30 * time.Second, 30},
		"TTL over the bound":         {positive("example.com. 3600 IN A 93.184.216.34"), time.Minute, 3600},
		"TTL 0":                      {positive("example.com. 0 IN A 93.184.216.34"), 0, 0},
		"TTL with its highest bit":   {positive("example.com. 2147483648 IN A 93.184.216.34"), 0, 0},
		"least TTL of the set":       {positive("example.com. 50 IN A 93.184.216.34", "example.com. 10 IN A 93.184.216.35"), 10 * time.Second, 10},
		"least TTL of the chain":     {positive("example.com. 5 IN CNAME a.example.com.", "a.example.com. 50 IN A 93.184.216.34"), 5 * time.Second, 5},
		"NXDOMAIN by SOA minimum":    {negative(dns.RcodeNameError, soa(300, 20)), 20 * time.Second, 20},
		"NXDOMAIN by SOA TTL":        {negative(dns.RcodeNameError, soa(15, 300)), 15 * time.Second, 15},
		"NODATA over the bound":      {negative(dns.RcodeSuccess, soa(900, 900)), time.Minute, 900},
		"NXDOMAIN without authority": {negative(dns.RcodeNameError), 0, 0},
		"SERVFAIL":                   {negative(dns.RcodeServerFailure, soa(300, 300)), 0, 0},
		"REFUSED":                    {negative(dns.RcodeRefused, soa(300, 300)), 0, 0},
		"silence":                    {func(*dns.Msg) *dns.Msg { return nil }, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.Handle("example.com", test.script)
			clock := egresstest.NewClock()
			c := newClient(t, n, brisk, func(s *dnsclient.Settings) { s.Now = clock.Now })
			first := c.Query(t.Context(), "example.com", dns.TypeA)
			if first.Cached || first.Age != 0 || first.TTL != test.ttl {
				t.Errorf("first answer: %+v", first)
			}
			if test.keep == 0 {
				if again := c.Query(t.Context(), "example.com", dns.TypeA); again.Cached {
					t.Errorf("kept: %+v", again)
				}
				return
			}
			clock.Step(test.keep - 1)
			age := test.keep - 1
			kept := c.Query(t.Context(), "example.com", dns.TypeA)
			if !kept.Cached || kept.Age != age || kept.TTL != test.ttl-uint32(age/time.Second) {
				t.Errorf("just before its end: %+v", kept)
			}
			if kept.Code != first.Code || kept.RCode != first.RCode || kept.Resolver != first.Resolver {
				t.Errorf("kept %+v, first %+v", kept, first)
			}
			clock.Step(1)
			if late := c.Query(t.Context(), "example.com", dns.TypeA); late.Cached {
				t.Errorf("at its end: %+v", late)
			}
		})
	}
}

func TestTTLsAreShownLessTheirAge(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("example.com. 100 IN A 93.184.216.34", "example.com. 90 IN A 93.184.216.35")
	clock := egresstest.NewClock()
	c := newClient(t, n, func(s *dnsclient.Settings) { s.Now = clock.Now })
	first := c.Query(t.Context(), "example.com", dns.TypeA)
	// What one caller does to its records is private to that caller.
	first.Records[0].Header().Ttl = 7
	clock.Step(20500 * time.Millisecond)
	for range 2 {
		a := c.Query(t.Context(), "example.com", dns.TypeA)
		want := []string{"example.com. 80 IN A 93.184.216.34", "example.com. 70 IN A 93.184.216.35"}
		if diff := cmp.Diff(want, texts(a.Records)); diff != "" || a.TTL != 70 {
			t.Errorf("TTL %d: %s", a.TTL, diff)
		}
	}
}

func TestCacheKeepsQuestionsApart(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("example.com. 100 IN A 93.184.216.34", "example.com. 100 IN MX 10 mail.example.com.")
	n.NameServer("1.1.1.1:53").Records("example.com. 100 IN A 93.184.216.36")
	n.NameServer("8.8.8.8:53").Records("example.com. 100 IN A 93.184.216.37")
	c := newClient(t, n)
	for range 2 {
		for want, a := range map[string]dnsclient.Answer{
			"example.com. 100 IN A 93.184.216.34":         c.Query(t.Context(), "example.com", dns.TypeA),
			"example.com. 100 IN MX 10 mail.example.com.": c.Query(t.Context(), "example.com", dns.TypeMX),
			"example.com. 100 IN A 93.184.216.36":         c.QueryServer(t.Context(), netip.MustParseAddrPort("1.1.1.1:53"), "example.com", dns.TypeA),
			"example.com. 100 IN A 93.184.216.37":         c.QueryServer(t.Context(), netip.MustParseAddrPort("8.8.8.8:53"), "example.com", dns.TypeA),
		} {
			if diff := cmp.Diff([]string{want}, texts(a.Records)); diff != "" {
				t.Error(diff)
			}
		}
	}
}

// Strangers choose the names, so nothing they ask for may grow the cache without end.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	text := strings.Repeat("x", 250)
	answer := func(q *dns.Msg) *dns.Msg {
		m := new(dns.Msg).SetReply(q)
		txt := &dns.TXT{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 300}}
		for range 200 {
			txt.Txt = append(txt.Txt, text)
		}
		m.Answer = []dns.RR{txt}
		return m
	}
	c := newClient(t, n)
	const each = 100_000 // about what one of these answers weighs
	for i := range 2 * dnsclient.MaxCacheBytes / each {
		name := fmt.Sprintf("n%d.example.com", i)
		n.HandleRaw(name, func(w dns.ResponseWriter, q *dns.Msg) {
			m := answer(q)
			if w.LocalAddr().Network() == "udp" {
				m.Truncate(512)
			}
			_ = w.WriteMsg(m)
		})
		if a := c.Query(t.Context(), name, dns.TypeTXT); a.Code != "" {
			t.Fatalf("%s: %+v", name, a)
		}
	}
	if size := c.CachedBytes(); size > dnsclient.MaxCacheBytes || size < dnsclient.MaxCacheBytes/2 {
		t.Errorf("%d bytes kept, the bound is %d", size, dnsclient.MaxCacheBytes)
	}
}
