package dnsdelegation

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"diagnostics/gateway/internal/analyze/dnssec"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/tools/internal/format"

	"github.com/miekg/dns"
)

// announce gives a zone of which only the delegation is known.
func (z *zone) announce() zoneResult {
	d := zoneResult{
		Zone: trimmed(z.name), ParentNS: namesOf(z.parentNS), ChildNS: []string{}, Servers: []serverResult{},
		Records: []string{}, DS: []dsResult{}, Keys: []keyResult{}, Signatures: []signatureResult{},
		DNSSEC: string(dnssec.Indeterminate),
	}
	if z.parent != "" {
		d.Parent = format.TextOrNull(trimmed(z.parent))
	}
	return d
}

// describe gives a zone as the result has it, when all is done. A step has no records and is not judged: its chain is
// nil.
func (z *zone) describe(r *run, c *chain, records bool) zoneResult {
	d := z.announce()
	d.ChildNS, d.Servers, d.Shared = namesOf(z.childNS()), z.rows(r), r.isStored(z.name)
	d.DNSSEC = string(c.zone(z.name).Status)
	d.describeDNSSEC(z, c)
	if records {
		lines, cut := z.lines()
		d.Records, d.Truncated = lines, d.Truncated || cut
	}
	return d
}

func namesOf(names []string) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = trimmed(name)
	}
	return list
}

// childNS are the names of the NS records that the zone itself has.
func (z *zone) childNS() []string {
	p := z.ns
	if !z.registry {
		p = z.best(func(c *check) *reply { return c.ns })
	}
	if p == nil {
		return nil
	}
	return nsNames(p.Answer, z.name)
}

