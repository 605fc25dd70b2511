package sslchecker

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"diagnostics/gateway/internal/analyze/caa"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/shared/netpolicy"

	"github.com/miekg/dns"
)

// issuance is who may issue certificates for the host (RFC 8659). Found is the name that has the records, Permitted
// whether they let the certificate's issuer issue another like it. Both are null where that is not known; Found is null
// as well where no name has records.
type issuance struct {
	Found     *string  `json:"found"`
	Permitted *bool    `json:"permitted"`
	Records   []string `json:"records"`
}

// foundCAA are the records that hold for a name.
type foundCAA struct {
	name    string // that of the certificate, without "*."; empty for an address
	wild    bool
	at      string
	records []dns.RR
	failure string // the code of why the records are not known
	because finding.Args
	news    bool
}

// Bounds on the records of CAA. No real host has more labels.
const (
	maxClimb     = 16
	maxCAAText   = 1 << 10
	maxCAATexts  = 16 << 10
	mostIssuers  = 4
	maxShownName = 80
)

// coveredBy is the name of the certificate that stands for the host: the host itself, or a wildcard for it, whose
// records are those of issuewild at the name below the asterisk.
func coveredBy(names []string, host string) (name string, wild bool) {
	_, parent, _ := strings.Cut(host, ".")
	has := func(name string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
	}
	if !has(host) && has("*."+parent) {
		return parent, true
	}
	return host, false
}

// lookUpCAA climbs from the name to the top-level domain, to the first that has records (RFC 8659 section 3). Aliases
// are followed by the resolver.
func (i *inspection) lookUpCAA(ctx context.Context, r *Result) (found foundCAA) {
	if i.to.Host.IsAddr() {
		return found
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	found.name, found.wild = coveredBy(r.Certificate.SubjectAltNames.DNS, i.to.Host.Name())
	for name, n := found.name, 0; name != ""; n++ {
		answer := i.egress.DNS().Query(ctx, name, dns.TypeCAA)
		found.news = found.news || !answer.Cached
		switch {
		case n == maxClimb:
			found.failure = "CAA_TOO_MANY_LABELS"
			return found
		case !answer.Conclusive() || answer.Cut:
			found.failure, found.because = i.caaFailure(ctx, name, answer)
			return found
		case len(answer.Records) > 0:
			found.at, found.records = name, answer.Records
			return found
		}
		_, name, _ = strings.Cut(name, ".")
	}
	return found
}

// caaFailure explains a failed lookup. Where the name's own servers fail, authorities must refuse (RFC 8659 section 3).
func (i *inspection) caaFailure(ctx context.Context, name string, failed dnsclient.Answer) (string, finding.Args) {
	switch {
	case failed.Cut:
		return "CAA_TOO_MANY", nil
	case ctx.Err() != nil:
		return "CAA_LOOKUP_LATE", nil
	case failed.Busy != nil, i.egress.ResolverFault(ctx, name, shown(name), failed) != nil:
		return "CAA_LOOKUP_FAILED", nil
	}
	return "CAA_SERVERS_FAILED", finding.Args{"at": shown(name), "rcode": strings.TrimPrefix(failed.Code, "E")}
}

// policy is what the records say.
func (f foundCAA) policy() caa.Policy {
	var records []caa.Record
	for _, rr := range f.records {
		if r, is := rr.(*dns.CAA); is {
			tag, value := dnsclient.Unescape(r.Tag), dnsclient.Unescape(r.Value)
			records = append(records, caa.Record{Flags: r.Flag, Tag: string(tag), Value: string(value)})
		}
	}
	return caa.Read(records)
}

// describe holds the records against the issuer of the certificate, where a trusted root vouches for its name. It
// marks what was cut.
func (f foundCAA) describe(r *Result, cut ...*bool) issuance {
	out := issuance{Found: format.TextOrNull(f.at), Records: []string{}}
	for _, rr := range f.records {
		out.Records = append(out.Records, dnsclient.Presentation(rr))
	}
	slices.Sort(out.Records)
	out.Records = bound.Texts(out.Records, maxCAAText, maxCAATexts, cut...)
	if f.failure == "" && f.name != "" {
		out.Permitted = f.policy().Permits(f.wild, r.issuerNames())
	}
	return out
}

// issuerNames are the CAA names of the certificate's issuer, nil where they are not known.
func (r *Result) issuerNames() []string {
	if !r.ChainComplete || len(r.chain) == 0 {
		return nil
	}
	for _, organization := range r.chain[0].Issuer.Organization {
		if names := caa.Names(organization); names != nil {
			return names
		}
	}
	return nil
}

// findings report records that are not known, and those that do not let the issuer issue another certificate: they hold
// for new ones alone.
func (f foundCAA) findings(described issuance) []finding.Finding {
	switch {
	case f.failure != "":
		return only("CAA_NOT_KNOWN", finding.Args{"name": shown(f.name), "reason": f.failure}.With(f.because))
	case described.Permitted == nil || *described.Permitted:
		return nil
	}
	policy := f.policy()
	issuers := policy.Issuers
	if f.wild {
		issuers = policy.Wildcards
	}
	return only("CAA_NOT_PERMITTED", listed("issuers", mostIssuers, issuers, shown).With(finding.Args{
		"name": shown(f.at), "wildcard": f.wild}))
}

// asking is a resolver that remembers whether it had to be asked.
type asking struct {
	client *dnsclient.Client
	news   atomic.Bool
}

func (a *asking) ask(ctx context.Context, name string, qtype uint16) dnsclient.Answer {
	if len(name) > netpolicy.MaxNameOctets {
		return dnsclient.Answer{Code: dnsclient.CodeNotFound} // no such name can exist
	}
	answer := a.client.Query(ctx, name, qtype)
	if !answer.Cached {
		a.news.Store(true)
	}
	return answer
}
