package emaildnshealth

import (
	"context"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/bimi"
	"diagnostics/gateway/internal/analyze/mail/dmarc"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/shared/parallel"
)

// bimiQueries are one for the domain, and one for its organization.
const bimiQueries = 2

// bimiResult is the logo that the domain offers mail programs. Most domains need none, so it counts in no summary.
type bimiResult struct {
	// BIMI is null where no record is used.
	BIMI *bimiRecord `json:"bimi"`
	// BIMIReason says why what is published is not used, or why nothing is known; null where a record is used, and where
	// there is nothing.
	BIMIReason *string `json:"bimiReason"`
}

type bimiRecord struct {
	Record string `json:"record" bound:"text=16k"`
	// Logo and Evidence are https URLs, which no one fetched.
	Logo     *string `json:"logo" bound:"text=2k"`
	Evidence *string `json:"evidence" bound:"text=2k"`
	// FoundAt is the domain that publishes the record, without the labels before it.
	FoundAt   string  `json:"foundAt"`
	Summary   string  `json:"summary"`
	Issues    []issue `json:"issues"`
	Truncated bool    `json:"truncated,omitempty"`

	facts mail.Issues
}

// dmarcAndBIMI looks at both. The domain's own BIMI record is looked up beside DMARC, which it is judged by: where the
// DNS is silent one must not wait for the other.
func (r *checker) dmarcAndBIMI(ctx context.Context) (dmarcCheck, bimiResult) {
	resolver := r.dns.aside(bimiQueries)
	var policy dmarcCheck
	var lookups parallel.Group
	lookups.Go(func() { policy = r.dmarc(ctx) })
	lookups.Go(func() { _, _ = bimiTexts(ctx, resolver, r.domain) }) // the resolver keeps the answer
	lookups.Wait()
	return policy, r.bimi(ctx, resolver, policy)
}

// bimiTexts are the texts at the name for BIMI records of a domain.
func bimiTexts(ctx context.Context, resolver *resolver, domain string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, asideTime)
	defer cancel()
	return resolver.TXT(ctx, bimiName(domain))
}

func bimiName(domain string) string { return "default._bimi." + domain }

// bimi looks for the record of the domain, and where it has none for that of its organization.
func (r *checker) bimi(ctx context.Context, resolver *resolver, policy dmarcCheck) bimiResult {
	domains := []string{r.domain}
	if o := policy.OrganizationalDomain; o != nil && *o != r.domain {
		domains = append(domains, *o)
	}
	var unused *mail.Issue
	for _, domain := range domains {
		texts, err := bimiTexts(ctx, resolver, domain)
		if failure := mail.Failure(err); failure != nil {
			args := failure.Args().With(finding.Args{"name": mail.Show(bimiName(domain))})
			return bimiResult{BIMIReason: new(rows.Sentence("BIMI_LOOKUP_FAILED", args))}
		}
		report := bimi.Read(texts)
		if report.Record != "" {
			return bimiResult{BIMI: newBIMIRecord(report, domain, policy)}
		}
		if unused == nil {
			unused = report.Unused
		}
		if report.Several {
			break
		}
	}
	if unused == nil {
		return bimiResult{}
	}
	return bimiResult{BIMIReason: new(rows.Sentence(unused.Code, unused.Args))}
}

func newBIMIRecord(report bimi.Report, domain string, policy dmarcCheck) *bimiRecord {
	b := &bimiRecord{Record: report.Record, Logo: format.TextOrNull(report.Logo), FoundAt: domain,
		Evidence: format.TextOrNull(report.Evidence), Issues: []issue{}}
	if !report.Declined && !enforced(policy) {
		b.facts.Add("BIMI_DMARC_NOT_ENFORCED", nil)
	}
	b.facts = append(b.facts, report.Issues...)
	summary := "BIMI_SUMMARY"
	switch {
	case report.Declined:
		summary = "BIMI_SUMMARY_DECLINED"
	case have(b.facts, finding.Fail):
		summary = "BIMI_SUMMARY_NOT_SHOWN"
	case report.Evidence == "":
		summary = "BIMI_SUMMARY_NO_EVIDENCE"
	}
	b.Summary = rows.Sentence(summary, nil)
	return b
}

// enforced reports whether receivers act on mail of the domain, and of those below it, that fails DMARC.
func enforced(c dmarcCheck) bool {
	acts := func(policy *string) bool {
		return policy != nil && (*policy == string(dmarc.Quarantine) || *policy == string(dmarc.Reject))
	}
	return acts(c.Policy) && acts(c.SubdomainPolicy)
}
