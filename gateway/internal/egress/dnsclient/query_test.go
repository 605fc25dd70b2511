package dnsclient_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/miekg/dns"
)

func TestQueryReadsRecordsAndAliases(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		"example.com. 300 IN A 93.184.216.34",
		"example.com. 299 IN A 93.184.216.35",
		"example.com. 60 IN MX 10 mail.example.com.",
		"www.example.com. 120 IN CNAME Edge.Example.com.",
		"edge.example.com. 40 IN CNAME example.com.",
		`_dmarc.example.com. 60 IN TXT "v=DMARC1; p=none"`,
	)
	c := newClient(t, n)
	for _, test := range []struct {
		name  string
		qtype uint16
		want  []string
		chain []string
		ttl   uint32
	}{
		{"example.com", dns.TypeA, []string{"example.com. 300 IN A 93.184.216.34", "example.com. 299 IN A 93.184.216.35"}, nil, 299},
		{"www.example.com", dns.TypeMX, []string{"example.com. 60 IN MX 10 mail.example.com."}, []string{"edge.example.com", "example.com"}, 40},
		{"www.example.com", dns.TypeCNAME, []string{"www.example.com. 120 IN CNAME Edge.Example.com."}, nil, 120},
		{"_dmarc.example.com", dns.TypeTXT, []string{`_dmarc.example.com. 60 IN TXT "v=DMARC1; p=none"`}, nil, 60},
	} {
		a := c.Query(t.Context(), test.name, test.qtype)
		if diff := cmp.Diff(test.want, texts(a.Records)); diff != "" {
			t.Errorf("%s %d: %s", test.name, test.qtype, diff)
		}
		if a.Code != "" || a.RCode != dns.RcodeSuccess || a.TTL != test.ttl || !cmp.Equal(a.CNAMEChain, test.chain) {
			t.Errorf("%s %d: %+v", test.name, test.qtype, a)
		}
		if a.Resolver != egresstest.ResolverAddr || a.Duration <= 0 || a.Cached {
			t.Errorf("%s %d: resolver %v, duration %v, cached %v", test.name, test.qtype, a.Resolver, a.Duration, a.Cached)
		}
	}
}

func TestQueryCodes(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("exists.example.com. 300 IN A 93.184.216.34", "alias.example.com. 300 IN CNAME exists.example.com.",
		"dangling.example.com. 300 IN CNAME gone.example.com.")
	rcodes := map[string]struct {
		rcode int
		code  string
	}{
		"servfail.example.com": {dns.RcodeServerFailure, dnsclient.CodeServFail},
		"refused.example.com":  {dns.RcodeRefused, dnsclient.CodeRefused},
		"formerr.example.com":  {dns.RcodeFormatError, dnsclient.CodeFormErr},
		"notimp.example.com":   {dns.RcodeNotImplemented, dnsclient.CodeNotImp},
		"yxdomain.example.com": {dns.RcodeYXDomain, dnsclient.CodeBadResp},
	}
	for name, want := range rcodes {
		n.Handle(name, func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, want.rcode) })
	}
	c := newClient(t, n)
	for name, want := range rcodes {
		a := c.Query(t.Context(), name, dns.TypeA)
		if a.Code != want.code || a.RCode != want.rcode || len(a.Records) != 0 {
			t.Errorf("%s: %+v", name, a)
		}
	}
	for _, test := range []struct {
		name  string
		qtype uint16
		code  string
		rcode int
	}{
		{"exists.example.com", dns.TypeAAAA, dnsclient.CodeNoData, dns.RcodeSuccess},
		{"alias.example.com", dns.TypeAAAA, dnsclient.CodeNoData, dns.RcodeSuccess},
		{"nowhere.example.com", dns.TypeA, dnsclient.CodeNotFound, dns.RcodeNameError},
		{"dangling.example.com", dns.TypeA, dnsclient.CodeNotFound, dns.RcodeNameError},
	} {
		a := c.Query(t.Context(), test.name, test.qtype)
		if a.Code != test.code || a.RCode != test.rcode {
			t.Errorf("%s: %+v", test.name, a)
		}
	}
	if a := c.Query(t.Context(), strings.Repeat("a", 64)+".com", dns.TypeA); a.Code == "" || a.RCode != -1 {
		t.Errorf("a name that cannot be sent: %+v", a)
	}
}

