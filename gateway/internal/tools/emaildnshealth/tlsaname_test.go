package emaildnshealth

import (
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/miekg/dns"
)

// TestTLSAOfAnAlias: the records of an exchange that is an alias are looked up at its end where DNSSEC vouches for the
// whole chain, and else at the exchange alone (RFC 7672 section 2.2.2).
func TestTLSAOfAnAlias(t *testing.T) {
	t.Parallel()
	const alias, last = "mx.post.com", "a.host.net"
	const atAlias, atLast = "_25._tcp." + alias, "_25._tcp." + last
	for name, c := range map[string]struct {
		at      []string // where records are
		vouched []string
		fails   string
		want    string // the name, with ! where it is not authenticated
		asked   bool   // at the end
	}{
		"at the end":                      {[]string{atLast}, []string{alias, atLast}, "", last, true},
		"at both":                         {[]string{atLast, atAlias}, []string{alias, atLast, atAlias}, "", last, true},
		"at the exchange":                 {[]string{atAlias}, []string{alias, atLast, atAlias}, "", alias, true},
		"at none":                         {nil, []string{alias, atLast, atAlias}, "", "", true},
		"the chain is not authenticated":  {[]string{atLast}, []string{atLast}, "", "", false},
		"the exchange, without the chain": {[]string{atLast, atAlias}, []string{atLast, atAlias}, "", alias, false},
		"those at the end are not signed": {[]string{atLast, atAlias}, []string{alias, atAlias}, "", alias, true},
		"no records are signed":           {[]string{atLast, atAlias}, []string{alias}, "", last + "!", true},
		"the lookup at the end fails":     {[]string{atAlias}, []string{alias, atAlias}, atLast, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.Records("post.com. 300 IN MX 10 "+alias+".", alias+". 300 IN CNAME b.post.com.",
				"b.post.com. 300 IN CNAME "+last+".", last+". 300 IN A 93.184.216.40")
			n.Records(strings.Split(testZone["reverse"], "\n")...)
			for _, at := range c.at {
				n.Records(at + ". 300 IN TLSA 3 1 1 " + strings.Repeat("5a", 32))
			}
			for _, name := range c.vouched {
				vouch(n, name)
			}
			if c.fails != "" {
				n.Handle(c.fails, toolstest.Failing(dns.RcodeServerFailure))
			}
			host := checkDomain(t, t.Context(), n, nil, "post.com", "s1").Checks.MX.Hosts[0]
			got := ""
			if host.TLSAName != nil {
				got = *host.TLSAName
				if !*host.TLSAAuthenticated {
					got += "!"
				}
			}
			if got != c.want || (len(host.TLSA) == 0) != (c.want == "") {
				t.Errorf("%q: %+v, want %q", got, host, c.want)
			}
			if asked := n.QueriesFor(atLast, dns.TypeTLSA) > 0; asked != c.asked {
				t.Errorf("queried at the end: %t", asked)
			}
		})
	}
}
