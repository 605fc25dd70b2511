package dnslookup

import (
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/miekg/dns"
)

// answersOf are answers by type: an error code, or records in the form of zone files separated by semicolons.
func answersOf(t *testing.T, all map[string]string) outcome {
	t.Helper()
	o := outcome{name: "example.com"}
	for _, qtype := range allTypes {
		said, asked := all[dns.TypeToString[qtype]]
		if !asked {
			continue
		}
		said, chain, _ := strings.Cut(said, " via ")
		answer := dnsclient.Answer{Code: said, CNAMEChain: strings.Fields(chain)}
		if !strings.HasPrefix(said, "E") {
			answer.Code = ""
			for data := range strings.SplitSeq(said, ";") {
				rr, err := dns.NewRR("example.com. 60 IN " + dns.TypeToString[qtype] + " " + data)
				if err != nil {
					t.Fatal(err)
				}
				answer.Records = append(answer.Records, rr)
			}
		}
		o.types, o.answers = append(o.types, qtype), append(o.answers, answer)
	}
	o.existence = dnsclient.ExistenceOf(o.types, o.answers)
	return o
}

func TestReport(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers  map[string]string
		code     string
		state    finding.State
		findings string
		says     string
	}{
		"addresses":      {map[string]string{"A": "11.80.0.1", "AAAA": "2a10:80::1", "MX": "10 a."}, codePointsTo, finding.OK, "", "points to 11.80.0.1 and 2a10:80::1."},
		"five addresses": {map[string]string{"A": "11.0.0.1;11.0.0.2;11.0.0.3;11.0.0.4;11.0.0.5"}, codePointsTo, finding.OK, "", "11.0.0.4 and 1 more."},
		"through an alias": {map[string]string{"A": "11.80.0.1 via edge.example.net", "CNAME": "edge.example.net."}, codePointsTo, finding.OK, "",
			"example.com (an alias of edge.example.net) points to"},
		"private addresses":       {map[string]string{"A": "10.1.2.3;192.168.0.1", "MX": "10 a."}, codeInside, finding.Warned, codeInside, "private addresses (10.1.2.3 and 192.168.0.1)"},
		"a public one too":        {map[string]string{"A": "10.1.2.3;11.0.0.1"}, codePointsTo, finding.OK, "", ""},
		"an alias that fails":     {map[string]string{"A": "ESERVFAIL", "MX": "ESERVFAIL", "CNAME": "x.net."}, codeAliasFails, finding.Failed, codeAliasFails, "x.net, whose lookup fails"},
		"an alias that is silent": {map[string]string{"A": "ETIMEOUT", "CNAME": "x.net."}, codeTypeNotKnown, finding.Warned, codeTypeNotKnown, ""},
		"other records":           {map[string]string{"A": "ENODATA", "MX": "10 a.;20 b.", "TXT": `"x"`}, codeHasRecords, finding.OK, "", "2 MX records and 1 TXT record."},
		"one type":                {map[string]string{"MX": "10 a.;20 b."}, codeHasRecords, finding.OK, "", "has 2 MX records: a and b."},
		"five servers":            {map[string]string{"NS": "a.;b.;c.;d.;e."}, codeHasRecords, finding.OK, "", "5 NS records: a, b, c, d and 1 more."},
		"a text":                  {map[string]string{"TXT": `"x"`}, codeHasRecords, finding.OK, "", "1 TXT record: “x”."},
		"a type of many words":    {map[string]string{"CAA": `0 issue "a.example"`}, codeHasRecords, finding.OK, "CAA_ISSUERS", "has 1 CAA record."},
		"an alias":                {map[string]string{"CNAME": "edge.example.net."}, codeAlias, finding.OK, "", ""},
		"none of several":         {map[string]string{"CAA": "ENODATA", "SRV": "ENODATA"}, codeNoRecords, finding.Warned, codeNoRecords, ""},
		"none of one type":        {map[string]string{"CAA": "ENODATA"}, codeNoRecord, finding.Noted, codeNoRecord, "no CAA records."},
		"no such name":            {map[string]string{"A": "ENOTFOUND", "AAAA": "ENOTFOUND", "MX": "ENOTFOUND"}, codeNoSuchName, finding.Failed, codeNoSuchName, ""},
		"no target":               {map[string]string{"A": "ENOTFOUND via x.net", "AAAA": "ENOTFOUND via x.net", "CNAME": "x.net."}, codeNoAliasTarget, finding.Failed, codeNoAliasTarget, "x.net"},
		"MX alone denied":         {map[string]string{"MX": "ENOTFOUND"}, codeNotProved, finding.Unknown, codeNotProved, ""},
		"A alone denied":          {map[string]string{"A": "ENOTFOUND", "AAAA": "ETIMEOUT"}, codeNotProved, finding.Unknown, codeNotProved, ""},
		"denied beside A":         {map[string]string{"A": "11.0.0.1", "AAAA": "ENOTFOUND", "MX": "ENOTFOUND"}, codeContradicts, finding.Warned, codeContradicts, "points to 11.0.0.1. The DNS denies the name when asked for AAAA and MX."},
		"no resolver":             {map[string]string{"A": "ETIMEOUT", "MX": "ECONNREFUSED"}, codeNotLookedUp, finding.Unknown, codeNotLookedUp, ""},
		"servers fail":            {map[string]string{"A": "ETIMEOUT", "MX": "ESERVFAIL"}, codeFails, finding.Failed, codeFails, ""},
		"a key that DS names":     {map[string]string{"DS": "1038 13 2 AA", "DNSKEY": "257 3 13 AAAA;256 3 13 AAEC"}, codeHasRecords, finding.OK, "", ""},
		"a key that is gone":      {map[string]string{"DS": "2371 13 2 AA", "DNSKEY": "257 3 13 AAAA"}, codeDSWithoutKey, finding.Failed, codeDSWithoutKey, ""},
		"another algorithm":       {map[string]string{"DS": "1038 8 2 AA", "DNSKEY": "257 3 13 AAAA"}, codeDSWithoutKey, finding.Failed, codeDSWithoutKey, ""},
		"no key at all":           {map[string]string{"DS": "2371 13 2 AA", "DNSKEY": "ENODATA"}, codeDSWithoutKey, finding.Failed, codeDSWithoutKey, ""},
		"keys without DS":         {map[string]string{"DS": "ENODATA", "DNSKEY": "257 3 13 AAAA"}, codeHasRecords, finding.OK, codeKeysWithoutDS, ""},
		"DS not known":            {map[string]string{"DS": "ETIMEOUT", "DNSKEY": "257 3 13 AAAA"}, codeTypeNotKnown, finding.Warned, codeTypeNotKnown, ""},
		"DS of an unsigned name":  {map[string]string{"DS": "ENODATA", "DNSKEY": "ENODATA"}, codeNoRecords, finding.Warned, codeNoRecords, ""},
		"one type fails":          {map[string]string{"A": "11.0.0.1", "AAAA": "ESERVFAIL"}, codeTypeFails, finding.Warned, codeTypeFails, "The lookup of AAAA failed."},
		"one type is not known":   {map[string]string{"A": "11.0.0.1", "AAAA": "ETIMEOUT"}, codeTypeNotKnown, finding.Warned, codeTypeNotKnown, ""},
		"none, and one not known": {map[string]string{"A": "ENODATA", "MX": "ETIMEOUT"}, codeTypeNotKnown, finding.Warned, codeNoRecords + " " + codeTypeNotKnown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := answersOf(t, c.answers).report()
			var codes []string
			for _, f := range got.Findings {
				codes = append(codes, f.Code)
				if strings.Contains(f.Message, "%!") {
					t.Errorf("%s has other arguments than its format: %s", f.Code, f.Message)
				}
			}
			if got.Conclusion.Code != c.code || got.Conclusion.State != c.state || strings.Join(codes, " ") != c.findings ||
				!strings.Contains(got.Conclusion.Message, c.says) {
				t.Errorf("%+v", got)
			}
			failing := slices.ContainsFunc(got.Findings, func(f finding.Finding) bool { return f.Severity == finding.Fail })
			if failing != (got.Conclusion.State == finding.Failed) {
				t.Error("state and findings disagree")
			}
		})
	}
}

