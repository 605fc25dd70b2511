package dnsdelegation

import (
	"net/netip"
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/text"

	"diagnostics/gateway/internal/tool/finding"
	"github.com/miekg/dns"
)

// trimmed is a name without the trailing dot; the root is ".".
func trimmed(name string) string {
	if name == "." {
		return name
	}
	return dnsclient.TrimRoot(name)
}

// maxShown bounds a name in a sentence, in characters.
const maxShown = 80

// shown is a name for a sentence.
func shown(name string) string { return text.Show(trimmed(name), maxShown) }

// ownerShown is the name of a zone or a record for a sentence about DNSSEC.
func ownerShown(name string) string {
	if name == "." {
		return "the root"
	}
	return shown(name)
}

// zoneShown is the name of a zone for a sentence.
func zoneShown(name string) string {
	switch {
	case name == ".":
		return "the root zone"
	case !strings.Contains(trimmed(name), "."):
		return "." + shown(name)
	}
	return shown(name)
}

// mostListed is how many names a sentence lists.
const mostListed = 4

// listed adds names for a sentence to arguments.
func listed(args finding.Args, as string, names []string) finding.Args {
	return args.WithList(as, mostListed, shownNames(names))
}

func shownNames(names []string) (words []string) {
	for _, name := range names {
		words = append(words, shown(name))
	}
	return words
}

// below reports whether a name is at or below another.
func below(name, parent string) bool { return dns.IsSubDomain(parent, name) }

// childOf is the name one label below a zone on the way to a name below it.
func childOf(zone, name string) string {
	labels := dns.CountLabel(name) - dns.CountLabel(zone) - 1
	at := name
	for range labels {
		next, _ := dns.NextLabel(at, 0)
		at = at[next:]
	}
	return at
}

// nsNames are the names of the NS records of an owner, canonical, in order, once each.
func nsNames(section []dns.RR, owner string) []string {
	var names []string
	for _, rr := range section {
		if ns, is := rr.(*dns.NS); is && dns.CanonicalName(ns.Hdr.Name) == owner {
			names = append(names, dns.CanonicalName(ns.Ns))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// addressesIn are the addresses of an owner in a section, IPv4 first, once each.
func addressesIn(section []dns.RR, owner string) []netip.Addr {
	owned := slices.DeleteFunc(slices.Clone(section), func(rr dns.RR) bool {
		return dns.CanonicalName(rr.Header().Name) != owner
	})
	return inOrder(dnsclient.Addresses(owned))
}

func inOrder(addresses []netip.Addr) []netip.Addr {
	slices.SortFunc(addresses, netip.Addr.Compare)
	return slices.Compact(addresses)
}

// recordsOf are the records of a type that an owner has in a section.
func recordsOf(section []dns.RR, owner string, qtype uint16) []dns.RR {
	var found []dns.RR
	for _, rr := range section {
		if rr.Header().Rrtype == qtype && dns.CanonicalName(rr.Header().Name) == owner {
			found = append(found, rr)
		}
	}
	return found
}

// soaOf is the first SOA record of a section, or nil.
func soaOf(section []dns.RR) *dns.SOA {
	for _, rr := range section {
		if soa, is := rr.(*dns.SOA); is {
			return soa
		}
	}
	return nil
}
