package dnsdelegation

import (
	"cmp"
	"context"
	"net/netip"
	"slices"

	"diagnostics/gateway/internal/analyze/dnssec"
	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// chain is what the validator makes of a run, from the trust anchors down. The nil chain has judged nothing.
type chain struct {
	*dnssec.Validator
	zones   map[string]dnssec.Zone
	cuts    map[string]dnssec.Delegation
	answers map[*answer]dnssec.Answer
	// soas are the answers of single servers for the SOA record of their zone.
	soas map[*check]dnssec.Answer
	// contradictions are denials of what other answers have.
	contradictions []dnssec.Reason
	// denied is the proof that the name has no delegation; nil where it has one.
	denied *dnssec.Answer
}

// validated judges all that a run found, with the queries of other servers that this takes.
func (r *run) validated(ctx context.Context, found outcome) *chain {
	c := r.validate(found)
	if r.askForKeys(ctx, found, c) {
		c = r.validate(found)
	}
	r.askAgain(ctx, found, c)
	return c
}

// validate judges all that a run found, in the order of the walk.
func (r *run) validate(found outcome) *chain {
	c := &chain{
		Validator: r.validator,
		zones:     map[string]dnssec.Zone{}, cuts: map[string]dnssec.Delegation{},
		answers: map[*answer]dnssec.Answer{}, soas: map[*check]dnssec.Answer{},
	}
	c.descend(r, found.way)
	if denied := found.way.denied; denied != nil {
		z := found.way.last()
		c.denied = new(c.Answer(c.zones[z.name], denied.Question[0].Name, denied.Question[0].Qtype, message(denied)))
	}
	c.judge(found.way, found.answers)
	for _, a := range found.aliases {
		c.descend(r, a.way)
		c.judge(a.way, a.answers)
	}
	return c
}

// askForKeys queries other servers of the zones whose keys do not validate, and reports whether one has keys that do:
// validating resolvers try the next server, too.
func (r *run) askForKeys(ctx context.Context, found outcome, c *chain) (better bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*r.times.try)
	defer cancel()
	ways := []descent{found.way}
	for _, a := range found.aliases {
		ways = append(ways, a.way)
	}
	for _, way := range ways {
		for _, z := range way.zones {
			if z.registry || z.keys == nil || c.cuts[z.name].Status != dnssec.Secure ||
				c.zones[z.name].Status != dnssec.Bogus {
				continue
			}
			z.keysFrom = append(z.keysFrom, z.keys.from.address)
			others := slices.DeleteFunc(z.goodEndpoints(), func(e endpoint) bool {
				return slices.Contains(z.keysFrom, e.address)
			})
			if len(others) == 0 {
				continue
			}
			got, err := r.pointer(r.ask(ctx, z.name, others, question{name: z.name, qtype: dns.TypeDNSKEY}))
			if err != nil {
				continue
			}
			z.keysFrom = append(z.keysFrom, got.from.address)
			if c.Keys(c.cuts[z.name], message(got)).Status == dnssec.Secure {
				z.keys, better = got, true
			}
		}
	}
	return better
}

// goodChecks are those of addresses that answer for the zone.
func (s *servers) goodChecks() []*check {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.checks), func(c *check) bool { return !c.good })
}

// goodEndpoints are the addresses that answer for the zone.
func (s *servers) goodEndpoints() []endpoint {
	good, _, _ := s.state()
	return good
}

// askAgain queries other servers where an answer does not validate, but came from a server whose SOA record does not
// validate either.
func (r *run) askAgain(ctx context.Context, found outcome, c *chain) {
	ctx, cancel := context.WithTimeout(ctx, 2*r.times.try)
	defer cancel()
	r.askAgainFor(ctx, c, found.way, found.answers)
	for _, a := range found.aliases {
		r.askAgainFor(ctx, c, a.way, a.answers)
	}
}

