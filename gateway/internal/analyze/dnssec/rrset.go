package dnssec

import (
	"bytes"
	"slices"

	"github.com/miekg/dns"
)

// rrset is the records of one owner and type in a section, and the signatures that cover them.
type rrset struct {
	owner      name
	rtype      uint16
	records    []dns.RR
	signatures []*dns.RRSIG
}

// group makes sets of the records of class IN, in the order of the section.
func group(section []dns.RR) []*rrset {
	type id struct {
		owner string
		rtype uint16
	}
	var sets []*rrset
	byID := map[id]*rrset{}
	for _, rr := range section {
		owner, ok := parseName(rr.Header().Name)
		if !ok || rr.Header().Class != dns.ClassINET {
			continue
		}
		rtype := rr.Header().Rrtype
		signature, signs := rr.(*dns.RRSIG)
		if signs {
			rtype = signature.TypeCovered
		}
		key := id{string(owner.wire()), rtype}
		set := byID[key]
		if set == nil {
			set = &rrset{owner: owner, rtype: rtype}
			byID[key], sets = set, append(sets, set)
		}
		if signs {
			set.signatures = append(set.signatures, signature)
		} else {
			set.records = append(set.records, rr)
		}
	}
	return sets
}

// find returns a set that has records, or nil.
func find(sets []*rrset, owner name, rtype uint16) *rrset {
	for _, s := range sets {
		if s.rtype == rtype && len(s.records) > 0 && s.owner.equal(owner) {
			return s
		}
	}
	return nil
}

// labels is the number of labels of a set's owner as signatures count them (RFC 4034 section 3.1.3).
func (s *rrset) labels() int {
	if n := len(s.owner); n > 0 && s.owner[n-1] == wildcardLabel {
		return n - 1
	}
	return len(s.owner)
}

// headerSize is the length of a record's fixed fields between its owner and its data.
const headerSize = 10

// signedData is what a signature signs (RFC 4034 section 3.1.8.1). It fails for records that cannot be packed.
func (s *rrset) signedData(signature *dns.RRSIG, signer name) ([]byte, bool) {
	owner := s.owner
	if int(signature.Labels) < s.labels() {
		owner = s.owner[:signature.Labels].wildcard()
	}
	bare := *signature
	bare.Hdr = dns.RR_Header{Name: ".", Rrtype: dns.TypeRRSIG, Class: dns.ClassINET}
	bare.SignerName, bare.Signature = signer.String(), ""
	data, ok := pack(&bare)
	if !ok {
		return nil, false
	}
	data = data[1+headerSize:]
	head := len(owner.wire()) + headerSize
	var wires [][]byte
	for _, rr := range s.records {
		wire, ok := pack(canonical(rr, owner, signature.OrigTtl))
		if !ok || len(wire) < head {
			return nil, false
		}
		wires = append(wires, wire)
	}
	// By their data (section 6.3), each once.
	slices.SortFunc(wires, func(a, b []byte) int { return bytes.Compare(a[head:], b[head:]) })
	wires = slices.CompactFunc(wires, bytes.Equal)
	return append(data, bytes.Join(wires, nil)...), true
}

// pack returns the uncompressed wire form.
func pack(rr dns.RR) ([]byte, bool) {
	wire := make([]byte, dns.Len(rr)+maxName)
	end, err := dns.PackRR(rr, wire, 0, nil, false)
	if err != nil {
		return nil, false
	}
	return wire[:end], true
}

// canonical returns a copy of a record in canonical form (RFC 4034 section 6.2).
func canonical(rr dns.RR, owner name, ttl uint32) dns.RR {
	rr = dns.Copy(rr)
	rr.Header().Name, rr.Header().Ttl = owner.String(), ttl
	for _, n := range embedded(rr) {
		*n = dns.CanonicalName(*n)
	}
	return rr
}

// embedded are the names in a record's data that the canonical form has in lower case: those of the types of RFC 4034
// section 6.2 as RFC 6840 section 5.1 amends it.
func embedded(rr dns.RR) []*string {
	switch r := rr.(type) {
	case *dns.NS:
		return []*string{&r.Ns}
	case *dns.MD:
		return []*string{&r.Md}
	case *dns.MF:
		return []*string{&r.Mf}
	case *dns.CNAME:
		return []*string{&r.Target}
	case *dns.SOA:
		return []*string{&r.Ns, &r.Mbox}
	case *dns.MB:
		return []*string{&r.Mb}
	case *dns.MG:
		return []*string{&r.Mg}
	case *dns.MR:
		return []*string{&r.Mr}
	case *dns.PTR:
		return []*string{&r.Ptr}
	case *dns.MINFO:
		return []*string{&r.Rmail, &r.Email}
	case *dns.MX:
		return []*string{&r.Mx}
	case *dns.RP:
		return []*string{&r.Mbox, &r.Txt}
	case *dns.AFSDB:
		return []*string{&r.Hostname}
	case *dns.RT:
		return []*string{&r.Host}
	case *dns.PX:
		return []*string{&r.Map822, &r.Mapx400}
	case *dns.NAPTR:
		return []*string{&r.Replacement}
	case *dns.KX:
		return []*string{&r.Exchanger}
	case *dns.SRV:
		return []*string{&r.Target}
	case *dns.DNAME:
		return []*string{&r.Target}
	}
	return nil
}
