// Package authority is the authoritative side of the lab's DNS: zones with delegations, signed or not, and what their
// servers answer, each as well or as badly as its table says.
package authority

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

type rrset = []dns.RR

// Zone is the data of one zone, by canonical owner and type. RRSIG records of all types are under their own. A served
// zone is not changed any more.
type Zone struct {
	Origin  string // canonical, with the trailing dot
	Records map[string]map[uint16]rrset

	// Of a zone that is served: its names, those that only have names below them too, and its denial records in order.
	existing    map[string]bool
	nsec, nsec3 []string
}

// Parse makes a zone of text in zone-file format; relative names are below the origin, and the TTL is 3600.
func Parse(origin, text string) (*Zone, error) {
	z := &Zone{Origin: dns.CanonicalName(origin), Records: map[string]map[uint16]rrset{}}
	parser := dns.NewZoneParser(strings.NewReader(text), z.Origin, "")
	parser.SetDefaultTTL(3600)
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		z.Add(rr)
	}
	if err := parser.Err(); err != nil {
		return nil, fmt.Errorf("zone %s: %w", origin, err)
	}
	return z, nil
}

// Add adds a record.
func (z *Zone) Add(rr dns.RR) {
	name := dns.CanonicalName(rr.Header().Name)
	rr.Header().Name = name
	if z.Records[name] == nil {
		z.Records[name] = map[uint16]rrset{}
	}
	z.Records[name][rr.Header().Rrtype] = append(z.Records[name][rr.Header().Rrtype], rr)
}

// Clone is a copy with records of its own.
func (z *Zone) Clone() *Zone {
	c := &Zone{Origin: z.Origin, Records: map[string]map[uint16]rrset{}}
	for _, rr := range z.all() {
		c.Add(dns.Copy(rr))
	}
	return c
}

// String is the zone in zone-file format, its SOA record first.
func (z *Zone) String() string {
	var b strings.Builder
	for _, rr := range z.all() {
		fmt.Fprintln(&b, rr)
	}
	return b.String()
}

func (z *Zone) all() (list rrset) {
	list = append(list, z.Records[z.Origin][dns.TypeSOA]...)
	for _, name := range z.names() {
		for _, t := range slices.Sorted(maps.Keys(z.Records[name])) {
			if t != dns.TypeSOA || name != z.Origin {
				list = append(list, z.Records[name][t]...)
			}
		}
	}
	return list
}

// names are the owners in canonical order (RFC 4034 section 6.1).
func (z *Zone) names() []string {
	return slices.SortedFunc(maps.Keys(z.Records), compare)
}

// compare orders names as RFC 4034 section 6.1 does.
func compare(a, b string) int {
	x, y := dns.SplitDomainName(a), dns.SplitDomainName(b)
	slices.Reverse(x)
	slices.Reverse(y)
	return slices.Compare(x, y)
}

// cut is the delegation at or above a name, or empty. The parent answers for the DS records of a cut itself.
func (z *Zone) cut(name string, qtype uint16) string {
	found := ""
	for at := name; at != z.Origin; at = parent(at) {
		if len(z.Records[at][dns.TypeNS]) > 0 && (at != name || qtype != dns.TypeDS) {
			found = at
		}
	}
	return found
}

// parent is the name without its first label.
func parent(name string) string {
	next, end := dns.NextLabel(name, 0)
	if end {
		return "."
	}
	return name[next:]
}

// index prepares a zone to be served.
func (z *Zone) index() {
	z.existing, z.nsec, z.nsec3 = map[string]bool{}, nil, nil
	for _, name := range z.names() {
		if len(z.Records[name][dns.TypeNSEC]) > 0 {
			z.nsec = append(z.nsec, name)
		}
		if len(z.Records[name][dns.TypeNSEC3]) > 0 {
			z.nsec3 = append(z.nsec3, name)
			continue
		}
		for at := name; at != z.Origin && !z.existing[at]; at = parent(at) {
			z.existing[at] = true
		}
	}
	z.existing[z.Origin] = true
}

// exists reports whether a name has records or names below it.
func (z *Zone) exists(name string) bool { return z.existing[name] }

// encloser is the longest existing ancestor of a name below the origin that does not exist, and the name one label
// longer.
func (z *Zone) encloser(name string) (closest, next string) {
	next, closest = name, parent(name)
	for !z.exists(closest) && closest != z.Origin {
		next, closest = closest, parent(closest)
	}
	return closest, next
}
