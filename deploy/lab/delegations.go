package lab

import (
	"fmt"
	"strings"
	"time"

	"diagnostics/lab/internal/authority"

	"github.com/miekg/dns"
)

// Delegation is a domain with one fault in its delegation, and what a check of it finds. In all texts DOMAIN is the
// domain, and V4.n and V6.n are the addresses that its n-th server has.
type Delegation struct {
	label, Note string
	name        string // what to check below the domain; empty is the domain itself
	Verdict     string // ok, warn or fail
	Codes       []string

	servers int    // 2 where 0
	parent  string // at the registry, in place of the usual NS records and glue; - is nothing
	own     string // in the zone, in place of the usual NS records and addresses of their servers
	soa     string // the numbers of the SOA record, in place of the usual ones
	records string // in place of an address for the domain and for www
	twists  map[int]authority.Twist
}

// Domain is the domain of a delegation.
func (d Delegation) Domain() string { return "lab-deleg-" + d.label + ".com" }

// Input is the name to check.
func (d Delegation) Input() string { return d.name + d.Domain() }

// Delegations are the table of delegations.
func Delegations() []Delegation { return delegations }

var (
	servfail = authority.Fails(dns.RcodeServerFailure)
	refusing = authority.Fails(dns.RcodeRefused)
)

func each(n int, t authority.Twist) map[int]authority.Twist {
	twists := map[int]authority.Twist{}
	for i := range n {
		twists[i+1] = t
	}
	return twists
}

func second(t authority.Twist) map[int]authority.Twist { return map[int]authority.Twist{2: t} }

const (
	usualSOA     = "2026010101 7200 900 1209600 300"
	usualRecords = "DOMAIN. 300 IN A 11.80.0.1\nwww.DOMAIN. 300 IN A 11.80.0.1\n"
	aliasAtWWW   = "DOMAIN. 300 IN A 11.80.0.1\nwww.DOMAIN. 300 IN CNAME "
	bothNS       = "DOMAIN. IN NS ns1.DOMAIN.\nDOMAIN. IN NS ns2.DOMAIN.\n"
	firstHost    = "ns1.DOMAIN. IN A V4.1\nns1.DOMAIN. IN AAAA V6.1\n"
	secondHost   = "ns2.DOMAIN. IN A V4.2\n"
)

