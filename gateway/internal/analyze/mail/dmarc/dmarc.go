// Package dmarc finds the DMARC policy of a domain by the tree walk of RFC 9989, judges its record, and says where
// receivers that still follow RFC 7489 come to another result.
package dmarc

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/parallel"

	"golang.org/x/net/publicsuffix"
)

// Resolver is what the walk needs of the DNS. Names are canonical: lower case, no trailing dot. No records and a nil
// error is a name without the type; errors are mail.ErrNotFound or a *mail.LookupError. It is called from
// several goroutines at once.
type Resolver interface {
	// TXT gives the records with their strings joined.
	TXT(ctx context.Context, name string) ([]string, error)
}

// maxQueries is how many names a tree walk queries at most (RFC 9989 section 4.10).
const maxQueries = 8

// Report is what a walk found.
type Report struct {
	// Record is the record that applies to the domain; nil where there is none or it is unknown.
	Record *Record
	// FoundAt is the domain that publishes Record, without the _dmarc label.
	FoundAt string
	// Organizational is the organizational domain, empty where no record was found or the walk did not finish.
	Organizational string
	// Policy applies to the domain itself, Subdomains to names below it that exist, Nonexistent to those that do not.
	Policy, Subdomains, Nonexistent Policy
	// Destinations are the other domains that reports go to, as far as their consent was looked up.
	Destinations []Destination
	// Several means that the domain, or the one whose record would apply, has more than one record.
	Several bool
	// Failed means that a lookup gave no usable answer, so that the rest is incomplete.
	Failed bool
	Issues mail.Issues
}

// step is one name of the tree walk with what it publishes.
type step struct {
	domain  string
	txt     []string
	failure *mail.LookupError
	// record is the one valid record, nil where there is none.
	record  *Record
	issues  mail.Issues
	several bool
}

// Names are those of the tree walk for a domain, in order: the domain, then its parents, of which those with more than
// seven labels are left out.
func Names(domain string) []string {
	names := []string{domain}
	labels := strings.Split(domain, ".")
	for from := max(1, len(labels)-(maxQueries-1)); from < len(labels); from++ {
		names = append(names, strings.Join(labels[from:], "."))
	}
	return names
}

// Check walks up from the domain. It returns when the context ends at the latest, with what was seen.
func Check(ctx context.Context, dns Resolver, domain string) Report {
	c := &check{domain: domain, steps: walkUp(ctx, dns, domain)}
	c.choose()
	if c.report.Record != nil {
		c.judge()
		c.external(ctx, dns)
	}
	c.compare()
	return c.report
}

// check is the state of one Check. steps end where the walk ends.
type check struct {
	domain string
	steps  []step
	report Report
}

func (c *check) add(code string, args finding.Args) { c.report.Issues.Add(code, args) }

// walkUp queries all names at once, which costs no more queries than the protocol allows, and keeps those that a walk
// in order would have come to.
func walkUp(ctx context.Context, dns Resolver, domain string) []step {
	names := Names(domain)
	steps := make([]step, len(names))
	var lookups parallel.Group
	for i, name := range names {
		lookups.Go(func() { steps[i] = ask(ctx, dns, name) })
	}
	lookups.Wait()
	for i, s := range steps {
		if s.record != nil && s.record.PSD != "u" {
			return steps[:i+1]
		}
	}
	return steps
}

func ask(ctx context.Context, dns Resolver, domain string) step {
	s := step{domain: domain}
	txt, err := dns.TXT(ctx, "_dmarc."+domain)
	s.failure, s.txt = mail.Failure(err), txt
	records := slices.DeleteFunc(slices.Clone(txt), func(t string) bool { return !IsRecord(t) })
	if s.several = len(records) > 1; len(records) == 1 {
		record, issues := Parse(records[0])
		s.record, s.issues = &record, issues
	}
	return s
}

// choose finds the record that applies and the organizational domain (RFC 9989 sections 4.10.1 and 4.10.2).
func (c *check) choose() {
	organizational := c.organizational()
	first := c.steps[0]
	switch {
	case first.failure != nil:
		c.failed(first)
		return
	case first.several:
		c.several(first)
		return
	case first.record != nil:
		c.take(first)
		if c.unknown() < 0 {
			c.report.Organizational = organizational
			return
		}
		c.add("DMARC_WALK_INCOMPLETE", finding.Args{"domain": mail.Show(c.domain)})
		return
	}
	c.near(first)
	if at := c.unknown(); at >= 0 {
		c.failed(c.steps[at])
		return
	}
	c.inherit(organizational)
	if c.report.Record == nil && !c.report.Several {
		for _, s := range c.steps[1:] {
			c.near(s)
		}
	}
}