// One honest answer among forged ones is found, whatever is wrong with the others.
func TestForgedPacketsAreIgnored(t *testing.T) {
	t.Parallel()
	forged := "victim.example.com. 300 IN A 6.6.6.6"
	pack := func(m *dns.Msg) []byte {
		packet, err := m.Pack()
		if err != nil {
			panic(err)
		}
		return packet
	}
	for name, forge := range map[string]func(q *dns.Msg) []byte{
		"another id": func(q *dns.Msg) []byte { m := egresstest.Reply(q, 0, forged); m.Id++; return pack(m) },
		"another name": func(q *dns.Msg) []byte {
			m := egresstest.Reply(q, 0, forged)
			m.Question[0].Name = "x."
			return pack(m)
		},
		"another type": func(q *dns.Msg) []byte { m := egresstest.Reply(q, 0, forged); m.Question[0].Qtype++; return pack(m) },
		"another class": func(q *dns.Msg) []byte {
			m := egresstest.Reply(q, 0, forged)
			m.Question[0].Qclass = dns.ClassCHAOS
			return pack(m)
		},
		"no question": func(q *dns.Msg) []byte { m := egresstest.Reply(q, 0, forged); m.Question = nil; return pack(m) },
		"NXDOMAIN, no question": func(q *dns.Msg) []byte {
			m := egresstest.Reply(q, dns.RcodeNameError)
			m.Question = nil
			return pack(m)
		},
		"two questions": func(q *dns.Msg) []byte {
			m := egresstest.Reply(q, 0, forged)
			m.Question = append(m.Question, m.Question[0])
			return pack(m)
		},
		"a query": func(q *dns.Msg) []byte { m := egresstest.Reply(q, 0, forged); m.Response = false; return pack(m) },
		"another opcode": func(q *dns.Msg) []byte {
			m := egresstest.Reply(q, 0, forged)
			m.Opcode = dns.OpcodeUpdate
			return pack(m)
		},
		"noise":          func(*dns.Msg) []byte { return []byte("noise") },
		"nothing":        func(*dns.Msg) []byte { return nil },
		"half a message": func(q *dns.Msg) []byte { p := pack(egresstest.Reply(q, 0, forged)); return p[:len(p)-3] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.HandleRaw("victim.example.com", func(w dns.ResponseWriter, q *dns.Msg) {
				_, _ = w.Write(forge(q))
				_, _ = w.Write(pack(egresstest.Reply(q, 0, "victim.example.com. 300 IN A 93.184.216.34")))
			})
			a := newClient(t, n).Query(t.Context(), "victim.example.com", dns.TypeA)
			if diff := cmp.Diff([]string{"victim.example.com. 300 IN A 93.184.216.34"}, texts(a.Records)); diff != "" {
				t.Errorf("%s, code %q", diff, a.Code)
			}
			if tries := n.QueriesFor("victim.example.com", dns.TypeA); tries != 1 {
				t.Errorf("%d queries, want 1", tries)
			}
		})
	}
}

func TestSilenceAndNoiseEndAfterTwoTries(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Handle("silent.example.com", func(*dns.Msg) *dns.Msg { return nil })
	n.HandleRaw("noisy.example.com", func(w dns.ResponseWriter, q *dns.Msg) {
		p, _ := egresstest.Reply(q, 0, "noisy.example.com. 300 IN A 93.184.216.34").Pack()
		_, _ = w.Write(p[:len(p)-1])
	})
	c := newClient(t, n, brisk)
	for name, code := range map[string]string{"silent.example.com": dnsclient.CodeTimeout,
		"noisy.example.com": dnsclient.CodeBadResp} {
		a := c.Query(t.Context(), name, dns.TypeA)
		if a.Code != code || a.RCode != -1 || a.Resolver.IsValid() {
			t.Errorf("%s: %+v", name, a)
		}
		if tries := n.QueriesFor(name, dns.TypeA); tries != dnsclient.Tries {
			t.Errorf("%s: %d tries, want %d", name, tries, dnsclient.Tries)
		}
	}
}