var delegations = []Delegation{
	{label: "good", Note: "two servers in two networks", Verdict: "ok"},
	{label: "four", Note: "four servers", Verdict: "ok", servers: 4},
	{label: "slow", Note: "its servers take 300 ms", Verdict: "ok",
		twists: each(2, authority.Slow(300*time.Millisecond))},
	{label: "truncated", Note: "all answers over UDP are truncated", Verdict: "ok", servers: 4,
		twists: each(4, authority.OverUDP(authority.Changes(authority.Truncates)))},
	{label: "wildcard", Note: "a wildcard", Verdict: "ok", Codes: []string{"WILDCARD"},
		records: usualRecords + "*.DOMAIN. 300 IN A 11.80.0.1"},
	{label: "ttl", Note: "TTLs at both ends", Verdict: "ok", Codes: []string{"TTL_SHORT", "TTL_LONG"},
		records: "DOMAIN. 5 IN A 11.80.0.1\nDOMAIN. 1209600 IN MX 10 mail.lab-site.com."},
	{label: "soa", Note: "an odd SOA record", Verdict: "ok", Codes: []string{"SOA_VALUE"}, soa: "1 60 900 3600 172800"},

	{label: "onesilent", Note: "one of four servers is silent", Verdict: "warn", Codes: []string{"SERVER_SILENT"},
		servers: 4,
		twists:  second(authority.Silent)},
	{label: "silent", Note: "all four servers are silent", Verdict: "fail", Codes: []string{"NO_SERVER_ANSWERS"},
		servers: 4,
		twists:  each(4, authority.Silent)},
	{label: "onelame", Note: "one server refers to the root", Verdict: "warn", Codes: []string{"SERVER_LAME"},
		twists: second(authority.Lame)},
	{label: "lame", Note: "no server has the zone", Verdict: "fail", Codes: []string{"ALL_SERVERS_LAME"},
		twists: each(2, refusing)},
	{label: "refused", Note: "one server refuses", Verdict: "warn", Codes: []string{"SERVER_REFUSES"},
		twists: second(refusing)},
	{label: "servfail", Note: "one server fails", Verdict: "warn", Codes: []string{"SERVER_FAILS"},
		twists: second(servfail)},
	{label: "notauth", Note: "one server answers from a cache", Verdict: "warn", Codes: []string{"SERVER_LAME"},
		twists: second(authority.Changes(func(_, m *dns.Msg) { m.Authoritative = false }))},
	{label: "recursive", Note: "one server offers recursion", Verdict: "warn", Codes: []string{"RECURSION_OFFERED"},
		twists: second(authority.Changes(authority.Recursive))},
	{label: "serials", Note: "one server has an older version", Verdict: "warn", Codes: []string{"SERIALS_DIFFER"},
		twists: second(authority.Serial(2025010101))},

	{label: "notcp", Note: "no TCP", Verdict: "warn", Codes: []string{"TCP_FAILS"},
		twists: second(authority.OverTCP(authority.Silent))},
	{label: "noedns", Note: "ignores EDNS", Verdict: "warn", Codes: []string{"EDNS_FAILS"},
		twists: second(authority.IgnoresEDNS)},
	{label: "formerr", Note: "FORMERR for EDNS", Verdict: "warn", Codes: []string{"EDNS_FAILS"},
		twists: second(authority.OnEDNS(authority.PlainFormErr))},
	{label: "dropsedns", Note: "silent for EDNS", Verdict: "warn", Codes: []string{"EDNS_FAILS"},
		twists: second(authority.OverUDP(authority.OnEDNS(authority.Silent)))},
	{label: "badvers", Note: "BADVERS for an option", Verdict: "warn", Codes: []string{"EDNS_OPTION_FAILS"},
		twists: second(authority.OnOption(authority.Fails(dns.RcodeBadVers)))},
	{label: "dropsoption", Note: "silent for an option", Verdict: "warn", Codes: []string{"EDNS_OPTION_FAILS"},
		twists: second(authority.OnOption(authority.Silent))},
	{label: "echoes", Note: "sends an option back", Verdict: "warn", Codes: []string{"EDNS_OPTION_FAILS"},
		twists: second(authority.Changes(authority.Echoes))},

	{label: "nsdiffer", Note: "a third server in the zone alone", Verdict: "warn", Codes: []string{"NS_SETS_DIFFER"},
		own: bothNS + firstHost + secondHost + "DOMAIN. IN NS ns3.DOMAIN.\nns3.DOMAIN. IN A V4.3"},
	{label: "nsofservers", Note: "its servers give two NS sets", Verdict: "warn",
		Codes:  []string{"NS_SETS_OF_SERVERS_DIFFER"},
		twists: second(authority.OnType(authority.Changes(func(_, m *dns.Msg) { m.Answer = m.Answer[:1] }), dns.TypeNS))},
	{label: "nsalias", Note: "the name of a server is an alias", Verdict: "warn", Codes: []string{"NS_IS_ALIAS"},
		own: bothNS + firstHost + "ns2.DOMAIN. IN CNAME real.DOMAIN.\nreal.DOMAIN. IN A V4.2"},
	{label: "noaddress", Note: "a server without an address", Verdict: "warn", Codes: []string{"SERVER_WITHOUT_ADDRESS"},
		parent: bothNS + firstHost + secondHost + "DOMAIN. IN NS nowhere.lab-site.com.",
		own:    bothNS + firstHost + secondHost + "DOMAIN. IN NS nowhere.lab-site.com."},
	{label: "noglue", Note: "glue for one server alone", Verdict: "warn", Codes: []string{"GLUE_MISSING"},
		parent: bothNS + firstHost},
	{label: "oldglue", Note: "glue with an old address", Verdict: "warn", Codes: []string{"GLUE_WRONG"},
		parent: bothNS + firstHost + "ns2.DOMAIN. IN A V4.3"},
	{label: "private", Note: "a server at a private address", Verdict: "warn",
		Codes:  []string{"SERVER_ADDRESS_NOT_PUBLIC"},
		parent: bothNS + firstHost + "ns2.DOMAIN. IN A 10.1.2.3", own: bothNS + firstHost + "ns2.DOMAIN. IN A 10.1.2.3"},
	{label: "single", Note: "one server", Verdict: "warn", Codes: []string{"SINGLE_SERVER"}, servers: 1},
	{label: "onenetwork", Note: "servers in one network", Verdict: "ok", Codes: []string{"SERVERS_IN_ONE_NETWORK"},
		parent: bothNS + "ns1.DOMAIN. IN A V4.1\nns2.DOMAIN. IN A N4.1",
		own:    bothNS + "ns1.DOMAIN. IN A V4.1\nns2.DOMAIN. IN A N4.1"},
	{label: "gone", Note: "not registered", Verdict: "fail", Codes: []string{"NOT_DELEGATED"}, parent: "-"},
	{label: "nowhere", Note: "no server has an address", Verdict: "fail",
		Codes:  []string{"NO_SERVER_ADDRESS", "SERVER_WITHOUT_ADDRESS"},
		parent: "DOMAIN. IN NS ns1.lab-deleg-gone.com.\nDOMAIN. IN NS ns2.lab-deleg-gone.com."},
	{label: "circle", Note: "its servers are named in a zone that is named in this one", Verdict: "fail",
		Codes:  []string{"NO_SERVER_ADDRESS"},
		parent: "DOMAIN. IN NS ns1.lab-deleg-circle2.com.\nlab-deleg-circle2.com. IN NS ns1.DOMAIN."},
	{label: "many", Note: "ten servers in other zones (NXNS)", Verdict: "fail",
		Codes:  []string{"CHECK_CUT", "NO_SERVER_ADDRESS", "SERVER_WITHOUT_ADDRESS"},
		parent: tenServers()},

	{label: "apex", Note: "an alias at the apex", Verdict: "warn", Codes: []string{"CNAME_AT_APEX"},
		records: "DOMAIN. 300 IN CNAME fast.lab-site.com."},
	{label: "beside", name: "www.", Note: "an alias beside an address", Verdict: "warn",
		Codes:   []string{"CNAME_BESIDE_DATA"},
		records: aliasAtWWW + "fast.lab-site.com.\nwww.DOMAIN. 300 IN A 11.80.0.1"},
	{label: "loop", name: "www.", Note: "aliases in a circle", Verdict: "fail", Codes: []string{"ALIAS_LOOP"},
		records: aliasAtWWW + "web.DOMAIN.\nweb.DOMAIN. 300 IN CNAME www.DOMAIN."},
	{label: "dangling", name: "www.", Note: "an alias of nothing", Verdict: "fail",
		Codes:   []string{"ALIAS_TARGET_MISSING"},
		records: aliasAtWWW + "www.lab-deleg-gone.com."},
	{label: "contradicts", name: "www.", Note: "NXDOMAIN for AAAA alone", Verdict: "warn",
		Codes: []string{"DNS_CONTRADICTS"},
		twists: each(2, authority.OnName("www.lab-deleg-contradicts.com.",
			authority.OnType(authority.Changes(authority.Denies), dns.TypeAAAA)))},
	{label: "empty", name: "a.b.", Note: "NXDOMAIN for a name with names below it", Verdict: "warn",
		Codes:   []string{"EMPTY_NAME_DENIED"},
		records: "DOMAIN. 300 IN A 11.80.0.1\na.b.DOMAIN. 300 IN A 11.80.0.1",
		twists:  each(2, authority.OnName("b.lab-deleg-empty.com.", authority.Changes(authority.Denies)))},
	{label: "missing", name: "nowhere.", Note: "a name that does not exist", Verdict: "warn",
		Codes: []string{"NAME_NOT_FOUND"}},
}

