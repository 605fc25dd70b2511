//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/lab"

	"github.com/miekg/dns"
)

// resolverFault is a way in which the operator's resolver fails, and the codes by which dns-lookup tells it; none where
// all answers must be right.
type resolverFault struct {
	answer  func(w dns.ResponseWriter, q *dns.Msg)
	codes   []string
	udpOnly bool   // no TCP at all
	stream  []byte // what is sent over TCP in place of an answer, after which nothing follows
	// at is an address of the lab in place of a resolver, with nothing to repair.
	at string
	// behind is how the resolver stands beside a good one: it is asked first.
	behind bool
	// refuses tells that what the resolver says must be believed, and is refused: private addresses.
	refuses bool
	// kept tells that some of what it says may be kept for its time.
	kept bool
}

func reply(q *dns.Msg) *dns.Msg { return internet.Answer(q) }

func silent(dns.ResponseWriter, *dns.Msg) {}

func right(w dns.ResponseWriter, q *dns.Msg) { _ = w.WriteMsg(reply(q)) }

// edited answers with the truth after a change.
func edited(change func(m *dns.Msg)) func(dns.ResponseWriter, *dns.Msg) {
	return func(w dns.ResponseWriter, q *dns.Msg) {
		m := reply(q)
		change(m)
		_ = w.WriteMsg(m)
	}
}

func rcode(n int) func(dns.ResponseWriter, *dns.Msg) {
	return edited(func(m *dns.Msg) { m.Rcode, m.Answer, m.Ns = n, nil, nil })
}

func late(d time.Duration) func(dns.ResponseWriter, *dns.Msg) {
	return func(w dns.ResponseWriter, q *dns.Msg) {
		time.Sleep(d)
		right(w, q)
	}
}

// records are what a lying resolver claims for a name.
func records(t *testing.T, lines ...string) (list []dns.RR) {
	t.Helper()
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, rr)
	}
	return list
}

// firstLost answers the second try of each question.
func firstLost() func(dns.ResponseWriter, *dns.Msg) {
	var mu sync.Mutex
	seen := map[dns.Question]bool{}
	return func(w dns.ResponseWriter, q *dns.Msg) {
		mu.Lock()
		again := seen[q.Question[0]]
		seen[q.Question[0]] = true
		mu.Unlock()
		if again {
			right(w, q)
		}
	}
}

// elsewhere answers from another port of the same address, or from another address.
func elsewhere(t *testing.T, from string) func(dns.ResponseWriter, *dns.Msg) {
	t.Helper()
	other, err := internet.ListenPacket(lab.ServiceHost, "udp", from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	return func(w dns.ResponseWriter, q *dns.Msg) {
		m := reply(q)
		m.Rcode, m.Answer, m.Ns = dns.RcodeNameError, nil, nil
		if packet, err := m.Pack(); err == nil {
			_, _ = other.WriteTo(packet, w.RemoteAddr())
		}
	}
}

// nothingThatFits answers in all the ways in which somebody who cannot read the question would, and some more.
func nothingThatFits(others ...func(dns.ResponseWriter, *dns.Msg)) func(dns.ResponseWriter, *dns.Msg) {
	ways := append(others,
		edited(func(m *dns.Msg) { m.Id++; m.Rcode = dns.RcodeNameError }),
		edited(func(m *dns.Msg) { m.Question[0].Name = "other." + lab.SiteZone + "."; m.Rcode = dns.RcodeNameError }),
		edited(func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeLOC; m.Rcode = dns.RcodeNameError }),
		edited(func(m *dns.Msg) { m.Response = false }),
	)
	return func(w dns.ResponseWriter, q *dns.Msg) {
		for _, way := range ways {
			way(w, q)
		}
	}
}