func TestSecondTryGetsThrough(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	var asked atomic.Int32
	n.Handle("lossy.example.com", func(q *dns.Msg) *dns.Msg {
		if asked.Add(1) == 1 {
			return nil
		}
		return egresstest.Reply(q, 0, "lossy.example.com. 300 IN A 93.184.216.34")
	})
	if a := newClient(t, n, brisk).Query(t.Context(), "lossy.example.com", dns.TypeA); a.Code != "" {
		t.Errorf("%+v", a)
	}
}

func TestSecondTryGoesToTheNextResolver(t *testing.T) {
	t.Parallel()
	second := netip.MustParseAddrPort("192.0.2.54:53")
	for name, first := range map[string]func(n *egresstest.Network){
		"silent": func(n *egresstest.Network) { n.Handle("example.com", func(*dns.Msg) *dns.Msg { return nil }) },
		"SERVFAIL": func(n *egresstest.Network) {
			n.Handle("example.com", func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, dns.RcodeServerFailure) })
		},
		"REFUSED": func(n *egresstest.Network) {
			n.Handle("example.com", func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, dns.RcodeRefused) })
		},
		"gone": func(n *egresstest.Network) { n.Fail(egresstest.ResolverAddr.String(), syscall.ECONNREFUSED) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			first(n)
			other := n.NameServer(second.String())
			other.Records("example.com. 300 IN A 93.184.216.34")
			c := newClient(t, n, func(s *dnsclient.Settings) { s.Resolvers = append(s.Resolvers, second) }, brisk)
			if a := c.Query(t.Context(), "example.com", dns.TypeA); a.Code != "" || a.Resolver != second {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestWhatAServerSaidBeatsSilence(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Handle("example.com", func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, dns.RcodeServerFailure) })
	n.NameServer("192.0.2.54:53").Handle("example.com", func(*dns.Msg) *dns.Msg { return nil })
	c := newClient(t, n, func(s *dnsclient.Settings) {
		s.Resolvers = append(s.Resolvers, netip.MustParseAddrPort("192.0.2.54:53"))
	}, brisk)
	if a := c.Query(t.Context(), "example.com", dns.TypeA); a.Code != dnsclient.CodeServFail {
		t.Errorf("%+v", a)
	}
}

func TestNoResolverListens(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Fail(egresstest.ResolverAddr.String(), syscall.ENETUNREACH)
	if a := newClient(t, n).Query(t.Context(), "example.com", dns.TypeA); a.Code != dnsclient.CodeConnRefused ||
		a.RCode != -1 {
		t.Errorf("%+v", a)
	}
}

func TestTruncatedAnswersAreAskedForOverTCP(t *testing.T) {
	t.Parallel()
	var records []string
	for i := range 200 {
		records = append(records, fmt.Sprintf("big.example.com. 300 IN A 93.184.%d.%d", i/100, i%100))
	}
	n := egresstest.New(t)
	n.Records(records...)
	a := newClient(t, n).Query(t.Context(), "big.example.com", dns.TypeA)
	if a.Code != "" || len(a.Records) != len(records) {
		t.Errorf("code %q, %d records of %d", a.Code, len(a.Records), len(records))
	}
	if queries := n.QueriesFor("big.example.com", dns.TypeA); queries != 2 {
		t.Errorf("%d queries, want one over UDP and one over TCP", queries)
	}
}

// Some servers cut a message in the middle of a record, so that only its beginning can be read.
func TestTruncatedInTheMiddleOfARecord(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.HandleRaw("cut.example.com", func(w dns.ResponseWriter, q *dns.Msg) {
		m := egresstest.Reply(q, 0, "cut.example.com. 300 IN A 93.184.216.34")
		if w.LocalAddr().Network() == "tcp" {
			_ = w.WriteMsg(m)
			return
		}
		m.Truncated = true
		p, _ := m.Pack()
		_, _ = w.Write(p[:len(p)-2])
	})
	if a := newClient(t, n).Query(t.Context(), "cut.example.com", dns.TypeA); a.Code != "" || len(a.Records) != 1 {
		t.Errorf("%+v", a)
	}
}

