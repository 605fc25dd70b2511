package emaildnshealth

import (
	"context"
	"slices"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/tlsa"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/parallel"
)

// mailHostFacts is what is looked up of a mail host beside its addresses, while the other checks are under way.
type mailHostFacts struct {
	host  string
	dane  daneFacts
	names []addressName
}

// mailHostFacts looks up the mail hosts that have an address. Nothing is looked up of names that are not public.
func (r *checker) mailHostFacts(ctx context.Context, mx mxCheck) []mailHostFacts {
	ctx, cancel := context.WithTimeout(ctx, asideTime)
	defer cancel()
	var facts []mailHostFacts
	for _, h := range mx.Hosts {
		known := slices.ContainsFunc(facts, func(f mailHostFacts) bool { return f.host == h.Exchange })
		if len(h.Addresses) > 0 && !known && len(facts) < maxMailHosts {
			facts = append(facts, mailHostFacts{host: h.Exchange, dane: daneFacts{name: h.Exchange, records: []tlsa.Record{}}})
		}
	}
	addresses := toName(mx.Hosts)
	keys, reverse := r.dns.aside(keyQueries), r.dns.aside(nameQueries)
	var lookups parallel.Group
	for i := range facts {
		f := &facts[i]
		lookups.Go(func() { f.dane = r.dane(ctx, keys, f.host) })
		lookups.Go(func() { f.names = addressNames(ctx, reverse, addresses[f.host]) })
	}
	lookups.Wait()
	return facts
}

// complete adds to the mail hosts what was looked up of them, and judges it.
func (c *mxCheck) complete(domain string, facts []mailHostFacts) {
	var issues mail.Issues
	signed := ""
	for _, f := range facts {
		for i := range c.Hosts {
			if h := &c.Hosts[i]; h.Exchange == f.host {
				f.dane.fill(h)
				h.AddressNames = f.names
			}
		}
		before := len(issues)
		f.dane.judge(&issues)
		issues[before:].About(mail.Show(f.host))
		if len(f.dane.records) > 0 && f.dane.authenticated {
			signed = f.dane.name
		}
	}
	if signed != "" && !c.authenticated {
		issues.Add("DANE_MX_NOT_SIGNED", finding.Args{"server": mail.Show(signed), "domain": mail.Show(domain)})
	}
	judgeNames(facts, &issues)
	c.worsen(issues)
}

// worsen adds issues that came after the status was drawn: what is known to be wrong counts more than what is not
// known, and what is right makes nothing better.
func (c *check) worsen(issues mail.Issues) {
	c.facts = append(c.facts, issues...)
	switch {
	case have(issues, finding.Fail):
		c.Status = mailFail
	case have(issues, finding.Warn) && c.Status == mailPass:
		c.Status = mailWarn
	}
}
