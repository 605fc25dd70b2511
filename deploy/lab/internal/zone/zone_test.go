package zone

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func table(t *testing.T) *Table {
	t.Helper()
	tab := NewTable(nil)
	if err := tab.Add(
		"com. 60 IN SOA ns. host. 1 2 3 4 5",
		"site.com. 60 IN SOA ns.site.com. host. 1 2 3 4 5",
		"site.com. 60 IN A 11.0.0.1",
		"deep.under.site.com. 60 IN A 11.0.0.2",
		"alias.site.com. 60 IN CNAME site.com.",
		"loop.site.com. 60 IN CNAME loop.site.com.",
		"outside.site.com. 60 IN CNAME scripted.com.",
	); err != nil {
		t.Fatal(err)
	}
	tab.Script("scripted.com", Step{Records: []string{"@ 0 IN A 8.8.8.8"}}, Step{Records: []string{"@ 0 IN A 127.0.0.1"}})
	tab.Script("chain.com", Step{Records: []string{"@ 0 IN CNAME end.com."}})
	tab.Script("end.com", Step{Records: []string{"@ 0 IN A 10.0.0.1"}})
	tab.Script("fails.com", Step{RCode: dns.RcodeServerFailure,
		Extended: []dns.EDNS0_EDE{{InfoCode: 6, ExtraText: "expired"}}})
	tab.Script("tcp.com", Step{Truncate: true, Records: []string{"@ 0 IN A 11.0.0.3"}})
	tab.Script("silent.com", Step{Drop: true})
	return tab
}

func query(name string, qtype uint16) *dns.Msg {
	return new(dns.Msg).SetQuestion(name, qtype).SetEdns0(1232, false)
}

