package dmarc

import (
	"cmp"

	"diagnostics/gateway/internal/analyze/mail"
)

// judge works out the policies and says what they mean.
func (c *check) judge() {
	r := c.report.Record
	p := r.effective()
	c.report.Policy = p
	if c.inherited() {
		c.report.Policy = cmp.Or(r.SP, p)
	}
	below := c.belowRecord()
	c.report.Subdomains = cmp.Or(below.SP, below.effective())
	c.report.Nonexistent = cmp.Or(below.NP, c.report.Subdomains)
	c.judgeUnused(below)
	c.judgePolicy(below)
	c.judgeTest(below)
	if len(r.Aggregate) == 0 {
		c.add(mail.Info, "DMARC_NO_REPORTS", sectionRecord,
			"No aggregate reports are requested. Add rua=mailto:… to the record at %s to see who sends in your name.",
			at(c.report.FoundAt))
	}
	if r.PSD == "y" && !c.inherited() {
		c.add(mail.Info, "DMARC_PSD", sectionRecord, "The record says psd=y: %s is a public suffix, and names one "+
			"label below it are organizations of their own.", mail.Show(c.domain))
	}
}

// effective is p as receivers read it: none where it is absent or anything in the policy is not valid.
func (r *Record) effective() Policy {
	if r.P == "" || r.invalid {
		return None
	}
	return r.P
}

// belowRecord is the record that applies to subdomains of the domain: that of the organizational domain, even where the
// domain has one of its own.
func (c *check) belowRecord() *Record {
	for _, s := range c.steps {
		if s.record != nil && s.domain == c.report.Organizational {
			return s.record
		}
	}
	return c.report.Record
}
