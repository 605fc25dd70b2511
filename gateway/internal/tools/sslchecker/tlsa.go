package sslchecker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"diagnostics/gateway/internal/analyze/tlsa"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tool/finding"
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

// findings report records that keep clients away which check them, and those that none uses.
func (f foundTLSA) findings(list []association, port uint16) []finding.Finding {
	name := finding.Args{"name": fmt.Sprintf("_%d._tcp.%s", port, shown(f.Name))}
	switch {
	case f.Err != nil:
		return only("TLSA_LOOKUP_FAILED", name)
	case len(list) == 0:
		return nil
	case !f.Authenticated:
		return only("TLSA_NOT_AUTHENTICATED", name)
	case slices.ContainsFunc(list, func(a association) bool { return a.Matches }), len(list) < len(f.Records):
		return nil
	case isMail(port): // whose clients check DANE, as browsers do not
		return only("TLSA_STOPS_MAIL", name)
	}
	return only("TLSA_MATCHES_NOTHING", name)
}
