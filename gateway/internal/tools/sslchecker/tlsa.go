package sslchecker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"diagnostics/gateway/internal/analyze/tlsa"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tools/internal/dane"
)

// association is a TLSA record of the port. Matches is that the server's certificates are such as it asks for.
type association struct {
	tlsa.Record
	Matches       bool `json:"matches"`
	Authenticated bool `json:"authenticated"`
}

// foundTLSA are the records of the port.
type foundTLSA struct {
	dane.Found
	news bool
}

// Bounds on the records that are judged and shown.
const (
	maxTLSA      = 16
	maxTLSABytes = 32 << 10
)

var errNotConclusive = errors.New("the lookup failed")

func (i *inspection) lookUpTLSA(ctx context.Context) foundTLSA {
	if i.to.Host.IsAddr() {
		return foundTLSA{}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	resolver := &asking{client: i.egress.DNS()}
	ask := func(ctx context.Context, name string, qtype uint16) dane.Answer {
		answer := resolver.ask(ctx, name, qtype)
		out := dane.Answer{Records: answer.Records, Authenticated: answer.Authenticated}
		if n := len(answer.CNAMEChain); n > 0 {
			out.Expanded = answer.CNAMEChain[n-1]
		}
		if !answer.Conclusive() {
			out.Err = errNotConclusive
		}
		return out
	}
	return foundTLSA{dane.Lookup(ctx, ask, ask, i.to.Host.Name(), i.to.Port), resolver.news.Load()}
}

// describe holds the records against the certificates of an address. It marks what was cut.
func (f foundTLSA) describe(r *Result, cut ...*bool) []association {
	list := []association{}
	for _, record := range bound.First(f.Records, maxTLSA, cut...) {
		list = append(list, association{record, record.Matches(r.chain, r.ChainComplete), f.Authenticated})
	}
	return bound.List(list, maxTLSABytes, cut...)
}

// issues report records that keep clients away which check them, and those that none uses.
func (f foundTLSA) issues(list []association, port uint16) []issue {
	name := fmt.Sprintf("_%d._tcp.%s", port, text.Show(f.Name, maxShownName))
	switch {
	case f.Err != nil:
		return []issue{{"TLSA_LOOKUP_FAILED", severityInfo,
			"The TLSA records of " + name + " could not be looked up, so it is not known whether there are any."}}
	case len(list) == 0:
		return nil
	case !f.Authenticated:
		return []issue{{"TLSA_NOT_AUTHENTICATED", severityInfo, "This service's resolver does not vouch for the TLSA " +
			"records of " + name + " by DNSSEC. Clients ignore records that are not authenticated."}}
	case slices.ContainsFunc(list, func(a association) bool { return a.Matches }), len(list) < len(f.Records):
		return nil
	}
	return []issue{{"TLSA_MATCHES_NOTHING", severityWarn, "The certificate matches none of the TLSA records of " + name +
		", so clients that check DANE refuse it."}}
}
