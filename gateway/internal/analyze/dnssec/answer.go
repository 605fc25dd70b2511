package dnssec

import (
	"slices"

	"github.com/miekg/dns"
)

// Answer is the data of a name and a type, or its absence.
type Answer struct {
	Verdict
	Kind Kind
	// Wildcard is the wildcard that the answer comes from, otherwise empty: "*.example."
	Wildcard string
	// Target is the name that an alias leads to, otherwise empty. The answer for it is judged on its own, by the keys of
	// its zone; the message may hold it.
	Target     string
	Denial     *Denial // nil without NSEC and NSEC3 records
	Signatures []Signature
}

// Kind is the kind of an answer.
type Kind string

// The kinds. An answer that is not judged, or whose denial fails, has none.
const (
	KindData     Kind = "data"
	KindAlias    Kind = "alias"
	KindNoData   Kind = "nodata"
	KindNXDomain Kind = "nxdomain"
)

// Answer judges the answer of a zone's servers for a name of the zone. It covers the records of that name and type, or
// the alias that is in their place, or the proof that there are none.
func (v *Validator) Answer(z Zone, qname string, qtype uint16, msg *dns.Msg) Answer {
	a := Answer{Verdict: z.inherited()}
	q, ok := parseName(qname)
	switch {
	case a.Status != Secure:
		return a
	case !ok || !q.within(z.name):
		a.fail(&Reason{Code: OutOfZone, Zone: z.Name, Name: dns.CanonicalName(qname), Type: dns.Type(qtype).String()})
		return a
	case qtype == dns.TypeRRSIG || qtype == dns.TypeANY || qtype == dns.TypeAXFR || qtype == dns.TypeIXFR:
		a.fail(reason(TypeNotValidated, z.name, q, qtype))
		return a
	}
	if r := unusable(msg, z.name, q, qtype); r != nil {
		a.fail(r)
		return a
	}
	sets := group(msg.Answer)
	if set := find(sets, q, qtype); set != nil {
		a.Kind = KindData
		v.positive(&a, &z, set, v.gather(&z, msg.Ns, true))
	} else if set := find(sets, q, dns.TypeCNAME); set != nil {
		a.Kind = KindAlias
		v.alias(&a, &z, set, sets, msg)
	} else {
		v.negative(&a, &z, q, qtype, msg)
	}
	return a
}

// positive judges a set, and the proof that belongs to one from a wildcard.
func (v *Validator) positive(a *Answer, z *Zone, set *rrset, e *evidence) {
	out := v.verify(z.name, z.keys, set, nil)
	a.Signatures, a.Denial = slices.Concat(out.signatures, e.signatures), e.denial
	a.warn(out.warnings...)
	a.warn(e.warnings...)
	switch {
	case out.reason != nil:
		a.fail(out.reason)
	case e.reason != nil:
		a.fail(e.reason)
	case out.expanded:
		a.Wildcard = out.encloser.wildcard().String()
		if a.iterate(e, set.owner, set.rtype) {
			if _, failure := e.proveExpansion(set.owner, out.encloser, set.rtype); failure != nil {
				a.fail(failure)
			}
		}
	}
}

// iterate judges the count of iterations. It reports whether the denials are to be judged too.
func (a *Answer) iterate(e *evidence, q name, qtype uint16) bool {
	warning, failure := e.iterations(q, qtype)
	if failure != nil {
		a.fail(failure)
		return false
	}
	if warning != nil {
		a.warn(*warning)
	}
	return true
}

// alias judges a CNAME record, or the DNAME record that it is made from (RFC 6672 section 5.3.1). What else the message
// holds is about the target.
func (v *Validator) alias(a *Answer, z *Zone, set *rrset, sets []*rrset, msg *dns.Msg) {
	cname, _ := set.records[0].(*dns.CNAME)
	target, ok := name(nil), false
	if cname != nil {
		target, ok = parseName(cname.Target)
	}
	if !ok || len(set.records) > 1 {
		a.fail(reason(AliasWrong, z.name, set.owner, dns.TypeCNAME).with(set.records[0]))
		return
	}
	a.Target = target.String()
	source := set
	if len(set.signatures) == 0 {
		for _, s := range sets {
			if s.rtype == dns.TypeDNAME && len(s.records) > 0 && set.owner.below(s.owner) && s.owner.within(z.name) {
				source = s
			}
		}
	}
	e := v.gather(z, msg.Ns, true)
	e.reason = nil
	v.positive(a, z, source, e)
	if source != set && a.Status == Secure && !synthesized(set.owner, target, source) {
		a.fail(reason(AliasWrong, z.name, set.owner, dns.TypeCNAME).with(cname))
	}
}

// synthesized reports whether a DNAME record maps a name to a target.
func synthesized(q, target name, set *rrset) bool {
	dname, ok := set.records[0].(*dns.DNAME)
	if !ok || len(set.records) > 1 {
		return false
	}
	to, ok := parseName(dname.Target)
	return ok && target.equal(slices.Concat(to, q[len(set.owner):]))
}

// negative judges an answer without records of the name.
func (v *Validator) negative(a *Answer, z *Zone, q name, qtype uint16, msg *dns.Msg) {
	if refers(z.name, q, msg) {
		a.fail(reason(Referral, z.name, q, qtype))
		return
	}
	e := v.gather(z, msg.Ns, false)
	a.Signatures, a.Denial = e.signatures, e.denial
	a.warn(e.warnings...)
	if e.reason != nil {
		a.fail(e.reason)
		return
	}
	if !a.iterate(e, q, qtype) {
		return
	}
	p, failure := e.prove(q, qtype)
	a.Kind = p.kind
	if p.encloser != nil && p.kind == KindNoData {
		a.Wildcard = p.encloser.wildcard().String()
	}
	switch nx := msg.Rcode == dns.RcodeNameError; {
	case failure != nil:
		a.fail(failure)
	case p.kind == KindNXDomain && !nx:
		a.fail(reason(NameDenied, z.name, q, qtype).with(p.record))
	case p.kind == KindNoData && nx:
		r := reason(NameExists, z.name, q, qtype).with(p.record)
		if e.denial.Kind == KindNSEC3 {
			a.fail(r)
		} else { // as validators do: the record proves as much as NOERROR would claim
			a.warn(*r)
		}
	}
}

// refers reports whether a message without an answer refers to a zone below the one asked.
func refers(zone, q name, msg *dns.Msg) bool {
	delegated := false
	for _, set := range group(msg.Ns) {
		if set.rtype == dns.TypeSOA {
			return false
		}
		delegated = delegated || set.rtype == dns.TypeNS && set.owner.below(zone) && q.within(set.owner)
	}
	return delegated && msg.Rcode == dns.RcodeSuccess
}