func resolverFaults(t *testing.T) map[string]resolverFault {
	t.Helper()
	timeout, refused, bad := []string{"ETIMEOUT"}, []string{"ECONNREFUSED"}, []string{"EBADRESP"}
	unreachable, _ := lab.Unreachable(88)
	truncated := edited(func(m *dns.Msg) { m.Truncated, m.Answer = true, nil })
	claims := func(change func(m *dns.Msg, name string)) func(dns.ResponseWriter, *dns.Msg) {
		return edited(func(m *dns.Msg) {
			m.Answer, m.Ns, m.Rcode = nil, nil, dns.RcodeSuccess
			change(m, m.Question[0].Name)
		})
	}
	return map[string]resolverFault{
		"dead, refused":     {codes: refused},
		"dead, silent":      {answer: silent, codes: timeout},
		"dead, unreachable": {at: unreachable.String(), codes: []string{"ECONNREFUSED", "ETIMEOUT"}},

		"lying, nothing that fits": {answer: nothingThatFits(elsewhere(t, "127.88.1.1:5353"), elsewhere(t, "127.88.1.2:53")),
			codes: timeout},
		"lying, other names": {answer: claims(func(m *dns.Msg, _ string) {
			m.Answer = records(t, "other."+lab.SiteZone+". 60 IN A 11.80.0.9", "other."+lab.SiteZone+". 60 IN TXT other")
		}), codes: bad},
		"lying, absent and there": {answer: claims(func(m *dns.Msg, name string) {
			m.Rcode = dns.RcodeNameError
			m.Answer = records(t, name+" 60 IN A 11.80.0.9", name+" 60 IN AAAA 2a10:80::9",
				name+" 60 IN MX 1 mx."+lab.SiteZone+".",
				name+" 60 IN TXT there", name+" 60 IN NS ns."+lab.SiteZone+".", name+" 60 IN CNAME www."+lab.SiteZone+".",
				name+" 60 IN SOA ns. host. 1 2 3 4 5",
				"www."+lab.SiteZone+". 60 IN A 11.80.0.9", "www."+lab.SiteZone+". 60 IN AAAA 2a10:80::9",
				"www."+lab.SiteZone+". 60 IN MX 1 mx."+lab.SiteZone+".", "www."+lab.SiteZone+". 60 IN TXT there",
				"www."+lab.SiteZone+". 60 IN NS ns."+lab.SiteZone+".", "www."+lab.SiteZone+". 60 IN SOA ns. host. 1 2 3 4 5")
		}), codes: bad},
		"lying, a loop of aliases": {answer: claims(func(m *dns.Msg, name string) {
			m.Answer = records(t, name+" 60 IN CNAME loop."+name, "loop."+name+" 60 IN CNAME "+name)
		}), codes: append(bad, ""), kept: true}, // of type CNAME it is an answer
		"lying, an unknown code": {answer: rcode(11), codes: bad},
		"lying, FORMERR":         {answer: rcode(dns.RcodeFormatError), codes: []string{"EFORMERR"}},
		"lying, private addresses": {answer: claims(func(m *dns.Msg, name string) {
			if m.Question[0].Qtype == dns.TypeA {
				m.Answer = records(t, name+" 60 IN A 10.1.2.3")
			}
			if m.Question[0].Qtype == dns.TypeNS {
				m.Answer = records(t, name+" 60 IN NS ns."+lab.SiteZone+".")
			}
		}), refuses: true, kept: true},

		"SERVFAIL": {answer: rcode(dns.RcodeServerFailure), codes: []string{"ESERVFAIL"}},
		"REFUSED":  {answer: rcode(dns.RcodeRefused), codes: []string{"EREFUSED"}},

		"truncating, no TCP":        {answer: truncated, udpOnly: true, codes: refused},
		"truncating, TCP hangs":     {answer: truncated, stream: []byte{}, codes: timeout},
		"truncating, TCP cut short": {answer: truncated, stream: []byte{0, 1, 0}, codes: []string{"EBADRESP", "ECONNREFUSED"}},
		"truncating, for ever":      {answer: truncated, codes: bad},

		"late, 2 s":            {answer: late(2 * time.Second)},
		"late, 2.6 s":          {answer: late(2600 * time.Millisecond), codes: timeout},
		"late, the first lost": {answer: firstLost()},

		"the first of two is dead":   {behind: true},
		"the first of two is silent": {behind: true, answer: silent},
		"the first of two fails":     {behind: true, answer: rcode(dns.RcodeServerFailure)},
		"the first of two is mad":    {behind: true, answer: rcode(11)},
	}
}

