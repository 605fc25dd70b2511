package emaildnshealth

import (
	"context"
	"fmt"
	"slices"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/dkim"
	"diagnostics/gateway/internal/analyze/mail/dmarc"
	"diagnostics/gateway/internal/analyze/mail/spf"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/shared/netpolicy"

	"github.com/miekg/dns"
)

// spfCheck is who may send, by address.
type spfCheck struct {
	check
	Lookups     int       `json:"lookups"`
	VoidLookups int       `json:"voidLookups"`
	All         *string   `json:"all" wire:"enum=+all|-all|~all|?all"`
	Tree        *spf.Node `json:"tree" wire:"notnull"`
	// Suggestion is a record that says the same within the limits, where this one does not keep to them.
	Suggestion *spf.Suggestion `json:"suggestion"`

	report spf.Report
}

func newSPFCheck(c check, domain string) spfCheck {
	return spfCheck{check: c, Tree: &spf.Node{Term: "v=spf1", Domain: &domain, Children: []*spf.Node{}}}
}

func (r *checker) spf(ctx context.Context, mx mxCheck) spfCheck {
	report := spf.Check(ctx, r.dns, r.domain)
	c := newSPFCheck(newCheck(), r.domain)
	c.Record, c.Tree = report.Record, report.Tree
	c.Lookups, c.VoidLookups = report.Tree.Lookups, report.Tree.VoidLookups
	c.report = report
	c.All = format.TextOrNull(report.All)
	c.take(report.Issues, report.Failed)
	switch {
	case !report.Found && report.Failed:
		c.Status, c.Summary = mailError, "The SPF record could not be looked up."
	case !report.Found:
		c.missing(mx)
	case report.Record == nil:
		c.Summary = "There are several SPF records, so receivers use none of them."
	case report.SendsNothing:
		c.Summary = "The domain sends no mail: its SPF record authorizes no one."
	default:
		c.Summary = ending(report, r.domain) + " " + cost(c.Lookups)
	}
	return c
}

// shorten queries the DNS once more. It comes last, so that no check goes without its lookups for the sake of advice.
func (c *spfCheck) shorten(ctx context.Context, dns *resolver) {
	if c.Record != nil {
		c.Suggestion = spf.Shorten(ctx, dns, c.report)
	}
}

func (c *spfCheck) missing(mx mxCheck) {
	c.Status, c.Summary = mailMissing, "The domain has no SPF record."
	advice := "Publish a TXT record that lists every server that sends the domain's mail."
	if mx.NullMX {
		advice = "The domain accepts no mail; if it sends none either, publish a TXT record that says so."
	}
	c.Issues.Add(mail.Fail, "SPF_MISSING", "RFC 7208 section 3",
		"There is no SPF record, so receivers cannot tell who may send. "+advice)
}

func cost(lookups int) string {
	if lookups > spf.MaxLookups {
		return fmt.Sprintf("It needs %d DNS lookups, of which receivers make at most %d.", lookups, spf.MaxLookups)
	}
	return fmt.Sprintf("It uses %d of %d DNS lookups.", lookups, spf.MaxLookups)
}

// ending says what the record makes of all other senders. Of an end that could not be read nothing is claimed.
func ending(report spf.Report, domain string) string {
	switch report.NoAllAt {
	case "":
	case domain:
		return "SPF says nothing about other senders (no all term)."
	default:
		return "SPF leads to the record of " + mail.Show(report.NoAllAt) + ", which has no all term."
	}
	switch report.All {
	case "+all":
		return "SPF lets anyone send (+all)."
	case "-all":
		return "SPF rejects all other senders (-all)."
	case "~all":
		return "SPF marks all other senders as suspicious (~all)."
	case "?all":
		return "SPF says nothing about other senders (?all)."
	}
	return "The end of the SPF record could not be read."
}

// dmarcCheck is what receivers do with mail that fails.
type dmarcCheck struct {
	check
	Policy *string `json:"policy" wire:"enum=none|quarantine|reject"`
	// SubdomainPolicy is for names below that exist, NonexistentPolicy for those that do not.
	SubdomainPolicy      *string        `json:"subdomainPolicy" wire:"enum=none|quarantine|reject"`
	NonexistentPolicy    *string        `json:"nonexistentSubdomainPolicy" wire:"enum=none|quarantine|reject"`
	FoundAt              *string        `json:"foundAt"`
	OrganizationalDomain *string        `json:"organizationalDomain"`
	Alignment            dmarcAlignment `json:"alignment"`
	TestMode             bool           `json:"testMode"`
	ReportAddresses      []string       `json:"reportAddresses"`
	FailureAddresses     []string       `json:"failureReportAddresses"`
	// Destinations are the other domains among those of the addresses, and whether they say that they take the reports.
	Destinations []reportDestination `json:"reportDestinations"`

	applied dmarc.Policy
}

