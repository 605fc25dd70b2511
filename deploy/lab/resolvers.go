package lab

import (
	"fmt"
	"strings"

	"diagnostics/lab/internal/zone"

	"github.com/miekg/dns"
)

// ResolveZone holds names of which the four public resolvers give different answers.
const ResolveZone = "lab-resolve.com"

// own and secondOwn are name servers of ResolveZone, which have a view of it as the public resolvers do.
const (
	own       = "own"
	secondOwn = "second own"
)

// view is a name and what each resolver says of it: those that are not named say what the others do.
type view struct {
	label, note string
	all         zone.Step
	by          map[string]zone.Step
}

func givesA(addresses ...string) zone.Step {
	var s zone.Step
	for _, address := range addresses {
		s.Records = append(s.Records, "@ 300 IN A "+address)
	}
	return s
}

func failing(rcode int, extended ...dns.EDNS0_EDE) zone.Step {
	return zone.Step{RCode: rcode, Extended: extended}
}

func givesText(s string) zone.Step { return zone.Step{Records: []string{"@ 300 IN TXT " + s}} }

func ede(code uint16, text string) dns.EDNS0_EDE {
	return dns.EDNS0_EDE{InfoCode: code, ExtraText: text}
}

// views are one name for each thing that four resolvers can come to together.
var views = []view{
	{label: "agree", note: "four resolvers agree", all: zone.Step{Authenticated: true, Records: []string{
		"@ 300 IN A 11.80.0.2", "@ 300 IN A 11.80.0.1", "@ 300 IN AAAA 2a10:80::1", "@ 300 IN MX 10 mail.lab-site.com.",
		"@ 300 IN NS ns1.lab-transit.net.", `@ 300 IN TXT "one" " text"`, `@ 300 IN CAA 0 issue "lab-ca.com"`}}},
	{label: "alias", note: "an alias, the same everywhere",
		all: zone.Step{Records: []string{"@ 300 IN CNAME agree.lab-resolve.com."}}},
	{label: "absent", note: "four resolvers agree that it does not exist", all: failing(dns.RcodeNameError)},
	{label: "empty", note: "for some it does not exist, for others it has no records", all: zone.Step{},
		by: map[string]zone.Step{"google": failing(dns.RcodeNameError)}},
	{label: "partial", note: "one resolver refuses, one is silent", all: givesA("11.80.0.1"),
		by: map[string]zone.Step{"opendns": failing(dns.RcodeRefused), "quad9": {Drop: true}}},
	{label: "mixed", note: "it exists for some resolvers only", all: givesA("11.80.0.1"),
		by: map[string]zone.Step{"google": failing(dns.RcodeNameError)}},
	{label: "varies", note: "addresses that vary, as those of a CDN do", all: givesA("11.80.0.1"),
		by: map[string]zone.Step{"google": givesA("11.80.0.2"), "quad9": givesA("11.80.0.1", "11.80.0.2")}},
	{label: "conflict", note: "TXT and MX records differ, also at a second look",
		all: zone.Step{Records: []string{`@ 300 IN TXT "new"`, "@ 300 IN MX 10 new.lab-site.com."}},
		by: map[string]zone.Step{"cloudflare": {Records: []string{`@ 300 IN TXT "old"`,
			"@ 300 IN MX 10 old.lab-site.com."}}}},
	{label: "alone", note: "one resolver of four answers", all: failing(dns.RcodeServerFailure),
		by: map[string]zone.Step{"google": givesA("11.80.0.1")}},
	{label: "nobody", note: "no resolver answers", all: failing(dns.RcodeServerFailure),
		by: map[string]zone.Step{"quad9": failing(dns.RcodeRefused)}},
	{label: "unsigned", note: "its signatures do not hold, which one resolver does not mind",
		all: failing(dns.RcodeServerFailure, ede(7, "signature expired")),
		by: map[string]zone.Step{"opendns": givesA("11.80.0.1"), own: givesA("11.80.0.1"),
			secondOwn: givesA("11.80.0.1")}},
	{label: "expired", note: "its signatures do not hold, and all four resolvers mind",
		all: failing(dns.RcodeServerFailure, ede(7, "signature expired"), ede(6, "")),
		by:  map[string]zone.Step{own: givesA("11.80.0.1"), secondOwn: givesA("11.80.0.1")}},
	{label: "unreachable", note: "no resolver reaches its name servers, which are silent",
		all: failing(dns.RcodeServerFailure, ede(22, "at delegation"), ede(23, "timeout")),
		by:  map[string]zone.Step{own: {Drop: true}, secondOwn: {Drop: true}}},
	{label: "older", note: "one resolver still holds the older address", all: givesA("11.80.0.1"),
		by: map[string]zone.Step{"quad9": {Records: []string{"@ 41 IN A 11.80.0.9"}}}},
	{label: "older-text", note: "two resolvers still hold the older text", all: givesText("new"),
		by: map[string]zone.Step{"google": {Records: []string{"@ 120 IN TXT old"}},
			"opendns": {Records: []string{"@ 90 IN TXT old"}}}},
	{label: "geo", note: "an address that differs by place, at the service's own resolvers (dns-lookup)",
		all: givesA("11.80.0.1"),
		by:  map[string]zone.Step{fra: givesA("11.80.0.2"), sin: givesA("11.80.0.3")}},
	{label: "served", note: "the resolvers agree with its name servers", all: givesA("11.80.0.1")},
	{label: "places", note: "an alias that differs by place",
		all: zone.Step{Records: []string{"@ 300 IN CNAME agree.lab-resolve.com."}},
		by: map[string]zone.Step{"google": {Records: []string{"@ 200 IN CNAME varies.lab-resolve.com."}},
			"quad9": {Records: []string{"@ 100 IN CNAME mixed.lab-resolve.com."}}}},
	{label: "lagging", note: "its name servers hold different texts", all: givesText("new"),
		by: map[string]zone.Step{secondOwn: givesText("old"), "quad9": givesText("old")}},
	{label: "filtered", note: "one resolver says that it blocks it, another denies it without a word",
		all: givesA("11.80.0.1"),
		by: map[string]zone.Step{"cloudflare": {Records: []string{"@ 300 IN A 0.0.0.0"},
			Extended: []dns.EDNS0_EDE{ede(17, "<b>filtered</b>")}},
			"quad9": {RCode: dns.RcodeNameError, WithoutSOA: true}}},
	{label: "blockpage", note: "one resolver leads to a page of its own", all: givesA("11.80.0.1"),
		by: map[string]zone.Step{"opendns": givesA("146.112.61.106")}},
	{label: "long", note: "answers over TCP alone", all: zone.Step{Truncate: true,
		Records: []string{`@ 300 IN TXT "came over TCP"`}}},
	{label: "endless", note: "more texts than an answer of the service holds",
		all: zone.Step{Truncate: true, Records: endless()}},
}

