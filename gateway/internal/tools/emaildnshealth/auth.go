package emaildnshealth

import (
	"context"
	"slices"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/dkim"
	"diagnostics/gateway/internal/analyze/mail/dmarc"
	"diagnostics/gateway/internal/analyze/mail/spf"
	"diagnostics/gateway/internal/tool/finding"
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
	Suggestion *spfSuggestion `json:"suggestion"`

	report spf.Report
}

type spfSuggestion struct {
	spf.Suggestion
	// Notes say what was changed and what that requires of the domain's owner. None of them is empty.
	Notes []string `json:"notes" wire:"len=1.."`
}

func newSPFCheck(c check, domain string) spfCheck {
	return spfCheck{check: c, Tree: &spf.Node{Term: "v=spf1", Domain: &domain, Children: []*spf.Node{}}}
}

func (r *checker) spf(ctx context.Context) spfCheck {
	report := spf.Check(ctx, r.dns, r.domain)
	c := newSPFCheck(newCheck(), r.domain)
	c.Record, c.Tree = report.Record, report.Tree
	c.Lookups, c.VoidLookups = report.Tree.Lookups, report.Tree.VoidLookups
	c.report = report
	c.All = format.TextOrNull(report.All)
	c.take(report.Issues, report.Failed)
	putInWords(c.Tree)
	switch {
	case !report.Found && report.Failed:
		c.Status = mailError
		c.say("SPF_SUMMARY_UNKNOWN", nil)
	case !report.Found:
		c.Status = mailMissing
		c.say("SPF_SUMMARY_MISSING", nil)
		c.facts.Add("SPF_MISSING", nil)
	case report.Record == nil:
		c.say("SPF_SUMMARY_SEVERAL", nil)
	case report.SendsNothing:
		c.say("SPF_SUMMARY_NO_SENDER", nil)
	default:
		c.summarize(r.domain)
	}
	return c
}

// putInWords fills in the errors of a tree.
func putInWords(n *spf.Node) {
	if n.Fault != nil {
		n.Error = new(rows.Clause(n.Fault.Code, n.Fault.Args))
	}
	for _, child := range n.Children {
		putInWords(child)
	}
}

// shorten queries the DNS once more. It comes last, so that no check goes without its lookups for the sake of advice.
func (c *spfCheck) shorten(ctx context.Context, dns *resolver) {
	if c.Record == nil {
		return
	}
	if found := spf.Shorten(ctx, dns, c.report); found != nil {
		c.Suggestion = &spfSuggestion{Suggestion: *found}
		for _, note := range found.Notes {
			c.Suggestion.Notes = append(c.Suggestion.Notes, rows.Sentence(note.Code, note.Args))
		}
	}
}

// summarize says what the record makes of all other senders, and what it costs.
func (c *spfCheck) summarize(domain string) {
	code := "SPF_SUMMARY"
	if c.Lookups > spf.MaxLookups {
		code = "SPF_SUMMARY_COSTLY"
	}
	args := finding.Args{"ending": ending(c.report, domain), "lookups": c.Lookups}
	if args["ending"] == "SPF_ENDS_OPEN_ELSEWHERE" {
		args["owner"] = mail.Show(c.report.NoAllAt)
	}
	c.say(code, args)
}

// ending is the clause on what the record makes of all other senders. Of an end that could not be read nothing is
// claimed.
func ending(report spf.Report, domain string) string {
	switch report.NoAllAt {
	case "":
	case domain:
		return "SPF_ENDS_OPEN"
	default:
		return "SPF_ENDS_OPEN_ELSEWHERE"
	}
	switch report.All {
	case "+all":
		return "SPF_ENDS_IN_PASS"
	case "-all":
		return "SPF_ENDS_IN_FAIL"
	case "~all":
		return "SPF_ENDS_IN_SOFTFAIL"
	case "?all":
		return "SPF_ENDS_IN_NEUTRAL"
	}
	return "SPF_ENDS_UNREADABLY"
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
	ReportAddresses      []string       `json:"reportAddresses" bound:"text=4k list=32k"`
	FailureAddresses     []string       `json:"failureReportAddresses" bound:"text=4k list=32k"`
	// Destinations are the other domains among those of the addresses, and whether they say that they take the reports.
	Destinations []reportDestination `json:"reportDestinations" bound:"list=8k"`

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
		c.say("DMARC_SUMMARY_SEVERAL", nil)
	case report.Failed:
		c.say("DMARC_SUMMARY_UNKNOWN", nil)
	default:
		c.missing()
		r.misplacedDMARC(ctx, &c)
	}
	return c
}

func (c *dmarcCheck) missing() {
	c.Status = mailMissing
	if c.facts.HasCode("DMARC_VERSION") || c.facts.HasCode("DMARC_LEADING_BLANK") {
		c.say("DMARC_SUMMARY_UNREADABLE", nil)
		c.facts.Add("DMARC_UNREADABLE", nil)
		return
	}
	c.say("DMARC_SUMMARY_MISSING", nil)
	c.facts.Add("DMARC_MISSING", nil)
}

// misplacedDMARC looks for the record at the domain itself, where it is often put by mistake. SPF has queried that
// already.
func (r *checker) misplacedDMARC(ctx context.Context, c *dmarcCheck) {
	texts, _ := r.dns.TXT(ctx, r.domain)
	if slices.ContainsFunc(texts, dmarc.IsRecord) {
		c.facts.Add("DMARC_MISPLACED", finding.Args{"domain": mail.Show(r.domain)})
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
	args := finding.Args{"policy": string(report.Policy), "owner": mail.Show(report.FoundAt)}
	c.applied = report.Applied()
	if c.applied != report.Policy {
		args["applied"] = string(c.applied)
	}
	c.say("DMARC_SUMMARY", args)
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
		c.say("DKIM_SUMMARY_NAME_TOO_LONG", nil)
		c.facts.Add("DKIM_NAME_TOO_LONG", finding.Args{"characters": len(name)})
		c.take(nil, false)
		return c
	}
	answer := r.dns.ask(ctx, name, dns.TypeTXT)
	if failure := mail.Failure(answer.err); failure != nil {
		c.unanswered("DKIM_LOOKUP_FAILED", finding.Args{"name": mail.Show(name)}, failure)
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
		c.Status = mailMissing
		c.say("DKIM_SUMMARY_MISSING", nil)
		c.facts.Add("DKIM_KEY_MISSING", finding.Args{"name": mail.Show(name)})
	case report.Revoked:
		c.say("DKIM_SUMMARY_REVOKED", nil)
	case report.KeyBits > 0:
		c.say("DKIM_SUMMARY", finding.Args{"type": report.KeyType, "bits": report.KeyBits})
	default:
		c.say("DKIM_SUMMARY_UNUSABLE", nil)
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
	code := "DKIM_WILDCARD"
	if c.facts.HasCode("DKIM_KEY_REVOKED") {
		code = "DKIM_WILDCARD_REVOKED"
	}
	c.facts.Add(code, nil)
	if c.Status == mailPass {
		c.Status = mailWarn
	}
}
