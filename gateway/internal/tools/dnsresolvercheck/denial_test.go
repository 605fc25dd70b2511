package dnsresolvercheck

import (
	"slices"
	"testing"

	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"

	"github.com/miekg/dns"
)

func record(t *testing.T, line string) dns.RR {
	t.Helper()
	rr, err := dns.NewRR(line)
	if err != nil {
		t.Fatal(err)
	}
	return rr
}

// TestDenying has records of a zone, and whether each denies A of www.signed-site.com.
func TestDenying(t *testing.T) {
	t.Parallel()
	const apex = "signed-site.com. 300 IN NSEC "
	domain, err := target.ParseDomain("www.signed-site.com", true)
	if err != nil {
		t.Fatal(err)
	}
	hash := dns.HashName("www.signed-site.com.", dns.SHA1, 0, "")
	before, after := hash[:31]+"0", hash[:31]+"V"
	nsec3 := func(owner, next, flags, iterations, types string) string {
		return owner + ".signed-site.com. 300 IN NSEC3 1 " + flags + " " + iterations + " - " + next + " " + types
	}
	for line, want := range map[string]bool{
		apex + "zzz.signed-site.com. A NS SOA":                        true,
		"SIGNED-Site.com. 300 IN NSEC ZZZ.signed-site.com. A NS SOA":  true,
		apex + "signed-site.com. A NS SOA":                            true, // the only name
		"mail.signed-site.com. 300 IN NSEC signed-site.com. A":        true, // the last one
		"www.signed-site.com. 300 IN NSEC zzz.signed-site.com. TXT":   true,
		"www.signed-site.com. 300 IN NSEC zzz.signed-site.com. A":     false,
		"www.signed-site.com. 300 IN NSEC zzz.signed-site.com. CNAME": false,
		apex + "www.signed-site.com. A NS SOA":                        false,
		apex + "mail.signed-site.com. A NS SOA":                       false,
		"xyz.signed-site.com. 300 IN NSEC signed-site.com. A":         false,
		"zzz.other-site.com. 300 IN NSEC other-site.com. A":           false,
		"com. 300 IN NSEC zzz.com. NS":                                false, // the name is below a delegation
		"signed-site.com. 300 IN NSEC zzz.signed-site.com. DNAME":     false,
		"signed-site.com. 300 IN SOA ns. root. 1 2 3 4 5":             false,
		nsec3(before, after, "0", "0", "A"):                           true,
		nsec3(before, after, "1", "0", "A"):                           false, // opt-out
		nsec3(before, after, "0", "151", "A"):                         false,
		nsec3(hash, after, "0", "0", "TXT"):                           true,
		nsec3(hash, after, "0", "0", "A"):                             false,
		nsec3(after, before, "0", "0", "A"):                           false,
	} {
		got := query{domain, "A"}.denying(t.Context(), []dns.RR{record(t, line)}) != nil
		if got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}

// TestDenialContradicts: two resolvers answer from a record that denies the name, and two have it.
func TestDenialContradicts(t *testing.T) {
	t.Parallel()
	const apex = "example.com. 300 IN NSEC zzz.example.com. A NS SOA RRSIG NSEC DNSKEY"
	denied := func(lines ...string) resolverTemper {
		return func(r fourResolvers, i int, _ string) {
			r.each[i].Handle("www.example.com", func(q *dns.Msg) *dns.Msg {
				m := new(dns.Msg).SetRcode(q, dns.RcodeNameError)
				m.SetEdns0(1232, true)
				m.IsEdns0().Option = append(m.IsEdns0().Option, &dns.EDNS0_EDE{InfoCode: 29})
				for _, line := range lines {
					m.Ns = append(m.Ns, record(t, line))
				}
				return m
			})
		}
	}
	has := func(r fourResolvers, i int, _ string) { r.each[i].Records("www.example.com. 300 IN A 93.184.216.34") }
	for name, c := range map[string]struct {
		tempers [4]resolverTemper
		own     []string
		want    bool
	}{
		"with the record":    {[4]resolverTemper{denied(apex), denied(apex), has, has}, nil, true},
		"at one alone":       {[4]resolverTemper{has, has, has, denied(apex)}, nil, true},
		"with another":       {[4]resolverTemper{denied("xyz.example.com. 300 IN NSEC example.com. A"), has, has, has}, nil, false},
		"without one":        {[4]resolverTemper{denied(), denied(), has, has}, nil, false},
		"everybody denies":   {[4]resolverTemper{denied(apex), denied(apex), denied(apex), denied(apex)}, nil, false},
		"of the own servers": {[4]resolverTemper{denied(), denied(), has, has}, []string{apex}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newFourResolvers(t)
			for i, temper := range c.tempers {
				temper(r, i, "A")
			}
			if c.own != nil {
				r.Records("example.com. 300 IN NS ns1.example.net.", "ns1.example.net. 300 IN A 93.184.216.1",
					"example.com. 300 IN SOA ns1.example.net. hostmaster.example.com. 1 2 3 4 5",
					"www.example.com. 300 IN A 93.184.216.34")
				r.NameServer("93.184.216.1:53").Records(append(c.own,
					"example.com. 300 IN SOA ns1.example.net. hostmaster.example.com. 1 2 3 4 5",
					"www.example.com. 300 IN A 93.184.216.34")...)
			}
			got := r.check(t, "www.example.com", "A")
			if (got.Cause != nil) != c.want || got.Cause != nil && (got.Cause.Code != causeDenial ||
				got.Cause.Record != "example.com. 300 IN NSEC zzz.example.com. A NS SOA RRSIG NSEC DNSKEY") {
				t.Errorf("%+v", got.Cause)
			}
			if found := slices.ContainsFunc(got.Findings,
				func(f finding.Finding) bool { return f.Code == codeDenial }); found != c.want {
				t.Errorf("%+v", got.Findings)
			}
		})
	}
}