func TestTruncatedWithoutTCPIsAFailure(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.HandleRaw("udponly.example.com", func(w dns.ResponseWriter, q *dns.Msg) {
		if w.LocalAddr().Network() == "tcp" {
			_ = w.Close()
			return
		}
		m := egresstest.Reply(q, 0, "udponly.example.com. 300 IN A 93.184.216.34")
		m.Truncated = true
		_ = w.WriteMsg(m)
	})
	if a := newClient(t, n).Query(t.Context(), "udponly.example.com", dns.TypeA); len(a.Records) != 0 || a.RCode != -1 {
		t.Errorf("half an answer was taken: %+v", a)
	}
}

func TestQueriesCarryEDNS(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	got := make(chan string, 2)
	script := func(q *dns.Msg) *dns.Msg {
		opt := q.IsEdns0()
		got <- fmt.Sprintf("size %d, do %v, ad %v, rd %v, cd %v", opt.UDPSize(), opt.Do(), q.AuthenticatedData,
			q.RecursionDesired, q.CheckingDisabled)
		m := egresstest.Reply(q, 0, "example.com. 300 IN A 93.184.216.34")
		m.AuthenticatedData = true
		return m
	}
	n.Handle("example.com", script)
	n.NameServer("9.9.9.9:53").Handle("example.com", script)
	c := newClient(t, n)
	if a := c.Query(t.Context(), "example.com", dns.TypeA); !a.Authenticated {
		t.Errorf("%+v", a)
	}
	server := netip.MustParseAddrPort("9.9.9.9:53")
	if a := c.QueryServer(t.Context(), server, "example.com", dns.TypeA); !a.Authenticated || a.Resolver != server {
		t.Errorf("%+v", a)
	}
	want := []string{"size 1232, do false, ad true, rd true, cd false", "size 1232, do true, ad true, rd true, cd false"}
	if diff := cmp.Diff(want, []string{<-got, <-got}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]netip.AddrPort{server}, n.Dials(), cmpopts.EquateComparable(netip.AddrPort{})); diff != "" {
		t.Error(diff)
	}
}

func TestServersWithoutEDNS(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(q *dns.Msg) *dns.Msg{
		"FORMERR":              func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, dns.RcodeFormatError) },
		"NOTIMP":               func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, dns.RcodeNotImplemented) },
		"FORMERR, bare header": func(q *dns.Msg) *dns.Msg { m := egresstest.Reply(q, dns.RcodeFormatError); m.Question = nil; return m },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.Handle("old.example.com", func(q *dns.Msg) *dns.Msg {
				if q.IsEdns0() != nil {
					return refuse(q)
				}
				return egresstest.Reply(q, 0, "old.example.com. 300 IN A 93.184.216.34")
			})
			if a := newClient(t, n).Query(t.Context(), "old.example.com", dns.TypeA); a.Code != "" || len(a.Records) != 1 {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestAliasChains(t *testing.T) {
	t.Parallel()
	chain := func(length int) []string {
		var lines []string
		for i := range length {
			lines = append(lines, fmt.Sprintf("c%d.example.com. 300 IN CNAME c%d.example.com.", i, i+1))
		}
		return append(lines, fmt.Sprintf("c%d.example.com. 300 IN A 93.184.216.34", length))
	}
	for _, test := range []struct {
		name   string
		answer []string
		code   string
		chain  int
	}{
		{"none", []string{"c0.example.com. 300 IN A 93.184.216.34"}, "", 0},
		{"as long as may be", chain(dnsclient.MaxAliases), "", dnsclient.MaxAliases},
		{"one longer", chain(dnsclient.MaxAliases + 1), dnsclient.CodeBadResp, 0},
		{"to itself", []string{"c0.example.com. 300 IN CNAME C0.example.com."}, dnsclient.CodeBadResp, 0},
		{"in a circle", []string{"c0.example.com. 300 IN CNAME c1.example.com.", "c1.example.com. 300 IN CNAME c0.example.com."}, dnsclient.CodeBadResp, 0},
		{"in a circle further on", []string{"c0.example.com. 300 IN CNAME c1.example.com.", "c1.example.com. 300 IN CNAME c2.example.com.", "c2.example.com. 300 IN CNAME c1.example.com."}, dnsclient.CodeBadResp, 0},
		{"in another order", []string{"c2.example.com. 300 IN A 93.184.216.34", "c1.example.com. 300 IN CNAME c2.example.com.", "c0.example.com. 300 IN CNAME c1.example.com."}, "", 2},
		{"of another class", []string{"c0.example.com. 300 CH CNAME c1.example.com.", "c1.example.com. 300 IN A 93.184.216.34"}, dnsclient.CodeNoData, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.Handle("c0.example.com", func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, 0, test.answer...) })
			a := newClient(t, n).Query(t.Context(), "c0.example.com", dns.TypeA)
			if a.Code != test.code || len(a.CNAMEChain) != test.chain {
				t.Errorf("%+v", a)
			}
			if (test.code == "") != (len(a.Records) == 1) {
				t.Errorf("records %v", texts(a.Records))
			}
		})
	}
}

