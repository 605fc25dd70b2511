package emaildnshealth

import (
	"fmt"
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/progress"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// vouch has a name answered as by a resolver that validates.
func vouch(n *egresstest.Network, name string) {
	n.Handle(name, func(q *dns.Msg) *dns.Msg {
		m := n.Recursive(q)
		m.AuthenticatedData = true
		return m
	})
}

// What the mail hosts' own records make of the check of MX is reported as well.
func TestMXIsToldToTheEnd(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("post.com. 300 IN MX 10 a.post.com.", "a.post.com. 300 IN A 93.184.216.40",
		"_25._tcp.a.post.com. 300 IN TLSA 3 1 1 "+strings.Repeat("00", 32))
	n.Records(strings.Split(testZone["reverse"], "\n")...)
	vouch(n, "_25._tcp.a.post.com")
	vouch(n, "post.com")
	feed := new(progress.Feed)
	mx := checkDomain(t, progress.With(t.Context(), feed), n, nil, "post.com", "s1").Checks.MX
	if step, _ := toolstest.AwaitStep(t, feed, "check", "mx"); mx.Status != mailFail ||
		!strings.Contains(step, `"status":"fail"`) {
		t.Errorf("reported %s, and is %s", step, mx.Status)
	}
}

func TestTLSAOfTheExchanges(t *testing.T) {
	t.Parallel()
	digest, zeros := strings.Repeat("5a", 32), strings.Repeat("00", 32)
	const at = "_25._tcp.a.post.com"
	for name, c := range map[string]struct {
		records   []string // of a.post.com, without owner and type
		vouched   []string
		fails     string
		status    status
		codes     string
		said      string // a part of the first issue
		authentic any
	}{
		"none":                     {status: mailPass},
		"signed":                   {records: []string{"3 1 1 " + digest}, vouched: []string{at, "post.com"}, status: mailPass, authentic: true},
		"the domain is not signed": {records: []string{"3 1 1 " + digest}, vouched: []string{at}, status: mailPass, codes: "info DANE_MX_NOT_SIGNED", said: "The TLSA records of a.post.com are signed with DNSSEC, but the MX records of post.com are not", authentic: true},
		"not signed":               {records: []string{"3 1 1 " + digest}, vouched: []string{"com"}, status: mailWarn, codes: "warn TLSA_NOT_SIGNED", said: "not signed with DNSSEC, so senders ignore them", authentic: false},
		"signed or not":            {records: []string{"3 1 1 " + digest}, status: mailPass, codes: "info TLSA_NOT_AUTHENTICATED", said: "this service's resolver does not validate DNSSEC", authentic: false},
		"zeros":                    {records: []string{"3 1 1 " + zeros}, vouched: []string{at, "post.com"}, status: mailFail, codes: "fail TLSA_MATCHES_NOTHING, warn TLSA_ZERO", said: "3 1 1 of a.post.com is all zeros", authentic: true},
		"zeros beside a key":       {records: []string{"3 1 1 " + zeros, "3 1 1 " + digest}, vouched: []string{at, "post.com"}, status: mailWarn, codes: "warn TLSA_ZERO", authentic: true},
		"zeros, not signed":        {records: []string{"3 1 1 " + zeros}, status: mailWarn, codes: "info TLSA_NOT_AUTHENTICATED, warn TLSA_ZERO", authentic: false},
		"short zeros":              {records: []string{"3 1 1 00"}, vouched: []string{at, "post.com"}, status: mailWarn, codes: "warn TLSA_UNUSABLE", said: "a SHA-256 digest has 32 octets, and this one has 1", authentic: true},
		"for the web":              {records: []string{"1 0 1 " + digest, "3 1 1 " + digest}, vouched: []string{at, "post.com"}, status: mailWarn, codes: "warn TLSA_UNUSABLE", said: "1 0 1 of a.post.com cannot be used: usage 1 relies", authentic: true},
		"none can be used":         {records: []string{"0 0 1 " + digest}, vouched: []string{at, "post.com"}, status: mailWarn, codes: "warn TLSA_UNUSABLE", authentic: true},
		"the lookup fails":         {fails: at, status: mailPass, codes: "info TLSA_LOOKUP_FAILED", said: "Senders ask for them only where"},
		"it fails, and is signed":  {fails: at, vouched: []string{"a.post.com"}, status: mailWarn, codes: "warn TLSA_LOOKUP_FAILED", said: "senders that check DANE do not deliver there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.Records("post.com. 300 IN MX 10 a.post.com.", "a.post.com. 300 IN A 93.184.216.40")
			n.Records(strings.Split(testZone["reverse"], "\n")...)
			for _, data := range c.records {
				n.Records(at + ". 300 IN TLSA " + data)
			}
			for _, name := range c.vouched {
				vouch(n, name)
			}
			if c.fails != "" {
				n.Handle(c.fails, toolstest.Failing(dns.RcodeServerFailure))
			}
			mx := checkDomain(t, t.Context(), n, nil, "post.com", "s1").Checks.MX
			if mx.Status != c.status || codes(mx.check) != c.codes {
				t.Errorf("%s, %q; want %s, %q", mx.Status, codes(mx.check), c.status, c.codes)
			}
			if c.said != "" && !strings.Contains(mx.Issues[0].Message, c.said) {
				t.Errorf("%q, want %q", mx.Issues[0].Message, c.said)
			}
			host := mx.Hosts[0]
			if len(host.TLSA) != len(c.records) || (host.TLSAAuthenticated == nil) != (c.authentic == nil) ||
				host.TLSAAuthenticated != nil && *host.TLSAAuthenticated != c.authentic {
				t.Errorf("%+v, want authenticated %v", host, c.authentic)
			}
			if asked := n.QueriesFor("com", dns.TypeDS); asked > 0 != (c.authentic == false) {
				t.Errorf("asked %d times whether the resolver validates", asked)
			}
		})
	}
}