// rows are the servers of a zone, one for each address. Of the root and of top-level zones there are those that were
// queried.
func (z *zone) rows(r *run) []serverResult {
	list := []serverResult{}
	if z.registry {
		for _, p := range []*reply{z.ns, z.keys} {
			if p == nil {
				continue
			}
			row := registryRow(*p, z)
			row.Shared = r.isStored(z.name)
			same := func(s serverResult) bool { return *s.Address == *row.Address }
			if !slices.ContainsFunc(list, same) {
				list = append(list, row)
			}
		}
		return list
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, h := range z.hosts {
		for _, a := range h.addresses {
			at := slices.IndexFunc(z.checks, func(c *check) bool { return c.address == a })
			if at < 0 {
				row := rowOf(h, &check{endpoint: endpoint{address: a}, udp: stateSkipped, tcp: stateSkipped})
				row.Reason = new(rows.Sentence(reasonTooMany, nil))
				list = append(list, row)
				continue
			}
			list = append(list, rowOf(h, z.checks[at]))
		}
		if len(h.addresses) == 0 {
			row := serverResult{Name: trimmed(h.name), UDP: stateError, TCP: stateError}
			row.Reason = new(rows.Sentence(cmp.Or(h.reason, reasonNoAddress), nil))
			list = append(list, row)
		}
	}
	return list
}

func addressed(name string, a netip.Addr) serverResult {
	row := serverResult{Name: trimmed(name), Address: format.TextOrNull(a.String()), Family: new(6)}
	if a.Is4() {
		row.Family = new(4)
	}
	return row
}

func registryRow(p reply, z *zone) serverResult {
	row := addressed(p.from.name, p.from.address)
	row.Glue = slices.Contains(z.glue[p.from.name], p.from.address) && z.parent != ""
	row.UDP, row.TCP = stateAnswer, stateSkipped
	row.Authoritative, row.RCode = new(p.Authoritative), rcodeOf(p.Msg)
	row.NS = namesOf(z.childNS())
	row.EDNS = new(p.IsEdns0() != nil)
	row.Ms = new(format.Milliseconds(p.Took))
	return row
}

// rowOf is an address of a server with the outcome of its check.
func rowOf(h *host, c *check) serverResult {
	row := addressed(h.name, c.address)
	row.Glue = slices.Contains(h.glue, c.address)
	row.UDP, row.TCP, row.EDNS, row.EDNSOption, row.Recursion = c.udp, c.tcp, c.edns, c.option, c.offers
	if code, args := c.why(); code != "" {
		row.Reason = new(rows.Sentence(code, args))
	}
	if c.soa != nil {
		row.Authoritative, row.RCode = new(c.authoritative()), rcodeOf(c.soa.Msg)
		row.Ms = new(format.Milliseconds(c.took))
		if serial, ok := c.serial(); ok {
			row.Serial = &serial
		}
	}
	if c.ns != nil && len(nsNames(c.ns.Answer, c.zone)) > 0 {
		row.NS = namesOf(nsNames(c.ns.Answer, c.zone))
	}
	return row
}

func (c *check) serial() (uint32, bool) {
	if c.soa == nil {
		return 0, false
	}
	for _, rr := range recordsOf(c.soa.Answer, c.zone, dns.TypeSOA) {
		return rr.(*dns.SOA).Serial, true
	}
	return 0, false
}

func rcodeOf(m *dns.Msg) *string {
	name, known := dns.RcodeToString[m.Rcode]
	if !known {
		name = fmt.Sprintf("RCODE%d", m.Rcode)
	}
	return &name
}

// isStored reports whether the zone was learnt by an earlier run.
func (r *run) isStored(zone string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fromStore[zone]
}

// lines are the records of a zone in presentation form, once each: those of its delegation, its keys, its own NS and
// SOA records and the denial of a name that it lacks. cut reports whether a reply had more.
func (z *zone) lines() (lines []string, cut bool) {
	seen := make(map[string]bool)
	add := func(section []dns.RR) {
		for _, rr := range section {
			if rr.Header().Rrtype == dns.TypeOPT {
				continue
			}
			if line := lineOf(rr); !seen[line] {
				seen[line] = true
				lines = append(lines, line)
			}
		}
	}
	if z.reply != nil {
		add(slices.Concat(z.reply.Answer, z.reply.Ns, z.reply.Extra))
	}
	soa := z.best(func(c *check) *reply { return c.soa })
	ns := z.best(func(c *check) *reply { return c.ns })
	for _, p := range []*reply{z.ds, soa, ns, z.ns, z.keys, z.cds, z.cdnskey, z.random} {
		if p == nil {
			continue
		}
		cut = cut || p.Cut
		add(p.Answer)
		if len(p.Answer) == 0 {
			add(p.Ns)
		}
	}
	if lines == nil {
		lines = []string{}
	}
	return lines, cut
}

// lineOf writes a record as zone files have it.
func lineOf(rr dns.RR) string {
	h := rr.Header()
	return fmt.Sprintf("%s %d IN %s %s", dns.CanonicalName(h.Name), h.Ttl, typeName(h.Rrtype), dnsclient.Presentation(rr))
}

func typeName(t uint16) string {
	if name, known := dns.TypeToString[t]; known {
		return name
	}
	return fmt.Sprintf("TYPE%d", t)
}

// describe gives an answer as the result has it.
func (a *answer) describe(c *chain) answerResult {
	d := answerResult{Name: trimmed(a.name), Type: typeName(a.qtype), Values: []string{}, DNSSEC: string(c.answer(a))}
	if a.reply == nil {
		return d
	}
	d.RCode, d.Truncated = rcodeOf(a.reply.Msg), a.reply.Cut
	for _, rr := range recordsOf(a.reply.Answer, a.name, a.qtype) {
		value := dnsclient.Presentation(rr)
		if a.qtype == dns.TypeNS || a.qtype == dns.TypeMX {
			value = trimmed(value)
		}
		d.Values = append(d.Values, value)
	}
	slices.Sort(d.Values)
	d.Values = slices.Compact(d.Values)
	return d
}

// answerRows are the answers for a name, after its alias where it has one.
func (c *chain) answerRows(name string, answers []*answer) []answerResult {
	rows := []answerResult{}
	if target := aliasOf(name, answers); target != "" {
		rows = append(rows, answerResult{
			Name: trimmed(name), Type: "CNAME", RCode: format.TextOrNull("NOERROR"), Values: []string{trimmed(target)},
			DNSSEC: string(c.aliasStatus(answers)),
		})
	}
	for _, a := range answers {
		rows = append(rows, a.describe(c))
	}
	return rows
}