// endless are texts of 62 KB, of bytes that take six each in JSON.
func endless() []string {
	records := []string{"@ 300 IN A 11.80.0.1"}
	for i := range 255 {
		records = append(records, fmt.Sprintf(`@ 300 IN TXT "%03d%s"`, i, strings.Repeat("<", 230)))
	}
	return records
}

// ownServers are the name servers of ResolveZone: the last has the view of the first.
var ownServers = []struct {
	view string
	at   int // of the range beside the resolver
}{{own, 11}, {secondOwn, 12}, {own, 13}}

// faultyZone has name servers that cannot be reached, do not answer, or do not serve it.
const (
	faultyZone = "faulty." + ResolveZone
	lameServer = 14
)

// resolveRecords are the name servers of ResolveZone and of the faulty zone below it.
func resolveRecords() []string {
	var lines []string
	for i, server := range ownServers {
		name := fmt.Sprintf("ns%d.%s", i+1, ResolveZone)
		lines = append(lines, fmt.Sprintf("%s. 3600 IN NS %s.", ResolveZone, name),
			fmt.Sprintf("%s. 300 IN A %s", name, destination(near4, server.at)))
	}
	silent, _ := SilentEnd(53)
	return append(lines, soa(faultyZone+"."), faultyZone+". 300 IN A 11.80.0.1",
		faultyZone+". 3600 IN NS lame-ns."+ResolveZone+".",
		faultyZone+". 3600 IN NS private-ns."+ResolveZone+".", faultyZone+". 3600 IN NS silent-ns."+ResolveZone+".",
		fmt.Sprintf("lame-ns.%s. 300 IN A %s", ResolveZone, destination(near4, lameServer)),
		"private-ns."+ResolveZone+". 300 IN A 10.1.2.3",
		fmt.Sprintf("silent-ns.%s. 300 IN A %s", ResolveZone, silent))
}

// serveOwn serves ResolveZone from its own name servers.
func serveOwn(servers *zone.Servers, l zone.Listen, views map[string]*zone.Table) error {
	for _, server := range ownServers {
		if err := servers.Serve(l, views[server.view], destination(near4, server.at).String()); err != nil {
			return err
		}
	}
	lame := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		m.Ns = []dns.RR{&dns.NS{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeNS, Class: dns.ClassINET, Ttl: 3600},
			Ns: "a.root-servers.net."}}
		_ = w.WriteMsg(m)
	})
	return servers.ServeHandler(l, destination(near4, lameServer).String(), false, lame)
}

// divide gives each resolver its view of the names of ResolveZone.
func divide(base *zone.Table, public map[string]*zone.Table) {
	for _, v := range views {
		name := v.label + "." + ResolveZone
		base.Script(name, v.all)
		for id, step := range v.by {
			public[id].Script(name, step)
		}
	}
	for _, id := range []string{"cloudflare", "google", "quad9", "opendns"} { // of the domains that validators reject
		public[id].Script("lab-sec-nokey.com", failing(dns.RcodeServerFailure, ede(9, "no SEP matching the DS found")))
		public[id].Script("lab-deleg-silent.com", failing(dns.RcodeServerFailure, ede(22, "at delegation")))
	}
	// This one changes while it is looked at: the second look finds them agreed.
	changing := "changing." + ResolveZone
	base.Script(changing, givesText("new"))
	public["google"].Script(changing, givesText("old"), givesText("new"))
}
