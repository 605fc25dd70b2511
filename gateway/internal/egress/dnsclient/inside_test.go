package dnsclient_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/shared/netpolicy"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/miekg/dns"
)

// judging gives a client the judgements that egress hands it.
func judging(s *dnsclient.Settings) {
	s.Public = func(a netip.Addr) bool { return netpolicy.Judge(a).Public }
	s.PrivateName = func(name string) bool {
		_, err := netpolicy.ParseName(name, true)
		return err != nil
	}
}

var namesInside = []string{"redis.backend", "six.backend", "dual.backend", "alias.backend", "mail.backend",
	"redis.project_inside", "redis"}

// embedded makes a network's resolver answer as Docker's does: it has the containers, by name and by name and
// network, has no data for the types that they lack, and queries the public DNS for everything else.
func embedded(n *egresstest.Network) {
	n.Records(
		"redis.backend. 600 IN A 172.18.0.3",
		"six.backend. 600 IN AAAA fd00:18::3",
		"dual.backend. 600 IN A 172.18.0.4",
		"dual.backend. 600 IN AAAA fd00:18::4",
		"alias.backend. 600 IN CNAME redis.backend.",
		"redis.project_inside. 600 IN A 172.18.0.3",
		"redis. 600 IN A 172.18.0.3",
		"mail.backend. 600 IN A 172.18.0.5",
		"mail.backend. 600 IN MX 10 redis.backend.",
		"mail.backend. 600 IN TXT \"inside\"",
		// A visitor's own zone, which leads inside.
		"to-backend.example.com. 600 IN CNAME redis.backend.",
		"to-internal.example.com. 600 IN CNAME db.corp.internal.",
		"db.corp.internal. 600 IN A 10.0.0.5",
		"internal. 600 IN NS ns.corp.internal.",
		"twice.example.com. 600 IN CNAME to-backend.example.com.",
	)
	for _, name := range namesInside {
		// What the public DNS denies may be kept, and what Docker has no data of may not: it sends no SOA record.
		n.Handle(name, func(q *dns.Msg) *dns.Msg {
			m := n.Recursive(q)
			if m.Rcode == dns.RcodeSuccess && len(m.Answer) == 0 {
				m.Ns = nil
			}
			return m
		})
	}
}

var everyType = []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeMX, dns.TypeTXT, dns.TypeCNAME, dns.TypeNS, dns.TypeSOA}

// TestNamesInsideDoNotExist holds that a name inside cannot be distinguished from one that is absent, whatever is
// queried.
func TestNamesInsideDoNotExist(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	embedded(n)
	c := newClient(t, n, judging)
	reported := cmp.Options{cmpopts.EquateComparable(netip.AddrPort{}), cmpopts.EquateEmpty(),
		cmpopts.IgnoreUnexported(dnsclient.Answer{}),
		cmpopts.IgnoreFields(dnsclient.Answer{}, "Duration", "Age", "Authority", "TTL")}
	// The second round is answered from the cache.
	for _, name := range slices.Concat(namesInside, namesInside) {
		for _, qtype := range everyType {
			got := c.Query(t.Context(), name, qtype)
			want := c.Query(t.Context(), "absent."+name, qtype)
			if want.Code != dnsclient.CodeNotFound {
				t.Fatalf("absent.%s: %+v", name, want)
			}
			if diff := cmp.Diff(want, got, reported); diff != "" {
				t.Errorf("%s %s differs from a name that does not exist:\n%s", name, dns.TypeToString[qtype], diff)
			}
		}
	}
}

// TestAliasesInsideDoNotExist: the owner of a zone can point a name of it inside, and a resolver of both follows.
func TestAliasesInsideDoNotExist(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	embedded(n)
	c := newClient(t, n, judging)
	for name, chain := range map[string][]string{
		"to-backend.example.com":  {"redis.backend"},
		"to-internal.example.com": {"db.corp.internal"},
		"twice.example.com":       {"to-backend.example.com", "redis.backend"},
	} {
		for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeMX} {
			got := c.Query(t.Context(), name, qtype)
			if got.Code != dnsclient.CodeNotFound || got.RCode != dns.RcodeNameError || len(got.Records) > 0 ||
				!slices.Equal(got.CNAMEChain, chain) {
				t.Errorf("%s %s: %+v", name, dns.TypeToString[qtype], got)
			}
		}
		// The alias itself is the zone's own word.
		if got := c.Query(t.Context(), name, dns.TypeCNAME); got.Code != "" {
			t.Errorf("%s CNAME: %+v", name, got)
		}
	}
}

