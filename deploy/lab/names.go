package lab

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"

	"diagnostics/lab/internal/site"
	"diagnostics/lab/internal/zone"
)

// The domains of the lab. All exist in it alone.
const (
	SiteZone    = site.Zone
	TransitZone = "lab-transit.net" // routers
	DNSZone     = "lab-dns.com"     // names that are interesting to look up
	ProbeZone   = "probe-case.com"  // names that try to lead the service astray
)

// destination is the n-th address of a range.
func destination(p netip.Prefix, n int) netip.Addr {
	a := p.Addr()
	for range n {
		a = a.Next()
	}
	return a
}

// Clean is the n-th destination (1 to 250) behind the clean path, in both families, as are the others of their kind.
func Clean(n int) (v4, v6 netip.Addr) { return destination(clean4, n), destination(clean6, n) }

// Wild is one behind the dirty path.
func Wild(n int) (v4, v6 netip.Addr) { return destination(wild4, n), destination(wild6, n) }

// LossyEnd is one behind a cable that loses every tenth packet on the way out.
func LossyEnd(n int) (v4, v6 netip.Addr) { return destination(loss4, n), destination(loss6, n) }

// FewEchoes is one that answers five echo requests a second, after a burst of five, and FewestEchoes one a second.
func FewEchoes(n int) (v4, v6 netip.Addr) { return destination(fives4, n), destination(fives6, n) }

// FewestEchoes is described with FewEchoes.
func FewestEchoes(n int) (v4, v6 netip.Addr) { return destination(ones4, n), destination(ones6, n) }

// LateEnd is one whose every answer takes 2.4 s.
func LateEnd(n int) (v4, v6 netip.Addr) { return destination(late4, n), destination(late6, n) }

// Repeated is one behind a cable on which every fourth packet arrives twice.
func Repeated(n int) (v4, v6 netip.Addr) { return destination(twice4, n), destination(twice6, n) }

// Overtaken is one behind a cable on which every fourth packet is held back for 330 ms, so that later ones overtake it.
func Overtaken(n int) (v4, v6 netip.Addr) { return destination(swap4, n), destination(swap6, n) }

// Narrow is one at the end of a route with the least MTU that there is: 68 octets, and 1,280 in IPv6.
func Narrow(n int) (v4, v6 netip.Addr) { return destination(narrow4, n), destination(narrow6, n) }

// Unreachable is one that the last router of the clean path calls unreachable.
func Unreachable(n int) (v4, v6 netip.Addr) {
	return destination(unreachable4, n), destination(unreachable6, n)
}

// Prohibited is one that it refuses by policy.
func Prohibited(n int) (v4, v6 netip.Addr) {
	return destination(prohibited4, n), destination(prohibited6, n)
}

// SilentEnd is one that it drops without a word.
func SilentEnd(n int) (v4, v6 netip.Addr) { return destination(silent4, n), destination(silent6, n) }

// Mute is one that drops echo requests and serves port 443.
func Mute(n int) (v4, v6 netip.Addr) { return destination(mute4, n), destination(mute6, n) }

// pathNames are names for the ends of paths, so that a person can type them.
var pathNames = []struct {
	label string
	at    func(int) (netip.Addr, netip.Addr)
	note  string
}{
	{"clean", Clean, "nine hops, 62 ms, all answer; refused from Frankfurt alone"},
	{"dirty", Wild, "a private, a silent, a rate-limited and a lossy hop, and two legs"},
	{"lossy", LossyEnd, "every tenth packet is lost"},
	{"few-echoes", FewEchoes, "answers five echo requests a second"},
	{"fewest-echoes", FewestEchoes, "answers one echo request a second"},
	{"late", LateEnd, "each answer takes 2.4 s"},
	{"repeated", Repeated, "every fourth packet arrives twice"},
	{"overtaken", Overtaken, "every fourth packet is overtaken by others"},
	{"narrow", Narrow, "a path MTU of 68, in IPv6 1,280"},
	{"unreachable", Unreachable, "a router says: host unreachable"},
	{"prohibited", Prohibited, "a router says: prohibited"},
	{"silent", SilentEnd, "no answer from the destination"},
	{"noecho", Mute, "drops echo requests and serves port 443 (traceroute with TCP)"},
	{"shortcut", Shortcut, "seven hops, two of them silent, and a way back that is one hop shorter"},
	{"slow", SlowRouters, "eight hops, 20 ms; four routers take 90 to 800 ms over their answers"},
	{"tunnel", Reported, "a path MTU of 1,400, which a router reports"},
	{"blackhole", BlackHole, "packets of more than 1,400 octets vanish"},
	{"anycast", Anycast, "two hosts, one of them near Singapore; the nearest answers"},
	{"distant", Distant, "four hops; answers after 1.2 s"},
}