// Whatever the operator's own resolver does, it is never told as what a target is: not as a name that does not exist,
// not as a site that is down, not as a record that is missing. Once it is well again all answers are right at once.
func TestResolverFaults(t *testing.T) {
	t.Parallel()
	n := 0
	for name, fault := range resolverFaults(t) {
		n++
		address := fmt.Sprintf("127.88.0.%d", n)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &faultyResolver{fault: fault, address: address}
			f.start(t)
			label := strings.NewReplacer(" ", "-", ",", "", ".", "-").Replace(name)
			gateway, err := service.StartGateway(t.Context(), "gateway-resolver-"+label,
				append(slices.Clone(unlimited), "DNS_RESOLVERS="+f.setting())...)
			if err != nil {
				t.Fatal(err)
			}
			f.askAll(t, gateway)
			if f.fault.at != "" || f.fault.kept {
				return
			}
			f.heal(t)
			for _, q := range lookups[:len(lookups)-2] { // the last two take long, or do not ask it
				holdTrue(t, q, post(t, gateway, q.slug, map[string]any{"input": q.input}, nil))
			}
			if t.Failed() {
				return
			}
			ctx := t.Context()
			if err := gateway.Process.Stop(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

type faultyResolver struct {
	fault   resolverFault
	address string
	well    atomic.Bool
	stream  net.Listener
	stop    func() error
}

func (f *faultyResolver) setting() string {
	switch {
	case f.fault.at != "":
		return f.fault.at
	case f.fault.behind:
		return f.address + "," + internet.Resolver().String()
	}
	return f.address
}

func (f *faultyResolver) start(t *testing.T) {
	t.Helper()
	if f.fault.answer == nil {
		return
	}
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		if f.well.Load() {
			right(w, q)
			return
		}
		f.fault.answer(w, q)
	})
	var err error
	if f.stop, err = internet.StartResolver(f.address, f.fault.udpOnly || f.fault.stream != nil, handler); err != nil {
		t.Fatal(err)
	}
	if f.fault.stream != nil {
		f.hang(t)
	}
}

// hang is a TCP server that sends a part of an answer, if that, and then nothing; one that was cut short it closes.
func (f *faultyResolver) hang(t *testing.T) {
	t.Helper()
	listener, err := internet.Listen(lab.ServiceHost, "tcp", f.address+":53")
	if err != nil {
		t.Fatal(err)
	}
	f.stream = listener
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if len(f.fault.stream) > 0 {
				_, _ = conn.Write(f.fault.stream)
				_, _ = conn.Read(make([]byte, 512))
				conn.Close()
				continue
			}
			t.Cleanup(func() { conn.Close() })
		}
	}()
}

// heal makes the resolver what it should be.
func (f *faultyResolver) heal(t *testing.T) {
	t.Helper()
	f.well.Store(true)
	if f.fault.answer == nil && !f.fault.behind {
		if _, err := internet.StartResolver(f.address, false, dns.HandlerFunc(right)); err != nil {
			t.Fatal(err)
		}
	}
}

// lookups are questions to every tool that looks names up.
var lookups = []truth{
	{slug: "dns-lookup", input: "lab-dns.com", right: facts{"errors": hasErrors("CNAME"), "records.A": []string{"11.80.0.1"}}},
	{slug: "http-headers", input: "https://fast.lab-site.com/", right: facts{"status": 200, "tls.authorized": true}},
	{slug: "uptime", input: "https://fast.lab-site.com/", right: facts{"verdict": "up"}},
	{slug: "port-checker", input: "fast.lab-site.com:443", right: facts{"state": "open"}},
	{slug: "ssl-checker", input: "fast.lab-site.com", right: facts{"authorized": true}},
	{slug: "redirect-checker", input: "http://redirects.lab-site.com/chain/3", right: facts{"outcome": "final"}},
	{slug: "security-headers", input: "https://fast.lab-site.com/", right: facts{"status": 200}},
	{slug: "robots-sitemap", input: "https://fast.lab-site.com/", right: facts{"robots.status": isNot("unreachable")}},
	{slug: "email-dns-health", input: "lab-plain-mail.com", right: facts{"checks.spf.status": "pass", "checks.mx.status": "pass"}},
	{slug: "asn-lookup", input: "11.80.0.1", right: facts{"announced": true, "records": length(2)}},
	{slug: "ip-geolocation", input: "11.80.0.5", right: facts{"network.name": "LAB-SITES", "asn.asn": 212002}},
	{slug: "whois-lookup", input: "charity-site.org", right: facts{"found": true, "domain.name": "charity-site.org"}},
	{slug: "ping", input: "fast.lab-site.com", right: facts{"lossPercent": 0}},
	{slug: "dns-resolver-check", input: "agree.lab-resolve.com", right: facts{"status": "agree"}},
}

