package netpolicy

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// registry is both IANA special-purpose registries written down from the RFCs, apart from the rows that the code reads,
// so that a wrong row cannot agree with its own test. Each entry: block, first and last address, the document, the
// registry's "Globally Reachable", and whether this service may probe it.
var registry = []struct {
	block, first, last string
	source             string
	reachable          Reachability
	public             bool
}{
	{"0.0.0.0/8", "0.0.0.0", "0.255.255.255", "RFC 791", ReachableFalse, false},
	{"0.0.0.0/32", "0.0.0.0", "0.0.0.0", "RFC 1122", ReachableFalse, false},
	{"10.0.0.0/8", "10.0.0.0", "10.255.255.255", "RFC 1918", ReachableFalse, false},
	{"100.64.0.0/10", "100.64.0.0", "100.127.255.255", "RFC 6598", ReachableFalse, false},
	{"127.0.0.0/8", "127.0.0.0", "127.255.255.255", "RFC 1122", ReachableFalse, false},
	{"169.254.0.0/16", "169.254.0.0", "169.254.255.255", "RFC 3927", ReachableFalse, false},
	{"172.16.0.0/12", "172.16.0.0", "172.31.255.255", "RFC 1918", ReachableFalse, false},
	{"192.0.0.0/24", "192.0.0.0", "192.0.0.255", "RFC 6890", ReachableFalse, false},
	{"192.0.0.0/29", "192.0.0.0", "192.0.0.7", "RFC 7335", ReachableFalse, false},
	{"192.0.0.8/32", "192.0.0.8", "192.0.0.8", "RFC 7600", ReachableFalse, false},
	{"192.0.0.9/32", "192.0.0.9", "192.0.0.9", "RFC 7723", ReachableTrue, false},
	{"192.0.0.10/32", "192.0.0.10", "192.0.0.10", "RFC 8155", ReachableTrue, false},
	{"192.0.0.170/32", "192.0.0.170", "192.0.0.170", "RFC 8880", ReachableFalse, false},
	{"192.0.0.171/32", "192.0.0.171", "192.0.0.171", "RFC 8880", ReachableFalse, false},
	{"192.0.2.0/24", "192.0.2.0", "192.0.2.255", "RFC 5737", ReachableFalse, false},
	{"192.31.196.0/24", "192.31.196.0", "192.31.196.255", "RFC 7535", ReachableTrue, true},
	{"192.52.193.0/24", "192.52.193.0", "192.52.193.255", "RFC 7450", ReachableTrue, true},
	{"192.88.99.0/24", "192.88.99.0", "192.88.99.255", "RFC 7526", ReachableNA, false},
	{"192.88.99.2/32", "192.88.99.2", "192.88.99.2", "RFC 6751", ReachableFalse, false},
	{"192.168.0.0/16", "192.168.0.0", "192.168.255.255", "RFC 1918", ReachableFalse, false},
	{"192.175.48.0/24", "192.175.48.0", "192.175.48.255", "RFC 7534", ReachableTrue, true},
	{"198.18.0.0/15", "198.18.0.0", "198.19.255.255", "RFC 2544", ReachableFalse, false},
	{"198.51.100.0/24", "198.51.100.0", "198.51.100.255", "RFC 5737", ReachableFalse, false},
	{"203.0.113.0/24", "203.0.113.0", "203.0.113.255", "RFC 5737", ReachableFalse, false},
	{"240.0.0.0/4", "240.0.0.0", "255.255.255.255", "RFC 1112", ReachableFalse, false},
	{"255.255.255.255/32", "255.255.255.255", "255.255.255.255", "RFC 919", ReachableFalse, false},

	{"::1/128", "::1", "::1", "RFC 4291", ReachableFalse, false},
	{"::/128", "::", "::", "RFC 4291", ReachableFalse, false},
	{"::ffff:0:0/96", "::ffff:0.0.0.0", "::ffff:255.255.255.255", "RFC 4291", ReachableFalse, false},
	{"64:ff9b::/96", "64:ff9b::", "64:ff9b::ffff:ffff", "RFC 6052", ReachableTrue, false},
	{"64:ff9b:1::/48", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "RFC 8215", ReachableFalse, false},
	{"100::/64", "100::", "100::ffff:ffff:ffff:ffff", "RFC 6666", ReachableFalse, false},
	{"100:0:0:1::/64", "100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff", "RFC 9780", ReachableFalse, false},
	{"2001::/23", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 2928", ReachableFalse, false},
	{"2001::/32", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 4380", ReachableNA, false},
	{"2001:1::1/128", "2001:1::1", "2001:1::1", "RFC 7723", ReachableTrue, false},
	{"2001:1::2/128", "2001:1::2", "2001:1::2", "RFC 8155", ReachableTrue, false},
	{"2001:1::3/128", "2001:1::3", "2001:1::3", "RFC 9665", ReachableTrue, false},
	{"2001:2::/48", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", "RFC 5180", ReachableFalse, false},
	{"2001:3::/32", "2001:3::", "2001:3:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 7450", ReachableTrue, false},
	{"2001:4:112::/48", "2001:4:112::", "2001:4:112:ffff:ffff:ffff:ffff:ffff", "RFC 7535", ReachableTrue, false},
	{"2001:10::/28", "2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 4843", ReachableNA, false},
	{"2001:20::/28", "2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 7343", ReachableTrue, false},
	{"2001:30::/28", "2001:30::", "2001:3f:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 9374", ReachableTrue, false},
	{"2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 3849", ReachableFalse, false},
	{"2002::/16", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 3056", ReachableNA, false},
	{"2620:4f:8000::/48", "2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", "RFC 7534", ReachableTrue, true},
	{"3fff::/20", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 9637", ReachableFalse, false},
	{"5f00::/16", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 9602", ReachableFalse, false},
	{"fc00::/7", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 4193", ReachableFalse, false},
	{"fe80::/10", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 4291", ReachableFalse, false},
}

func TestRegistryRowsAreTheRFCs(t *testing.T) {
	t.Parallel()
	rows := make(map[netip.Prefix]Row)
	for _, r := range Rows() {
		if r.Registry == IPv4Special || r.Registry == IPv6Special {
			rows[r.Prefix] = r
		}
	}
	if len(rows) != len(registry) {
		t.Errorf("%d special-purpose rows, the registries have %d", len(rows), len(registry))
	}
	for _, want := range registry {
		r, ok := rows[netip.MustParsePrefix(want.block)]
		if !ok {
			t.Errorf("%s is missing", want.block)
			continue
		}
		if r.Source != want.source || r.Reachable != want.reachable || r.Public() != want.public {
			t.Errorf("%s: source %q, reachable %d, public %t; want %q, %d, %t",
				want.block, r.Source, r.Reachable, r.Public(), want.source, want.reachable, want.public)
		}
		for _, edge := range []string{want.first, want.last} {
			if v := Judge(netip.MustParseAddr(edge)); v.Public != want.public {
				t.Errorf("edge %s of %s: public %t, want %t (%+v)", edge, want.block, v.Public, want.public, v)
			}
		}
	}
}

func TestRowsAreWellFormed(t *testing.T) {
	t.Parallel()
	source := regexp.MustCompile(`^RFC [0-9]+$`)
	rows := Rows()
	for i, r := range rows {
		if r.Prefix != r.Prefix.Masked() {
			t.Errorf("%s has host bits", r.Prefix)
		}
		if r.Name == "" || r.Registry == "" {
			t.Errorf("%s has an empty column", r.Prefix)
		}
		if r.Registry != Own && !source.MatchString(r.Source) {
			t.Errorf("%s: source %q is not an RFC", r.Prefix, r.Source)
		}
		if (r.Kind == "") != r.Public() {
			t.Errorf("%s: public %t with kind %q", r.Prefix, r.Public(), r.Kind)
		}
		if r.Narrowed != "" && r.Reachable != ReachableTrue {
			t.Errorf("%s is narrowed, but the registry does not call it reachable", r.Prefix)
		}
		for _, earlier := range rows[:i] {
			if earlier.Prefix.Overlaps(r.Prefix) && earlier.Prefix.Bits() <= r.Prefix.Bits() {
				t.Errorf("%s is judged before the more specific or equal %s", earlier.Prefix, r.Prefix)
			}
		}
	}
}

// TestEveryEdge goes to both ends of every row, just inside and just outside, and compares with the longest match over
// all rows, found another way.
func TestEveryEdge(t *testing.T) {
	t.Parallel()
	n := 0
	for _, r := range Rows() {
		first, last := r.Prefix.Addr(), LastOf(r.Prefix)
		for _, edge := range []struct {
			where string
			addr  netip.Addr
		}{
			{"first", first}, {"last", last}, {"before", first.Prev()}, {"after", last.Next()},
		} {
			if !edge.addr.IsValid() {
				continue // 0.0.0.0, 255.255.255.255, :: and ff…ff have no neighbour
			}
			n++
			inside := edge.where == "first" || edge.where == "last"
			if r.Prefix.Contains(edge.addr) != inside {
				t.Errorf("%s: %s %s is on the wrong side", r.Prefix, edge.where, edge.addr)
			}
			v := Judge(edge.addr)
			if !inside && v.Prefix == r.Prefix {
				t.Errorf("%s: %s %s is judged by it", r.Prefix, edge.where, edge.addr)
			}
			if want := longestMatch(edge.addr); v.Prefix != want.Prefix || v.Public != want.Public() {
				t.Errorf("%s: %s %s: judged by %s, public %t; want %s, %t",
					r.Prefix, edge.where, edge.addr, v.Prefix, v.Public, want.Prefix, want.Public())
			}
			if v.Public == (v.Reason != "") {
				t.Errorf("%s: public %t with reason %q", edge.addr, v.Public, v.Reason)
			}
		}
	}
	t.Logf("%d edges", n)
}

// longestMatch is the most specific row, or a row that stands for none.
func longestMatch(a netip.Addr) Row {
	best := Row{Reachable: ReachableTrue}
	if a.Is6() {
		best.Reachable = ReachableFalse
		if globalUnicast.Contains(a) {
			best = Row{Prefix: globalUnicast, Reachable: ReachableTrue}
		}
	}
	rows := Rows()
	slices.SortFunc(rows, func(a, b Row) int { return a.Prefix.Bits() - b.Prefix.Bits() })
	for _, r := range rows {
		if r.Prefix.Contains(a) {
			best = r
		}
	}
	return best
}

// documented are the rows that come from elsewhere than the special-purpose registries, written down as registry is.
var documented = []struct{ block, first, last, source string }{
	{"168.63.129.16/32", "168.63.129.16", "168.63.129.16", "Azure documentation"},
	{"224.0.0.0/4", "224.0.0.0", "239.255.255.255", "RFC 5771"},
	{"::/96", "::", "::ffff:ffff", "RFC 4291"},
	{"::ffff:0:0:0/96", "::ffff:0:0:0", "::ffff:0:ffff:ffff", "RFC 2765"},
	{"fec0::/10", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 3879"},
	{"ff00::/8", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 4291"},
}

// block is a documented run of addresses and what is to be said of it.
type block struct {
	prefix      netip.Prefix
	first, last netip.Addr
	source      string
	public      bool
}

func (b block) holds(a netip.Addr) bool {
	return a.BitLen() == b.first.BitLen() && !a.Less(b.first) && !b.last.Less(a)
}

// documentedBlocks are all of them, and what there is beside them.
func documentedBlocks() []block {
	var all []block
	add := func(prefix, first, last, source string, public bool) {
		all = append(all, block{
			netip.MustParsePrefix(prefix), netip.MustParseAddr(first), netip.MustParseAddr(last), source, public,
		})
	}
	for _, r := range registry {
		add(r.block, r.first, r.last, r.source, r.public)
	}
	for _, r := range documented {
		add(r.block, r.first, r.last, r.source, false)
	}
	add("2000::/3", "2000::", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 4291", true)
	return all
}

// narrowest is the block that decides about an address.
func narrowest(blocks []block, a netip.Addr) block {
	best := block{source: "RFC 791", public: a.Is4()}
	if a.Is6() {
		best.source = "RFC 4291"
	}
	for _, b := range blocks {
		if b.holds(a) && (!best.prefix.IsValid() || b.prefix.Bits() > best.prefix.Bits()) {
			best = b
		}
	}
	return best
}

// edge is an address at an end of a documented block, just inside or just outside.
type edge struct {
	addr netip.Addr
	of   netip.Prefix
	want block
}

var edges = sync.OnceValue(func() (all []edge) {
	blocks := documentedBlocks()
	for _, b := range blocks {
		for _, a := range []netip.Addr{b.first.Prev(), b.first, b.first.Next(), b.last.Prev(), b.last, b.last.Next()} {
			if a.IsValid() {
				all = append(all, edge{a, b.prefix, narrowest(blocks, a)})
			}
		}
	}
	return all
})

// edgeFailures holds all of them against what judges.
func edgeFailures(judge func(netip.Addr) Verdict) (failures []string) {
	for _, e := range edges() {
		v, want := judge(e.addr), e.want
		if v.Public != want.public || v.Source != want.source || v.Prefix != want.prefix {
			failures = append(failures, fmt.Sprintf("%s, at an edge of %s: public %t by %v (%s), want %t by %v (%s)",
				e.addr, e.of, v.Public, v.Prefix, v.Source, want.public, want.prefix, want.source))
		}
	}
	return failures
}

func TestEdgesAreTheDocuments(t *testing.T) {
	t.Parallel()
	report(t, edgeFailures(Judge))
}

// documentedZones are the zones written down apart from the code: the registries' lists, and the names of private
// networks and clouds.
func documentedZones() []string {
	zones := strings.Fields(`
		alt example internal invalid local localhost onion test
		corp home intranet lan localdomain localdomain4 localdomain6 localhost4 localhost6 mail private consul svc
		6tisch.arpa eap.arpa eap-noob.arpa home.arpa ipv4only.arpa resolver.arpa service.arpa
		api.metadata.cloud.ibm.com internal.chinacloudapp.cn internal.cloudapp.net metadata.goog metadata.packet.net
		metadata.platformequinix.com metadata.tencentyun.com oraclevcn.com novalocal openstacklocal
		0.in-addr.arpa 10.in-addr.arpa 127.in-addr.arpa 254.169.in-addr.arpa 168.192.in-addr.arpa
		170.0.0.192.in-addr.arpa 171.0.0.192.in-addr.arpa
		2.0.192.in-addr.arpa 100.51.198.in-addr.arpa 113.0.203.in-addr.arpa 255.255.255.255.in-addr.arpa
		0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa
		1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa
		8.b.d.0.1.0.0.2.ip6.arpa c.f.ip6.arpa d.f.ip6.arpa 8.e.f.ip6.arpa 9.e.f.ip6.arpa a.e.f.ip6.arpa b.e.f.ip6.arpa`)
	for n := 16; n < 32; n++ {
		zones = append(zones, fmt.Sprintf("%d.172.in-addr.arpa", n))
	}
	for n := 64; n < 128; n++ {
		zones = append(zones, fmt.Sprintf("%d.100.in-addr.arpa", n))
	}
	return zones
}

// placed is a name at, below, beside or above a documented zone, and the zone that it lies in; empty for none.
type placed struct{ name, zone string }

var placedNames = sync.OnceValue(func() (all []placed) {
	documented := documentedZones()
	within := func(name string) string {
		for _, zone := range documented {
			if name == zone || strings.HasSuffix(name, "."+zone) {
				return zone
			}
		}
		return ""
	}
	for _, zone := range documented {
		_, parent, _ := strings.Cut(zone, ".")
		for _, name := range []string{zone, "x." + zone, "x" + zone, cmp.Or(parent, "com")} {
			all = append(all, placed{name, within(name)})
		}
	}
	return all
})

// zoneFailures holds all of them against what finds a name's zone.
func zoneFailures(find func(string) (Zone, bool)) (failures []string) {
	for _, p := range placedNames() {
		if found, ok := find(p.name); found.Name != p.zone || ok != (p.zone != "") {
			failures = append(failures, fmt.Sprintf("%s lies in %q, want %q", p.name, found.Name, p.zone))
		}
	}
	return failures
}

func TestZonesAreTheDocuments(t *testing.T) {
	t.Parallel()
	report(t, zoneFailures(zones.find))
	if n := len(documentedZones()); n != len(zones) {
		t.Errorf("%d zones, want %d", len(zones), n)
	}
}