// records is the static part of the lab's DNS.
func records(g *graph, sites []site.Site) []string {
	lines := []string{soa("."), soa("com."), soa("net."), soa("arpa.")}
	for _, tld := range []string{"com", "net", "arpa"} {
		lines = append(lines, tld+". 3600 IN NS a.gtld-servers.net.")
	}
	lines = append(append(lines, soa(ResolveZone+".")), resolveRecords()...)
	for _, z := range []string{SiteZone, TransitZone, DNSZone, ProbeZone, TLSZone} {
		lines = append(append(lines, soa(z+".")), hostNS(z)...)
	}
	for _, s := range sites {
		lines = append(lines, addressRecords(s.Host, s.V4, s.V6)...)
	}
	for _, name := range g.order {
		n := g.nodes[name]
		lines = append(lines, named(name+"."+TransitZone, n.v4, n.v6)...)
	}
	for _, p := range pathNames {
		v4, v6 := p.at(1)
		lines = append(lines, named(p.label+"."+TransitZone, v4, v6)...)
	}
	lines = append(lines, hostRecords()...)
	lines = append(append(lines, siteRecords(sites)...), dnsRecords...)
	lines = append(lines, typeRecords...)
	return append(lines, insideRecords...)
}

// insideRecords are what a resolver inside a network has and the public DNS does not: a container by its name and its
// network's, and a visitor's alias of it.
var insideRecords = []string{
	"redis.backend. 600 IN A 172.18.0.3",
	"redis.project_inside. 600 IN A 172.18.0.3",
	"inside." + ProbeZone + ". 300 IN CNAME redis.backend.",
}

func soa(z string) string {
	return z + " 3600 IN SOA ns1.lab-transit.net. hostmaster.lab-transit.net. 2026010101 7200 900 1209600 300"
}

func addressRecords(name string, v4, v6 netip.Addr) (lines []string) {
	if v4.IsValid() {
		lines = append(lines, fmt.Sprintf("%s. 300 IN A %s", name, v4))
	}
	if v6.IsValid() {
		lines = append(lines, fmt.Sprintf("%s. 300 IN AAAA %s", name, v6))
	}
	return lines
}

// named is a name with its reverse.
func named(name string, v4, v6 netip.Addr) []string {
	lines := addressRecords(name, v4, v6)
	for _, a := range []netip.Addr{v4, v6} {
		if arpa, err := dns.ReverseAddr(a.String()); err == nil {
			lines = append(lines, fmt.Sprintf("%s 300 IN PTR %s.", arpa, name))
		}
	}
	return lines
}

// siteRecords are names that use the addresses of sites in other ways than one each.
func siteRecords(sites []site.Site) []string {
	fast, slow := sites[0], sites[slices.IndexFunc(sites, func(s site.Site) bool { return s.Host == "slow."+SiteZone })]
	dead4, dead6 := SilentEnd(21)
	return []string{
		"www." + SiteZone + ". 300 IN CNAME fast." + SiteZone + ".",
		fmt.Sprintf("broken6.%s. 300 IN A %s", SiteZone, fast.V4),
		fmt.Sprintf("broken6.%s. 300 IN AAAA %s", SiteZone, dead6),
		// Slow by the one family, and dead by the other.
		fmt.Sprintf("slow6.%s. 300 IN A %s", SiteZone, slow.V4),
		fmt.Sprintf("slow6.%s. 300 IN AAAA %s", SiteZone, dead6),
		fmt.Sprintf("silent.%s. 300 IN A %s", SiteZone, dead4),
		fmt.Sprintf("noaddress.%s. 300 IN TXT \"a name without an address\"", SiteZone),
		fmt.Sprintf("private.%s. 300 IN A 10.1.2.3", SiteZone),
		fmt.Sprintf("mixed.%s. 300 IN A %s", SiteZone, fast.V4),
		fmt.Sprintf("mixed.%s. 300 IN A 192.168.1.10", SiteZone),
	}
}

// dnsRecords have every type that dns-lookup shows, and its troubles.
var dnsRecords = []string{
	DNSZone + ". 3600 IN A 11.80.0.1",
	DNSZone + ". 3600 IN AAAA 2a10:80::1",
	DNSZone + ". 3600 IN MX 10 mail." + SiteZone + ".",
	DNSZone + ". 3600 IN MX 20 mx2." + SiteZone + ".",
	DNSZone + `. 3600 IN TXT "v=spf1 mx -all"`,
	DNSZone + `. 3600 IN TXT "two " "chunks, a quote \" and a semicolon;"`,
	DNSZone + `. 3600 IN TXT "<script>alert(1)</script>"`,
	"alias." + DNSZone + ". 300 IN CNAME second." + DNSZone + ".",
	"second." + DNSZone + ". 200 IN CNAME third." + DNSZone + ".",
	"third." + DNSZone + ". 100 IN A 11.80.0.1",
	"tools." + DNSZone + ". 300 IN A 11.65.0.1", // the host of the tests of compose
	"dangling." + DNSZone + ". 300 IN CNAME nowhere." + DNSZone + ".",
	"loop." + DNSZone + ". 300 IN CNAME loop2." + DNSZone + ".",
	"loop2." + DNSZone + ". 300 IN CNAME loop." + DNSZone + ".",
	"_dmarc." + DNSZone + `. 300 IN TXT "v=DMARC1; p=reject"`,
}

