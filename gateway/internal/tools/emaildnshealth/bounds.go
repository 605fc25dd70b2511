package emaildnshealth

import (
	"slices"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/spf"
	"diagnostics/gateway/internal/text/bound"
)

// The shares of an answer, in bytes of JSON. The records are strangers', each as long as a message of the DNS may be.
const (
	maxSummary   = 2 << 10
	maxRecord    = 16 << 10
	maxIssues    = 48 << 10 // of one check
	maxHosts     = 96 << 10
	maxAddresses = 8 << 10 // of one mail host
	maxTree      = 224 << 10
	maxTerm      = 2 << 10
	maxReports   = 32 << 10 // addresses for reports of one kind
	maxReport    = 4 << 10
	maxPolicies  = 96 << 10 // the text of an MTA-STS policy
	maxPatterns  = 48 << 10
	maxDANE      = 8 << 10  // TLSA records of one mail host
	maxFound     = 48 << 10 // DKIM keys that were searched for
	// maxDestinations is room for all that are looked up, with the longest names.
	maxDestinations = 8 << 10
	maxFindings     = 64 << 10
)

// bound cuts what is too long for an answer, once all of it was judged.
func (r *Result) bound() {
	c := &r.Checks
	for _, check := range c.all() {
		check.bound()
	}
	c.MX.boundHosts()
	c.SPF.boundTree()
	c.DMARC.boundReports()
	c.MTASTS.boundPolicy()
	c.TLSRPT.boundReports()
	c.DKIM.Found = bound.List(c.DKIM.Found, maxFound, &c.DKIM.Truncated)
	r.BIMI.bound()
	r.Findings = bound.List(r.Findings, maxFindings, &r.Truncated)
	r.Truncated = r.Truncated || r.BIMI != nil && r.BIMI.Truncated ||
		slices.ContainsFunc(c.all(), func(c *check) bool { return c.Truncated })
}

func (c *check) bound() {
	c.Summary = bound.Text(c.Summary, maxSummary, &c.Truncated)
	c.Record = bound.Pointer(c.Record, maxRecord, &c.Truncated)
	c.Issues = bound.First(c.Issues, mail.MaxShown, &c.Truncated)
	c.Issues = bound.List(c.Issues, maxIssues, &c.Truncated)
}

func (c *mxCheck) boundHosts() {
	for i := range c.Hosts {
		h := &c.Hosts[i]
		h.Addresses = bound.List(h.Addresses, maxAddresses, &h.Truncated, &c.Truncated)
		h.TLSA = bound.List(h.TLSA, maxDANE, &h.Truncated, &c.Truncated)
	}
	c.Hosts = bound.List(c.Hosts, maxHosts, &c.Truncated)
}

// boundTree cuts level by level, so that what the domain itself says is there before what others say.
func (c *spfCheck) boundTree() {
	left := maxTree
	c.boundNode(c.Tree)
	for level := []*spf.Node{c.Tree}; len(level) > 0; {
		var next []*spf.Node
		for _, n := range level {
			n.Children = c.affordable(n, &left)
			next = append(next, n.Children...)
		}
		level = next
	}
}

func (c *spfCheck) boundNode(n *spf.Node) {
	n.Term = bound.Text(n.Term, maxTerm, &n.Truncated)
	n.Domain = bound.Pointer(n.Domain, maxTerm, &n.Truncated)
	n.Record = bound.Pointer(n.Record, maxRecord, &n.Truncated)
	c.Truncated = c.Truncated || n.Truncated
}

// affordable gives the children of a node for which there is room, and takes it.
func (c *spfCheck) affordable(n *spf.Node, left *int) []*spf.Node {
	for i, child := range n.Children {
		c.boundNode(child)
		alone := *child
		alone.Children = []*spf.Node{}
		if *left -= bound.Size(alone); *left < 0 {
			return bound.First(n.Children, i, &n.Truncated, &c.Truncated)
		}
	}
	return n.Children
}

func (c *dmarcCheck) boundReports() {
	c.Truncated = c.Truncated || c.facts.HasCode("DMARC_TOO_MANY_ADDRESSES")
	c.ReportAddresses = bound.Texts(c.ReportAddresses, maxReport, maxReports, &c.Truncated)
	c.FailureAddresses = bound.Texts(c.FailureAddresses, maxReport, maxReports, &c.Truncated)
	c.Truncated = c.Truncated || c.facts.HasCode("DMARC_TOO_MANY_DESTINATIONS")
	c.Destinations = bound.List(c.Destinations, maxDestinations, &c.Truncated)
}

func (c *mtaStsCheck) boundPolicy() {
	c.Truncated = c.Truncated || c.facts.HasCode("MTASTS_TOO_MANY_PATTERNS")
	c.Policy = bound.Pointer(c.Policy, maxPolicies, &c.Truncated)
	c.MXPatterns = bound.Texts(c.MXPatterns, maxTerm, maxPatterns, &c.Truncated)
}

func (c *tlsRptCheck) boundReports() {
	c.Truncated = c.Truncated || c.facts.HasCode("TLSRPT_TOO_MANY_ADDRESSES")
	c.ReportAddresses = bound.Texts(c.ReportAddresses, maxReport, maxReports, &c.Truncated)
}

func (b *bimiRecord) bound() {
	if b == nil {
		return
	}
	b.Record = bound.Text(b.Record, maxRecord, &b.Truncated)
	b.Logo = bound.Pointer(b.Logo, maxTerm, &b.Truncated)
	b.Evidence = bound.Pointer(b.Evidence, maxTerm, &b.Truncated)
}
