package dmarc

import (
	"fmt"
	"slices"

	"diagnostics/gateway/internal/analyze/mail"
)

// at names the record of a domain by where it stands.
func at(domain string) string { return "_dmarc." + mail.Show(domain) }

// belowAt is where the record stands that belowRecord gives.
func (c *check) belowAt(below *Record) string {
	if below == c.report.Record {
		return at(c.report.FoundAt)
	}
	return at(c.report.Organizational)
}

// judgeUnused reports sp and np in a record that names below the domain do not follow.
func (c *check) judgeUnused(below *Record) {
	r := c.report.Record
	if below == r || r.SP == "" && r.NP == "" {
		return
	}
	tags := "tag sp has"
	switch {
	case r.SP == "":
		tags = "tag np has"
	case r.NP != "":
		tags = "tags sp and np have"
	}
	c.add(mail.Info, "DMARC_SP_IGNORED", sectionRecord, "The %s no effect in the record at %s: names below %s follow "+
		"the record at %s.", tags, at(c.report.FoundAt), mail.Show(c.domain), c.belowAt(below))
}

// judgePolicy reports policies that stop no one, and in which record to change them.
func (c *check) judgePolicy(below *Record) {
	r := c.report.Record
	switch policy := c.report.Policy; {
	case r.invalid:
	case policy == None:
		c.add(mail.Warn, "DMARC_POLICY_NONE", sectionRecord, "The policy is none, so forged mail is delivered like any "+
			"other. Once the reports look right, %s.", c.raiseOwn())
	case below.invalid && c.report.Subdomains.rank() < policy.rank():
		c.add(mail.Warn, "DMARC_SUBDOMAIN_POLICY_WEAKER", sectionRecord, "Names below %s have the weaker policy none, "+
			"so mail from them can be forged: the record at %s has a policy that is not valid. Correct it.",
			mail.Show(c.domain), c.belowAt(below))
	case c.report.Subdomains.rank() < policy.rank():
		c.add(mail.Warn, "DMARC_SUBDOMAIN_POLICY_WEAKER", sectionRecord, "Names below %s have the weaker policy %s, "+
			"so mail from them can be forged. %s in the record at %s.", mail.Show(c.domain), c.report.Subdomains,
			raiseBelow(below, policy), c.belowAt(below))
	case c.report.Nonexistent.rank() < policy.rank():
		remove := ""
		if c.report.Subdomains.rank() >= policy.rank() {
			remove = ", or remove it,"
		}
		c.add(mail.Warn, "DMARC_NONEXISTENT_POLICY_WEAKER", sectionRecord, "Names below %s that do not exist have the "+
			"weaker policy %s, so mail from them can be forged. Raise np%s in the record at %s.", mail.Show(c.domain),
			c.report.Nonexistent, remove, c.belowAt(below))
	}
}

// raiseOwn says how the domain's own policy is raised from none.
func (c *check) raiseOwn() string {
	if c.report.FoundAt == c.domain {
		return "use p=quarantine and then p=reject"
	}
	tag := "p"
	if c.report.Record.SP != "" {
		tag = "sp"
	}
	return fmt.Sprintf("raise %s to quarantine and then reject in the record at %s, or publish a record at %s", tag,
		at(c.report.FoundAt), at(c.domain))
}

// raiseBelow says how the policy for names below is raised to that of the domain.
func raiseBelow(below *Record, policy Policy) string {
	switch {
	case below.SP == "":
		return fmt.Sprintf("Raise p, or add sp=%s,", policy)
	case below.effective().rank() >= policy.rank():
		return "Raise sp, or remove it,"
	}
	return "Raise sp"
}

// judgeTest reports what receivers apply while a policy is tested.
func (c *check) judgeTest(below *Record) {
	if r := c.report.Record; r.Test && !r.invalid {
		policies := []Policy{c.report.Policy}
		if below == r && !c.inherited() {
			policies = append(policies, c.report.Subdomains, c.report.Nonexistent)
		}
		c.tested(at(c.report.FoundAt), "", policies)
	}
	if below != c.report.Record && below.Test && !below.invalid {
		c.tested(c.belowAt(below), " to names below "+mail.Show(c.domain),
			[]Policy{c.report.Subdomains, c.report.Nonexistent})
	}
}

func (c *check) inherited() bool { return c.report.FoundAt != c.domain }

// tested reports what becomes of the policies of a record in test mode; names is what they apply to.
func (c *check) tested(record, names string, policies []Policy) {
	steps := ""
	for _, p := range []Policy{Reject, Quarantine} {
		if slices.Contains(policies, p) {
			steps += fmt.Sprintf(", %s instead of %s", p.milder(), p)
		}
	}
	if steps == "" {
		c.add(mail.Info, "DMARC_TEST_MODE", sectionRecord, "The record at %s says t=y, which has no effect on the "+
			"policy none. Remove it.", record)
		return
	}
	c.add(mail.Warn, "DMARC_TEST_MODE", sectionRecord, "The record at %s says t=y, so receivers apply its policy%s "+
		"one step milder%s. Those that still follow RFC 7489 apply it in full. Remove t=y when the test is over.", record,
		names, steps)
}

// Applied is what receivers apply of the domain's policy: one step less while it is tested.
func (r Report) Applied() Policy {
	if r.Record != nil && r.Record.Test {
		return r.Policy.milder()
	}
	return r.Policy
}
