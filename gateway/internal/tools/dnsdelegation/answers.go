package dnsdelegation

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"

	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// answer is what the zone's servers answer for one type of a name.
type answer struct {
	name  string
	qtype uint16
	zone  string // whose servers were queried
	reply *reply // nil where none came
}

// came reports whether a server answered.
func (a *answer) came() bool { return a.reply != nil }

// alias is one step of a chain of aliases.
type alias struct {
	name, target string
	way          descent
	answers      []*answer
}

var (
	answerTypes = []uint16{
		dns.TypeA, dns.TypeAAAA, dns.TypeMX, dns.TypeNS, dns.TypeSOA, dns.TypeTXT, dns.TypeCAA,
	}
	addressTypes = []uint16{dns.TypeA, dns.TypeAAAA}
)

// look queries the last zone for the records of the name, and follows its aliases.
func (r *run) look(ctx context.Context, found *outcome) {
	z := found.way.last()
	if found.way.err != nil || z.registry {
		return
	}
	r.group.Go(func() {
		if !r.isDecided(ctx, z) {
			return
		}
		z.randomName = randomBelow(z.name)
		z.random, _ = r.pointer(r.query(ctx, z, question{name: z.randomName, qtype: dns.TypeA}))
	})
	found.answers = r.answersOf(ctx, z, found.name, answerTypes)
	r.follow(ctx, found)
}

// randomBelow is a name that no zone has.
func randomBelow(zone string) string {
	label := strings.ToLower(rand.Text()[:12])
	if len(zone)+len(label) > 253 {
		label = label[:1]
	}
	return label + "." + strings.TrimPrefix(zone, ".")
}

func (r *run) answersOf(ctx context.Context, z *zone, name string, types []uint16) []*answer {
	// The walk has queried for NS records below the apex. If their denial is truncated, so is that of any other type.
	var walked reply
	if name != z.name {
		walked, _ = r.query(ctx, z, question{name: name, qtype: dns.TypeNS})
	}
	list := make([]*answer, len(types))
	var asking parallel.Group
	for i, qtype := range types {
		list[i] = &answer{name: name, qtype: qtype, zone: z.name}
		asking.Go(func() {
			switch {
			case name == z.name && qtype == dns.TypeNS:
				list[i].reply = z.ownNS(ctx)
			case name == z.name && qtype == dns.TypeSOA:
				z.good(ctx)
				list[i].reply = z.best(func(c *check) *reply { return c.soa })
			case qtype == dns.TypeSOA:
				qtype = dns.TypeNS // only the apex has either, and the walk has this answer
			}
			if list[i].reply == nil {
				q := question{name: name, qtype: qtype, long: walked.long}
				list[i].reply, _ = r.pointer(r.query(ctx, z, q))
			}
		})
	}
	asking.Wait()
	return list
}

// aliasOf is where an alias of the name leads, by its answers, or empty.
func aliasOf(name string, answers []*answer) string {
	for _, a := range answers {
		if a.reply == nil {
			continue
		}
		for _, rr := range recordsOf(a.reply.Answer, name, dns.TypeCNAME) {
			return dns.CanonicalName(rr.(*dns.CNAME).Target)
		}
	}
	return ""
}

// answersBeside are the addresses of an alias's target that came with the answers for the alias, as servers give them
// within a zone (RFC 1034 section 4.3.2); nil where they did not.
func answersBeside(zone, target string, answers []*answer) []*answer {
	var list []*answer
	for _, a := range answers {
		if a.reply == nil || !slices.Contains(addressTypes, a.qtype) || !a.reply.Authoritative {
			continue
		}
		soa := soaOf(a.reply.Ns)
		denied := soa != nil && dns.CanonicalName(soa.Hdr.Name) == zone
		if below(target, zone) && (denied || a.reply.has(target, a.qtype) || a.reply.has(target, dns.TypeCNAME)) {
			list = append(list, &answer{name: target, qtype: a.qtype, reply: a.reply})
		}
	}
	if len(list) < len(addressTypes) {
		return nil
	}
	return list
}

// maxSteps bounds the aliases within zones.
const maxSteps = 8

// follow walks to the targets of aliases. Each is queried for addresses at the servers of its own zone.
func (r *run) follow(ctx context.Context, found *outcome) {
	name, way, zone, answers := found.name, found.way, found.way.last().name, found.answers
	seen := map[string]bool{name: true}
	elsewhere := 0
	for range maxSteps {
		target := aliasOf(name, answers)
		if target == "" {
			return
		}
		if found.loop = seen[target]; found.loop {
			return
		}
		seen[target] = true
		if found.refused = r.Egress.PermitAlias(trimmed(target)); found.refused != nil {
			return
		}
		if elsewhere == maxAliases && !below(target, zone) {
			break
		}
		next := alias{name: name, target: target, way: way, answers: answersBeside(zone, target, answers)}
		if next.answers == nil {
			next.way = r.descend(ctx, target)
			if last := next.way.last(); next.way.err == nil && !last.registry {
				next.answers = r.answersOf(ctx, last, target, addressTypes)
			}
		}
		way = next.way
		if last := next.way.last().name; last != zone {
			zone, elsewhere = last, elsewhere+1
		}
		found.aliases = append(found.aliases, next)
		name, answers = target, next.answers
	}
	r.budget.exceeded()
}
