package dnsdelegation

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"diagnostics/gateway/internal/tool/finding"
	"github.com/miekg/dns"
)

type addr = netip.Addr

// judgeSets reports NS records and serial numbers that differ.
func (p *report) judgeSets(z *zone) {
	own, differ := z.childNS(), false
	var serials []string
	for _, c := range z.checks {
		if !c.good {
			continue
		}
		if ns := c.ns; ns != nil && !slices.Equal(nsNames(ns.Answer, z.name), own) {
			differ = true
		}
		if serial, ok := c.serial(); ok && !slices.Contains(serials, fmt.Sprint(serial)) {
			serials = append(serials, fmt.Sprint(serial))
		}
	}
	switch {
	case differ:
		p.add(codeNSOfServers, z.name, "", nil)
	case len(own) > 0 && !z.hidden && !slices.Equal(own, z.parentNS):
		p.add(codeNSDiffer, z.name, "", difference(z.parentNS, own))
	}
	if len(serials) > 1 {
		p.add(codeSerials, z.name, "", finding.Args{"serials": serials[:min(len(serials), 4)]})
	}
}

// difference says which names only one of two sets has.
func difference(parent, child []string) finding.Args {
	only := func(these, those []string) []string {
		return slices.DeleteFunc(slices.Clone(these), func(name string) bool { return slices.Contains(those, name) })
	}
	args := finding.Args{}
	for of, names := range map[string][]string{"parent": only(parent, child), "child": only(child, parent)} {
		if more := len(names) - mostListed; more > 0 {
			args[of+"More"] = more
		}
		args[of] = shownNames(names[:min(len(names), mostListed)])
	}
	args["both"] = len(only(parent, child)) > 0 && len(only(child, parent)) > 0
	return args
}

// judgePlaces reports servers that fail together.
func (p *report) judgePlaces(z *zone) {
	if len(z.hosts) == 1 {
		p.add(codeSingle, z.name, "", nil)
		return
	}
	networks, placed := make(map[netip.Prefix]bool), 0
	for _, h := range z.hosts {
		for _, a := range h.addresses {
			networks[networkOf(a)] = true
		}
		placed += min(len(h.addresses), 1)
	}
	if len(networks) == 1 && placed > 1 {
		p.add(codeOneNetwork, z.name, "", finding.Args{"network": networkOf(z.checks[0].address)})
	}
}

// The ranges of RFC 1912 section 2.2, wide enough for usual practice.
const (
	leastRefresh = 20 * time.Minute
	leastExpire  = 7 * 24 * time.Hour
	mostNegative = 24 * time.Hour
	shortTTL     = 60
	longTTL      = 7 * 24 * 3600
)

// judgeSOA reports values that make secondary servers or resolvers behave badly, as notes.
func (p *report) judgeSOA(z *zone) {
	got := z.best(func(c *check) *reply { return c.soa })
	if got == nil {
		return
	}
	records := recordsOf(got.Answer, z.name, dns.TypeSOA)
	if len(records) == 0 {
		return
	}
	soa := records[0].(*dns.SOA)
	seconds := func(n uint32) time.Duration { return time.Duration(n) * time.Second }
	for _, c := range []struct {
		odd  bool
		code string
		args finding.Args
	}{
		{seconds(soa.Refresh) < leastRefresh, soaRefresh, finding.Args{"refresh": soa.Refresh}},
		{soa.Retry > soa.Refresh, soaRetry, finding.Args{"retry": soa.Retry, "refresh": soa.Refresh}},
		{seconds(soa.Expire) < leastExpire, soaExpire, finding.Args{"expire": soa.Expire}},
		{seconds(soa.Minttl) > mostNegative, soaNegative, finding.Args{"minimum": soa.Minttl}},
	} {
		if c.odd {
			p.add(codeSOA, z.name, "", c.args.With(finding.Args{"value": c.code}))
		}
	}
}

// judgeName reports the answers for the name.
func (p *report) judgeName(way descent, name string, answers []*answer) {
	z := way.last()
	if len(answers) == 0 {
		return
	}
	var denied, others []string
	exists, alias := false, aliasOf(name, answers) != ""
	for _, a := range answers {
		if a.reply == nil {
			continue
		}
		own := recordsOf(a.reply.Answer, name, a.qtype)
		switch {
		case a.reply.Rcode == dns.RcodeNameError && !alias:
			denied = append(denied, typeName(a.qtype))
		case a.reply.Rcode == dns.RcodeSuccess:
			exists = true
		}
		if len(own) > 0 {
			others = append(others, typeName(a.qtype))
			p.judgeTTL(z, a, own[0].Header().Ttl)
		}
	}
	host := finding.Args{"host": shown(name)}
	switch {
	case alias && name == z.name:
		p.add(codeApexAlias, z.name, "", nil)
	case alias && len(others) > 0:
		p.add(codeAliasBeside, z.name, "", host.With(finding.Args{"types": others}))
	case exists && len(denied) > 0:
		p.add(codeContradicts, z.name, "", host.With(finding.Args{"types": denied}))
	case !exists && len(denied) > 0:
		p.add(codeNameMissing, z.name, "", host)
	}
	if exists || alias {
		for _, at := range z.emptyDenied {
			p.add(codeEmptyDenied, z.name, "", finding.Args{"host": shown(at), "below": shown(name)})
		}
	}
	if z.random.has(z.randomName, dns.TypeA) || z.random.has(z.randomName, dns.TypeCNAME) {
		p.add(codeWildcard, z.name, "", nil)
	}
}

func (p *report) judgeTTL(z *zone, a *answer, ttl uint32) {
	args := finding.Args{"type": typeName(a.qtype), "host": shown(a.name)}
	switch {
	case ttl < shortTTL:
		p.add(codeTTLShort, z.name, "", args.With(finding.Args{"ttl": ttl}))
	case ttl > longTTL:
		p.add(codeTTLLong, z.name, "", args.With(finding.Args{"days": ttl / (24 * 3600)}))
	}
}

// judgeAliases reports a chain of aliases that leads nowhere.
func (p *report) judgeAliases(found outcome) {
	at := found.way.last().name
	if found.loop {
		last := found.name
		if n := len(found.aliases); n > 0 {
			last = found.aliases[n-1].target
		}
		p.add(codeAliasLoop, at, "",
			finding.Args{"host": shown(found.name), "target": shown(aliasOf(last, found.lastAnswers()))})
	}
	if found.refused != nil {
		p.add(codeAliasRefused, at, "", finding.Args{"host": shown(found.name)})
	}
	for _, a := range found.aliases {
		if a.way.denied != nil || a.missing() {
			p.add(codeAliasDangling, a.way.last().name, "",
				finding.Args{"host": shown(a.name), "alias": shown(a.target)})
		}
	}
}

// lastAnswers are those for the end of the chain of aliases.
func (o outcome) lastAnswers() []*answer {
	if n := len(o.aliases); n > 0 {
		return o.aliases[n-1].answers
	}
	return o.answers
}

// missing reports whether the target does not exist, for neither family.
func (a alias) missing() bool {
	denied := 0
	for _, one := range a.answers {
		if one.reply != nil && one.reply.Rcode == dns.RcodeNameError && aliasOf(a.target, a.answers) == "" {
			denied++
		}
	}
	return denied > 0 && denied == len(a.answers)
}