func TestOnlyRecordsOfTheNameAreTaken(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Handle("example.com", func(q *dns.Msg) *dns.Msg {
		m := egresstest.Reply(q, 0,
			"other.example.com. 300 IN A 6.6.6.6",
			"Example.COM. 300 IN A 93.184.216.34",
			"example.com. 300 IN AAAA 2606:4700::1",
			"example.com. 300 CH A 6.6.6.6",
		)
		// A record without data would be read as a value full of zeroes.
		empty := &dns.RFC3597{Hdr: dns.RR_Header{Name: "example.com.", Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 300}}
		m.Answer = append(m.Answer, empty)
		return m
	})
	a := newClient(t, n).Query(t.Context(), "example.com", dns.TypeA)
	if diff := cmp.Diff([]string{"Example.COM. 300 IN A 93.184.216.34"}, texts(a.Records)); diff != "" {
		t.Error(diff)
	}
}

func TestExtendedErrors(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Handle("blocked.example.com", func(q *dns.Msg) *dns.Msg {
		m := egresstest.Reply(q, dns.RcodeNameError)
		m.SetEdns0(1232, false)
		opt := m.IsEdns0()
		opt.Option = append(opt.Option,
			&dns.EDNS0_EDE{InfoCode: dns.ExtendedErrorCodeBlocked, ExtraText: "by\x00 policy\x1b[31m\xff"},
			&dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "0011223344556677"},
			&dns.EDNS0_EDE{InfoCode: 48000},
			&dns.EDNS0_EDE{InfoCode: 49152, ExtraText: strings.Repeat("é", 200)},
		)
		return m
	})
	a := newClient(t, n).Query(t.Context(), "blocked.example.com", dns.TypeA)
	want := []dnsclient.ExtendedError{
		{Code: 15, Name: "Blocked", Text: "by policy[31m\uFFFD"},
		{Code: 48000, Name: "Unassigned"},
		{Code: 49152, Name: "Private Use", Text: strings.Repeat("é", 128)},
	}
	if diff := cmp.Diff(want, a.Extended); diff != "" || a.Code != dnsclient.CodeNotFound {
		t.Errorf("%s, code %q", diff, a.Code)
	}
	for code, name := range map[uint16]string{0: "Other Error", 6: "DNSSEC Bogus", 18: "Prohibited",
		30: "Invalid Query Type"} {
		if got := dnsclient.ExtendedErrorName(code); got != name {
			t.Errorf("code %d is %q, want %q", code, got, name)
		}
	}
}

