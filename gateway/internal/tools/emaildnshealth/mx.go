package emaildnshealth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/tlsa"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/netpolicy"
	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// mxCheck is where the domain takes its mail.
type mxCheck struct {
	check
	Hosts  []mxHost `json:"hosts" bound:"list=96k"`
	NullMX bool     `json:"nullMx"`

	// notFound means that the domain does not exist, failed that its mail hosts are not known, authenticated that DNSSEC
	// vouches for them.
	notFound, failed, authenticated bool
}

// mxHost is one mail host, in the order in which senders try them. A domain that takes mail at its own address, without
// an MX record, is its own mail host.
type mxHost struct {
	Exchange  string   `json:"exchange"`
	Priority  uint16   `json:"priority"`
	Addresses []string `json:"addresses" bound:"list=8k"`
	mxHostNames
	mxHostDANE
	Truncated bool `json:"truncated,omitempty"`
}

func newMXHost(exchange string, priority uint16) mxHost {
	return mxHost{Exchange: exchange, Priority: priority, Addresses: []string{},
		mxHostNames: mxHostNames{AddressNames: []addressName{}}, mxHostDANE: mxHostDANE{TLSA: []tlsa.Record{}}}
}

// mailHosts are the names that senders connect to: the root of a null MX that stands beside others is none.
func (c mxCheck) mailHosts() []string {
	var names []string
	for _, h := range c.Hosts {
		if !isNull(h) && !slices.Contains(names, h.Exchange) {
			names = append(names, h.Exchange)
		}
	}
	return names
}

// maxMailHosts is how many mail hosts are looked up.
const maxMailHosts = 15

func (r *checker) mx(ctx context.Context) mxCheck {
	c := mxCheck{check: newCheck(), Hosts: []mxHost{}}
	answer := r.dns.ask(ctx, r.domain, dns.TypeMX)
	failure := mail.Failure(answer.err)
	var existence dnsclient.Existence
	if errors.Is(answer.err, mail.ErrNotFound) && !answer.alias {
		existence = r.existence(ctx)
	}
	switch {
	case failure != nil:
		c.failed = true
		c.unanswered("MX_LOOKUP_FAILED", finding.Args{"domain": mail.Show(r.domain)}, failure)
		c.facts.About(finding.Resolution(r.domain))
		return c
	case existence.Contradicts():
		c.facts.Add("DNS_CONTRADICTS", finding.Args{"domain": mail.Show(r.domain)})
		c.facts.About(finding.Denials(r.domain))
	case existence.Absent:
		c.notFound = true
		c.say("NOT_FOR_NO_DOMAIN", nil)
		c.facts.Add(codeNotFound, finding.Args{"host": mail.Show(r.domain)})
		c.facts.About(finding.Resolution(r.domain))
		c.take(nil, false)
		return c
	}
	c.read(answer.records)
	c.Truncated, c.authenticated = answer.cut, answer.authenticated
	switch {
	case len(c.Hosts) == 0:
		r.implicitMX(ctx, &c)
	case slices.ContainsFunc(c.Hosts, isNull):
		c.nullMX()
	default:
		r.hosts(ctx, &c)
	}
	return c
}

// existence is what the answers for A and AAAA prove about a domain whose MX was denied.
func (r *checker) existence(ctx context.Context) dnsclient.Existence {
	types := []uint16{dns.TypeMX, dns.TypeA, dns.TypeAAAA}
	answers := make([]dnsclient.Answer, len(types))
	for i, qtype := range types {
		answer := r.dns.ask(ctx, r.domain, qtype)
		switch {
		case errors.Is(answer.err, mail.ErrNotFound):
			answers[i].Code = dnsclient.CodeNotFound
		case answer.err != nil:
			answers[i].Code = dnsclient.CodeServFail // or another that proves nothing
		}
	}
	return dnsclient.ExistenceOf(types, answers)
}

// read lists the records by priority.
func (c *mxCheck) read(records []dns.RR) {
	for _, record := range records {
		if mx, is := record.(*dns.MX); is {
			c.Hosts = append(c.Hosts, newMXHost(strings.ToLower(dnsclient.TrimRoot(mx.Mx)), mx.Preference))
		}
	}
	slices.SortFunc(c.Hosts, func(a, b mxHost) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), strings.Compare(a.Exchange, b.Exchange))
	})
	if len(c.Hosts) == 0 {
		return
	}
	var lines []string
	for _, h := range c.Hosts {
		lines = append(lines, fmt.Sprintf("%d %s", h.Priority, cmp.Or(h.Exchange, ".")))
	}
	c.Record = new(strings.Join(lines, ", "))
}

// isNull reports whether this is the record of RFC 7505: the root in place of a name.
func isNull(h mxHost) bool { return h.Exchange == "" }

func (c *mxCheck) nullMX() {
	if len(c.Hosts) > 1 {
		c.say("MX_SUMMARY_CONTRADICTORY", nil)
		c.facts.Add("MX_NULL_WITH_OTHERS", nil)
		c.take(nil, false)
		return
	}
	c.NullMX = true
	c.Hosts = []mxHost{}
	c.say("MX_SUMMARY_NULL", nil)
	c.facts.Add("MX_NULL", nil)
	c.Status = mailInfo
}

