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
	Hosts  []mxHost `json:"hosts"`
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
	Addresses []string `json:"addresses"`
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

const sectionMX = "RFC 5321 section 5.1"

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
		c.unanswered("MX_LOOKUP_FAILED", "The MX records of "+mail.Show(r.domain), sectionMX, failure)
		c.Issues.About(finding.Resolution(r.domain))
		return c
	case existence.Contradicts():
		c.Issues.Add(mail.Warn, "DNS_CONTRADICTS", "RFC 4074 section 4.2", "The DNS denies that "+mail.Show(r.domain)+
			" exists when asked for MX, and not when asked for its addresses. Let the name servers answer NOERROR without "+
			"records.")
		c.Issues.About(finding.Denials(r.domain))
	case existence.Absent:
		c.notFound = true
		c.Summary = "The domain does not exist."
		c.Issues.Add(mail.Fail, "DOMAIN_NOT_FOUND", "RFC 8020 section 2",
			mail.Show(r.domain)+" does not exist in the DNS. Check its spelling and its registration.")
		c.Issues.About(finding.Resolution(r.domain))
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
	const reference = "RFC 7505 section 3"
	if len(c.Hosts) > 1 {
		c.Summary = "The domain says both that it accepts no mail and where to deliver it."
		c.Issues.Add(mail.Fail, "MX_NULL_WITH_OTHERS", reference,
			"A null MX record must be the only one. Remove it, or all the others.")
		c.take(nil, false)
		return
	}
	c.NullMX = true
	c.Hosts = []mxHost{}
	c.Summary = "The domain accepts no mail (null MX)."
	c.Issues.Add(mail.Info, "MX_NULL", reference, "The null MX record says that the domain accepts no mail.")
	c.Status = mailInfo
}

// implicitMX is a domain without MX records: senders try its own address.
func (r *checker) implicitMX(ctx context.Context, c *mxCheck) {
	addresses, _, err := r.dns.Both(ctx, r.domain)
	name := mail.Show(r.domain)
	if failure := mail.Failure(err); failure != nil && len(addresses) == 0 {
		c.failed = true
		c.unanswered("MX_LOOKUP_FAILED", "The addresses of "+name, sectionMX, failure)
		return
	}
	if len(addresses) == 0 {
		c.Status, c.Summary = mailMissing, "The domain has neither MX records nor an address, so it cannot receive mail."
		c.Issues.Add(mail.Warn, "MX_MISSING", sectionMX,
			name+" has no MX record and no address, so no mail arrives there. Publish an MX record if it should receive "+
				"mail, and the null MX record \"0 .\" if not.")
		return
	}
	c.Hosts = []mxHost{newMXHost(r.domain, 0)}
	c.Hosts[0].Addresses = addressTexts(addresses)
	c.Summary = "The domain has no MX record, so senders fall back on its own address; no mail server was contacted."
	c.Issues.Add(mail.Warn, "MX_IMPLICIT", sectionMX, "Mail goes to the address of "+name+" itself, which is often a "+
		"web server. Publish an MX record, or the null MX record \"0 .\" if no mail is wanted.")
	if !allPublic(addresses) {
		c.Issues.Add(mail.Fail, "MX_ADDRESS_NOT_PUBLIC", sectionMX, notPublic(r.domain))
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
		issues.Add(mail.Warn, "MX_TOO_MANY", sectionMX, fmt.Sprintf("The domain has %d mail exchanges; only the first "+
			"%d were looked up. Few senders try them all.", len(names), maxMailHosts))
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
		issues.Add(mail.Warn, "MX_NO_IPV4", sectionMX,
			"No exchange has an IPv4 address, and many senders have only IPv4. Give one of them an A record.")
	}
	c.Summary = fmt.Sprintf("%d of %d mail exchanges have an address; no mail server was contacted.", usable, len(names))
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
	shown := mail.Show(name)
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return mail.Issue{Code: "MX_ADDRESS_LITERAL", Severity: mail.Fail, Reference: "RFC 1035 section 3.3.9",
			Message: "The exchange " + shown +
				" is an address, and MX records take names only. Give the host a name with that address."}
	}
	_, err := netpolicy.ParseName(name, true)
	if bad, is := errors.AsType[*netpolicy.NameError](err); is {
		code := "MX_NAME_INVALID"
		if bad.Refused() {
			code = "MX_NAME_NOT_PUBLIC"
		}
		return mail.Issue{Code: code, Severity: mail.Fail, Reference: sectionMX,
			Message: "The exchange " + shown + " " + bad.Say() + ", so senders cannot find it. Use a public hostname."}
	}
	return mail.Issue{}
}

// judge adds what is wrong with a mail host, and reports whether a lookup gave no usable answer.
func (f *mxHostFacts) judge(name string, issues *mail.Issues) (failed bool) {
	shown := mail.Show(name)
	failure := mail.Failure(f.err)
	switch {
	case f.problem.Code != "":
		*issues = append(*issues, f.problem)
		return false
	case failure != nil:
		issues.Add(mail.Warn, "MX_HOST_LOOKUP_FAILED", sectionMX,
			"The addresses of "+shown+" could not be looked up: "+failure.Reason()+".")
	case len(f.addresses) == 0:
		issues.Add(mail.Fail, "MX_HOST_WITHOUT_ADDRESS", sectionMX,
			"The exchange "+shown+" has no address, so no mail arrives there. Give it one, or remove the MX record.")
	}
	if f.alias {
		issues.Add(mail.Warn, "MX_CNAME", "RFC 2181 section 10.3",
			"The exchange "+shown+" is an alias (CNAME), which an exchange must not be. Name the host that the alias leads to.")
	}
	if !allPublic(f.addresses) {
		issues.Add(mail.Fail, "MX_ADDRESS_NOT_PUBLIC", sectionMX, notPublic(name))
	}
	return failure != nil
}

func notPublic(name string) string {
	return "The exchange " + mail.Show(name) + " has an address that cannot be reached from the internet. Remove it."
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