// scriptNames are the names whose answers are more than records.
func scriptNames(t *zone.Table) {
	t.Script("servfail."+DNSZone, zone.Step{RCode: dns.RcodeServerFailure})
	t.Script("refused."+DNSZone, zone.Step{RCode: dns.RcodeRefused})
	t.Script("bogus."+DNSZone, zone.Step{RCode: dns.RcodeServerFailure,
		Extended: []dns.EDNS0_EDE{{InfoCode: dns.ExtendedErrorCodeDNSBogus, ExtraText: "signature expired"}}})
	t.Script("timeout."+DNSZone, zone.Step{Drop: true})
	t.Script("slow."+DNSZone, zone.Step{Delay: time.Second, Records: []string{"@ 60 IN A 11.80.0.1"}})
	t.Script("truncated."+DNSZone, zone.Step{Truncate: true,
		Records: []string{`@ 60 IN TXT "came over TCP"`, "@ 60 IN A 11.80.0.1"}})
	t.Script("signed."+DNSZone, zone.Step{Authenticated: true, Records: []string{"@ 60 IN A 11.80.0.1"}})
	t.Cycle("rebind."+ProbeZone, zone.Step{Records: []string{"@ 0 IN A 8.8.8.8"}},
		zone.Step{Records: []string{"@ 0 IN A 127.0.0.1"}})
}

// Name is something to try, with a line on what to expect.
type Name struct{ Host, Note string }

// Names are the names of the lab that are worth a person's try.
func (l *Lab) Names() []Name {
	var names []Name
	for _, s := range l.catalogue {
		names = append(names, Name{s.Host, s.Note})
	}
	for _, p := range pathNames {
		names = append(names, Name{p.label + "." + TransitZone, p.note})
	}
	for _, v := range views {
		names = append(names, Name{v.label + "." + ResolveZone, v.note})
	}
	names = append(names, tlsNames(l.tls)...)
	for _, d := range mailDomainsAndSites() {
		names = append(names, Name{d.name(), d.note})
	}
	return append(names,
		Name{"broken6." + SiteZone, "its IPv6 address is a black hole"},
		Name{"slow6." + SiteZone, "answers after three seconds, and its IPv6 address is a black hole"},
		Name{"noaddress." + SiteZone, "exists, without an address"},
		Name{"onedead." + SiteZone, "one of its three addresses is a black hole (uptime)"},
		Name{"crowd." + SiteZone, "four IPv4 addresses and one of IPv6 (port-checker)"},
		Name{"private." + SiteZone, "leads to a private address"},
		Name{"mixed." + SiteZone, "leads to a public and a private address"},
		Name{"rebind." + ProbeZone, "leads to a public and to a local address, by turns"},
		Name{"redis.backend", "a container's name, which the resolver has and no visitor is shown"},
		Name{DNSZone, "records of every kind"},
		Name{TypesName, "records of all twenty types (dns-lookup)"},
		Name{"alias." + DNSZone, "a chain of aliases"},
		Name{"bogus." + DNSZone, "SERVFAIL with an extended error"},
		Name{"timeout." + DNSZone, "its resolver never answers"},
		Name{"truncated." + DNSZone, "answers over TCP alone"},
		Name{faultyZone, "its name servers are lame, silent and at a private address (dns-resolver-check)"},
		Name{"changing." + ResolveZone, "one resolver gives old text first (dns-resolver-check, TXT)"},
		Name{"example-shop.com", "its registry has only the registrar (whois-lookup)"},
		Name{"lonely-shop.com", "its registrar's server fails (whois-lookup)"},
		Name{"charity-site.org", "its registry has all (whois-lookup)"},
		Name{"quiet-charity.org", "its registry holds most back, and says why (whois-lookup)"},
		Name{"münchen-shop.de", "an IDN with little data; IANA does not list its registry (whois-lookup)"},
		Name{"www.news-site.co.uk", "registered below a public suffix (whois-lookup)"},
		Name{"nobody-there.org", "its registry has no such registration (whois-lookup)"},
		Name{"example.kiwi", "no registry is known, and IANA names no WHOIS server (whois-lookup)"},
		Name{"example-shop.it, .jp, .at", "registered; their registries have WHOIS alone (whois-lookup)"},
		Name{"nobody-there.it", "not registered, says WHOIS (whois-lookup)"},
		Name{"example.tr, .cl, .be, .ir", "WHOIS servers that say wait, drip, have no end, send no text"},
		Name{"example.nosuchtld", "below no top-level domain: no query is sent (whois-lookup)"},
		Name{"example.info, .biz, .io, .app", "registries that say 429, send HTML, are slow, redirect in a loop"},
		Name{"11.80.0.1", "two prefixes; registered in NL (asn-lookup, ip-geolocation)"},
		Name{"11.90.0.1", "two origins; its registry has no country (asn-lookup, ip-geolocation)"},
		Name{"11.98.0.7", "its registry pads octets with zeros (whois-lookup, ip-geolocation)"},
		Name{"11.94.1.1", "the ASN service makes no sense"},
		Name{"AS212002", "a network with a bar in its name (asn-lookup)"},
	)
}