// hasErrors wants a code for each of the types, and for no other.
func hasErrors(types ...string) func(any) bool {
	return func(v any) bool {
		m, _ := v.(map[string]any)
		return slices.Equal(slices.Sorted(maps.Keys(m)), types)
	}
}

func holdTrue(t *testing.T, q truth, a answer) {
	t.Helper()
	if a.Status != 200 {
		t.Errorf("%s %s: status %d: %s", q.slug, q.input, a.Status, a.Error)
		return
	}
	q.right.hold(t, a)
}

func (f *faultyResolver) askAll(t *testing.T, gateway *lab.Server) {
	t.Helper()
	var asking sync.WaitGroup
	for _, q := range lookups {
		asking.Go(func() {
			a := post(t, gateway, q.slug, map[string]any{"input": q.input}, nil)
			switch {
			case q.slug == "dns-resolver-check", len(f.fault.codes) == 0 && !f.fault.refuses: // which asks others
				holdTrue(t, q, a)
			default:
				f.hold(t, q, a)
			}
		})
	}
	asking.Wait()
}

// hold holds that an answer tells of the lookup, and of nothing else.
func (f *faultyResolver) hold(t *testing.T, q truth, a answer) {
	t.Helper()
	wrong := func(why string) {
		t.Errorf("%s: %s: status %d after %v: %.700s", q.slug, why, a.Status, a.Took, a.Body)
	}
	switch q.slug {
	case "dns-lookup":
		if f.fault.refuses {
			break
		}
		if list, ok := a.at("errors").(map[string]any); a.Status != 200 || !ok || len(list) < 6 {
			wrong("codes are missing")
		}
		for _, qtype := range []string{"A", "AAAA", "MX", "TXT", "CNAME", "NS", "SOA"} {
			code, _ := a.at("errors." + qtype).(string)
			if code == "(absent)" {
				code = ""
			}
			if !slices.Contains(f.fault.codes, code) {
				wrong(qtype + " is " + code)
			}
		}
	case "email-dns-health":
		for _, check := range []string{"mx", "spf", "dmarc", "mtaSts", "tlsRpt"} {
			if status := a.at("checks." + check + ".status"); !f.fault.refuses && status != "error" {
				wrong(fmt.Sprintf("%s is %v", check, status))
			}
		}
	case "ip-geolocation":
		note, _ := a.at("note").(string)
		if a.Status == 200 && a.at("network") == nil && a.at("asn") == nil &&
			!strings.Contains(note, "the registry's own record of the network is missing") {
			wrong("there is nothing in it, and it does not say why")
		}
		fallthrough
	default:
		names := strings.Contains(strings.ToLower(a.Error), "lookup")
		switch {
		case f.fault.refuses:
			if a.Status == 200 && !allowedWithoutDial[q.slug] {
				wrong("a private address is not refused")
			}
		case a.Status != 502 && a.Status != 504:
			wrong("not 502 or 504")
		case !names || blamesTarget.MatchString(a.Error):
			wrong("the sentence does not name the lookup")
		}
	}
	if f.fault.codes != nil && blamesTarget.Match(a.Body) {
		wrong("the target is blamed")
	}
	if a.Took > 12*time.Second {
		wrong("too late")
	}
}

// allowedWithoutDial only tell addresses, or asked a provider that told no more.
var allowedWithoutDial = map[string]bool{
	"asn-lookup": true, "ip-geolocation": true, "redirect-checker": true, "robots-sitemap": true,
}

var blamesTarget = regexp.MustCompile(`(?i)does not exist|has no address|ENOTFOUND|ENODATA|"verdict":"down"|"status":"missing"|not announced`)