func TestReportOfACutAnswer(t *testing.T) {
	t.Parallel()
	for records, want := range map[string]string{
		"NS": "example.com has NS records.", "A": "example.com points to 11.0.0.1 and others.",
	} {
		o := answersOf(t, map[string]string{records: map[string]string{"NS": "a.", "A": "11.0.0.1"}[records]})
		o.answers[0].Cut = true
		if got := o.report().Conclusion.Message; got != want {
			t.Error(got)
		}
	}
}

func TestRemarksAreReportedOnce(t *testing.T) {
	t.Parallel()
	o := answersOf(t, map[string]string{"A": "ESERVFAIL", "MX": "ESERVFAIL"})
	for i := range o.answers {
		o.answers[i].Extended = []dnsclient.ExtendedError{{Code: 6, Name: "DNSSEC Bogus", Text: strings.Repeat("x", 5000)}}
	}
	got := o.report().Findings
	if len(got) != 2 || got[1].Code != codeRemark || len(got[1].Message) > 400 {
		t.Errorf("%+v", got)
	}
}

// TestDenialsAreVerified: a denial of one type leads to queries for A and AAAA.
func TestDenialsAreVerified(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		exists map[uint16]bool
		code   string
	}{
		"a name":         {map[uint16]bool{dns.TypeA: true}, codeContradicts},
		"a name of IPv6": {map[uint16]bool{dns.TypeAAAA: true}, codeContradicts},
		"no name at all": {nil, codeNoSuchName},
		"a name with MX": {map[uint16]bool{dns.TypeMX: true}, codeNoRecord},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.Handle("example.com", func(q *dns.Msg) *dns.Msg {
				if c.exists[q.Question[0].Qtype] {
					return new(dns.Msg).SetReply(q)
				}
				return new(dns.Msg).SetRcode(q, dns.RcodeNameError)
			})
			got := toolstest.MustRun[Result](t, New(n.Client(nil)), tool.Input{Text: "example.com",
				Options: toolstest.Options(t, `{"types":"MX"}`)})
			if got.Conclusion.Code != c.code || len(got.Errors) != 1 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// What a resolver does not validate, it passes on with the CD bit; aliases may form a loop.
func TestWhyALookupFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		extended  *uint16 // of the SERVFAIL
		unchecked bool    // the resolver has an answer with the CD bit
		loop      bool
		code      string
	}{
		"name servers fail":                  {nil, false, false, codeFails},
		"validation, without a reason":       {nil, true, false, codeBogus},
		"validation, with a reason":          {new(dns.ExtendedErrorCodeSignatureExpired), false, false, codeBogus},
		"no name server, with a reason":      {new(dns.ExtendedErrorCodeNoReachableAuthority), true, false, codeFails},
		"no validation, beside the last one": {new(uint16(13)), true, false, codeFails},
		"a loop":                             {nil, false, true, codeAliasLoop},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			for from, to := range map[string]string{"example.com": "loop.example.com.", "loop.example.com": "example.com."} {
				n.Handle(from, func(q *dns.Msg) *dns.Msg {
					m := new(dns.Msg).SetReply(q)
					switch {
					case c.loop && q.Question[0].Qtype == dns.TypeCNAME:
						rr, _ := dns.NewRR(from + ". 60 IN CNAME " + to)
						m.Answer = []dns.RR{rr}
					case c.unchecked && q.CheckingDisabled:
					default:
						m.Rcode = dns.RcodeServerFailure
						if c.extended != nil {
							m.SetEdns0(1232, false)
							m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_EDE{InfoCode: *c.extended}}
						}
					}
					return m
				})
			}
			if got := lookUp(t, n, "example.com", nil); got.Conclusion.Code != c.code || got.Findings[0].Code != c.code {
				t.Errorf("%+v", got.Report)
			}
		})
	}
}
