package dnslookup

import (
	"context"
	"encoding/json"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

func lookUp(t *testing.T, n *egresstest.Network, name string, mutate func(*egress.Settings)) Result {
	t.Helper()
	return toolstest.MustRun[Result](t, New(n.Client(mutate)), tool.Input{Text: name})
}

func TestDNSLookupEveryType(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		"example.com. 300 IN A 93.184.216.35",
		"example.com. 300 IN A 93.184.216.34",
		"example.com. 60 IN AAAA 2606:2800:220:1::2",
		"example.com. 60 IN AAAA 2606:2800:220:1::1",
		"example.com. 300 IN MX 20 b.mx.example.com.",
		"example.com. 300 IN MX 10 z.mx.example.com.",
		"example.com. 300 IN MX 20 a.mx.example.com.",
		`example.com. 300 IN TXT "v=spf1 " "-all"`,
		"example.com. 300 IN NS b.iana-servers.net.",
		"example.com. 300 IN NS a.iana-servers.net.",
		`example.com. 300 IN SOA ns.icann.org. john\.doe.dns.icann.org. 2026010101 7200 3600 1209600 3600`,
	)
	got := lookUp(t, n, "Example.COM.", nil)
	want := recordSet{
		A:     []string{"93.184.216.34", "93.184.216.35"},
		AAAA:  []string{"2606:2800:220:1::1", "2606:2800:220:1::2"},
		MX:    []mxRecord{{"z.mx.example.com", 10}, {"a.mx.example.com", 20}, {"b.mx.example.com", 20}},
		TXT:   []string{"v=spf1 -all"},
		CNAME: []string{},
		NS:    []string{"a.iana-servers.net", "b.iana-servers.net"},
		SOA:   []soaRecord{{"ns.icann.org", `john\.doe.dns.icann.org`, 2026010101, 7200, 3600, 1209600, 3600}},
	}
	if d := cmp.Diff(want, got.Records); d != "" {
		t.Errorf("records (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]string{"CNAME": "ENODATA"}, got.Errors); d != "" {
		t.Errorf("errors (-want +got):\n%s", d)
	}
	if got.Domain != "example.com" {
		t.Errorf("domain = %q", got.Domain)
	}
	aaaa := got.Details.AAAA
	if aaaa.TTL == nil || *aaaa.TTL != 60 || aaaa.RCode == nil || *aaaa.RCode != "NOERROR" || aaaa.DurationMs <= 0 {
		t.Errorf("details of AAAA: %+v", aaaa)
	}
	if cname := got.Details.CNAME; cname.TTL != nil || *cname.RCode != "NOERROR" {
		t.Errorf("details of a type without records: %+v", cname)
	}
}

// TestDNSLookupShape holds the names and types of the contract, for a name that has nothing.
func TestDNSLookupShape(t *testing.T) {
	t.Parallel()
	got := lookUp(t, egresstest.New(t), "nowhere.example.com", nil)
	for _, qtype := range usualTypes {
		kind, detail := dns.TypeToString[qtype], *got.Details.of(qtype)
		if detail.DurationMs < 0 || detail.AgeMs != 0 || detail.Cached {
			t.Errorf("%s: %+v", kind, detail)
		}
		detail.DurationMs = 1
	}
	if got.Conclusion.Code != codeNoSuchName || len(got.Findings) != 1 {
		t.Errorf("%+v", got.Report)
	}
	got.Report = finding.NewReport(finding.Conclusion{State: finding.OK, Code: "A", Message: "b"})
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	detail := `{"rcode":"NXDOMAIN","ttl":null,"authenticated":false,"cnameChain":[],"resolver":"system","durationMs":1,"cached":false,"ageMs":0,"extendedErrors":[]}`
	kinds := []string{"A", "AAAA", "CNAME", "MX", "NS", "SOA", "TXT"} // as encoding/json sorts them
	var errors, details []string
	for _, k := range kinds {
		errors = append(errors, `"`+k+`":"ENOTFOUND"`)
		details = append(details, `"`+k+`":`+detail)
	}
	want := `{"conclusion":{"state":"ok","code":"A","message":"b","brief":"","meaning":null,"args":null},"findings":[],"domain":"nowhere.example.com","records":{"A":[],"AAAA":[],"MX":[],"TXT":[],"CNAME":[],"NS":[],"SOA":[]},` +
		`"errors":{` + strings.Join(errors, ",") + `},"details":{` + strings.Join(details, ",") + `}}`
	if d := cmp.Diff(want, string(raw)); d != "" {
		t.Errorf("shape (-want +got):\n%s", d)
	}
}

func TestDNSLookupPrivateAnswersAreShown(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("inside.example.com. 60 IN A 10.1.2.3", "inside.example.com. 60 IN AAAA fd00::1",
		"inside.example.com. 60 IN A 127.0.0.1")
	got := lookUp(t, n, "inside.example.com", nil)
	if d := cmp.Diff([]string{"10.1.2.3", "127.0.0.1"}, got.Records.A); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"fd00::1"}, got.Records.AAAA); d != "" {
		t.Error(d)
	}
	if len(n.Dials()) != 0 {
		t.Errorf("dialled %v", n.Dials())
	}
}

