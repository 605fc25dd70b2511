package authority

import (
	"slices"

	"github.com/miekg/dns"
)

// maxChain is how many aliases within a zone an answer follows.
const maxChain = 8

// reply is an answer in the making (RFC 1034 section 4.3.2, RFC 4035 section 3.1).
type reply struct {
	*dns.Msg
	zone  *Zone
	do    bool
	qtype uint16
}

// Answer is what a server of the zone answers to a query for a name in it.
func (z *Zone) Answer(q *dns.Msg) *dns.Msg {
	r := reply{Msg: new(dns.Msg).SetReply(q), zone: z, qtype: q.Question[0].Qtype}
	r.Compress = true
	if opt := q.IsEdns0(); opt != nil {
		r.do = opt.Do()
		r.SetEdns0(1232, r.do)
	}
	name := dns.CanonicalName(q.Question[0].Name)
	r.Authoritative = z.cut(name, r.qtype) == ""
	for range maxChain {
		name = r.extend(name)
		if name == "" || !dns.IsSubDomain(z.Origin, name) {
			break
		}
	}
	return r.Msg
}

// extend adds what the zone has for a name; next is the target of its alias.
func (r *reply) extend(name string) (next string) {
	z := r.zone
	if at := z.cut(name, r.qtype); at != "" {
		r.refer(at)
		return ""
	}
	owner := name
	if !z.exists(name) {
		closest, _ := z.encloser(name)
		owner = "*." + closest
		if closest == "." {
			owner = "*."
		}
		if z.Records[owner] == nil {
			r.Rcode = dns.RcodeNameError
			r.deny(name, owner)
			return ""
		}
	}
	types := z.Records[owner]
	switch alias := types[dns.TypeCNAME]; {
	case len(types[r.qtype]) > 0:
		r.put(&r.Answer, owner, r.qtype, name)
	case len(alias) > 0:
		r.put(&r.Answer, owner, dns.TypeCNAME, name)
		next = dns.CanonicalName(alias[0].(*dns.CNAME).Target)
	default:
		r.put(&r.Ns, z.Origin, dns.TypeSOA, z.Origin)
		r.prove(name, owner)
		return ""
	}
	if owner != name && r.do {
		r.proveWildcard(name)
	}
	return next
}

// put adds the records of a type that an owner has, as those of a name, and their signatures.
func (r *reply) put(section *[]dns.RR, owner string, rrtype uint16, name string) {
	signed := r.zone.Records[owner][dns.TypeRRSIG]
	for _, rr := range r.zone.Records[owner][rrtype] {
		if len(signed) == 0 && owner == name {
			*section = append(*section, rr)
			continue
		}
		rr = dns.Copy(rr)
		rr.Header().Name = name
		*section = append(*section, rr)
	}
	if !r.do || rrtype == dns.TypeRRSIG {
		return
	}
	for _, rr := range signed {
		if rr.(*dns.RRSIG).TypeCovered == rrtype {
			rr = dns.Copy(rr)
			rr.Header().Name = name
			*section = append(*section, rr)
		}
	}
}

// refer answers with a delegation: NS records, glue, and the DS records or the proof that there are none.
func (r *reply) refer(at string) {
	r.Ns = append(r.Ns, r.zone.Records[at][dns.TypeNS]...)
	for _, rr := range r.Ns {
		host := dns.CanonicalName(rr.(*dns.NS).Ns)
		for _, t := range []uint16{dns.TypeA, dns.TypeAAAA} {
			r.Extra = append(r.Extra, r.zone.Records[host][t]...)
		}
	}
	if len(r.zone.Records[at][dns.TypeDS]) > 0 {
		if r.do {
			r.put(&r.Ns, at, dns.TypeDS, at)
		}
		return
	}
	r.prove(at, at)
}

// deny answers that a name and the wildcard that would cover it do not exist.
func (r *reply) deny(name, wildcard string) {
	r.put(&r.Ns, r.zone.Origin, dns.TypeSOA, r.zone.Origin)
	if !r.do {
		return
	}
	r.nsec(name)
	r.nsec(wildcard)
	if len(r.zone.nsec3) == 0 {
		return
	}
	closest, next := r.zone.encloser(name)
	r.match(closest)
	r.cover(next)
	r.cover(wildcard)
}

// prove adds the proof that a name has no records of the type; owner is the wildcard where that covers the name.
func (r *reply) prove(name, owner string) {
	if !r.do {
		return
	}
	r.nsec(owner)
	r.nsec(name)
	switch {
	case len(r.zone.nsec3) == 0:
	case owner == name && !r.match(name):
		r.proveOptOut(name)
	case owner != name:
		closest, next := r.zone.encloser(name)
		r.match(closest)
		r.cover(next)
		r.match(owner)
	}
}

// proveOptOut adds the proof that an unsigned delegation has no record of its own.
func (r *reply) proveOptOut(name string) {
	next, closest := name, parent(name)
	for !r.match(closest) && closest != r.zone.Origin {
		next, closest = closest, parent(closest)
	}
	r.cover(next)
}

// proveWildcard adds the proof that a name that a wildcard answers for does not exist itself.
func (r *reply) proveWildcard(name string) {
	r.nsec(name)
	_, next := r.zone.encloser(name)
	r.cover(next)
}

// nsec adds the NSEC record at a name or before it.
func (r *reply) nsec(name string) {
	i, at := slices.BinarySearchFunc(r.zone.nsec, name, compare)
	if !at {
		i--
	}
	if i >= 0 {
		r.once(r.zone.nsec[i], dns.TypeNSEC)
	}
}

// match adds the NSEC3 record of a name's hash, and reports whether there is one.
func (r *reply) match(name string) bool {
	return r.nsec3(func(rr *dns.NSEC3) bool { return rr.Match(name) })
}

// cover adds the NSEC3 record that denies a name's hash.
func (r *reply) cover(name string) {
	r.nsec3(func(rr *dns.NSEC3) bool { return rr.Cover(name) })
}

func (r *reply) nsec3(fits func(*dns.NSEC3) bool) bool {
	for _, owner := range r.zone.nsec3 {
		if fits(r.zone.Records[owner][dns.TypeNSEC3][0].(*dns.NSEC3)) {
			r.once(owner, dns.TypeNSEC3)
			return true
		}
	}
	return false
}

// once adds the records of a type to the authority section unless they are there.
func (r *reply) once(owner string, rrtype uint16) {
	for _, rr := range r.Ns {
		if rr.Header().Name == owner && rr.Header().Rrtype == rrtype {
			return
		}
	}
	r.put(&r.Ns, owner, rrtype, owner)
}
