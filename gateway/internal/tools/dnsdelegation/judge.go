package dnsdelegation

import (
	"cmp"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/dnssec"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"

	"github.com/miekg/dns"
)

// report collects findings in the order of the walk.
type report struct {
	name string // that was entered
	list []located
}

// add reports a finding about a zone, and about one of its servers unless that is empty.
func (p *report) add(code, zone, server string, args finding.Args) {
	if _, set := args["zone"]; !set && rows.Takes(code, "zone") {
		args = args.With(finding.Args{"zone": zoneShown(zone)})
	}
	f := rows.Find(code, "", args)
	l := located{Finding: f, Zone: format.TextOrNull(trimmed(zone)), Server: format.TextOrNull(trimmed(server))}
	if server == "" {
		l.Server = nil
	}
	l.Subject = new(p.subject(f, zone, server))
	p.list = append(p.list, l)
}

// subject is what a finding is about, in the words of other tools where those may see the same fault.
func (p *report) subject(f finding.Finding, zone, server string) string {
	isDNSSEC := strings.HasPrefix(f.Code, "DNSSEC_")
	switch {
	case slices.Contains(denialCodes, f.Code):
		return finding.Denials(trimmed(p.name))
	case slices.Contains(resolutionCodes, f.Code), isDNSSEC && f.Severity == finding.Fail:
		return finding.Resolution(trimmed(p.name))
	case isDNSSEC:
		return finding.DNSSEC(shown(zone))
	case server != "":
		return "name server " + shown(server)
	}
	return "zone " + shown(zone)
}

var (
	// resolutionCodes are why resolvers do not find a name.
	resolutionCodes = []string{codeNotDelegated, codeNoAnswer, codeAllLame, codeNoAddress, codeAliasLoop,
		codeAliasDangling, codeNameMissing, codeNameSilent, codeServerBogus}
	denialCodes = []string{codeContradicts, codeEmptyDenied, codeOf(dnssec.DenialContradicts)}
)

// judge makes the findings of a run.
func (r *run) judge(found outcome, c *chain) []located {
	p := &report{name: found.name, list: []located{}}
	for _, z := range r.zones {
		z.sort(z.checks)
	}
	zones := slices.Clone(found.way.zones)
	for _, a := range found.aliases {
		zones = append(zones, a.way.zones...)
	}
	judged := make(map[string]bool)
	for _, z := range zones {
		if !judged[z.name] && !z.registry {
			p.judgeZone(z)
		}
		judged[z.name] = true
	}
	p.judgeWay(found.name, found.way)
	p.judgeName(found.way, found.name, found.answers)
	p.judgeAliases(found)
	p.judgeDNSSEC(found, c)
	sent, cut := r.budget.spent()
	if !cut && found.unanswered() {
		p.add(codeNameSilent, found.way.last().name, "", finding.Args{"host": shown(found.name)})
	}
	if cut {
		p.add(codeCut, found.way.last().name, "", finding.Args{"sent": sent})
	}
	slices.SortStableFunc(p.list, func(a, b located) int { return finding.Compare(a.Finding, b.Finding) })
	return p.list
}

// unanswered reports whether servers that answer for the zone do not answer for the name.
func (o outcome) unanswered() bool {
	z := o.way.last()
	if z.registry || z.best(func(c *check) *reply { return c.soa }) == nil {
		return false
	}
	if o.way.err != nil {
		return !ours(o.way.err)
	}
	return len(o.answers) > 0 && !slices.ContainsFunc(o.answers, (*answer).came)
}

// sort puts checks in the order of the hosts.
func (s *servers) sort(checks []*check) {
	place := func(c *check) int { return slices.IndexFunc(s.hosts, func(h *host) bool { return h.name == c.name }) }
	slices.SortStableFunc(checks, func(a, b *check) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), a.address.Compare(b.address))
	})
}

// judgeWay reports a registry that has no delegation for the name.
func (p *report) judgeWay(name string, way descent) {
	z := way.last()
	if way.denied == nil || z.registry && isRegistry(name) {
		return
	}
	p.add(codeNotDelegated, z.name, "",
		finding.Args{"host": shown(name), "gone": way.denied.Rcode == dns.RcodeNameError})
}

// judgeZone reports what is wrong with the servers of one of the name's own zones.
func (p *report) judgeZone(z *zone) {
	p.judgeHosts(z)
	if p.judgeAll(z) {
		return
	}
	for _, c := range z.checks {
		p.judgeServer(z, c)
	}
	p.judgeSets(z)
	p.judgePlaces(z)
	p.judgeSOA(z)
}

// judgeHosts reports name servers by their names: addresses and glue.
func (p *report) judgeHosts(z *zone) {
	for _, h := range z.hosts {
		inside, server := below(h.name, z.name), finding.Args{"server": shown(h.name)}
		switch {
		case h.alias:
			p.add(codeNSAlias, z.name, h.name, server)
		case h.known && len(h.own) == 0:
			p.add(codeHostNoAddress, z.name, h.name, server)
		}
		switch {
		case inside && h.inParent && len(h.glue) == 0 && !z.hidden:
			p.add(codeGlueMissing, z.name, h.name, server)
		case h.known && len(h.own) > 0 && len(h.glue) > 0 && !sameFamilies(h):
			p.add(codeGlueWrong, z.name, h.name,
				server.With(finding.Args{"glue": addressesShown(h.glue), "own": addressesShown(h.own)}))
		}
	}
	for _, c := range z.checks {
		if c.private {
			p.add(codeNotPublic, z.name, c.name, finding.Args{"server": shown(c.name), "address": c.address})
		}
	}
}