// reportDestination is a domain that must say at name that it takes the reports; authorized is null where that could
// not be looked up.
type reportDestination struct {
	Domain     string `json:"domain"`
	Name       string `json:"name"`
	Authorized *bool  `json:"authorized"`
}

// dmarcAlignment is how closely the domains must agree; relaxed is what holds without a record.
type dmarcAlignment struct {
	DKIM string `json:"dkim" wire:"enum=strict|relaxed"`
	SPF  string `json:"spf" wire:"enum=strict|relaxed"`
}

func newDMARCCheck(c check) dmarcCheck {
	return dmarcCheck{
		check: c, Alignment: dmarcAlignment{DKIM: "relaxed", SPF: "relaxed"},
		ReportAddresses: []string{}, FailureAddresses: []string{}, Destinations: []reportDestination{},
	}
}

func (r *checker) dmarc(ctx context.Context) dmarcCheck {
	report := dmarc.Check(ctx, r.dns, r.domain)
	c := newDMARCCheck(newCheck())
	c.take(report.Issues, report.Failed)
	c.FoundAt = format.TextOrNull(report.FoundAt)
	c.OrganizationalDomain = format.TextOrNull(report.Organizational)
	switch {
	case report.Record != nil:
		c.describe(report)
	case report.Several:
		c.Summary = "There are several DMARC records, so receivers use none of them."
	case report.Failed:
		c.Summary = "The DMARC record could not be looked up."
	default:
		r.missingDMARC(&c)
		r.misplacedDMARC(ctx, &c)
	}
	return c
}

func (r *checker) missingDMARC(c *dmarcCheck) {
	const reference = "RFC 9989 section 4.7"
	c.Status, c.Summary = mailMissing, "Neither the domain nor its parents have a DMARC record."
	if c.Issues.HasCode("DMARC_VERSION") || c.Issues.HasCode("DMARC_LEADING_BLANK") {
		c.Summary = "There is a TXT record for DMARC, but receivers do not recognize it."
		c.Issues.Add(mail.Fail, "DMARC_MISSING", reference, "There is no DMARC record that receivers can read, so they "+
			"do not know what to do with forged mail. Correct the one that is there.")
		return
	}
	c.Issues.Add(mail.Fail, "DMARC_MISSING", reference,
		"There is no DMARC record, so receivers do not know what to do with forged mail. Publish v=DMARC1; p=none; "+
			"rua=mailto:… at _dmarc."+mail.Show(r.domain)+" and raise the policy once the reports look right.")
}

// misplacedDMARC looks for the record at the domain itself, where it is often put by mistake. SPF has queried that
// already.
func (r *checker) misplacedDMARC(ctx context.Context, c *dmarcCheck) {
	texts, _ := r.dns.TXT(ctx, r.domain)
	if slices.ContainsFunc(texts, dmarc.IsRecord) {
		name := mail.Show(r.domain)
		c.Issues.Add(mail.Fail, "DMARC_MISPLACED", "RFC 9989 section 4.10",
			"There is a DMARC record at "+name+" itself, where no one looks. Move it to _dmarc."+name+".")
	}
}

func (c *dmarcCheck) describe(report dmarc.Report) {
	record := report.Record
	c.Record = &record.Text
	c.Policy, c.SubdomainPolicy = new(string(report.Policy)), new(string(report.Subdomains))
	c.NonexistentPolicy = new(string(report.Nonexistent))
	c.TestMode = record.Test
	if record.StrictDKIM {
		c.Alignment.DKIM = "strict"
	}
	if record.StrictSPF {
		c.Alignment.SPF = "strict"
	}
	for _, uri := range record.Aggregate {
		c.ReportAddresses = append(c.ReportAddresses, uri.Text)
	}
	for _, uri := range record.Failure {
		c.FailureAddresses = append(c.FailureAddresses, uri.Text)
	}
	c.describeDestinations(report)
	c.Summary = fmt.Sprintf("The policy for mail that fails is %s, from the record of %s.", report.Policy,
		mail.Show(report.FoundAt))
	c.applied = report.Applied()
	if c.applied != report.Policy {
		c.Summary = fmt.Sprintf("The policy for mail that fails is %s, from the record of %s. It is being tested (t=y), so "+
			"receivers apply %s.", report.Policy, mail.Show(report.FoundAt), c.applied)
	}
}

