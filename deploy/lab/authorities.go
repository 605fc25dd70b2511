package lab

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"diagnostics/lab/internal/authority"
	"diagnostics/lab/internal/site"
	"diagnostics/lab/internal/zone"

	"github.com/miekg/dns"
	"golang.org/x/net/publicsuffix"
)

// namesNode is the node of the authoritative servers: those of the root, of the top-level zones, and of the domains.
const namesNode = "names"

// The networks of namesNode: 11.60.n.0/24 and 2a10:60:n::/48.
const (
	rootNetwork, topNetwork, hostNetwork, secondHostNetwork = 1, 2, 3, 4
	signedNetwork, secondSignedNetwork                      = 5, 6
	packagedNetwork, secondPackagedNetwork                  = 7, 8
	delegationNetwork                                       = 10 // and those after it, one for each server of a domain
	// costlyNetwork and those after it are in costly.go.
)

// nameServer is an address of namesNode in both families.
func nameServer(network, host int) (v4, v6 netip.Addr) {
	a, b := names4.Addr().As4(), names6.Addr().As16()
	a[2], a[3], b[5], b[15] = byte(network), byte(host), byte(network), byte(host)
	return netip.AddrFrom4(a), netip.AddrFrom16(b)
}

// RootServer is the address of the first root server.
func RootServer() netip.Addr { v4, _ := nameServer(rootNetwork, 1); return v4 }

// RootHintsFile and TrustAnchorsFile are for DNS_ROOT_HINTS_FILE and DNS_TRUST_ANCHORS_FILE, and for a resolver.
func (l *Lab) RootHintsFile() string { return filepath.Join(l.Dir(), "root.hints") }

// TrustAnchorsFile is described with RootHintsFile.
func (l *Lab) TrustAnchorsFile() string { return filepath.Join(l.Dir(), "root.anchors") }

// authorities are the authoritative servers in the making.
type authorities struct {
	servers map[netip.Addr]authority.Server
	// top are the delegations by top-level zone, in zone-file format.
	top map[string][]string
	// hosted are the zones of the servers that most domains share.
	hosted []*authority.Zone
}

// delegate enters a domain at its registry.
func (a *authorities) delegate(domain string, lines ...string) {
	top := domain[strings.LastIndex(domain, ".")+1:]
	a.top[top] = append(a.top[top], lines...)
}

// at puts a server on the n-th host of a network, in both families.
func (a *authorities) at(network, host int, s authority.Server) {
	v4, v6 := nameServer(network, host)
	a.servers[v4], a.servers[v6] = s, s
}

// startAuthorities runs the authoritative servers of the lab, from the root down.
func (l *Lab) startAuthorities() error {
	a := &authorities{servers: map[netip.Addr]authority.Server{}, top: map[string][]string{}}
	for _, publish := range []func() error{
		func() error { return a.hostExamples(l.examples) },
		func() error { return a.hostTable(l.table) },
		a.publishDelegations, a.publishSigned, a.publishPackaged, a.publishCostly,
		func() error { return l.publishRoot(a) },
	} {
		if err := publish(); err != nil {
			return err
		}
	}
	if err := l.table.Add(a.glue()...); err != nil {
		return err
	}
	servers := &zone.Servers{}
	l.onClose(servers.Close)
	for address, s := range a.servers {
		if err := servers.ServeHandler(l.ns[namesNode], address.String(), false, s); err != nil {
			return err
		}
	}
	return nil
}