func tenServers() string {
	var b strings.Builder
	for i := range 10 {
		fmt.Fprintf(&b, "DOMAIN. IN NS ns.lab-deleg-ten%d.com.\n", i)
	}
	return b.String()
}

// text puts the domain and the addresses of its servers in place. N4.1 is beside V4.1.
func (d Delegation) text(i int, s string) string {
	beside, _ := nameServer(delegationNetwork, 200+i)
	list := []string{"DOMAIN", d.Domain(), "N4.1", beside.String()}
	for k := range maxServers {
		v4, v6 := nameServer(delegationNetwork+k, i+1)
		list = append(list, fmt.Sprintf("V4.%d", k+1), v4.String(), fmt.Sprintf("V6.%d", k+1), v6.String())
	}
	return strings.NewReplacer(list...).Replace(s)
}

const maxServers = 4

// usual are the NS records of a domain and the addresses of its servers, of which the first has both families.
func (d Delegation) usual() string {
	var b strings.Builder
	b.WriteString("ns1.DOMAIN. IN AAAA V6.1\n")
	for k := range d.count() {
		fmt.Fprintf(&b, "DOMAIN. IN NS ns%[1]d.DOMAIN.\nns%[1]d.DOMAIN. IN A V4.%[1]d\n", k+1)
	}
	return b.String()
}

func (d Delegation) count() int {
	if d.servers == 0 {
		return 2
	}
	return d.servers
}

func orElse(s, usual string) string {
	if s == "" {
		return usual
	}
	return s
}

// publishDelegations makes the domains of the table.
func (a *authorities) publishDelegations() error {
	for i, d := range delegations {
		if parent := orElse(d.parent, d.usual()); parent != "-" {
			a.delegate(d.Domain(), d.text(i, parent))
		}
		z, err := authority.Parse(d.Domain()+".", d.text(i, "DOMAIN. IN SOA ns1.DOMAIN. hostmaster.DOMAIN. "+
			orElse(d.soa, usualSOA)+"\n"+orElse(d.own, d.usual())+"\n"+orElse(d.records, usualRecords)))
		if err != nil {
			return err
		}
		for k := range max(d.count(), 3) {
			s := authority.Serving(z)
			if twist := d.twists[k+1]; twist != nil {
				s = twist(s)
			}
			v4, v6 := nameServer(delegationNetwork+k, i+1)
			if a.servers[v4] = s; k == 0 {
				beside, _ := nameServer(delegationNetwork, 200+i)
				a.servers[v6], a.servers[beside] = s, s
			}
		}
	}
	return nil
}