// short is an answer in one line: rcode, then the answers' types and data, then the authority's owner.
func short(m *dns.Msg) string {
	if m == nil {
		return "silence"
	}
	words := []string{dns.RcodeToString[m.Rcode]}
	for _, rr := range m.Answer {
		text := strings.Fields(rr.String())
		words = append(words, text[3]+" "+text[4])
	}
	for _, rr := range m.Ns {
		words = append(words, "under "+rr.Header().Name)
	}
	if m.Truncated {
		words = append(words, "truncated")
	}
	return strings.Join(words, ", ")
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		qtype uint16
		tcp   bool
		want  string
	}{
		{name: "site.com.", qtype: dns.TypeA, want: "NOERROR, A 11.0.0.1"},
		{name: "SITE.com.", qtype: dns.TypeA, want: "NOERROR, A 11.0.0.1"},
		{name: "site.com.", qtype: dns.TypeMX, want: "NOERROR, under site.com."},
		{name: "no.site.com.", qtype: dns.TypeA, want: "NXDOMAIN, under site.com."},
		{name: "under.site.com.", qtype: dns.TypeA, want: "NOERROR, under site.com."},
		{name: "other.com.", qtype: dns.TypeA, want: "NXDOMAIN, under com."},
		{name: "alias.site.com.", qtype: dns.TypeA, want: "NOERROR, CNAME site.com., A 11.0.0.1"},
		{name: "alias.site.com.", qtype: dns.TypeCNAME, want: "NOERROR, CNAME site.com."},
		{name: "alias.site.com.", qtype: dns.TypeMX, want: "NOERROR, CNAME site.com., under site.com."},
		{name: "loop.site.com.", qtype: dns.TypeA, want: "SERVFAIL"},
		{name: "chain.com.", qtype: dns.TypeA, want: "NOERROR, CNAME end.com., A 10.0.0.1"},
		{name: "chain.com.", qtype: dns.TypeAAAA, want: "NOERROR, CNAME end.com., under com."},
		{name: "fails.com.", qtype: dns.TypeA, want: "SERVFAIL"},
		{name: "silent.com.", qtype: dns.TypeA, want: "silence"},
		{name: "tcp.com.", qtype: dns.TypeA, want: "NOERROR, truncated"},
		{name: "tcp.com.", qtype: dns.TypeA, tcp: true, want: "NOERROR, A 11.0.0.3"},
	}
	for _, test := range tests {
		t.Run(test.name+dns.TypeToString[test.qtype], func(t *testing.T) {
			t.Parallel()
			if got := short(table(t).answer(query(test.name, test.qtype), !test.tcp)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestScriptsGoStepByStep(t *testing.T) {
	t.Parallel()
	tab := table(t)
	for i, want := range []string{"A 8.8.8.8", "A 127.0.0.1", "A 127.0.0.1"} {
		if got := short(tab.answer(query("scripted.com.", dns.TypeA), true)); got != "NOERROR, "+want {
			t.Errorf("query %d: %s, want %s", i+1, got, want)
		}
	}
	// The types have steps of their own.
	if got := short(tab.answer(query("scripted.com.", dns.TypeAAAA), true)); got != "NOERROR, under com." {
		t.Errorf("AAAA: %s", got)
	}
}

func TestCycles(t *testing.T) {
	t.Parallel()
	tab := table(t)
	tab.Cycle("rebind.com", Step{Records: []string{"@ 0 IN A 8.8.8.8"}}, Step{Records: []string{"@ 0 IN A 127.0.0.1"}})
	for i, want := range []string{"A 8.8.8.8", "A 127.0.0.1", "A 8.8.8.8", "A 127.0.0.1"} {
		if got := short(tab.answer(query("rebind.com.", dns.TypeA), true)); got != "NOERROR, "+want {
			t.Errorf("query %d: %s, want %s", i+1, got, want)
		}
	}
}

func TestTablesLieOverOthers(t *testing.T) {
	t.Parallel()
	over := NewTable(table(t))
	over.Script("site.com", Step{RCode: dns.RcodeNameError, WithoutSOA: true})
	for name, want := range map[string]string{"site.com.": "NXDOMAIN", "alias.site.com.": "NXDOMAIN, CNAME site.com.",
		"deep.under.site.com.": "NOERROR, A 11.0.0.2"} {
		if got := short(over.answer(query(name, dns.TypeA), true)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestExtendedErrors(t *testing.T) {
	t.Parallel()
	m := table(t).answer(query("fails.com.", dns.TypeA), true)
	for _, option := range m.IsEdns0().Option {
		if ede, ok := option.(*dns.EDNS0_EDE); ok && ede.InfoCode == 6 && ede.ExtraText == "expired" {
			return
		}
	}
	t.Errorf("no extended error in %v", m)
}

type loopback struct{}

func (loopback) Listen(network, _ string) (net.Listener, error) {
	return net.Listen(network, "127.0.0.1:0")
}

func (loopback) ListenPacket(network, _ string) (net.PacketConn, error) {
	return net.ListenPacket(network, "127.0.0.1:0")
}

func TestServes(t *testing.T) {
	t.Parallel()
	var s Servers
	if err := s.Serve(loopback{}, table(t), "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	for _, server := range s.running {
		var at net.Addr
		if server.PacketConn != nil {
			at = server.PacketConn.LocalAddr()
		} else {
			at = server.Listener.Addr()
		}
		network := at.Network()
		m, _, err := (&dns.Client{Net: network, Timeout: 5 * time.Second}).Exchange(query("site.com.", dns.TypeA),
			at.String())
		if err != nil || short(m) != "NOERROR, A 11.0.0.1" {
			t.Errorf("%s: %v, %v", network, m, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Names below a derived zone have what is derived for them; what was added wins, and nothing is no name.
func TestDerived(t *testing.T) {
	t.Parallel()
	tab := table(t)
	tab.Derive("derived.com", func(labels string) []string {
		if strings.HasPrefix(labels, "no") {
			return nil
		}
		return []string{`@ 60 IN TXT "of ` + labels + `"`}
	})
	if err := tab.Add(`added.derived.com. 60 IN TXT "added"`); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a.b.derived.com.":   `NOERROR, TXT "of`,
		"added.derived.com.": `NOERROR, TXT "added"`,
		"no.derived.com.":    "NXDOMAIN, under com.",
		"A.DERIVED.com.":     `NOERROR, TXT "of`,
	} {
		for _, over := range []*Table{tab, NewTable(tab)} {
			if got := short(over.answer(query(name, dns.TypeTXT), true)); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
	if got := short(tab.answer(query("a.derived.com.", dns.TypeA), true)); got != "NOERROR, under com." {
		t.Errorf("another type: %s", got)
	}
}
