package dmarc

import (
	"cmp"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/tool/finding"
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
		c.add("DMARC_NO_REPORTS", finding.Args{"owner": mail.Show(c.report.FoundAt)})
	}
	if r.PSD == "y" && !c.inherited() {
		c.add("DMARC_PSD", finding.Args{"domain": mail.Show(c.domain)})
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