func TestSystemResolvers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "resolv.conf")
	write := func(text string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	c := newClient(t, egresstest.New(t))
	c.ReadSystemResolvers(path)
	loopback := addrPorts("127.0.0.1:53", "[::1]:53")
	check := func(what string, want []netip.AddrPort) {
		t.Helper()
		if diff := cmp.Diff(want, c.SystemResolvers(), cmpopts.EquateComparable(netip.AddrPort{})); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	check("no file", loopback)
	epoch := time.Unix(1_700_000_000, 0)
	write("# comment\nsearch corp.example\nnameserver 10.0.0.53\nnameserver fe80::1%eth0\nnameserver "+
		"not-an-address\noptions ndots:5\n", epoch)
	check("two servers", addrPorts("10.0.0.53:53", "[fe80::1%eth0]:53"))
	write("nameserver 10.0.0.54\n", epoch.Add(time.Second))
	check("changed", addrPorts("10.0.0.54:53"))
	write("search corp.example\n", epoch.Add(2*time.Second))
	check("no server", loopback)
	write("nameserver 10.0.0.55\n", epoch.Add(3*time.Second))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	check("gone before it was read", loopback)
}

// A search domain would make a client's name mean another one.
func TestSearchDomainsAreNeverUsed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(path, []byte("nameserver 192.0.2.53\nsearch inside.example.net\noptions ndots:9\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	n := egresstest.New(t)
	n.Records("intern.example.com.inside.example.net. 300 IN A 93.184.216.34")
	c := newClient(t, n, func(s *dnsclient.Settings) { s.Resolvers = nil })
	c.ReadSystemResolvers(path)
	if a := c.Query(t.Context(), "intern.example.com", dns.TypeA); a.Code != dnsclient.CodeNotFound ||
		a.Resolver != egresstest.ResolverAddr {
		t.Errorf("%+v", a)
	}
	for _, q := range n.Queries() {
		if q.Name != "intern.example.com." {
			t.Errorf("asked for %s", q.Name)
		}
	}
}

// The source port is half of what a forger must guess, so no two queries may share a socket.
func TestEveryQueryHasASocketOfItsOwn(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("example.com. 0 IN A 93.184.216.34")
	var mu sync.Mutex
	ports := make(map[string]bool)
	record := func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
		conn, err := n.Dial(ctx, network, to)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			ports[conn.LocalAddr().String()] = true
		}
		return conn, err
	}
	c := clientOver(t, record)
	const queries = 20
	for range queries {
		c.Query(t.Context(), "example.com", dns.TypeA)
	}
	// The kernel may give a port again once it is free; that all are one port would be our doing.
	if len(ports) < queries/2 {
		t.Errorf("%d queries from %d ports", queries, len(ports))
	}
}