func (r *run) askAgainFor(ctx context.Context, c *chain, way descent, answers []*answer) {
	z := way.last()
	var sound []endpoint
	var soa *reply // of a sound server
	faulty := map[netip.Addr]bool{}
	for _, one := range z.goodChecks() {
		switch c.soas[one].Status {
		case dnssec.Secure:
			sound = append(sound, one.endpoint)
			soa = one.soa
		case dnssec.Bogus:
			faulty[one.address] = true
		}
	}
	if len(sound) == 0 {
		return
	}
	var asking parallel.Group
	for _, a := range answers {
		if c.answers[a].Status != dnssec.Bogus || !faulty[a.reply.from.address] {
			continue
		}
		if a.qtype == dns.TypeSOA && a.name == z.name {
			a.reply = soa
			continue
		}
		asking.Go(func() {
			// Without an answer, as where a bound forbids the query, nothing is held against the zone.
			a.reply, _ = r.pointer(r.ask(ctx, z.name, sound, question{name: a.name, qtype: a.qtype}))
		})
	}
	asking.Wait()
	c.judge(way, answers)
}

// message is that of a reply, nil where records of it were dropped: what is missing must not look like a fault.
func message(p *reply) *dns.Msg {
	if p == nil || p.Cut {
		return nil
	}
	return p.Msg
}

// descend judges the zones of a way that are not judged yet.
func (c *chain) descend(r *run, way descent) {
	for _, z := range way.zones {
		if _, known := c.zones[z.name]; known {
			continue
		}
		cut := dnssec.Trusted(z.name, records(r.Anchors.DS))
		if z.parent != "" {
			cut = c.Delegation(c.zones[z.parent], z.name, message(z.ds))
		}
		c.cuts[z.name] = cut
		c.zones[z.name] = c.Keys(cut, message(z.keys))
		for _, one := range z.goodChecks() {
			c.soas[one] = c.Answer(c.zones[z.name], z.name, dns.TypeSOA, message(one.soa))
		}
	}
}

func records(anchors []*dns.DS) []dns.RR {
	list := make([]dns.RR, len(anchors))
	for i, ds := range anchors {
		list[i] = ds
	}
	return list
}

// judge judges the answers for a name of the last zone of a way.
func (c *chain) judge(way descent, answers []*answer) {
	z := c.zones[way.last().name]
	for _, a := range answers {
		c.answers[a] = c.Answer(z, a.name, a.qtype, message(a.reply))
	}
	for _, a := range answers {
		if c.answers[a].Kind != dnssec.KindData {
			continue
		}
		for _, other := range answers {
			if kind := c.answers[other].Kind; kind != dnssec.KindNoData && kind != dnssec.KindNXDomain {
				continue
			}
			reason := c.Contradiction(z, a.name, a.qtype, message(other.reply))
			if reason != nil && !slices.Contains(c.contradictions, *reason) {
				c.contradictions = append(c.contradictions, *reason)
			}
		}
	}
}

// zone is the verdict on a zone.
func (c *chain) zone(name string) dnssec.Verdict {
	if c == nil {
		return dnssec.Verdict{Status: dnssec.Indeterminate}
	}
	return c.zones[name].Verdict
}

// answer is the verdict on an answer.
func (c *chain) answer(a *answer) dnssec.Status {
	if c == nil {
		return dnssec.Indeterminate
	}
	return c.answers[a].Status
}

// verdict is that on the name: of the first zone on the way that is not secure, or else of the worst of its answers and
// of those of its aliases.
func (c *chain) verdict(found outcome) dnssec.Verdict {
	worst := c.verdictOf(found.way, found.answers)
	if worst.Status == dnssec.Secure && c.denied != nil {
		worst = c.denied.Verdict
	}
	for _, a := range found.aliases {
		worst = worse(worst, c.verdictOf(a.way, a.answers))
	}
	return worst
}

func (c *chain) verdictOf(way descent, answers []*answer) dnssec.Verdict {
	worst := dnssec.Verdict{Status: dnssec.Secure}
	for _, z := range way.zones {
		if v := c.zones[z.name].Verdict; v.Status != dnssec.Secure {
			return v
		}
	}
	for _, a := range answers {
		worst = worse(worst, c.answers[a].Verdict)
	}
	return worst
}

// severity orders statuses, the worst last.
var severity = []dnssec.Status{dnssec.Secure, dnssec.Insecure, dnssec.Indeterminate, dnssec.Bogus}

// worse is the worse of two verdicts, the first where they are alike.
func worse(a, b dnssec.Verdict) dnssec.Verdict {
	if cmp.Compare(slices.Index(severity, b.Status), slices.Index(severity, a.Status)) > 0 {
		return b
	}
	return a
}
