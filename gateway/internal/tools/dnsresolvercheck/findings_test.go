package dnsresolvercheck

import (
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
)

// holdsTogether fails where a report says fail without a finding that is, or the other way round.
func holdsTogether(t *testing.T, r finding.Report) {
	t.Helper()
	failing := slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Severity == finding.Fail })
	if failing != (r.Conclusion.State == finding.Failed) || r.Conclusion.Message == "" {
		t.Errorf("%+v", r)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	servfail := func(codes ...uint16) resolverAnswer { return said("ESERVFAIL", 0, codes...) }
	timeout := said("ETIMEOUT", 0)
	unasked := said("EBUSY", 0)
	unasked.Reason = new(rows.Sentence(codeNotSent, nil))
	one, two, none := said("one", 300), said("two", 300), said("none", 300)
	type four = [4]resolverAnswer
	all := func(a resolverAnswer) four { return four{a, a, a, a} }
	for name, c := range map[string]struct {
		recordType string
		answers    four
		own        *authority
		code       string
		state      finding.State
		findings   string // each once
	}{
		"agreement":              {"A", all(one), ownSays(300, "one"), codeAgree, finding.OK, ""},
		"absence":                {"A", all(none), ownSays(300, "none"), codeAgreeAbsent, finding.Noted, codeAgreeAbsent},
		"one times out":          {"A", four{one, one, one, timeout}, nil, codePartial, finding.Warned, codeResolverFailed},
		"one is not asked":       {"A", four{one, one, one, unasked}, nil, codePartial, finding.Warned, codeNotAsked},
		"addresses by place":     {"A", four{one, one, two, one}, nil, codeVariation, finding.Noted, ""},
		"different texts":        {"TXT", four{one, one, two, one}, nil, codeConflict, finding.Failed, codeConflict},
		"an older text":          {"TXT", four{one, one, said("two", 41), one}, ownSays(300, "one"), codeChange, finding.Noted, codeChange},
		"missing at one":         {"A", four{one, one, none, one}, nil, codeMixedPresence, finding.Warned, codeMixedPresence},
		"filtered at one":        {"A", four{one, one, said("none", 300, 17), one}, nil, codeFiltered, finding.Warned, codeFiltered},
		"a page of its own":      {"A", four{one, one, one, said("146.112.61.106", 300)}, nil, codeFiltered, finding.Warned, codeFiltered},
		"leads nowhere":          {"A", four{one, said("0.0.0.0", 300), one, one}, nil, codeFiltered, finding.Warned, codeFiltered},
		"leads to the user":      {"A", four{one, said("127.0.0.1", 300), one, one}, nil, codeFiltered, finding.Warned, codeFiltered},
		"loopback at all":        {"A", all(said("127.0.0.1", 300)), nil, codeAgree, finding.OK, ""},
		"servers differ":         {"TXT", all(one), ownSays(300, "one", "two"), codeOwnDiffer, finding.Warned, codeOwnDiffer},
		"servers by turn":        {"A", all(one), ownSays(300, "one", "two"), codeAgree, finding.OK, ""},
		"a server lacks it":      {"A", all(one), ownSays(300, "one", "none"), codeOwnDiffer, finding.Warned, codeOwnDiffer},
		"servers say otherwise":  {"A", all(two), ownSays(300, "one"), codeOwnOther, finding.Noted, codeOwnOther},
		"only one, compared":     {"A", four{one, timeout, timeout, timeout}, ownSays(300, "one"), codeOneAnswered, finding.Warned, codeOneAnswered + " " + codeResolverFailed},
		"only one, not compared": {"A", four{one, timeout, timeout, timeout}, nil, codeNotCompared, finding.Unknown, codeNotCompared + " " + codeResolverFailed},
		"bad signatures":         {"A", all(servfail(7)), nil, codeDNSSEC, finding.Failed, codeDNSSEC},
		"one does not validate":  {"A", four{servfail(7), servfail(7), servfail(7), one}, nil, codeDNSSEC, finding.Failed, codeDNSSEC},
		"two do not validate":    {"A", four{servfail(7), servfail(7), one, one}, nil, codePartial, finding.Warned, codeDNSSECSome},
		"out of reach":           {"A", all(servfail(22)), nil, codeUnreachable, finding.Failed, codeUnreachable},
		"out of reach for one":   {"A", four{servfail(22), one, one, one}, nil, codePartial, finding.Warned, codeUnreachableSome},
		"both causes":            {"A", four{servfail(6), servfail(22), servfail(22), servfail(22)}, nil, codeDNSSEC, finding.Failed, codeDNSSEC + " " + codeUnreachableSome},
		"no cause":               {"A", four{servfail(), timeout, timeout, timeout}, nil, codeUnresolvable, finding.Failed, codeUnresolvable + " " + codeResolverFailed},
		"nothing comes back":     {"A", all(timeout), ownSays(300, "ETIMEOUT"), codeNobodyAnswered, finding.Unknown, codeNobodyAnswered + " " + codeResolverFailed},
		"no server is queried":   {"A", all(unasked), nil, codeNobodyAnswered, finding.Unknown, codeNobodyAnswered + " " + codeNotAsked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			domain, err := target.ParseDomain("example.com", true)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range publicResolvers {
				c.answers[i].ID, c.answers[i].Name = r.id, r.name
			}
			got := query{domain, c.recordType}.result(c.answers[:], c.own, nil).Report
			holdsTogether(t, got)
			var codes []string
			for _, f := range got.Findings {
				codes = append(codes, f.Code)
			}
			if got.Conclusion.Code != c.code || got.Conclusion.State != c.state ||
				strings.Join(slices.Compact(codes), " ") != c.findings {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestTheServersBesideResolversWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for want, own := range map[string]*authority{
		"": nil, "neither": ownSays(60, "ETIMEOUT"), "own": ownSays(60, "one", "ETIMEOUT"),
	} {
		if got := (Result{Authoritative: own}).ownServersToo(); len(got) > 1 || want != "" && got[want] != true {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (Result{Authoritative: ownSays(60, "EBUSY", "unasked")}).ownServersToo(); got != nil {
		t.Errorf("servers that were not asked: %q", got)
	}
}
