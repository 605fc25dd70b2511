package emaildnshealth

import (
	"context"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/dmarc"
	"diagnostics/gateway/internal/tool/finding"
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
	Status  status  `json:"status" wire:"enum=pass|info|warn|fail|missing|error|notApplicable"`
	Summary string  `json:"summary" bound:"text=2k"`
	Record  *string `json:"record" bound:"text=16k"`
	Issues  []issue `json:"issues" bound:"list=48k"`
	// Truncated means that more came than is shown: of the record, of a list, or of what is wrong.
	Truncated bool `json:"truncated,omitempty"`

	// facts are what Issues are made of, once all checks are done.
	facts mail.Issues
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

func newCheck() check { return check{Status: mailPass, Issues: []issue{}} }

// say gives the check its summary.
func (c *check) say(code string, args finding.Args) { c.Summary = rows.Sentence(code, args) }

// notForNullMX is a check that has no meaning for a domain that accepts no mail.
func notForNullMX() check {
	c := newCheck()
	c.Status = mailNotApplicable
	c.say("NOT_FOR_NULL_MX", nil)
	return c
}

// take adds issues and draws the status from all of them. failed reports a lookup without a usable answer: what is
// known to be wrong counts more than what is not known.
func (c *check) take(issues mail.Issues, failed bool) {
	c.facts = append(c.facts, issues...)
	switch {
	case have(c.facts, finding.Fail):
		c.Status = mailFail
	case failed:
		c.Status = mailError
	case have(c.facts, finding.Warn):
		c.Status = mailWarn
	default:
		c.Status = mailPass
	}
}

// unanswered is a check whose first lookup failed; args name what was looked up.
func (c *check) unanswered(code string, args finding.Args, failure *mail.LookupError) {
	args = args.With(failure.Advised())
	c.Status, c.Summary = mailError, rows.Clause(code, args)
	c.facts.Add(code, args)
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
	var code string
	switch sends := !r.SPF.report.SendsNothing; {
	case !sends && r.MX.NullMX && r.DMARC.applied == dmarc.Reject:
		code = "KEEPS_OUT_OF_MAIL"
	case !sends && r.MX.NullMX:
		code = "KEEPS_OUT_WITHOUT_DMARC"
	case !sends:
		code = "ONLY_ACCEPTS"
	case r.MX.NullMX:
		code = "ONLY_SENDS"
	default:
		return nil
	}
	return new(rows.Sentence(code, finding.Args{"domain": mail.Show(domain)}))
}
