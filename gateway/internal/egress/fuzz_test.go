package egress_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/shared/netpolicy"

	"github.com/miekg/dns"
)

// FuzzAnswer feeds the reader of DNS answers arbitrary packets, for the type that is asked of a question that the packet
// may or may not answer.
func FuzzAnswer(f *testing.F) {
	query := new(dns.Msg).SetQuestion("example.com.", dns.TypeA)
	query.Id = 1
	seed := func(rcode int, lines ...string) {
		m := reply(query, rcode, lines...)
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
	seed(0, "example.com. 300 IN CNAME a.example.com.", "a.example.com. 300 IN AAAA 2606:4700::1", "a.example.com. 300 IN A 10.0.0.1")
	seed(0, "example.com. 300 IN CNAME example.com.")
	seed(3, "com. 900 IN SOA a.gtld-servers.net. nstld.verisign-grs.com. 1 2 3 4 5")
	f.Fuzz(func(t *testing.T, packet []byte) {
		for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeCNAME, dns.TypeTXT} {
			q := query.Copy()
			q.Question[0].Qtype = qtype
			a, ok := egress.ReadPacket(packet, q)
			if !ok {
				continue
			}
			if (a.Code == "") != (len(a.Records) > 0) {
				t.Errorf("code %q with %d records", a.Code, len(a.Records))
			}
			if len(a.CNAMEChain) > egress.MaxAliases || a.KeepFor() > egress.DNSCacheFor || a.KeepFor() < 0 {
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
			for _, address := range egress.Addresses(a, a) {
				if !address.IsValid() || address.Zone() != "" {
					t.Errorf("address %v", address)
				}
			}
			for _, name := range a.CNAMEChain {
				egress.IsPrivateName(name)
			}
		}
	})
}

// FuzzFollow sends a stranger's Location and Set-Cookie through a chain. Whatever they say, nothing but public addresses is
// dialled and the chain ends as one of the known ends.
func FuzzFollow(f *testing.F) {
	n := egresstest.New(f)
	n.Records("example.com. 300 IN A "+web4, "inside.example.com. 300 IN A 10.0.0.1", "localhost. 300 IN A 127.0.0.1")
	answers := make(chan string, 2)
	n.ServeConn(web4+":80", func(c net.Conn) {
		select {
		case text := <-answers:
			answerWith(text)(c)
		default: // the fuzzer took it back
		}
	})
	c := n.Client(nil, egress.WithBounds(2*time.Second, time.Second, time.Second))
	for _, location := range []string{"/x", "//127.0.0.1/", "http://inside.example.com/", "http:\\\\127.0.0.1", "http://127\u30020\u30020\u30021/", "?", "\x00", "http://[::1]/"} {
		f.Add(location, "a=1; Path=/; Domain=example.com; Max-Age=1")
	}
	ends := map[egress.ChainEnd]bool{
		egress.EndFinal: true, egress.EndLoop: true, egress.EndTooManyRedirects: true, egress.EndMissingLocation: true, egress.EndInvalidLocation: true,
		egress.EndUnsupportedScheme: true, egress.EndBlocked: true, egress.EndUnreachable: true,
	}
	f.Fuzz(func(t *testing.T, location, cookie string) {
		text := fmt.Sprintf("HTTP/1.1 302 Found\r\nLocation: %s\r\nSet-Cookie: %s\r\nContent-Length: 0\r\n\r\n", location, cookie)
		answers <- text
		answers <- "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
		chain := follow(t, c, "http://example.com/", 1)
		for len(answers) > 0 {
			<-answers
		}
		if !ends[chain.End] || len(chain.Hops) > 2 {
			t.Errorf("%+v", chain)
		}
		for _, to := range n.Dials() {
			if !netpolicy.Judge(to.Addr()).Public {
				t.Errorf("dialled %v", to)
			}
		}
		n.ForgetDials()
	})
}
