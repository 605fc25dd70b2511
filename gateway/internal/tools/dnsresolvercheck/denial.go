package dnsresolvercheck

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/dnssec"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/text"

	"github.com/miekg/dns"
)

// cause is why resolvers differ, where that is known.
type cause struct {
	Code   string `json:"code" wire:"enum=denialContradicts"`
	Record string `json:"record"`
}

// causeDenial is a zone whose own NSEC or NSEC3 record denies what the zone has. Resolvers that answer from such
// records (RFC 8198) do not find it.
const causeDenial = "denialContradicts"

// maxRecord is how many characters of a record are shown.
const maxRecord = 500

// findDenial is the cause of an absence at some resolvers that others, or the domain's own servers, contradict. The
// record is one that came with the absence, or else that of the apex at the domain's own servers.
func (c query) findDenial(ctx context.Context, client *egress.Client, answers []resolverAnswer, own *authority) *cause {
	present := slices.ContainsFunc(answers, resolverAnswer.has) ||
		slices.ContainsFunc(own.answered(), func(s serverAnswer) bool { return s.Outcome == outcomeAnswer })
	lacking := which(answers, func(a resolverAnswer) bool { return a.lacks() && len(a.chain) == 0 })
	if !present || len(lacking) == 0 {
		return nil
	}
	for _, a := range lacking {
		if record := c.denying(ctx, a.denials); record != nil {
			return describeCause(record)
		}
	}
	if own == nil || !slices.ContainsFunc(lacking, func(a resolverAnswer) bool { return a.Outcome == outcomeNXDomain }) {
		return nil
	}
	return c.denialOfApex(ctx, client, own)
}

// denialOfApex queries one of the domain's own servers for the NSEC record of the apex.
func (c query) denialOfApex(ctx context.Context, client *egress.Client, own *authority) *cause {
	for _, server := range own.answered() {
		address, err := netip.ParseAddr(*server.Address)
		if err != nil {
			continue
		}
		answer, err := client.AskAuthority(ctx, netip.AddrPortFrom(address, dnsPort), own.Zone, dns.TypeNSEC)
		if err != nil || !answer.Authoritative {
			return nil
		}
		if record := c.denying(ctx, answer.Records); record != nil {
			return describeCause(record)
		}
		return nil
	}
	return nil
}

func describeCause(record dns.RR) *cause {
	return &cause{Code: causeDenial, Record: text.Show(strings.Join(strings.Fields(record.String()), " "), maxRecord)}
}

// denying is the first record that denies the name, or the type at the name; nil where there is none.
func (c query) denying(ctx context.Context, records []dns.RR) dns.RR {
	return dnssec.Denying(records, c.domain.String(), dns.StringToType[c.recordType], processor.Of(ctx).Take)
}