// unknown gives the first failed lookup that leaves the organizational domain open, -1 where there is none. Directly
// above the highest record a failure changes nothing: whatever is published there, that record stays the
// organization's.
func (c *check) unknown() int {
	highest := -2
	for i, s := range c.steps {
		if s.record != nil {
			highest = i
		}
	}
	for i, s := range c.steps {
		if s.failure != nil && i != highest+1 {
			return i
		}
	}
	return -1
}

// inherit takes the record of the organizational domain, or of the public suffix above it. Where there is none because
// someone published several, that is what is wrong.
func (c *check) inherit(organizational string) {
	for _, s := range c.steps[1:] {
		if s.record != nil && (s.domain == organizational || s.record.PSD == "y") {
			c.report.Organizational = organizational
			c.take(s)
			return
		}
	}
	for _, s := range c.steps[1:] {
		if s.several {
			c.several(s)
			return
		}
	}
}

// organizational selects the organizational domain from what the walk found.
func (c *check) organizational() string {
	domain := c.domain
	for i, s := range c.steps {
		switch {
		case s.record == nil:
		case s.record.PSD == "n":
			return s.domain
		case s.record.PSD == "y" && i > 0:
			return below(c.domain, s.domain)
		default:
			domain = s.domain
		}
	}
	return domain
}

// below gives the name one label below parent on the way to domain.
func below(domain, parent string) string {
	rest := strings.TrimSuffix(domain, "."+parent)
	return rest[strings.LastIndexByte(rest, '.')+1:] + "." + parent
}

func (c *check) failed(s step) {
	c.report.Failed = true
	c.add("DMARC_LOOKUP_FAILED", s.failure.Advised().With(finding.Args{"owner": mail.Show(s.domain)}))
}

func (c *check) several(s step) {
	c.report.Several = true
	c.report.FoundAt = s.domain
	c.add("DMARC_SEVERAL_RECORDS", finding.Args{"owner": mail.Show(s.domain)})
}

// near reports TXT records that were meant to be DMARC records.
func (c *check) near(s step) {
	for _, txt := range s.txt {
		if IsRecord(txt) || !mail.NearVersion(txt, version) {
			continue
		}
		args := finding.Args{"owner": mail.Show(s.domain), "record": mail.Quoted(txt)}
		if bare := strings.TrimLeft(txt, " \t\r\n"); bare != txt && IsRecord(bare) {
			c.add("DMARC_LEADING_BLANK", args)
			continue
		}
		args["capitals"] = IsRecord(upperVersion.ReplaceAllString(txt, version))
		c.add("DMARC_VERSION", args)
	}
}

// upperVersion finds the version in whatever case.
var upperVersion = regexp.MustCompile(`(?i)\b` + version + `\b`)

// take makes a record the one that applies.
func (c *check) take(s step) {
	c.report.Record, c.report.FoundAt = s.record, s.domain
	for _, issue := range s.issues {
		c.add(issue.Code, issue.Args)
	}
}

// listedDomain is the organizational domain by the public suffix list, the domain itself where that has none for it.
func listedDomain(domain string) string {
	listed, err := publicsuffix.EffectiveTLDPlusOne(domain)
	if err != nil {
		return domain
	}
	return listed
}

// compare reports where a receiver that takes the organizational domain from the public suffix list (RFC 7489 section
// 3.2) comes to another record.
func (c *check) compare() {
	if c.report.Record == nil || c.report.Organizational == "" {
		return
	}
	old := listedDomain(c.domain)
	switch {
	case c.report.FoundAt == c.domain && c.report.Organizational != old:
		c.add("DMARC_RFC7489_ALIGNMENT", finding.Args{"listed": mail.Show(old),
			"organization": mail.Show(c.report.Organizational)})
		return
	case c.report.FoundAt == c.domain || c.report.FoundAt == old:
		return
	}
	c.add("DMARC_RFC7489_DIFFERS", finding.Args{"domain": mail.Show(c.domain), "listed": mail.Show(old),
		"owner": mail.Show(c.report.FoundAt)})
}