func TestDNSLookupAlias(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		"www.example.com. 300 IN CNAME edge.example.net.",
		"edge.example.net. 30 IN CNAME host.example.org.",
		"host.example.org. 60 IN A 93.184.216.34",
	)
	got := lookUp(t, n, "www.example.com", nil)
	if d := cmp.Diff([]string{"93.184.216.34"}, got.Records.A); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"edge.example.net"}, got.Records.CNAME); d != "" {
		t.Errorf("CNAME is the direct alias: %s", d)
	}
	if d := cmp.Diff([]string{"edge.example.net", "host.example.org"}, got.Details.A.CNAMEChain); d != "" {
		t.Error(d)
	}
	if got.Errors["AAAA"] != "ENODATA" || got.Errors["MX"] != "ENODATA" {
		t.Errorf("an alias whose target lacks the type is ENODATA: %v", got.Errors)
	}
	if _, failed := got.Errors["CNAME"]; failed {
		t.Error("CNAME failed")
	}
}

func TestDNSLookupUnderscores(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(`_dmarc.example.com. 300 IN TXT "v=DMARC1; p=none"`)
	got := lookUp(t, n, "_dmarc.example.com", nil)
	if d := cmp.Diff([]string{"v=DMARC1; p=none"}, got.Records.TXT); d != "" {
		t.Error(d)
	}
}

func TestDNSLookupNullMX(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("example.com. 300 IN MX 0 .")
	if d := cmp.Diff([]mxRecord{{"", 0}}, lookUp(t, n, "example.com", nil).Records.MX); d != "" {
		t.Error(d)
	}
}

func TestDNSLookupResolverFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rcode      int
		code, name string
	}{
		{dns.RcodeServerFailure, "ESERVFAIL", "SERVFAIL"},
		{dns.RcodeRefused, "EREFUSED", "REFUSED"},
		{dns.RcodeFormatError, "EFORMERR", "FORMERR"},
		{dns.RcodeNotImplemented, "ENOTIMP", "NOTIMP"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.Handle("example.com", func(q *dns.Msg) *dns.Msg {
				m := new(dns.Msg).SetRcode(q, c.rcode)
				m.SetEdns0(1232, false)
				m.IsEdns0().Option = append(m.IsEdns0().Option, &dns.EDNS0_EDE{InfoCode: 6, ExtraText: "bogus"})
				return m
			})
			got := lookUp(t, n, "example.com", nil)
			if len(got.Errors) != 7 {
				t.Fatalf("errors: %v", got.Errors)
			}
			for kind, code := range got.Errors {
				if detail := *got.Details.of(dns.StringToType[kind]); code != c.code || *detail.RCode != c.name {
					t.Errorf("%s: %s, rcode %s", kind, code, *detail.RCode)
				}
			}
			want := []dnsclient.ExtendedError{{Code: 6, Name: "DNSSEC Bogus", Text: "bogus"}}
			if d := cmp.Diff(want, got.Details.A.ExtendedErrors); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestDNSLookupOneTypeFails: what failed is reported beside what did not.
func TestDNSLookupOneTypeFails(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Handle("example.com", func(q *dns.Msg) *dns.Msg {
		if q.Question[0].Qtype != dns.TypeA {
			return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure)
		}
		m := new(dns.Msg).SetReply(q)
		m.AuthenticatedData = true
		m.Answer = append(m.Answer, &dns.A{
			Hdr: dns.RR_Header{Name: "example.com.", Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 5},
			A:   net.IPv4(93, 184, 216, 34),
		})
		return m
	})
	got := lookUp(t, n, "example.com", nil)
	if d := cmp.Diff([]string{"93.184.216.34"}, got.Records.A); d != "" {
		t.Error(d)
	}
	if _, failed := got.Errors["A"]; failed || len(got.Errors) != 6 {
		t.Errorf("errors: %v", got.Errors)
	}
	if !got.Details.A.Authenticated || got.Details.MX.Authenticated {
		t.Error("authenticated is not reported by type")
	}
}

// TestDNSLookupAsksAtOnce: the first of seven queries is answered when all have arrived.
func TestDNSLookupAsksAtOnce(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	var arrived atomic.Int32
	all := make(chan struct{})
	n.Handle("example.com", func(q *dns.Msg) *dns.Msg {
		if int(arrived.Add(1)) == len(usualTypes) {
			close(all)
		}
		select {
		case <-all:
		case <-t.Context().Done():
		}
		return new(dns.Msg).SetReply(q)
	})
	lookUp(t, n, "example.com", nil)
	for _, qtype := range usualTypes {
		if got := n.QueriesFor("example.com", qtype); got != 1 {
			t.Errorf("%s was asked %d times", dns.TypeToString[qtype], got)
		}
	}
}

func TestDNSLookupResolverName(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.NameServer("9.9.9.9:53").Records("example.com. 300 IN A 93.184.216.34")
	got := lookUp(t, n, "example.com", func(s *egress.Settings) {
		s.Resolvers = append(s.Resolvers[:0], netip.MustParseAddrPort("9.9.9.9:53"))
	})
	if r := got.Details.A.Resolver; r == nil || *r != "9.9.9.9:53" {
		t.Errorf("a public resolver is reported: %v", r)
	}

	silent := egresstest.New(t)
	silent.Handle("example.com", func(*dns.Msg) *dns.Msg { return new(dns.Msg) })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(ctx, silent.Client(nil), "example.com", usualTypes); err == nil {
		t.Error("a run whose visitor has left gives a result")
	}
}

// TestDNSLookupNoAnswer: where no server answers there is no response code, no TTL and no server.
func TestDNSLookupNoAnswer(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Fail(egresstest.ResolverAddr.String(), syscall.ECONNREFUSED)
	got := lookUp(t, n, "example.com", nil)
	for _, qtype := range usualTypes {
		kind, detail := dns.TypeToString[qtype], *got.Details.of(qtype)
		if got.Errors[kind] != "ECONNREFUSED" || detail.RCode != nil || detail.TTL != nil || detail.Resolver != nil {
			t.Errorf("%s: %s, %+v", kind, got.Errors[kind], detail)
		}
	}
}

func TestDNSLookupCachedAnswer(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("example.com. 300 IN A 93.184.216.34")
	client := n.Client(nil)
	for i := range 2 {
		got, err := run(t.Context(), client, "example.com", usualTypes)
		if err != nil {
			t.Fatal(err)
		}
		if detail := got.Details.A; detail.Cached != (i == 1) || i == 1 && detail.AgeMs <= 0 ||
			*detail.Resolver != "system" {
			t.Errorf("run %d: %+v", i, detail)
		}
	}
}

func TestDNSLookupOneSOA(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("example.com. 300 IN SOA a.example.com. x.example.com. 1 2 3 4 5",
		"example.com. 300 IN SOA b.example.com. x.example.com. 6 2 3 4 5")
	if got := lookUp(t, n, "example.com", nil).Records.SOA; len(got) != 1 {
		t.Errorf("%d records: %+v", len(got), got)
	}
}

func TestRCodeName(t *testing.T) {
	t.Parallel()
	if rcodeName(-1) != nil {
		t.Error("-1 has a name")
	}
	for rcode, want := range map[int]string{0: "NOERROR", 3: "NXDOMAIN", 3000: "RCODE3000"} {
		if got := rcodeName(rcode); got == nil || *got != want {
			t.Errorf("rcodeName(%d) = %v, want %s", rcode, got, want)
		}
	}
}
