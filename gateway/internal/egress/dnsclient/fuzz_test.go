package dnsclient_test

import (
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"

	"github.com/miekg/dns"
)

// FuzzAnswer feeds the reader of DNS answers arbitrary packets, for the type that is queried of a question that the
// packet may or may not answer.
func FuzzAnswer(f *testing.F) {
	query := new(dns.Msg).SetQuestion("example.com.", dns.TypeA)
	query.Id = 1
	seed := func(rcode int, lines ...string) {
		m := egresstest.Reply(query, rcode, lines...)
		m.SetEdns0(1232, true)
		m.IsEdns0().Option = append(m.IsEdns0().Option, &dns.EDNS0_EDE{InfoCode: 15, ExtraText: "text"})
		packet, err := m.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packet)
		f.Add(packet[:len(packet)/2])
	}
	seed(0, "example.com. 300 IN A 93.184.216.34")
	seed(0, "example.com. 300 IN CNAME a.example.com.", "a.example.com. 300 IN AAAA 2606:4700::1",
		"a.example.com. 300 IN A 10.0.0.1")
	seed(0, "example.com. 300 IN CNAME example.com.")
	seed(3, "com. 900 IN SOA a.gtld-servers.net. nstld.verisign-grs.com. 1 2 3 4 5")
	f.Fuzz(func(t *testing.T, packet []byte) {
		for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeCNAME, dns.TypeTXT} {
			q := query.Copy()
			q.Question[0].Qtype = qtype
			a, ok := dnsclient.ReadPacket(packet, q)
			if !ok {
				continue
			}
			if (a.Code == "") != (len(a.Records) > 0) {
				t.Errorf("code %q with %d records", a.Code, len(a.Records))
			}
			if len(a.CNAMEChain) > dnsclient.MaxAliases || a.KeepFor() > dnsclient.CacheFor || a.KeepFor() < 0 {
				t.Errorf("%+v", a)
			}
			owner := "example.com"
			if len(a.CNAMEChain) > 0 {
				owner = a.CNAMEChain[len(a.CNAMEChain)-1]
			}
			for _, rr := range a.Records {
				h := rr.Header()
				if h.Rrtype != qtype || h.Class != dns.ClassINET || h.Ttl < a.TTL || h.Ttl > 1<<31-1 ||
					strings.TrimSuffix(dns.CanonicalName(h.Name), ".") != owner {
					t.Errorf("%v is no record of %s", rr, owner)
				}
			}
		}
	})
}
