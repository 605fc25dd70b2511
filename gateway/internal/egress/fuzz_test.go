package egress_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/shared/netpolicy"

	"github.com/miekg/dns"
)

// FuzzAddresses takes addresses from arbitrary records, and judges the names that they are aliases of.
func FuzzAddresses(f *testing.F) {
	query := new(dns.Msg).SetQuestion("example.com.", dns.TypeA)
	for _, lines := range [][]string{
		{"example.com. 300 IN A 93.184.216.34", "example.com. 300 IN AAAA 64:ff9b::1"},
		{"example.com. 300 IN CNAME a.example.com.", "a.example.com. 300 IN AAAA ::ffff:10.0.0.1"},
	} {
		packet, err := egresstest.Reply(query, dns.RcodeSuccess, lines...).Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packet)
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		m := new(dns.Msg)
		if m.Unpack(packet) != nil {
			return
		}
		a := dnsclient.Answer{Records: m.Answer}
		for _, address := range egress.Addresses(a, a) {
			if !address.IsValid() || address.Zone() != "" {
				t.Errorf("address %v", address)
			}
		}
		for _, rr := range m.Answer {
			if alias, is := rr.(*dns.CNAME); is {
				egress.IsPrivateName(strings.TrimSuffix(dns.CanonicalName(alias.Target), "."))
			}
		}
	})
}

// FuzzFollow sends a stranger's Location and Set-Cookie through a chain. Whatever they say, nothing but public
// addresses is dialled and the chain ends as one of the known ends.
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
	for _, location := range []string{"/x", "//127.0.0.1/", "http://inside.example.com/", "http:\\\\127.0.0.1",
		"http://127\u30020\u30020\u30021/", "?", "\x00", "http://[::1]/"} {
		f.Add(location, "a=1; Path=/; Domain=example.com; Max-Age=1")
	}
	ends := map[egress.ChainEnd]bool{
		egress.EndFinal: true, egress.EndLoop: true, egress.EndTooManyRedirects: true, egress.EndMissingLocation: true,
		egress.EndInvalidLocation:   true,
		egress.EndUnsupportedScheme: true, egress.EndBlocked: true, egress.EndUnreachable: true,
	}
	f.Fuzz(func(t *testing.T, location, cookie string) {
		text := fmt.Sprintf("HTTP/1.1 302 Found\r\nLocation: %s\r\nSet-Cookie: %s\r\nContent-Length: 0\r\n\r\n", location,
			cookie)
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