func (c *dmarcCheck) describeDestinations(report dmarc.Report) {
	for _, d := range report.Destinations {
		known := &d.Authorized
		if d.Failure != nil && d.Failure.Code != mail.CodeName {
			known = nil
		}
		c.Destinations = append(c.Destinations, reportDestination{Domain: d.Host, Name: d.Name, Authorized: known})
	}
}

// dkimCheck is the key at one selector, or what a search found without one.
type dkimCheck struct {
	check
	Selector *string `json:"selector"`
	KeyType  *string `json:"keyType"`
	KeyBits  *int    `json:"keyBits" wire:"min=1"`
	dkimSearch
}

func newDKIMCheck(c check, selector string) dkimCheck {
	return dkimCheck{check: c, Selector: format.TextOrNull(selector),
		dkimSearch: dkimSearch{Tried: []string{}, Found: []dkimFind{}}}
}

// wildcardProbe is a selector that no one uses. What it answers, every selector answers.
const wildcardProbe = "no-such-selector-7f3a9c2e51"

const sectionDKIM = "RFC 6376 section 3.6.2.1"

func (r *checker) dkim(ctx context.Context, mx mxCheck) dkimCheck {
	if mx.NullMX {
		return newDKIMCheck(notForNullMX(), r.selector)
	}
	c := newDKIMCheck(newCheck(), r.selector)
	if r.selector == "" {
		c.Status = mailInfo
		r.searchDKIM(ctx, &c)
		return c
	}
	name := r.selector + "._domainkey." + r.domain
	if len(name) > netpolicy.MaxNameOctets {
		c.Summary = "The selector is too long for this domain."
		c.Issues.Add(mail.Fail, "DKIM_NAME_TOO_LONG", "RFC 1035 section 2.3.4", fmt.Sprintf("The selector and the "+
			"domain make a name of %d characters, and DNS names have at most 253. Use a shorter selector.", len(name)))
		c.take(nil, false)
		return c
	}
	answer := r.dns.ask(ctx, name, dns.TypeTXT)
	if failure := mail.Failure(answer.err); failure != nil {
		c.unanswered("DKIM_LOOKUP_FAILED", "The key at "+mail.Show(name), sectionDKIM, failure)
		return c
	}
	texts := answer.texts()
	if answer.alias && len(texts) == 0 && !r.everywhere(ctx, answer.cname) {
		c.deadAlias(name, answer.cname)
		return c
	}
	c.read(dkim.Read(texts), name)
	if len(texts) > 0 {
		r.wildcard(ctx, &c, texts)
	}
	return c
}

func (c *dkimCheck) read(report dkim.Report, name string) {
	c.take(report.Issues, false)
	c.Record = format.TextOrNull(report.Record)
	c.KeyType = format.TextOrNull(report.KeyType)
	if report.KeyBits > 0 {
		c.KeyBits = &report.KeyBits
	}
	switch {
	case !report.Found:
		c.Status, c.Summary = mailMissing, "There is no DKIM key at this selector."
		c.Issues.Add(mail.Warn, "DKIM_KEY_MISSING", sectionDKIM,
			"There is no key at "+mail.Show(name)+". Check the selector, or publish the key there.")
	case report.Revoked:
		c.Summary = "The DKIM key at this selector was revoked."
	case report.KeyBits > 0:
		c.Summary = fmt.Sprintf("DKIM key of type %s with %d bits.", report.KeyType, report.KeyBits)
	default:
		c.Summary = "The DKIM record at this selector cannot be used."
	}
}

// wildcard looks up whether every selector answers like this one.
func (r *checker) wildcard(ctx context.Context, c *dkimCheck, texts []string) {
	other, _ := r.dns.TXT(ctx, wildcardProbe+"._domainkey."+r.domain)
	slices.Sort(other)
	texts = slices.Sorted(slices.Values(texts))
	if !slices.Equal(texts, other) {
		return
	}
	message := "Every selector answers with this record, so it says nothing about the one asked for. Remove the " +
		"wildcard record, or publish keys at their own selectors."
	severity := mail.Warn
	if c.Issues.HasCode("DKIM_KEY_REVOKED") {
		severity, message = mail.Info,
			"Every selector answers that its key was revoked, which is how a domain says that it signs no mail."
	}
	c.Issues.Add(severity, "DKIM_WILDCARD", sectionDKIM, message)
	if c.Status == mailPass {
		c.Status = mailWarn
	}
}