// A query that this service could not send says nothing of a server, and less than what another said.
func TestTriesThatCannotBeMade(t *testing.T) {
	t.Parallel()
	first, second := netip.MustParseAddrPort("192.0.2.1:53"), netip.MustParseAddrPort("192.0.2.2:53")
	for name, test := range map[string]struct {
		fails map[netip.AddrPort]error
		code  string
	}{
		"neither server":               {map[netip.AddrPort]error{first: syscall.EMFILE, second: syscall.EMFILE}, dnsclient.CodeBusy},
		"the first, the other answers": {map[netip.AddrPort]error{first: syscall.EAGAIN}, ""},
		"the other, the first refuses": {map[netip.AddrPort]error{first: syscall.ECONNREFUSED, second: syscall.ENOBUFS}, dnsclient.CodeBusy},
		"no shortage":                  {map[netip.AddrPort]error{first: syscall.ECONNREFUSED, second: syscall.EHOSTUNREACH}, dnsclient.CodeConnRefused},
	} {
		n := egresstest.New(t)
		for _, server := range []netip.AddrPort{first, second} {
			n.NameServer(server.String()).Records("example.com. 300 IN A 93.184.216.34")
		}
		for server, err := range test.fails {
			n.Fail(server.String(), err)
		}
		c, err := dnsclient.New(dnsclient.Settings{
			Resolvers: []netip.AddrPort{first, second},
			DialResolver: func(ctx context.Context, transport string, to netip.AddrPort) (net.Conn, error) {
				return n.Dial(ctx, transport+"4", to)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		a := c.Query(t.Context(), "example.com", dns.TypeA)
		if a.Code != test.code || (a.Busy != nil) != (test.code == dnsclient.CodeBusy) {
			t.Errorf("%s: %q, %v", name, a.Code, a.Busy)
		}
		if again := c.Query(t.Context(), "example.com", dns.TypeA); again.Cached != (test.code == "") {
			t.Errorf("%s: kept %v", name, again.Cached)
		}
	}
}

// What this service has no slot to read, it must not blame on the name servers.
func TestNoPlaceToReadIsOurOwnFault(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	for i := range 150 {
		n.Records(fmt.Sprintf("large.example.com. 300 IN NS n%d.%s", i, strings.Repeat("x", 60)))
	}
	c := newClient(t, n, brisk)
	leave := c.TakeReading()
	if a := c.Query(t.Context(), "large.example.com", dns.TypeNS); a.Code != dnsclient.CodeBusy ||
		!fault.Is(a.Busy, fault.Busy) || a.RCode != -1 {
		t.Errorf("without a slot: %+v", a)
	}
	gone, end := context.WithCancel(t.Context())
	end()
	if a := c.QueryFresh(gone, "large.example.com", dns.TypeNS); a.Code != dnsclient.CodeTimeout {
		t.Errorf("a caller that has left: %+v", a)
	}
	leave()
	if a := c.Query(t.Context(), "large.example.com", dns.TypeNS); a.Code != "" || len(a.Records) != 150 {
		t.Errorf("with one: %s, %d records", a.Code, len(a.Records))
	}
}

// Over a connection no one else can answer: what is no answer ends it, else a server could have us read without end.
func TestWhatIsNoAnswerEndsAConnection(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	n.HandleRaw("noisy.example.com", func(w dns.ResponseWriter, q *dns.Msg) {
		m := egresstest.Reply(q, 0)
		if m.Truncated = w.LocalAddr().Network() == "udp"; m.Truncated {
			_ = w.WriteMsg(m)
			return
		}
		m.Question[0].Name = "another.example.com."
		for range 10 {
			_ = w.WriteMsg(m)
		}
		<-ended // a client that waits for more fails with ETIMEOUT
	})
	a := newClient(t, n, brisk).Query(t.Context(), "noisy.example.com", dns.TypeA)
	if a.Code != dnsclient.CodeBadResp {
		t.Errorf("%+v", a)
	}
}

func TestFreshQueriesPassTheCache(t *testing.T) {
	t.Parallel()
	const server = "9.9.9.9:53"
	for name, ask := range map[string]struct {
		kept, fresh func(context.Context, *dnsclient.Client) dnsclient.Answer
	}{
		"the operator's resolvers": {
			func(ctx context.Context, c *dnsclient.Client) dnsclient.Answer {
				return c.Query(ctx, "example.com", dns.TypeA)
			},
			func(ctx context.Context, c *dnsclient.Client) dnsclient.Answer {
				return c.QueryFresh(ctx, "example.com", dns.TypeA)
			},
		},
		"one server": {
			func(ctx context.Context, c *dnsclient.Client) dnsclient.Answer {
				return c.QueryServer(ctx, netip.MustParseAddrPort(server), "example.com", dns.TypeA)
			},
			func(ctx context.Context, c *dnsclient.Client) dnsclient.Answer {
				return c.QueryServerFresh(ctx, netip.MustParseAddrPort(server), "example.com", dns.TypeA)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			answers := make(chan string, 2)
			answers <- "example.com. 300 IN A 93.184.216.34"
			answers <- "example.com. 300 IN A 93.184.216.35"
			script := func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, dns.RcodeSuccess, <-answers) }
			n.Handle("example.com", script)
			n.NameServer(server).Handle("example.com", script)
			c := newClient(t, n)
			ask.kept(t.Context(), c)
			want := []string{"example.com. 300 IN A 93.184.216.35"}
			fresh := ask.fresh(t.Context(), c)
			if diff := cmp.Diff(want, texts(fresh.Records)); diff != "" || fresh.Cached || fresh.Duration <= 0 {
				t.Errorf("fresh: %+v %s", fresh, diff)
			}
			fresh.Records[0].Header().Ttl = 7 // what the caller does to its records is private to that caller
			if after := ask.kept(t.Context(), c); !after.Cached || after.TTL != 300 ||
				after.Records[0].(*dns.A).A.String() != "93.184.216.35" {
				t.Errorf("kept afterwards: %+v", after)
			}
		})
	}
}

func TestFreshQueriesEndWithTheirCaller(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Handle("silent.example.com", func(*dns.Msg) *dns.Msg { return nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a := newClient(t, n).QueryFresh(ctx, "silent.example.com", dns.TypeA); a.Code != dnsclient.CodeTimeout {
		t.Errorf("a caller that has left: %+v", a)
	}
}
