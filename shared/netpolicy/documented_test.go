package netpolicy

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

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
	tell(t, edgeFailures(Judge))
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
	tell(t, zoneFailures(zones.find))
	if n := len(documentedZones()); n != len(zones) {
		t.Errorf("%d zones, want %d", len(zones), n)
	}
}
