package dnssec

import (
	"slices"

	"github.com/miekg/dns"
)

// Denial describes the records of an answer that deny what does not exist.
type Denial struct {
	Kind DenialKind
	// Iterations is the highest of NSEC3 records; 0 for NSEC.
	Iterations int
	// OptOut is set where an NSEC3 record has the flag (RFC 5155 section 6).
	OptOut bool
}

// DenialKind is the type of the records: KindNSEC or KindNSEC3.
type DenialKind string

// The kinds of denial.
const (
	KindNSEC  DenialKind = "nsec"
	KindNSEC3 DenialKind = "nsec3"
)

// maxIterations is the highest count of NSEC3 iterations that does not make an answer insecure (RFC 9276 section 3.2).
const maxIterations = 100

// evidence is what the authority section of an answer proves.
type evidence struct {
	*Validator
	zone  name
	nsec  []nsec
	nsec3 []nsec3
	// reason is why a set of the section is not secure, otherwise nil.
	reason     *Reason
	signatures []Signature
	warnings   []Reason
	denial     *Denial
	// spent means that a name could not be hashed.
	spent bool
}

// gather verifies the sets of an authority section that belong to the zone. Delegations of the zone are not signed. NS
// records of the apex that are not secure are a warning where they only accompany an answer.
func (v *Validator) gather(z *Zone, section []dns.RR, answered bool) *evidence {
	e := &evidence{Validator: v, zone: z.name}
	for _, set := range group(section) {
		if !set.owner.within(z.name) || set.rtype == dns.TypeNS && !set.owner.equal(z.name) {
			continue
		}
		if len(set.records) == 0 {
			e.refuse(reason(RecordsMissing, z.name, set.owner, set.rtype))
			continue
		}
		out := v.verify(z.name, z.keys, set, nil)
		e.signatures = append(e.signatures, out.signatures...)
		e.describe(set)
		switch {
		case out.reason == nil:
			e.warnings = append(e.warnings, out.warnings...)
			e.accept(set, out.expanded)
		case answered && set.rtype == dns.TypeNS:
			e.warnings = append(e.warnings, *out.reason)
		default:
			e.refuse(out.reason)
		}
	}
	return e
}

func (e *evidence) refuse(r *Reason) {
	if e.reason == nil {
		e.reason = r
	}
}

// accept keeps the denials of a secure set. Those that a wildcard expands to deny nothing.
func (e *evidence) accept(set *rrset, expanded bool) {
	if expanded {
		return
	}
	for _, rr := range set.records {
		switch rr := rr.(type) {
		case *dns.NSEC:
			if n, ok := readNSEC(rr); ok && n.in(e.zone) {
				e.nsec = append(e.nsec, n)
			}
		case *dns.NSEC3:
			if n, ok := readNSEC3(rr); ok && n.zone.equal(e.zone) && (len(e.nsec3) == 0 || n.params == e.nsec3[0].params) {
				e.nsec3 = append(e.nsec3, n)
			}
		}
	}
}

func (e *evidence) describe(set *rrset) {
	for _, rr := range set.records {
		switch rr := rr.(type) {
		case *dns.NSEC:
			if e.denial == nil {
				e.denial = &Denial{Kind: KindNSEC}
			}
		case *dns.NSEC3:
			if e.denial == nil {
				e.denial = &Denial{}
			}
			e.denial.Kind = KindNSEC3
			e.denial.Iterations = max(e.denial.Iterations, int(rr.Iterations))
			e.denial.OptOut = e.denial.OptOut || rr.Flags&optOutFlag != 0
		}
	}
}

// iterations is the warning or the reason that the count of iterations calls for, or nil.
func (e *evidence) iterations(owner name, rtype uint16) (warning, failure *Reason) {
	if len(e.nsec3) == 0 || e.nsec3[0].params.iterations == 0 {
		return nil, nil
	}
	n := e.nsec3[0]
	of := func(c Code) *Reason {
		return reason(c, e.zone, owner, rtype).with(n.record).number(int(n.params.iterations))
	}
	if n.params.iterations > maxIterations {
		return nil, of(IterationsHigh)
	}
	return of(IterationsNotZero), nil
}

// proof is what denials prove of a name and type.
type proof struct {
	kind Kind // KindNoData or KindNXDomain
	// encloser is the closest encloser of a name that a wildcard could stand for, otherwise nil.
	encloser name
	// types is the bitmap of the record that matches the name, and matched that there is one.
	types   []uint16
	matched bool
	// optOut means that an unsigned delegation may be where the name would be.
	optOut bool
	// failure is why nothing is proven.
	failure Code
	record  dns.RR
}

func failed(c Code, record dns.RR) proof { return proof{failure: c, record: record} }

// prove judges a negative answer: RFC 4035 section 5.4 by NSEC, RFC 5155 section 8 by NSEC3.
func (e *evidence) prove(q name, qtype uint16) (proof, *Reason) {
	p := failed(DenialMissing, nil)
	if len(e.nsec) > 0 {
		p = e.proveNSEC(q, qtype)
	}
	if len(e.nsec3) > 0 && p.failure != "" {
		p = e.proveNSEC3(q, qtype)
	}
	return p, e.explain(p, q, qtype)
}

// proveExpansion judges whether no name between a wildcard's parent and q, q included, exists (RFC 4035 section 5.3.4,
// RFC 5155 section 8.8).
func (e *evidence) proveExpansion(q, encloser name, qtype uint16) (proof, *Reason) {
	p := failed(WildcardUnproven, nil)
	if n := e.covering(q); n != nil && n.encloser(q).equal(encloser) && !n.next.within(q) {
		p = proof{record: n.record}
	}
	if len(e.nsec3) > 0 && p.failure != "" {
		if n := e.covering3(q[:len(encloser)+1]); n != nil {
			p = proof{optOut: n.optOut, record: n.record}
		}
	}
	return p, e.explain(p, q, qtype)
}

// explain returns the reason of a proof that fails or opts out, otherwise nil.
func (e *evidence) explain(p proof, q name, qtype uint16) *Reason {
	code := p.failure
	switch {
	case code != "" && e.spent:
		code = HashBudget
	case code == "" && p.optOut:
		code = OptOut
	case code == "":
		return nil
	}
	r := reason(code, e.zone, q, qtype)
	if p.record != nil {
		r.with(p.record)
	}
	return r
}

// noData judges a record that matches a name by its types (RFC 4035 section 5.4, RFC 6840 sections 4.1, 4.3 and 4.4).
func noData(types []uint16, q name, qtype uint16, record dns.RR) proof {
	apex := slices.Contains(types, dns.TypeSOA)
	switch {
	case qtype == dns.TypeDS && apex && len(q) > 0, qtype != dns.TypeDS && delegates(types):
		return failed(DenialWrongSide, record)
	case slices.Contains(types, qtype) || slices.Contains(types, dns.TypeCNAME):
		return failed(TypeExists, record)
	}
	return proof{kind: KindNoData, types: types, matched: true, record: record}
}

// delegates reports whether a name is a delegation by the types at the parent.
func delegates(types []uint16) bool {
	return slices.Contains(types, dns.TypeNS) && !slices.Contains(types, dns.TypeSOA)
}

// leadsOn reports whether the names below one with these types are of other zones or of a DNAME record's target (RFC
// 6672 section 5.3.4.1).
func leadsOn(types []uint16) bool { return delegates(types) || slices.Contains(types, dns.TypeDNAME) }
