package dnssec

import (
	"crypto"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"diagnostics/gateway/internal/analyze/weight"

	"github.com/miekg/dns"
)

// optOutFlag is the only flag of NSEC3 records (RFC 5155 section 3.1.2.1).
const optOutFlag = 1

// nsec3 is an NSEC3 record (RFC 5155 section 3).
type nsec3 struct {
	zone        name
	owner, next string // hashes
	params      params
	types       []uint16
	optOut      bool
	record      *dns.NSEC3
}

// params are what a name's hash depends on. The hash is always SHA-1.
type params struct {
	iterations uint16
	salt       string
}

// readNSEC3 fails for records that validators ignore (RFC 5155 sections 8.1 and 8.2).
func readNSEC3(rr *dns.NSEC3) (nsec3, bool) {
	owner, ok := parseName(rr.Hdr.Name)
	if !ok || len(owner) == 0 || rr.Hash != dns.SHA1 || rr.Flags&^optOutFlag != 0 {
		return nsec3{}, false
	}
	zone, label := owner[:len(owner)-1], owner[len(owner)-1]
	own, err := base32.HexEncoding.DecodeString(strings.ToUpper(label))
	next, err2 := base32.HexEncoding.DecodeString(strings.ToUpper(rr.NextDomain))
	salt, err3 := hex.DecodeString(rr.Salt)
	if err != nil || err2 != nil || err3 != nil || len(own) != crypto.SHA1.Size() || len(next) != len(own) {
		return nsec3{}, false
	}
	return nsec3{
		zone: zone, owner: string(own), next: string(next), params: params{rr.Iterations, string(salt)},
		types: rr.TypeBitMap, optOut: rr.Flags&optOutFlag != 0, record: rr,
	}, true
}

// covers reports whether a hash lies between those of the record.
func (n nsec3) covers(hash string) bool {
	if n.owner < n.next {
		return n.owner < hash && hash < n.next
	}
	return n.owner < hash || hash < n.next // the last of the zone, or the only one
}

// hash is the hash of a name (RFC 5155 section 5). It fails where the budget is spent.
func (v *Validator) hash(q name, p params) (string, bool) {
	wire := q.wire()
	id := digestOf(wire, []byte(p.salt), binary.BigEndian.AppendUint16(nil, p.iterations))
	if h, ok := v.hashed[string(id[:])]; ok {
		return h, true
	}
	if !v.afford(weight.NSEC3Hash.Of(int(p.iterations) + 1)) {
		return "", false
	}
	out := sum(crypto.SHA1, append(wire, p.salt...))
	for range p.iterations {
		out = sum(crypto.SHA1, append(out, p.salt...))
	}
	v.hashed[string(id[:])] = string(out)
	return string(out), true
}

// first returns the first record that fits the hash of a name, or nil.
func (e *evidence) first(q name, fits func(n nsec3, hash string) bool) *nsec3 {
	hash, ok := e.hash(q, e.nsec3[0].params)
	if !ok {
		e.spent = true
		return nil
	}
	for i := range e.nsec3 {
		if fits(e.nsec3[i], hash) {
			return &e.nsec3[i]
		}
	}
	return nil
}

func (e *evidence) matching3(q name) *nsec3 {
	return e.first(q, func(n nsec3, hash string) bool { return n.owner == hash })
}

func (e *evidence) covering3(q name) *nsec3 {
	return e.first(q, func(n nsec3, hash string) bool { return n.covers(hash) })
}

// proveNSEC3 judges a denial by NSEC3 records (RFC 5155 sections 8.4 to 8.7).
func (e *evidence) proveNSEC3(q name, qtype uint16) proof {
	if n := e.matching3(q); n != nil {
		return noData(n.types, q, qtype, n.record)
	}
	encloser, next, failure := e.closest(q)
	if next == nil {
		return failure
	}
	wildcard := encloser.wildcard()
	if w := e.matching3(wildcard); w != nil {
		p := noData(w.types, wildcard, qtype, w.record)
		p.encloser, p.matched, p.optOut = encloser, false, next.optOut
		return p
	}
	switch {
	case e.covering3(wildcard) != nil:
		return proof{kind: KindNXDomain, encloser: encloser, optOut: next.optOut, record: next.record}
	case next.optOut && !e.spent:
		return proof{kind: KindNoData, optOut: true, record: next.record}
	}
	return failed(DenialIncomplete, next.record)
}

// closest is the proof of the closest encloser (RFC 5155 section 8.3) and the record that covers the next closer name,
// nil with the failure where there is no such proof.
func (e *evidence) closest(q name) (encloser name, next *nsec3, failure proof) {
	for n := len(q) - 1; n >= len(e.zone); n-- {
		m := e.matching3(q[:n])
		if m == nil {
			continue
		}
		if leadsOn(m.types) {
			return nil, nil, failed(DenialWrongSide, m.record)
		}
		if next := e.covering3(q[:n+1]); next != nil {
			return q[:n], next, proof{}
		}
		return nil, nil, failed(DenialIncomplete, m.record)
	}
	return nil, nil, failed(DenialIncomplete, e.nsec3[0].record)
}
