package emaildnshealth

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/reverse"
	"diagnostics/shared/netpolicy"
	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// Bounds on the reverse names that are looked up: those of a few addresses say what there is to say.
const (
	maxNamed       = 8 // addresses of all mail hosts together
	maxNamedOfHost = 2
	// nameQueries are one for the name of each address, and one that leads back.
	nameQueries = 2 * maxNamed
)

// mxHostNames is what the reverse DNS says of a mail host.
type mxHostNames struct {
	// AddressNames has at most two addresses of the mail host, one of each family where it has both, and of all mail hosts
	// together the first eight.
	AddressNames []addressName `json:"addressNames" wire:"len=0..2"`
}

// addressName is the name of an address in the reverse DNS.
type addressName struct {
	Address string `json:"address"`
	// Hostname is the first name that the address has; null where there is none, or it is not known.
	Hostname *string `json:"hostname"`
	// Confirmed reports whether the name leads back to the address (RFC 8601 section 2.7.3); null where it is not known.
	Confirmed *bool `json:"confirmed"`
}

// toName are the addresses of each mail host whose names are looked up.
func toName(hosts []mxHost) map[string][]netip.Addr {
	chosen, left := map[string][]netip.Addr{}, maxNamed
	var seen []netip.Addr
	for _, h := range hosts {
		if _, known := chosen[h.Exchange]; known {
			continue
		}
		chosen[h.Exchange] = nil
		for _, a := range fewOf(h) {
			if left > 0 && !slices.Contains(seen, a) {
				chosen[h.Exchange], seen, left = append(chosen[h.Exchange], a), append(seen, a), left-1
			}
		}
	}
	return chosen
}

// fewOf gives the first public address of each family of a mail host, or two of the only one.
func fewOf(h mxHost) []netip.Addr {
	var v4, v6 []netip.Addr
	for _, text := range h.Addresses {
		a, err := netip.ParseAddr(text)
		switch {
		case err != nil || !netpolicy.Judge(a).Public:
		case a.Is4():
			v4 = append(v4, a)
		default:
			v6 = append(v6, a)
		}
	}
	if len(v4) > 0 && len(v6) > 0 {
		return []netip.Addr{v4[0], v6[0]}
	}
	v4 = append(v4, v6...)
	return v4[:min(len(v4), maxNamedOfHost)]
}

func addressNames(ctx context.Context, resolver *resolver, addresses []netip.Addr) []addressName {
	names := make([]addressName, len(addresses))
	var lookups parallel.Group
	for i, a := range addresses {
		lookups.Go(func() { names[i] = nameOf(ctx, resolver, a) })
	}
	lookups.Wait()
	return names
}

func nameOf(ctx context.Context, resolver *resolver, address netip.Addr) addressName {
	n := addressName{Address: address.String()}
	owner, err := dns.ReverseAddr(n.Address)
	if err != nil {
		return n
	}
	answer := resolver.ask(ctx, strings.TrimSuffix(owner, "."), dns.TypePTR)
	if mail.Failure(answer.err) != nil {
		return n
	}
	// The name of an inside is neither reported nor looked up.
	if n.Hostname = reverse.First(answer.records); n.Hostname != nil {
		n.Confirmed = leadsTo(ctx, resolver, *n.Hostname, address)
	} else {
		n.Confirmed = new(bool)
	}
	return n
}

// leadsTo reports whether a name has the address; nil where that is not known.
func leadsTo(ctx context.Context, resolver *resolver, name string, address netip.Addr) *bool {
	qtype := dns.TypeAAAA
	if address.Is4() {
		qtype = dns.TypeA
	}
	answer := resolver.ask(ctx, name, qtype)
	if mail.Failure(answer.err) != nil {
		return nil
	}
	return new(slices.Contains(dnsclient.Addresses(answer.records), address))
}

// judgeNames says of the addresses what their servers would come to grief with as senders.
func judgeNames(facts []mailHostFacts, issues *mail.Issues) {
	var nameless, astray, unknown []string
	for _, f := range facts {
		for _, n := range f.names {
			of := n.Address + " (" + mail.Show(f.host) + ")"
			switch {
			case n.Confirmed == nil:
				unknown = append(unknown, of)
			case n.Hostname == nil:
				nameless = append(nameless, of)
			case !*n.Confirmed:
				astray = append(astray, of+" is called "+mail.Show(*n.Hostname))
			}
		}
	}
	add := func(code string, addresses []string) {
		if len(addresses) > 0 {
			issues.Add(code, finding.Args{"addresses": strings.Join(addresses, ", ")})
		}
	}
	add("MX_ADDRESS_WITHOUT_NAME", nameless)
	add("MX_ADDRESS_NAME_NOT_CONFIRMED", astray)
	add("MX_ADDRESS_NAME_UNKNOWN", unknown)
}
