package emaildnshealth

import (
	"context"
	"fmt"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/dmarc"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/shared/progress"
)

// status is the outcome of one check.
type status string

const (
	mailPass          status = "pass"
	mailInfo          status = "info"
	mailWarn          status = "warn"
	mailFail          status = "fail"
	mailMissing       status = "missing"
	mailError         status = "error"
	mailNotApplicable status = "notApplicable"
)

// check is what all checks have in common.
type check struct {
	Status  status      `json:"status" wire:"enum=pass|info|warn|fail|missing|error|notApplicable"`
	Summary string      `json:"summary"`
	Record  *string     `json:"record"`
	Issues  mail.Issues `json:"issues"`
	// Truncated means that more came than is shown: of the record, of a list, or of what is wrong.
	Truncated bool `json:"truncated,omitempty"`
}

// checkStep is a check while others go on.
type checkStep struct {
	Name    string `json:"name" wire:"enum=mx|spf|dmarc|dkim|mtaSts|tlsRpt"` // as in the answer's checks
	Status  status `json:"status" wire:"enum=pass|info|warn|fail|missing|error|notApplicable"`
	Summary string `json:"summary"`
}

// report reports a check to the stream, unless the cache alone answered: the result itself has that.
func (r *checker) report(ctx context.Context, name string, c *check) {
	if !r.dns.news.Load() {
		return
	}
	progress.Report(ctx, "check", name, checkStep{name, c.Status, c.Summary})
}

func newCheck() check { return check{Status: mailPass, Issues: mail.Issues{}} }

// notForNullMX is a check that has no meaning for a domain that accepts no mail.
func notForNullMX() check {
	c := newCheck()
	c.Status, c.Summary = mailNotApplicable, "The domain accepts no mail (null MX), so this does not apply."
	return c
}

// take adds issues and draws the status from all of them. failed reports a lookup without a usable answer: what is
// known to be wrong counts more than what is not known.
func (c *check) take(issues mail.Issues, failed bool) {
	c.Issues = append(c.Issues, issues...)
	switch {
	case c.Issues.Has(mail.Fail):
		c.Status = mailFail
	case failed:
		c.Status = mailError
	case c.Issues.Has(mail.Warn):
		c.Status = mailWarn
	default:
		c.Status = mailPass
	}
}

// unanswered is a check whose first lookup failed.
func (c *check) unanswered(code, what, reference string, failure *mail.LookupError) {
	c.Status = mailError
	c.Summary = what + " could not be looked up: " + failure.Reason() + "."
	c.Issues.Add(mail.Warn, code, reference, c.Summary+" "+failure.Advice())
}

// counts counts the checks by status.
type counts struct {
	Pass          int `json:"pass" wire:"max=6"`
	Info          int `json:"info" wire:"max=6"`
	Warn          int `json:"warn" wire:"max=6"`
	Fail          int `json:"fail" wire:"max=6"`
	Missing       int `json:"missing" wire:"max=6"`
	Error         int `json:"error" wire:"max=6"`
	NotApplicable int `json:"notApplicable" wire:"max=6"`
}

func (n *counts) add(s status) {
	switch s {
	case mailPass:
		n.Pass++
	case mailInfo:
		n.Info++
	case mailWarn:
		n.Warn++
	case mailFail:
		n.Fail++
	case mailMissing:
		n.Missing++
	case mailError:
		n.Error++
	case mailNotApplicable:
		n.NotApplicable++
	}
}

func summarize(domain string, r results) Result {
	health := Result{Domain: domain, Checks: r, Note: noteOn(domain, r)}
	for _, c := range r.all() {
		health.Summary.add(c.Status)
	}
	switch {
	case health.Summary.Fail > 0 || r.SPF.Status == mailMissing || r.DMARC.Status == mailMissing:
		health.Overall = mailFail
	case health.Summary.Error > 0:
		health.Overall = mailError
	case health.Summary.Warn > 0:
		health.Overall = mailWarn
	default:
		health.Overall = mailPass
	}
	return health
}

// noteOn recognises a domain that keeps out of mail.
func noteOn(domain string, r results) *string {
	domain = mail.Show(domain)
	var note string
	switch sends := !r.SPF.report.SendsNothing; {
	case !sends && r.MX.NullMX && r.DMARC.applied == dmarc.Reject:
		note = fmt.Sprintf("%s neither sends nor accepts mail, and all of its records say so.", domain)
	case !sends && r.MX.NullMX:
		note = fmt.Sprintf("%s neither sends nor accepts mail. A DMARC record with p=reject would complete that.", domain)
	case !sends:
		note = fmt.Sprintf("%s sends no mail: its SPF record authorizes no one.", domain)
	case r.MX.NullMX:
		note = fmt.Sprintf("%s accepts no mail (null MX). If it sends none either, publish the SPF record v=spf1 "+
			"-all.", domain)
	}
	return format.TextOrNull(note)
}
