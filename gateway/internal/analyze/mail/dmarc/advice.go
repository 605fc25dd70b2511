package dmarc

import (
	"slices"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/tool/finding"
)

// ownerBelow names the domain that publishes the record which applies to subdomains.
func (c *check) ownerBelow(below *Record) string {
	if below == c.report.Record {
		return mail.Show(c.report.FoundAt)
	}
	return mail.Show(c.report.Organizational)
}

// judgeUnused reports sp and np in a record that names below the domain do not follow.
func (c *check) judgeUnused(below *Record) {
	r := c.report.Record
	var tags []string
	if r.SP != "" {
		tags = append(tags, "sp")
	}
	if r.NP != "" {
		tags = append(tags, "np")
	}
	if below != r && len(tags) > 0 {
		c.add("DMARC_SP_IGNORED", finding.Args{"tags": tags, "owner": mail.Show(c.report.FoundAt),
			"domain": mail.Show(c.domain), "followed": c.ownerBelow(below)})
	}
}

// judgePolicy reports policies that stop no one, and in which record to change them.
func (c *check) judgePolicy(below *Record) {
	r, policy := c.report.Record, c.report.Policy
	args := finding.Args{"domain": mail.Show(c.domain), "owner": c.ownerBelow(below)}
	switch {
	case r.invalid:
	case policy == None:
		c.add("DMARC_POLICY_NONE", c.raiseOwn())
	case below.invalid && c.report.Subdomains.rank() < policy.rank():
		c.add("DMARC_SUBDOMAIN_POLICY_INVALID", args)
	case c.report.Subdomains.rank() < policy.rank():
		args["policy"] = string(c.report.Subdomains)
		if below.SP == "" {
			args["stricter"] = string(policy)
		} else {
			args["removable"] = below.effective().rank() >= policy.rank()
		}
		c.add("DMARC_SUBDOMAIN_POLICY_WEAKER", args)
	case c.report.Nonexistent.rank() < policy.rank():
		args["policy"] = string(c.report.Nonexistent)
		args["removable"] = c.report.Subdomains.rank() >= policy.rank()
		c.add("DMARC_NONEXISTENT_POLICY_WEAKER", args)
	}
}

// raiseOwn are the arguments on how the domain's own policy is raised from none, if it is in another domain's record.
func (c *check) raiseOwn() finding.Args {
	if !c.inherited() {
		return nil
	}
	tag := "p"
	if c.report.Record.SP != "" {
		tag = "sp"
	}
	return finding.Args{"tag": tag, "owner": mail.Show(c.report.FoundAt), "domain": mail.Show(c.domain)}
}

// judgeTest reports what receivers apply while a policy is tested.
func (c *check) judgeTest(below *Record) {
	if r := c.report.Record; r.Test && !r.invalid {
		policies := []Policy{c.report.Policy}
		if below == r && !c.inherited() {
			policies = append(policies, c.report.Subdomains, c.report.Nonexistent)
		}
		c.tested(finding.Args{"owner": mail.Show(c.report.FoundAt)}, policies)
	}
	if below != c.report.Record && below.Test && !below.invalid {
		c.tested(finding.Args{"owner": c.ownerBelow(below), "domain": mail.Show(c.domain)},
			[]Policy{c.report.Subdomains, c.report.Nonexistent})
	}
}

func (c *check) inherited() bool { return c.report.FoundAt != c.domain }

// tested reports what becomes of the policies of a record in test mode. The arguments name its owner, and the domain if
// only names below that follow it.
func (c *check) tested(args finding.Args, policies []Policy) {
	rejects, quarantines := slices.Contains(policies, Reject), slices.Contains(policies, Quarantine)
	if !rejects && !quarantines {
		c.add("DMARC_TEST_MODE_IDLE", finding.Args{"owner": args["owner"]})
		return
	}
	c.add("DMARC_TEST_MODE", args.With(finding.Args{"rejects": rejects, "quarantines": quarantines}))
}

// Applied is what receivers apply of the domain's policy: one step less while it is tested.
func (r Report) Applied() Policy {
	if r.Record != nil && r.Record.Test {
		return r.Policy.milder()
	}
	return r.Policy
}
