package dnssec

import (
	"time"

	"github.com/miekg/dns"
)

// Contradiction returns DenialContradicts where a message has a secure NSEC or NSEC3 record that denies a type of a
// name, otherwise nil. It is for a name of the zone that has such records by another answer: resolvers that answer from
// cached denials (RFC 8198) do not find them.
func (v *Validator) Contradiction(z Zone, qname string, qtype uint16, msg *dns.Msg) *Reason {
	q, ok := parseName(qname)
	if z.Status != Secure || !ok || !q.within(z.name) || msg == nil {
		return nil
	}
	e := v.gather(&z, msg.Ns, true)
	if rr := e.denying(q, qtype); rr != nil {
		return reason(DenialContradicts, z.name, q, qtype).with(rr)
	}
	return nil
}

// Denying returns the first NSEC or NSEC3 record that denies a name and type, or nil. It does not verify signatures.
func Denying(records []dns.RR, qname string, qtype uint16, afford Afford) dns.RR {
	q, ok := parseName(qname)
	if !ok {
		return nil
	}
	e := &evidence{Validator: New(time.Time{}, afford)}
	for _, rr := range records {
		switch rr := rr.(type) {
		case *dns.NSEC:
			if n, ok := readNSEC(rr); ok {
				e.nsec = append(e.nsec, n)
			}
		case *dns.NSEC3:
			if n, ok := readNSEC3(rr); ok {
				e.nsec3 = append(e.nsec3, n)
			}
		}
	}
	return e.denying(q, qtype)
}

// denying returns the record that denies the type of a name, or the name itself. A record that opts out denies no name.
func (e *evidence) denying(q name, qtype uint16) dns.RR {
	for _, n := range e.nsec {
		if n.owner.equal(q) && noData(n.types, q, qtype, nil).failure == "" || n.covers(q) && !n.next.below(q) {
			return n.record
		}
	}
	for _, n := range e.nsec3 {
		if !q.within(n.zone) || n.params.iterations > maxIterations {
			continue
		}
		hash, ok := e.hash(q, n.params)
		if ok && (n.owner == hash && noData(n.types, q, qtype, nil).failure == "" || !n.optOut && n.covers(hash)) {
			return n.record
		}
	}
	return nil
}