// implicitMX is a domain without MX records: senders try its own address.
func (r *checker) implicitMX(ctx context.Context, c *mxCheck) {
	addresses, _, err := r.dns.Both(ctx, r.domain)
	domain := finding.Args{"domain": mail.Show(r.domain)}
	if failure := mail.Failure(err); failure != nil && len(addresses) == 0 {
		c.failed = true
		c.unanswered("MX_LOOKUP_FAILED", domain.With(finding.Args{"addresses": true}), failure)
		return
	}
	if len(addresses) == 0 {
		c.Status = mailMissing
		c.say("MX_SUMMARY_MISSING", nil)
		c.facts.Add("MX_MISSING", domain)
		return
	}
	c.Hosts = []mxHost{newMXHost(r.domain, 0)}
	c.Hosts[0].Addresses = addressTexts(addresses)
	c.say("MX_SUMMARY_IMPLICIT", nil)
	c.facts.Add("MX_IMPLICIT", domain)
	if !allPublic(addresses) {
		c.facts.Add("MX_ADDRESS_NOT_PUBLIC", finding.Args{"exchange": domain["domain"]})
	}
	c.take(nil, false)
}

// mxHostFacts is what the lookups of one mail host gave.
type mxHostFacts struct {
	addresses []netip.Addr
	alias     bool
	err       error
	// problem is what is wrong with the name itself, in which case nothing was queried.
	problem mail.Issue
}

func (r *checker) hosts(ctx context.Context, c *mxCheck) {
	names := c.mailHosts()
	var issues mail.Issues
	if len(names) > maxMailHosts {
		issues.Add("MX_TOO_MANY", finding.Args{"exchanges": len(names), "most": maxMailHosts})
		names = names[:maxMailHosts]
	}
	facts := make(map[string]*mxHostFacts, len(names))
	var lookups parallel.Group
	for _, name := range names {
		f := &mxHostFacts{}
		facts[name] = f
		lookups.Go(func() { f.look(ctx, r.dns, name) })
	}
	lookups.Wait()
	failed, usable := false, 0
	var every []netip.Addr
	for _, name := range names {
		f, before := facts[name], len(issues)
		failed = f.judge(name, &issues) || failed
		issues[before:].About(mail.Show(name))
		every = append(every, f.addresses...)
		if len(f.addresses) > 0 {
			usable++
		}
	}
	for i, h := range c.Hosts {
		if f := facts[h.Exchange]; f != nil {
			c.Hosts[i].Addresses = addressTexts(f.addresses)
		}
	}
	if len(every) > 0 && !failed && !slices.ContainsFunc(every, netip.Addr.Is4) {
		issues.Add("MX_NO_IPV4", nil)
	}
	c.say("MX_SUMMARY", finding.Args{"usable": usable, "exchanges": len(names)})
	c.take(issues, failed)
}

func (f *mxHostFacts) look(ctx context.Context, dns *resolver, name string) {
	if f.problem = mailHostProblem(name); f.problem.Code == "" {
		f.addresses, f.alias, f.err = dns.Both(ctx, name)
	}
}

// mailHostProblem judges the name of a mail host. Names that no visitor could have typed are not looked up: a resolver
// inside a private network would answer for them.
func mailHostProblem(name string) mail.Issue {
	exchange := finding.Args{"exchange": mail.Show(name)}
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return mail.Issue{Code: "MX_ADDRESS_LITERAL", Args: exchange}
	}
	_, err := netpolicy.ParseName(name, true)
	if bad, is := errors.AsType[*netpolicy.NameError](err); is {
		code := "MX_NAME_INVALID"
		if bad.Refused() {
			code = "MX_NAME_NOT_PUBLIC"
		}
		return mail.Issue{Code: code, Args: exchange.With(finding.Args{"problem": bad.Say()})}
	}
	return mail.Issue{}
}

// judge adds what is wrong with a mail host, and reports whether a lookup gave no usable answer.
func (f *mxHostFacts) judge(name string, issues *mail.Issues) (failed bool) {
	exchange := finding.Args{"exchange": mail.Show(name)}
	failure := mail.Failure(f.err)
	switch {
	case f.problem.Code != "":
		*issues = append(*issues, f.problem)
		return false
	case failure != nil:
		issues.Add("MX_HOST_LOOKUP_FAILED", exchange.With(failure.Args()))
	case len(f.addresses) == 0:
		issues.Add("MX_HOST_WITHOUT_ADDRESS", exchange)
	}
	if f.alias {
		issues.Add("MX_CNAME", exchange)
	}
	if !allPublic(f.addresses) {
		issues.Add("MX_ADDRESS_NOT_PUBLIC", exchange)
	}
	return failure != nil
}

func allPublic(addresses []netip.Addr) bool {
	return !slices.ContainsFunc(addresses, func(a netip.Addr) bool { return !netpolicy.Judge(a).Public })
}

func addressTexts(addresses []netip.Addr) []string {
	texts := make([]string, len(addresses))
	for i, a := range addresses {
		texts[i] = a.String()
	}
	return texts
}
