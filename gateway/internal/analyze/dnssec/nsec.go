package dnssec

import (
	"slices"

	"github.com/miekg/dns"
)

// nsec is an NSEC record (RFC 4034 section 4).
type nsec struct {
	owner, next name
	types       []uint16
	record      *dns.NSEC
}

func readNSEC(rr *dns.NSEC) (nsec, bool) {
	owner, ok := parseName(rr.Hdr.Name)
	next, ok2 := parseName(rr.NextDomain)
	return nsec{owner, next, rr.TypeBitMap, rr}, ok && ok2
}

// in reports whether both names of a record are of the zone, and the order is that of the zone: only the last name's
// record leads back to the apex.
func (n nsec) in(zone name) bool {
	return n.owner.within(zone) && n.next.within(zone) && (slices.Compare(n.owner, n.next) < 0 || n.next.equal(zone))
}

// covers reports whether a name lies between the record's names, and is not below a delegation or a DNAME record there.
func (n nsec) covers(q name) bool {
	if slices.Compare(n.owner, q) >= 0 || q.below(n.owner) && leadsOn(n.types) {
		return false
	}
	if slices.Compare(n.owner, n.next) < 0 {
		return slices.Compare(q, n.next) < 0
	}
	return q.within(n.next) // the last of the zone
}

// encloser is the closest encloser of a name that the record covers.
func (n nsec) encloser(q name) name {
	a, b := common(q, n.owner), common(q, n.next)
	if len(a) > len(b) {
		return a
	}
	return b
}

func (e *evidence) matching(q name) *nsec {
	for i := range e.nsec {
		if e.nsec[i].owner.equal(q) {
			return &e.nsec[i]
		}
	}
	return nil
}

func (e *evidence) covering(q name) *nsec {
	for i := range e.nsec {
		if e.nsec[i].covers(q) {
			return &e.nsec[i]
		}
	}
	return nil
}

// proveNSEC judges a denial by NSEC records (RFC 4035 section 5.4).
func (e *evidence) proveNSEC(q name, qtype uint16) proof {
	if n := e.matching(q); n != nil {
		return noData(n.types, q, qtype, n.record)
	}
	n := e.covering(q)
	if n == nil {
		return e.uncovered(q)
	}
	if n.next.below(q) { // an empty non-terminal
		return proof{kind: KindNoData, record: n.record}
	}
	encloser := n.encloser(q)
	wildcard := encloser.wildcard()
	if w := e.matching(wildcard); w != nil {
		p := noData(w.types, wildcard, qtype, w.record)
		p.encloser, p.matched = encloser, false
		return p
	}
	if e.covering(wildcard) == nil {
		return failed(DenialIncomplete, n.record)
	}
	return proof{kind: KindNXDomain, encloser: encloser, record: n.record}
}

// uncovered is the failure of a name that no record covers.
func (e *evidence) uncovered(q name) proof {
	for _, n := range e.nsec {
		if q.below(n.owner) && leadsOn(n.types) {
			return failed(DenialWrongSide, n.record)
		}
	}
	return failed(DenialIncomplete, e.nsec[0].record)
}
