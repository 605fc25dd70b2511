package dnssec

import (
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Zone is a zone and what its DNSKEY records prove.
type Zone struct {
	Verdict
	Name string
	// DS are the DS records of the parent, or the trust anchors in the form of DS records.
	DS []DS
	// Keys are the DNSKEY records, authentic or not.
	Keys       []Key
	Signatures []Signature // of the DNSKEY records

	name name
	keys []*key
}

// DS is one DS record, as judged.
type DS struct {
	Record  *dns.DS
	Matches bool
	// Reason is why no key matches, or why the record is not used; otherwise nil.
	Reason *Reason
}

// Key is one DNSKEY record.
type Key struct {
	Record *dns.DNSKEY
	Tag    uint16
	// Bits is the size of the modulus or of the curve, 0 where it is not known.
	Bits int
	Role Role
}

// Role is what a key is for, as its flags indicate.
type Role string

// The roles: RoleCSK is a key with the SEP flag in a set without keys that lack it.
const (
	RoleKSK Role = "ksk"
	RoleZSK Role = "zsk"
	RoleCSK Role = "csk"
)

// key is a key with its verifier. flaw is why it verifies nothing, otherwise empty.
type key struct {
	Key
	verify  verifier
	cost    time.Duration // of a verification
	flaw    Code
	trusted bool // a DS record or trust anchor names it
	// before is the tag of a revoked key before the flag changed it (RFC 5011 section 7), otherwise 0.
	before uint16
}

// readKeys reads a set of DNSKEY records; nil has none.
func readKeys(set *rrset) []*key {
	var out []*key
	if set == nil {
		return nil
	}
	separate := false
	for _, rr := range set.records {
		record, ok := rr.(*dns.DNSKEY)
		if !ok {
			continue
		}
		k := &key{Key: Key{Record: record, Tag: record.KeyTag(), Role: RoleZSK}}
		k.verify, k.cost, k.Bits, k.flaw = readKey(record)
		switch {
		case record.Flags&dns.REVOKE != 0:
			k.flaw = KeyRevoked
			before := *record
			before.Flags &^= dns.REVOKE
			k.before = before.KeyTag()
		case record.Flags&dns.ZONE == 0 || record.Protocol != 3:
			k.flaw = KeyNotZone
		}
		if record.Flags&dns.SEP != 0 {
			k.Role = RoleCSK
		}
		separate = separate || k.Role == RoleZSK
		out = append(out, k)
	}
	for _, k := range out {
		if separate && k.Role == RoleCSK {
			k.Role = RoleKSK
		}
	}
	return out
}

// Trusted starts a chain at trust anchors for a zone: DS or DNSKEY records. Those of other zones are ignored.
func Trusted(zone string, anchors []dns.RR) Delegation {
	d := Delegation{Verdict: Verdict{Status: Secure}, Zone: dns.CanonicalName(zone), anchored: true}
	for _, rr := range anchors {
		if dns.CanonicalName(rr.Header().Name) != d.Zone {
			continue
		}
		switch rr := rr.(type) {
		case *dns.DS:
			d.DS = append(d.DS, rr)
		case *dns.DNSKEY:
			if ds := rr.ToDS(dns.SHA256); ds != nil {
				d.DS = append(d.DS, ds)
			}
		}
	}
	return d
}

// Keys judges the answer of a zone for its DNSKEY records (RFC 4035 section 5.2). Where the delegation is not secure,
// the zone has its verdict, and the keys are only listed.
func (v *Validator) Keys(d Delegation, msg *dns.Msg) Zone {
	z := Zone{Verdict: d.inherited(), Name: d.Zone}
	apex, ok := parseName(d.Zone)
	if !ok {
		z.fail(&Reason{Code: OutOfZone, Name: d.Zone})
		return z
	}
	z.name = apex
	var set *rrset
	if msg != nil {
		set = find(group(msg.Answer), apex, dns.TypeDNSKEY)
	}
	z.keys = readKeys(set)
	for _, k := range z.keys {
		z.Keys = append(z.Keys, k.Key)
	}
	supported := z.match(d)
	if d.Status != Secure {
		return z
	}
	z.Reason = nil
	switch r := unusable(msg, apex, apex, dns.TypeDNSKEY); {
	case len(supported) == 0 && len(z.DS) > 0 && !d.anchored:
		z.fail(z.DS[0].Reason)
	case r != nil:
		z.fail(r)
	case len(supported) == 0 || d.anchored && !z.matched():
		z.fail(reason(AnchorUnmatched, apex, apex, dns.TypeDNSKEY))
	case len(z.keys) == 0:
		z.fail(reason(KeysMissing, apex, apex, dns.TypeDNSKEY))
	case !z.matched():
		z.fail(mismatch(supported))
	default:
		v.authenticate(&z, set, supported)
	}
	return z
}

// match judges the DS records and marks the keys that they name. It returns those that are supported.
func (z *Zone) match(d Delegation) []DS {
	strong := slices.ContainsFunc(d.DS, func(ds *dns.DS) bool {
		return Supported(ds.Algorithm) && supportedDigest(ds.DigestType) && ds.DigestType != dns.SHA1
	})
	var supported []DS
	for _, record := range d.DS {
		r := reason(DigestMismatch, z.name, z.name, dns.TypeDS).with(record)
		ds := DS{Record: record, Reason: r}
		switch {
		case !Supported(record.Algorithm):
			r.Code = AlgorithmUnsupported
		case !supportedDigest(record.DigestType):
			r.number(int(record.DigestType)).Code = DigestUnsupported
		case record.DigestType == dns.SHA1 && strong:
			r.Code = DigestIgnored
			ds.Matches = slices.ContainsFunc(candidates(z.keys, record.KeyTag, record.Algorithm), func(k *key) bool {
				return names(record, k.Record)
			})
		default:
			if r.Code = z.trust(record); r.Code == "" {
				ds.Matches, ds.Reason = true, nil
			}
			supported = append(supported, ds)
		}
		z.DS = append(z.DS, ds)
	}
	return supported
}

// trust marks the key that a DS record names, or returns why there is none.
func (z *Zone) trust(ds *dns.DS) Code {
	matching := candidates(z.keys, ds.KeyTag, ds.Algorithm)
	for _, k := range matching[:min(len(matching), maxColliding)] {
		switch {
		case !names(ds, k.Record):
		case k.flaw != "" && k.flaw != KeyUnusable:
			return k.flaw
		default:
			k.trusted = true
			return ""
		}
	}
	switch {
	case len(matching) > maxColliding:
		return SignatureBudget
	case len(matching) > 0:
		return DigestMismatch
	}
	for _, k := range z.keys {
		if k.flaw == KeyRevoked && k.before == ds.KeyTag && k.Record.Algorithm == ds.Algorithm {
			return KeyRevoked
		}
	}
	return DSKeyMissing
}

// names reports whether a DS record has the digest of a key (RFC 4034 section 5.1.4).
func names(ds *dns.DS, k *dns.DNSKEY) bool {
	of := k.ToDS(ds.DigestType)
	return of != nil && of.Algorithm == ds.Algorithm && strings.EqualFold(of.Digest, ds.Digest)
}

func (z *Zone) matched() bool {
	return slices.ContainsFunc(z.keys, func(k *key) bool { return k.trusted })
}

// mismatch is the reason of a zone none of whose DS records names a key.
func mismatch(supported []DS) *Reason {
	for _, code := range []Code{SignatureBudget, KeyRevoked, KeyNotZone, KeyMalformed, DigestMismatch} {
		for _, ds := range supported {
			if ds.Reason.Code == code {
				return ds.Reason
			}
		}
	}
	return supported[0].Reason
}

// authenticate verifies the DNSKEY records by a key that the parent names.
func (v *Validator) authenticate(z *Zone, set *rrset, supported []DS) {
	out := v.verify(z.name, z.keys, set, func(k *key) bool { return k.trusted })
	z.Signatures = out.signatures
	if out.reason != nil {
		z.fail(out.reason)
		return
	}
	z.Status = Secure
	z.warn(out.warnings...)
	for _, ds := range z.DS {
		z.warnDS(ds)
	}
	for _, ds := range supported {
		signed := slices.ContainsFunc(z.Signatures, func(s Signature) bool {
			return s.Valid && s.Algorithm == ds.Record.Algorithm
		})
		if ds.Matches && !signed {
			z.warn(*reason(AlgorithmUnsigned, z.name, z.name, dns.TypeDNSKEY).with(ds.Record))
		}
	}
	for _, k := range z.keys {
		z.warnKey(k)
	}
}

func (z *Zone) warnDS(ds DS) {
	if ds.Reason != nil {
		z.warn(*ds.Reason)
	}
	if ds.Record.DigestType == dns.SHA1 {
		z.warn(*reason(DigestDeprecated, z.name, z.name, dns.TypeDS).with(ds.Record).number(int(dns.SHA1)))
	}
}

// shortRSA is the size in bits below which RSA keys are not advised.
const shortRSA = 2048

func (z *Zone) warnKey(k *key) {
	of := func(c Code) *Reason { return reason(c, z.name, z.name, dns.TypeDNSKEY).with(k.Record) }
	if k.flaw != "" && k.flaw != AlgorithmUnsupported {
		z.warn(*of(k.flaw))
	}
	if MustNotSign(k.Record.Algorithm) {
		z.warn(*of(AlgorithmDeprecated))
	}
	switch k.Record.Algorithm {
	case dns.RSASHA1, dns.RSASHA1NSEC3SHA1, dns.RSASHA256, dns.RSASHA512:
		if k.Bits > 0 && k.Bits < shortRSA {
			z.warn(*of(KeyShort).number(k.Bits))
		}
	}
}