// A mail host without an address, or with a name of an inside, is not looked up further.
func TestNothingMoreIsAskedOfExchangesThatAreNone(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("post.com. 300 IN MX 10 gone.post.com.", "post.com. 300 IN MX 20 mail.internal.",
		"post.com. 300 IN MX 30 inside.post.com.", "inside.post.com. 300 IN A 10.0.0.1")
	checkDomain(t, t.Context(), n, nil, "post.com", "s1")
	for _, q := range n.Queries() {
		if q.Qtype == dns.TypePTR || q.Qtype == dns.TypeTLSA && q.Name != "_25._tcp.inside.post.com." {
			t.Errorf("asked for %s %s", q.Name, dns.TypeToString[q.Qtype])
		}
	}
}

func TestNamesOfAddresses(t *testing.T) {
	t.Parallel()
	const owner = "40.216.184.93.in-addr.arpa"
	named := func(names ...string) (lines []string) {
		for _, name := range names {
			lines = append(lines, owner+". 300 IN PTR "+name)
		}
		return lines
	}
	for name, c := range map[string]struct {
		records   []string
		fails     string
		hostname  string
		confirmed any
		codes     string
		said      string
	}{
		"confirmed":         {records: append(named("a.post.com."), "a.post.com. 300 IN A 93.184.216.40"), hostname: "a.post.com", confirmed: true},
		"through an alias":  {records: []string{owner + ". 300 IN CNAME 40.host.net.", "40.host.net. 300 IN PTR A.post.com."}, hostname: "a.post.com", confirmed: true},
		"none":              {confirmed: false, codes: "info MX_ADDRESS_WITHOUT_NAME", said: "These addresses have no name in the reverse DNS (PTR): 93.184.216.40 (a.post.com)."},
		"of an inside":      {records: named("db.corp.internal."), confirmed: false, codes: "info MX_ADDRESS_WITHOUT_NAME"},
		"markup":            {records: named(`<b>.post.com.`), confirmed: false, codes: "info MX_ADDRESS_WITHOUT_NAME"},
		"leads elsewhere":   {records: append(named("x.host.net."), "x.host.net. 300 IN A 93.184.216.41"), hostname: "x.host.net", confirmed: false, codes: "info MX_ADDRESS_NAME_NOT_CONFIRMED", said: "93.184.216.40 (a.post.com) is called x.host.net."},
		"leads nowhere":     {records: named("x.host.net."), hostname: "x.host.net", confirmed: false, codes: "info MX_ADDRESS_NAME_NOT_CONFIRMED"},
		"reverse DNS fails": {fails: owner, codes: "info MX_ADDRESS_NAME_UNKNOWN", said: "could not be looked up: 93.184.216.40 (a.post.com)."},
		"forward DNS fails": {records: named("x.host.net."), fails: "x.host.net", hostname: "x.host.net", codes: "info MX_ADDRESS_NAME_UNKNOWN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.Records("post.com. 300 IN MX 10 a.post.com.", "a.post.com. 300 IN A 93.184.216.40")
			n.Records(c.records...)
			if c.fails != "" {
				n.Handle(c.fails, toolstest.Failing(dns.RcodeServerFailure))
			}
			mx := checkDomain(t, t.Context(), n, nil, "post.com", "s1").Checks.MX
			if mx.Status != mailPass || codes(mx.check) != c.codes {
				t.Errorf("%s, %q; want pass, %q", mx.Status, codes(mx.check), c.codes)
			}
			if c.said != "" && !strings.Contains(mx.Issues[0].Message, c.said) {
				t.Errorf("%q, want %q", mx.Issues[0].Message, c.said)
			}
			names := mx.Hosts[0].AddressNames
			if len(names) != 1 || names[0].Address != "93.184.216.40" {
				t.Fatalf("%+v", names)
			}
			hostname, confirmed := "", any(nil)
			if names[0].Hostname != nil {
				hostname = *names[0].Hostname
			}
			if names[0].Confirmed != nil {
				confirmed = *names[0].Confirmed
			}
			if hostname != c.hostname || confirmed != c.confirmed {
				t.Errorf("%q, %v; want %q, %v", hostname, confirmed, c.hostname, c.confirmed)
			}
			if n.QueriesFor("db.corp.internal", dns.TypeA) != 0 {
				t.Error("asked for a name of an inside")
			}
		})
	}
}