// sameFamilies reports whether the glue has no address that the server's own zone lacks, and lacks none of a family
// that it has. A family whose lookup failed is not compared.
func sameFamilies(h *host) bool {
	has := func(list []addr, family addr) bool {
		return slices.ContainsFunc(list, func(a addr) bool { return a.Is4() == family.Is4() })
	}
	for _, a := range h.glue {
		if !slices.Contains(h.own, a) && (!h.partial || has(h.own, a)) {
			return false
		}
	}
	for _, a := range h.own {
		if !slices.Contains(h.glue, a) && has(h.glue, a) {
			return false
		}
	}
	return true
}

func addressesShown(list []addr) (words []string) {
	for _, a := range list[:min(len(list), 4)] {
		words = append(words, a.String())
	}
	return words
}

// judgeAll reports a zone that no server answers for, and reports whether that is so.
func (p *report) judgeAll(z *zone) bool {
	asked := slices.DeleteFunc(slices.Clone(z.checks), func(c *check) bool { return c.udp == stateSkipped })
	z.sort(asked)
	good := slices.ContainsFunc(asked, func(c *check) bool { return c.good })
	alias := slices.ContainsFunc(asked, func(c *check) bool {
		return c.soa != nil && len(recordsOf(c.soa.Answer, z.name, dns.TypeCNAME)) > 0
	})
	answers := slices.DeleteFunc(slices.Clone(asked), func(c *check) bool { return c.udp != stateAnswer })
	switch {
	case good:
		return false
	case alias:
		p.add(codeApexAlias, z.name, "", nil)
	case len(answers) > 0:
		p.add(codeAllLame, z.name, "", listed(rcodesShown(answers), "servers", hostNames(answers)))
	case len(asked) > 0:
		p.add(codeNoAnswer, z.name, "", listed(nil, "servers", hostNames(asked)))
	case !slices.ContainsFunc(z.checks, func(c *check) bool { return !c.private }):
		p.add(codeNoAddress, z.name, "", listed(nil, "servers", z.parentNS))
	default:
		p.notAsked(z)
	}
	return true
}

func (p *report) notAsked(z *zone) {
	for _, c := range z.checks {
		if c.udp == stateSkipped && !c.private {
			p.addNotAsked(z, c)
		}
	}
}

func hostNames(checks []*check) []string {
	var names []string
	for _, c := range checks {
		if !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// addNotAsked reports an address that was not queried, and why.
func (p *report) addNotAsked(z *zone, c *check) {
	args := finding.Args{"server": shown(c.name), "address": c.address}
	if code, more := c.why(); code != "" {
		args = args.With(finding.Args{"reason": code}).With(more)
	}
	p.add(codeNotAsked, z.name, c.name, args)
}

// rcodesShown says what lame servers answer.
func rcodesShown(checks []*check) finding.Args {
	var codes []string
	plain := false
	for _, c := range checks {
		if code := *rcodeOf(c.soa.Msg); c.soa.Rcode == dns.RcodeSuccess {
			plain = true
		} else if !slices.Contains(codes, code) && len(codes) < 3 {
			codes = append(codes, code)
		}
	}
	return finding.Args{"rcodes": codes, "plain": plain, "both": plain && codes != nil}
}

// judgeServer reports one address.
func (p *report) judgeServer(z *zone, c *check) {
	server := finding.Args{"server": shown(c.name), "address": c.address}
	add := func(code string) { p.add(code, z.name, c.name, server) }
	switch {
	case c.udp == stateSkipped:
		if c.err != nil {
			p.addNotAsked(z, c)
		}
		return
	case c.udp == stateTimeout || c.udp == stateRefused:
		add(codeSilent)
		return
	case c.udp == stateError:
		p.add(codeFails, z.name, c.name, server.With(finding.Args{"malformed": true}))
		return
	case c.soa.Rcode == dns.RcodeRefused || c.soa.Rcode == dns.RcodeNotAuth:
		add(codeRefuses)
	case c.soa.Rcode != dns.RcodeSuccess && c.soa.Rcode != dns.RcodeNameError:
		p.add(codeFails, z.name, c.name, server.With(finding.Args{"rcode": *rcodeOf(c.soa.Msg)}))
	case !c.good:
		add(codeLame)
	}
	if c.offers != nil && *c.offers {
		add(codeRecursion)
	}
	if !c.good {
		return
	}
	if c.tcp != stateAnswer && c.tcp != stateSkipped {
		add(codeTCP)
	}
	switch {
	case c.edns != nil && !*c.edns:
		add(codeEDNS)
	case c.option != nil && !*c.option:
		add(codeOption)
	}
}
