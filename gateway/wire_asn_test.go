package main

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/miekg/dns"
)

// asnZone answers for a zone of its own on loopback and counts the questions.
func asnZone(t *testing.T, texts map[string]string) (address string, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	return nameServer(t, func(w dns.ResponseWriter, q *dns.Msg) {
		asked.Add(1)
		m := new(dns.Msg).SetReply(q)
		text, ok := texts[q.Question[0].Name]
		if !ok {
			m.Rcode = dns.RcodeNameError
		} else {
			m.Answer = []dns.RR{&dns.TXT{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET,
				Ttl: 300}, Txt: []string{text}}}
		}
		_ = w.WriteMsg(m)
	}), asked
}

// The setting names the zone, the operator's resolvers are asked, and what one instance learnt the others know.
func TestASNAnswersAreShared(t *testing.T) {
	t.Parallel()
	resolver, asked := asnZone(t, map[string]string{
		"31.108.90.216.origin.mapping.test-site.com.": "23028 | 216.90.108.0/24 | US | arin | 1998-09-25",
		"as23028.mapping.test-site.com.":              "23028 | US | arin | 2002-01-04 | TEAM-CYMRU, US",
	})
	env := []string{"DNS_RESOLVERS=" + resolver, "ASN_DNS_ZONE=Mapping.Test-Site.com.", "RATE_LIMIT_REDIS_URL=redis://" +
		miniredis.RunT(t).Addr()}
	for i, s := range []*started{start(t, env...), start(t, env...)} {
		resp, body := s.post(t, "asn-lookup", "216.90.108.31")
		cached := []string{`"cached":false`, `"cached":true`}[i]
		if resp.StatusCode != http.StatusOK || !strings.Contains(body, `"zone":"mapping.test-site.com"`) ||
			!strings.Contains(body, `"name":"TEAM-CYMRU, US"`) || !strings.Contains(body, cached) {
			t.Errorf("instance %d: %d %s", i, resp.StatusCode, body)
		}
	}
	if n := asked.Load(); n != 3 { // origins, peers and one name
		t.Errorf("%d questions", n)
	}
}
