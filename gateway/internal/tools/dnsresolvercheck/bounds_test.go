package dnsresolvercheck

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/miekg/dns"
)

// What two resolvers differ in may lie beyond what is shown: the comparison covers all that came.
func TestTheVerdictIsOnMoreThanIsShown(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	long := strings.Repeat(strings.Repeat(`\001`, 55)+".", 4)
	for i, resolver := range publicResolvers {
		n.NameServer(resolver.server.String()).HandleRaw("example.com", func(w dns.ResponseWriter, q *dns.Msg) {
			m := new(dns.Msg).SetReply(q)
			m.Compress = true
			if m.Truncated = w.LocalAddr().Network() == "udp"; !m.Truncated {
				h := dns.RR_Header{Name: "example.com.", Rrtype: dns.TypeNS, Class: dns.ClassINET, Ttl: 60}
				for j := range 500 {
					m.Answer = append(m.Answer, &dns.NS{Hdr: h, Ns: fmt.Sprintf("n%04d.%s", j, long)})
				}
				m.Answer = append(m.Answer, &dns.NS{Hdr: h, Ns: fmt.Sprintf("z%d.", i/2)})
			}
			_ = w.WriteMsg(m)
		})
	}
	result := toolstest.MustRun[Result](t, New(n.Client(nil)), tool.Input{Text: "example.com",
		Options: toolstest.Options(t, `{"recordType":"NS"}`)})
	if result.Status != statusConflict || len(result.Groups) != 2 || !result.Truncated {
		t.Errorf("status %s, %d groups, truncated %t", result.Status, len(result.Groups), result.Truncated)
	}
	for _, g := range result.Groups {
		if !g.Truncated || bound.Size(g.Values) > 72<<10+len("[]") || len(g.Values) == 0 {
			t.Errorf("%v: %d values in %d bytes, truncated %t", g.Resolvers, len(g.Values), bound.Size(g.Values), g.Truncated)
		}
	}
	if !slices.Equal(result.Groups[0].Values, result.Groups[1].Values) {
		t.Error("the difference was to be beyond what is shown")
	}
}
