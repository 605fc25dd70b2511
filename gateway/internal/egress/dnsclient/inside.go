package dnsclient

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"

	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// A resolver inside a network answers for names that the public DNS does not have: Docker's for containers, a router's
// for its leases, a company's for its domain. Such names belong to the operator alone. Such a name
// is known by two things together: its addresses are private alone, and its last label, or that of a name that it is an
// alias of, is no top-level domain, by the same resolver's answer for its name servers. It is reported as in
// the public DNS, as a name that does not exist, whatever type was queried: that there is no data of a type reveals,
// too, that the name is there.
//
// The name servers are queried first, since that answer is kept and most names end there; the addresses of a name are
// looked up only where its last label has none.

// rootTTL is for how long the root lets a resolver keep that a top-level domain does not exist.
const rootTTL = 86400

// hide gives a fresh answer as a client may see it.
func (c *Client) hide(ctx context.Context, key cacheKey, a Answer) Answer {
	if key.judging || c.settings.Public == nil || c.settings.PrivateName == nil || a.RCode == noRCode ||
		a.Code == CodeNotFound || c.leadsOutside(a) {
		return a
	}
	names := append([]string{key.name}, a.CNAMEChain...)
	for i, name := range names {
		delegated := c.delegation(ctx, key.server, name)
		switch {
		case delegated.Code == "":
			continue
		case !c.privateAlone(ctx, key, a):
			return a
		case !delegated.Conclusive():
			return delegated
		}
		return absent(delegated, a.Resolver, names[1:i+1])
	}
	return a
}

// absent is what the public DNS says of a name below a last label that does not exist: what it says of that label, as
// if it had just been queried for the name.
func absent(delegated Answer, resolver netip.AddrPort, aliases []string) Answer {
	hidden := delegated
	hidden.Code, hidden.RCode, hidden.CNAMEChain, hidden.Resolver = CodeNotFound, dns.RcodeNameError, aliases, resolver
	hidden.TTL += uint32(delegated.Age / time.Second) // #nosec G115 -- it is kept for minutes
	hidden.Cached, hidden.Age, hidden.weight = false, 0, 0
	if delegated.Code == CodeNoData { // the label is a name inside itself, and the root was not queried
		hidden.TTL = rootTTL
	}
	return hidden
}

// leadsOutside reports whether the answer holds a public address, so that nothing more need be queried.
func (c *Client) leadsOutside(a Answer) bool {
	return slices.ContainsFunc(Addresses(a.Records), c.settings.Public)
}

// delegation queries the name servers of a name's last label; an Answer without a Code says that it has some. A name
// that no visitor could have typed, where an alias leads to one, is not queried: the resolver inside may well be its
// name server.
func (c *Client) delegation(ctx context.Context, server netip.AddrPort, name string) Answer {
	if c.settings.PrivateName(name) {
		return Answer{Code: CodeNotFound, TTL: rootTTL}
	}
	labels := dns.SplitDomainName(name)
	if len(labels) == 0 {
		return Answer{}
	}
	last := strings.ToLower(labels[len(labels)-1])
	return c.ask(ctx, cacheKey{server: server, name: last, qtype: dns.TypeNS, judging: true})
}

// privateAlone reports whether the name has addresses, and none of them is public; given is what is known of it. A
// family that cannot be looked up has none: what is private must not be reported for the other's failure.
func (c *Client) privateAlone(ctx context.Context, key cacheKey, given Answer) bool {
	families := [...]uint16{dns.TypeA, dns.TypeAAAA}
	var answers [len(families)]Answer
	var both parallel.Group
	for i, qtype := range families {
		both.Go(func() {
			answers[i] = given
			if qtype != key.qtype {
				answers[i] = c.ask(ctx, cacheKey{server: key.server, name: key.name, qtype: qtype, judging: true})
			}
		})
	}
	both.Wait()
	found := 0
	for _, answer := range answers {
		if c.leadsOutside(answer) {
			return false
		}
		found += len(Addresses(answer.Records))
	}
	return found > 0
}

// Addresses are those of records of both types. An A record whose address the library kept in 16 octets is still an
// IPv4 address; an AAAA record that maps one is not.
func Addresses(records []dns.RR) []netip.Addr {
	var list []netip.Addr
	for _, rr := range records {
		var octets []byte
		switch record := rr.(type) {
		case *dns.A:
			octets = record.A.To4()
		case *dns.AAAA:
			octets = record.AAAA
		}
		if address, ok := netip.AddrFromSlice(octets); ok {
			list = append(list, address)
		}
	}
	return list
}