// glue are the addresses at the registries. The lab's resolver has them as well, for dig +trace.
func (a *authorities) glue() (lines []string) {
	for _, top := range a.top {
		for _, line := range top {
			if fields := strings.Fields(line); slices.Contains(fields, "A") || slices.Contains(fields, "AAAA") {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// hosts are the names of the servers that most domains share. The zone lab-transit.net has their addresses.
var hosts = []string{"ns1." + TransitZone, "ns2." + TransitZone}

func hostRecords() (lines []string) {
	for i, network := range []int{hostNetwork, secondHostNetwork} {
		v4, v6 := nameServer(network, 1)
		lines = append(lines, addressRecords(hosts[i], v4, v6)...)
	}
	return lines
}

func hostNS(domain string) (lines []string) {
	for _, host := range hosts {
		lines = append(lines, fmt.Sprintf("%s. 3600 IN NS %s.", domain, host))
	}
	return lines
}

// hostExamples hosts the names that the pages offer to try, signed. The first, which all typical requests of the
// OpenAPI description have, is there in every lab.
func (a *authorities) hostExamples(all bool) error {
	names := site.Examples[:1]
	if all {
		names = site.Examples
	}
	for _, name := range names {
		lines := append(hostNS(name), soa(name+"."), name+". 300 IN A 11.80.0.1")
		if all {
			lines = append(exampleRecords(), hostNS(name)...)
		}
		lines = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(lines))), func(line string) bool {
			owner, _, _ := strings.Cut(line, " ")
			return !dns.IsSubDomain(name+".", owner)
		})
		z, ds, err := signed(name, lines)
		if err != nil {
			return err
		}
		a.hosted = append(a.hosted, z)
		a.delegate(name, append(hostNS(name), ds)...)
	}
	return nil
}

// signed is a zone in good order and its DS record.
func signed(name string, lines []string) (z *authority.Zone, ds string, err error) {
	if z, err = authority.Parse(dns.Fqdn(name), strings.Join(lines, "\n")); err != nil {
		return nil, "", err
	}
	keys, err := keyPair(z.Origin, dns.ED25519, 256)
	if err != nil {
		return nil, "", err
	}
	return z, keys[0].DS(dns.SHA256).String(), z.Sign(authority.Signing{Keys: keys})
}

func keyPair(origin string, algorithm uint8, bits int) (keys []authority.Key, err error) {
	for _, flags := range []uint16{authority.KSK, authority.ZSK} {
		k, err := authority.NewKey(origin, flags, algorithm, bits, "")
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// hostTable delegates the domains that the lab's resolver has, and answers for them as it does.
func (a *authorities) hostTable(t *zone.Table) error {
	for _, domain := range registered(t.Names()) {
		if slices.ContainsFunc(a.hosted, func(z *authority.Zone) bool { return z.Origin == domain+"." }) {
			continue
		}
		lines := hostNS(domain)
		if own := t.Answer(new(dns.Msg).SetQuestion(domain+".", dns.TypeNS)); len(own.Answer) > 0 {
			lines = withGlue(t, own.Answer)
		}
		a.delegate(domain, lines...)
	}
	a.delegate(TransitZone, hostRecords()...)
	own := authority.Serving(a.hosted...)
	s := authority.Server(func(q *dns.Msg, udp bool) *dns.Msg {
		if m := own(q, udp); m.Rcode != dns.RcodeRefused {
			return m
		}
		return fromTable(t, q)
	})
	a.at(hostNetwork, 1, s)
	a.at(secondHostNetwork, 1, s)
	return nil
}

// withGlue are NS records and the addresses of those that are inside their zone.
func withGlue(t *zone.Table, set []dns.RR) (lines []string) {
	for _, rr := range set {
		lines = append(lines, rr.String())
		host := rr.(*dns.NS).Ns
		for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
			if !dns.IsSubDomain(rr.Header().Name, host) {
				break
			}
			for _, address := range t.Answer(new(dns.Msg).SetQuestion(host, qtype)).Answer {
				lines = append(lines, address.String())
			}
		}
	}
	return lines
}

// registered are the domains of names of the public DNS, in order.
func registered(names []string) (domains []string) {
	for _, name := range names {
		name = strings.TrimSuffix(name, ".")
		suffix, icann := publicsuffix.PublicSuffix(name)
		domain, err := publicsuffix.EffectiveTLDPlusOne(name)
		if err == nil && icann && !strings.Contains(suffix, ".") && suffix != "arpa" {
			domains = append(domains, domain)
		}
	}
	slices.Sort(domains)
	return slices.Compact(domains)
}

// fromTable answers as a server of the domain of a name would with what the lab's resolver has for it.
func fromTable(t *zone.Table, q *dns.Msg) *dns.Msg {
	ask := q.Copy()
	ask.RecursionDesired = false
	name := dns.CanonicalName(q.Question[0].Name)
	domains := registered([]string{name})
	if len(domains) == 0 {
		return new(dns.Msg).SetRcode(q, dns.RcodeRefused)
	}
	m, apex := t.Answer(ask), domains[0]+"."
	if m == nil {
		return nil
	}
	m.RecursionAvailable, m.RecursionDesired = false, q.RecursionDesired
	m.Answer = slices.DeleteFunc(m.Answer, func(rr dns.RR) bool { return !dns.IsSubDomain(apex, rr.Header().Name) })
	own := apexRecords(domains[0])
	if name == apex && len(m.Answer) == 0 && len(own[q.Question[0].Qtype]) > 0 {
		m.Answer, m.Ns, m.Rcode = own[q.Question[0].Qtype], nil, dns.RcodeSuccess
	}
	if len(m.Answer) == 0 && m.Rcode != dns.RcodeServerFailure && m.Rcode != dns.RcodeRefused {
		m.Ns = own[dns.TypeSOA]
	}
	return m
}

// apexRecords are those of a domain for which the resolver has none.
func apexRecords(domain string) map[uint16][]dns.RR {
	records := map[uint16][]dns.RR{}
	for _, line := range append(hostNS(domain), soa(domain+".")) {
		if rr, err := dns.NewRR(line); err == nil {
			records[rr.Header().Rrtype] = append(records[rr.Header().Rrtype], rr)
		}
	}
	return records
}

// The servers of the root and of the top-level zones, two each.
var (
	rootServers = []string{authority.RootServer, "b.root-servers.net."}
	topServers  = []string{"a.gtld-servers.net.", "b.gtld-servers.net."}
)

// publishRoot makes the root and the top-level zones, signed, and the files that lead to them.
func (l *Lab) publishRoot(a *authorities) error {
	addresses := append(serverRecords(rootServers, rootNetwork), serverRecords(topServers, topNetwork)...)
	a.delegate("net", append(serverNS("gtld-servers.net.", topServers), serverNS("root-servers.net.", topServers)...)...)
	a.delegate("net", addresses...)
	root := append(append(serverNS(".", rootServers), soa(".")), addresses...)
	var zones []*authority.Zone
	for top, lines := range a.top {
		z, ds, err := signed(top, append(append(serverNS(top+".", topServers), soa(top+".")), lines...))
		if err != nil {
			return err
		}
		zones, root = append(zones, z), append(append(root, ds), serverNS(top+".", topServers)...)
	}
	for _, name := range []string{"gtld-servers.net.", "root-servers.net."} {
		lines := append(append(serverNS(name, topServers), soa(name)), addresses...)
		lines = slices.DeleteFunc(lines, func(line string) bool {
			owner, _, _ := strings.Cut(line, " ")
			return !dns.IsSubDomain(name, owner)
		})
		z, err := authority.Parse(name, strings.Join(lines, "\n"))
		if err != nil {
			return err
		}
		zones = append(zones, z)
	}
	z, ds, err := signed(".", root)
	if err != nil {
		return err
	}
	for i := range rootServers {
		a.at(rootNetwork, i+1, authority.Serving(z))
		a.at(topNetwork, i+1, authority.Serving(zones...))
	}
	hints := append(serverNS(".", rootServers), serverRecords(rootServers, rootNetwork)...)
	return errors.Join(os.WriteFile(l.RootHintsFile(), []byte(strings.Join(hints, "\n")+"\n"), 0o644),
		os.WriteFile(l.TrustAnchorsFile(), []byte(ds+"\n"), 0o644))
}

func serverNS(zone string, servers []string) (lines []string) {
	for _, server := range servers {
		lines = append(lines, zone+" 3600 IN NS "+server)
	}
	return lines
}

func serverRecords(servers []string, network int) (lines []string) {
	for i, server := range servers {
		v4, v6 := nameServer(network, i+1)
		lines = append(lines, addressRecords(strings.TrimSuffix(server, "."), v4, v6)...)
	}
	return lines
}