// Of each mail host two addresses are named, of all together eight, each once.
func TestFewAddressesAreNamed(t *testing.T) {
	t.Parallel()
	host := func(exchange string, addresses ...string) mxHost {
		h := newMXHost(exchange, 10)
		h.Addresses = addresses
		return h
	}
	two := func(i int) mxHost {
		return host(fmt.Sprintf("h%d", i), fmt.Sprintf("93.184.216.%d", i), fmt.Sprintf("2606:2800::%d", i))
	}
	for name, c := range map[string]struct {
		hosts []mxHost
		want  map[string]int
	}{
		"one of each family":       {[]mxHost{host("a", "93.184.216.1", "93.184.216.2", "2606:2800::1", "2606:2800::2")}, map[string]int{"a": 2}},
		"two of the only one":      {[]mxHost{host("a", "93.184.216.1", "93.184.216.2", "93.184.216.3")}, map[string]int{"a": 2}},
		"no private ones":          {[]mxHost{host("a", "10.0.0.1", "93.184.216.1")}, map[string]int{"a": 1}},
		"the same at two":          {[]mxHost{host("a", "93.184.216.1"), host("b", "93.184.216.1")}, map[string]int{"a": 1, "b": 0}},
		"an exchange listed twice": {[]mxHost{host("a", "93.184.216.1"), host("a", "93.184.216.1")}, map[string]int{"a": 1}},
		"four exchanges":           {[]mxHost{two(1), two(2), two(3), two(4)}, map[string]int{"h1": 2, "h2": 2, "h3": 2, "h4": 2}},
		"five exchanges":           {[]mxHost{two(1), two(2), two(3), two(4), two(5)}, map[string]int{"h1": 2, "h2": 2, "h3": 2, "h4": 2, "h5": 0}},
	} {
		got := map[string]int{}
		for exchange, addresses := range toName(c.hosts) {
			got[exchange] = len(addresses)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