// TestPrivateAnswersOfPublicNamesAreTold is the other side: what is delegated, what has a public address, what has no
// address at all.
func TestPrivateAnswersOfPublicNamesAreTold(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		"10-0-0-1.example.com. 60 IN A 10.0.0.1",
		"alias.example.com. 60 IN CNAME 10-0-0-1.example.com.",
		"own-root.backend. 60 IN A 93.184.216.34",
		"mixed.backend. 60 IN A 10.0.0.1",
		"mixed.backend. 60 IN A 93.184.216.34",
		"half.backend. 60 IN A 10.0.0.1",
		"half.backend. 60 IN AAAA 2606:4700::1",
		"text.backend. 60 IN TXT \"no address\"",
		"named.office. 60 IN A 10.0.0.1",
		"office. 60 IN NS ns.office.",
	)
	c := newClient(t, n, judging)
	for _, test := range []struct {
		name  string
		qtype uint16
		want  string
	}{
		{"10-0-0-1.example.com", dns.TypeA, ""},
		{"10-0-0-1.example.com", dns.TypeAAAA, dnsclient.CodeNoData},
		{"alias.example.com", dns.TypeA, ""},
		{"own-root.backend", dns.TypeA, ""},
		{"own-root.backend", dns.TypeMX, dnsclient.CodeNoData},
		{"mixed.backend", dns.TypeA, ""},
		{"half.backend", dns.TypeA, ""},
		{"half.backend", dns.TypeAAAA, ""},
		{"half.backend", dns.TypeTXT, dnsclient.CodeNoData},
		{"text.backend", dns.TypeTXT, ""},
		{"text.backend", dns.TypeA, dnsclient.CodeNoData},
		{"named.office", dns.TypeA, ""},
		{"absent.backend", dns.TypeA, dnsclient.CodeNotFound},
	} {
		if got := c.Query(t.Context(), test.name, test.qtype); got.Code != test.want {
			t.Errorf("%s %s: %+v, want code %q", test.name, dns.TypeToString[test.qtype], got, test.want)
		}
	}
}

// TestPrivateAnswersWaitForTheNameServers: where the question for the name servers fails, that is what is reported.
func TestPrivateAnswersWaitForTheNameServers(t *testing.T) {
	t.Parallel()
	for want, script := range map[string]func(*dns.Msg) *dns.Msg{
		dnsclient.CodeServFail: func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, dns.RcodeServerFailure) },
		dnsclient.CodeRefused:  func(q *dns.Msg) *dns.Msg { return egresstest.Reply(q, dns.RcodeRefused) },
		dnsclient.CodeTimeout:  func(*dns.Msg) *dns.Msg { return nil },
	} {
		n := egresstest.New(t)
		n.Records("redis.backend. 0 IN A 172.18.0.3", "own-root.backend. 60 IN A 93.184.216.34")
		n.Handle("backend", script)
		c := newClient(t, n, brisk, judging)
		for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeMX} {
			got := c.Query(t.Context(), "redis.backend", qtype)
			if got.Code != want || len(got.Records) > 0 {
				t.Errorf("%s: %+v, want code %s", dns.TypeToString[qtype], got, want)
			}
		}
		if got := c.Query(t.Context(), "own-root.backend", dns.TypeA); got.Code != "" {
			t.Errorf("a public address: %+v", got)
		}
		if got := c.Query(t.Context(), "own-root.backend", dns.TypeMX); got.Code != dnsclient.CodeNoData {
			t.Errorf("no data beside a public address: %+v", got)
		}
	}
}

// TestNameServersAreAskedForSeldom bounds what the judgement costs: nothing where an answer holds a public address, one
// question for a top-level domain else, and no addresses of names below a real one.
func TestNameServersAreAskedForSeldom(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("example.com. 60 IN A 93.184.216.34", "example.com. 60 IN MX 10 mail.example.com.",
		"_dmarc.example.com. 60 IN TXT \"v=DMARC1\"")
	c := newClient(t, n, judging)
	c.Query(t.Context(), "example.com", dns.TypeA)
	if got := n.QueriesFor("com", dns.TypeNS); got != 0 {
		t.Errorf("%d questions for a public address", got)
	}
	c.Query(t.Context(), "example.com", dns.TypeMX)
	c.Query(t.Context(), "example.com", dns.TypeTXT)
	c.Query(t.Context(), "_dmarc.example.com", dns.TypeTXT)
	if got := n.QueriesFor("com", dns.TypeNS); got != 1 {
		t.Errorf("%d questions for the name servers, want one", got)
	}
	for _, q := range n.Queries() {
		if strings.HasPrefix(q.Name, "_dmarc") && q.Qtype != dns.TypeTXT {
			t.Errorf("asked for %s %s", q.Name, dns.TypeToString[q.Qtype])
		}
	}
}

// TestTheSameServerIsAsked: a resolver decides about names of its own alone.
func TestTheSameServerIsAsked(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("redis.backend. 60 IN A 172.18.0.3", "backend. 60 IN NS ns.backend.")
	quad := n.NameServer("9.9.9.9:53")
	quad.Records("redis.backend. 60 IN A 172.18.0.3", "public.example.com. 60 IN A 10.0.0.1")
	c := newClient(t, n, judging)
	server := netip.MustParseAddrPort("9.9.9.9:53")
	if got := c.Query(t.Context(), "redis.backend", dns.TypeA); got.Code != "" {
		t.Errorf("delegated here: %+v", got)
	}
	ask := map[string]func(string) dnsclient.Answer{
		"kept": func(name string) dnsclient.Answer {
			return c.QueryServer(t.Context(), server, name, dns.TypeA)
		},
		"fresh": func(name string) dnsclient.Answer {
			return c.QueryServerFresh(t.Context(), server, name, dns.TypeA)
		},
	}
	for way, query := range ask {
		if got := query("redis.backend"); got.Code != dnsclient.CodeNotFound {
			t.Errorf("%s, not delegated there: %+v", way, got)
		}
		if got := query("public.example.com"); got.Code != "" {
			t.Errorf("%s, a public name: %+v", way, got)
		}
	}
}
