package dmarc

import (
	"cmp"
	"context"
	"slices"

	"diagnostics/gateway/internal/mailauth"
	"diagnostics/shared/netpolicy"
	"diagnostics/shared/parallel"
)

// judge works out the policies and says what they mean.
func (c *check) judge() {
	r := c.report.Record
	p := r.effective()
	c.report.Policy = p
	inherited := c.report.FoundAt != c.domain
	if inherited {
		c.report.Policy = cmp.Or(r.SP, p)
	}
	below := c.belowRecord()
	c.report.Subdomains = cmp.Or(below.SP, below.effective())
	c.report.Nonexistent = cmp.Or(below.NP, c.report.Subdomains)
	if below != r && (r.SP != "" || r.NP != "") {
		c.add(mailauth.Info, "DMARC_SP_IGNORED", sectionRecord, "The tags sp and np have no effect in a record below the "+
			"organizational domain %s, whose own are used.", mailauth.Show(c.report.Organizational))
	}
	c.judgePolicy(r)
	if len(r.Aggregate) == 0 {
		c.add(mailauth.Info, "DMARC_NO_REPORTS", sectionRecord,
			"No aggregate reports are asked for. Add rua=mailto:… to see who sends in your name.")
	}
	if r.PSD == "y" && !inherited {
		c.add(mailauth.Info, "DMARC_PSD", sectionRecord, "The record says psd=y: %s is a public suffix, and names one "+
			"label below it are organizations of their own.", mailauth.Show(c.domain))
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

func (c *check) judgePolicy(r *Record) {
	switch {
	case r.invalid:
	case c.report.Policy == None:
		c.add(mailauth.Warn, "DMARC_POLICY_NONE", sectionRecord, "The policy is none, so forged mail is delivered like any "+
			"other. Once the reports look right, use p=quarantine and then p=reject.")
	case c.report.Subdomains.rank() < c.report.Policy.rank():
		c.add(mailauth.Warn, "DMARC_SUBDOMAIN_POLICY_WEAKER", sectionRecord, "Subdomains have the weaker policy %s, so "+
			"mail can be forged in their names. Raise sp, or remove it.", c.report.Subdomains)
	case c.report.Nonexistent.rank() < c.report.Policy.rank():
		c.add(mailauth.Warn, "DMARC_NONEXISTENT_POLICY_WEAKER", sectionRecord, "Subdomains that do not exist have the "+
			"weaker policy %s, so mail can be forged in their names. Raise np, or remove it.", c.report.Nonexistent)
	}
	if r.Test {
		c.add(mailauth.Warn, "DMARC_TEST_MODE", sectionRecord,
			"The record says t=y, so receivers do not apply the policy. Remove it when the test is over.")
	}
}

// maxExternal bounds how many other domains are asked whether they take reports.
const maxExternal = 6

const sectionExternal = "RFC 9990, Verifying External Destinations; RFC 7489 section 7.1"

// external asks every other domain that reports are to go to whether it wants them.
func (c *check) external(ctx context.Context, dns Resolver) {
	hosts := c.externalHosts()
	if len(hosts) > maxExternal {
		c.add(mailauth.Warn, "DMARC_TOO_MANY_DESTINATIONS", sectionExternal,
			"Reports go to %d other domains; only the first %d were asked whether they take them.", len(hosts), maxExternal)
		hosts = hosts[:maxExternal]
	}
	answers := make([]error, len(hosts))
	authorized := make([]bool, len(hosts))
	var lookups parallel.Group
	for i, host := range hosts {
		lookups.Go(func() { authorized[i], answers[i] = c.authorized(ctx, dns, host) })
	}
	lookups.Wait()
	for i, host := range hosts {
		c.judgeDestination(host, authorized[i], mailauth.Failure(answers[i]))
	}
}

// externalHosts gives the destinations outside the organization, each once.
func (c *check) externalHosts() []string {
	home := cmp.Or(c.report.Organizational, c.report.FoundAt)
	var hosts []string
	for _, uri := range slices.Concat(c.report.Record.Aggregate, c.report.Record.Failure) {
		if !mailauth.Under(uri.Host, home) && !slices.Contains(hosts, uri.Host) {
			hosts = append(hosts, uri.Host)
		}
	}
	return hosts
}

func (c *check) authorized(ctx context.Context, dns Resolver, host string) (bool, error) {
	name, err := netpolicy.ParseName(c.report.FoundAt+"._report._dmarc."+host, true)
	if err != nil {
		return false, &mailauth.LookupError{Code: mailauth.CodeName}
	}
	txt, err := dns.TXT(ctx, name)
	return slices.ContainsFunc(txt, IsRecord), err
}

func (c *check) judgeDestination(host string, authorized bool, failure *mailauth.LookupError) {
	host, from := mailauth.Show(host), mailauth.Show(c.report.FoundAt)
	switch {
	case authorized:
	case failure == nil:
		c.add(mailauth.Warn, "DMARC_REPORTS_NOT_AUTHORIZED", sectionExternal,
			"%s does not say that it takes reports about %s, so none are sent there. It must publish a TXT record v=DMARC1 at "+
				"%s._report._dmarc.%s.", host, from, from, host)
	case failure.Code == mailauth.CodeName:
		c.add(mailauth.Warn, "DMARC_REPORTS_NOT_AUTHORIZED", sectionExternal, "%s cannot say that it takes reports about "+
			"%s, because the name that would say so cannot exist in the public DNS.", host, from)
	default:
		c.report.Failed = true
		c.add(mailauth.Warn, "DMARC_DESTINATION_LOOKUP_FAILED", sectionExternal,
			"Whether %s takes reports about %s could not be looked up: %s.", host, from, failure.Reason())
	}
}
