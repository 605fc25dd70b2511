package dnsresolvercheck

import (
	"context"
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"

	"github.com/miekg/dns"
	"golang.org/x/net/publicsuffix"
)

// zone is the zone that a name is in, and its name servers by name. The zero zone is one that was not found.
type zone struct {
	apex    string
	servers []string
}

// maxZoneQuestions bounds the search: a name that is an alias, its parent, and where a SOA record points take three.
const maxZoneQuestions = 4

// findZone looks upward from a name for the nearest that has name servers, with the operator's resolver. A registry's
// zone is no domain's own: a name that was never registered has none. Where the resolver fails for a name, the zone
// above it may still be found.
func findZone(ctx context.Context, client *egress.Client, name string) zone {
	for at, asked := name, 0; asked < maxZoneQuestions; asked++ {
		if !strings.Contains(at, ".") || at != name && isRegistry(at) {
			return zone{}
		}
		answer := client.DNS().QueryUnchecked(ctx, at, dns.TypeNS)
		aliased := len(answer.CNAMEChain) > 0
		switch {
		case answer.Code == dnsclient.CodeTimeout || answer.Busy != nil:
			return zone{}
		case answer.Code == "" && !aliased:
			return zone{apex: at, servers: nameServers(answer.Records)}
		}
		at = above(at, answer, aliased)
	}
	return zone{}
}

// isRegistry reports whether domains are registered directly below the name.
func isRegistry(name string) bool {
	suffix, icann := publicsuffix.PublicSuffix(name)
	return icann && suffix == name
}

// above is where to look next: at the zone of an absence, or else one label up. What an alias leads to
// says nothing about the zone of its own name.
func above(name string, answer dnsclient.Answer, aliased bool) string {
	if apex, _ := vouching(answer.Authority); !aliased && strings.HasSuffix(name, "."+apex) {
		return apex
	}
	_, parent, _ := strings.Cut(name, ".")
	return parent
}

// vouching is the zone that the authority section of a negative answer names (RFC 2308), else empty, and for how many
// seconds that lets the answer be kept.
func vouching(authority []dns.RR) (zone string, keep uint32) {
	for _, rr := range authority {
		if soa, is := rr.(*dns.SOA); is {
			return dnsclient.TrimRoot(dns.CanonicalName(soa.Hdr.Name)), soa.Minttl
		}
	}
	return "", 0
}

// nameServers lists the names in an order that is the same for everybody.
func nameServers(records []dns.RR) []string {
	var names []string
	for _, rr := range records {
		if ns, is := rr.(*dns.NS); is {
			names = append(names, dnsclient.TrimRoot(dns.CanonicalName(ns.Ns)))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
