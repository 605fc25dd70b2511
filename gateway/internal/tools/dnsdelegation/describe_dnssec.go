package dnsdelegation

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/tools/internal/format"

	"github.com/miekg/dns"
)

// Bounds on what is shown of one zone.
const (
	maxDS         = 16
	maxKeys       = 32
	maxSignatures = 32
)

// describeDNSSEC adds what the replies hold of DNSSEC, without judging it.
func (d *zoneResult) describeDNSSEC(z *zone) {
	d.DS, d.Keys, d.Signatures = []dsResult{}, []keyResult{}, []signatureResult{}
	keys := z.dnskeys()
	for _, rr := range z.dsRecords() {
		if len(d.DS) == maxDS {
			d.Truncated = true
			break
		}
		d.DS = append(d.DS, dsResult{
			KeyTag: rr.KeyTag, Algorithm: algorithm(rr.Algorithm), DigestType: digestType(rr.DigestType),
			Digest:  strings.ToLower(rr.Digest),
			Matches: slices.ContainsFunc(keys, func(key *dns.DNSKEY) bool { return matches(rr, key) }),
		})
	}
	signatures := z.signatures()
	for _, key := range keys {
		d.Keys = append(d.Keys, describeKey(key, signatures))
	}
	for _, s := range signatures {
		if len(d.Signatures) == maxSignatures {
			d.Truncated = true
			break
		}
		d.Signatures = append(d.Signatures, signatureResult{
			Covers: typeName(s.TypeCovered), KeyTag: s.KeyTag, Algorithm: algorithm(s.Algorithm),
			Inception: moment(s.Inception), Expiration: moment(s.Expiration), Reason: format.TextOrNull(notValidated),
		})
	}
	d.Denial = denialOf(z.ds, z.random)
	d.Rollover = z.rollover()
}

// dsRecords are the DS records that the parent has for the zone.
func (z *zone) dsRecords() []*dns.DS {
	var list []*dns.DS
	if z.ds != nil {
		for _, rr := range recordsOf(z.ds.Answer, z.name, dns.TypeDS) {
			list = append(list, rr.(*dns.DS))
		}
	}
	return list
}

// dnskeys are the zone's keys, at most maxKeys.
func (z *zone) dnskeys() []*dns.DNSKEY {
	var list []*dns.DNSKEY
	if z.keys != nil {
		for _, rr := range recordsOf(z.keys.Answer, z.name, dns.TypeDNSKEY) {
			list = append(list, rr.(*dns.DNSKEY))
		}
	}
	return list[:min(len(list), maxKeys)]
}

// signatures are those of the zone over its keys, its SOA and NS records, and the names of the run.
func (z *zone) signatures() []*dns.RRSIG {
	var list []*dns.RRSIG
	seen := make(map[string]bool)
	soa := z.best(func(c *check) *reply { return c.soa })
	ns := z.best(func(c *check) *reply { return c.ns })
	for _, p := range []*reply{z.keys, soa, ns, z.ns, z.cds, z.cdnskey} {
		if p == nil {
			continue
		}
		for _, rr := range p.Answer {
			s, is := rr.(*dns.RRSIG)
			if is && dns.CanonicalName(s.Hdr.Name) == z.name && !seen[s.String()] {
				seen[s.String()] = true
				list = append(list, s)
			}
		}
	}
	return list
}

func algorithm(number uint8) numbered { return named(number, dns.AlgorithmToString[number]) }

func digestType(number uint8) numbered { return named(number, dns.HashToString[number]) }

func named(number uint8, name string) numbered {
	if name == "" {
		name = fmt.Sprintf("unassigned (%d)", number)
	}
	return numbered{Number: int(number), Name: name}
}

// matches reports whether a DS record is that of a key (RFC 4034 section 5.1.4).
func matches(ds *dns.DS, key *dns.DNSKEY) bool {
	if ds.Algorithm != key.Algorithm || ds.KeyTag != dnsclient.KeyTag(key) {
		return false
	}
	made := key.ToDS(ds.DigestType)
	return made != nil && strings.EqualFold(made.Digest, ds.Digest)
}

func describeKey(key *dns.DNSKEY, signatures []*dns.RRSIG) keyResult {
	tag := dnsclient.KeyTag(key)
	k := keyResult{KeyTag: tag, Algorithm: algorithm(key.Algorithm), Bits: bitsOf(key), Role: "zsk", Flags: key.Flags}
	if key.Flags&dns.SEP == 0 {
		return k
	}
	k.Role = "ksk"
	signsData := func(s *dns.RRSIG) bool {
		return s.KeyTag == tag && s.Algorithm == key.Algorithm && slices.Contains(dataTypes, s.TypeCovered)
	}
	if slices.ContainsFunc(signatures, signsData) {
		k.Role = "csk"
	}
	return k
}

// dataTypes are what a key that only signs keys does not sign.
var dataTypes = []uint16{dns.TypeSOA, dns.TypeNS}

// bitsOf is the size of a key, nil where its algorithm has none that is known here.
func bitsOf(key *dns.DNSKEY) *int {
	switch key.Algorithm {
	case dns.ECDSAP256SHA256, dns.ED25519:
		return new(256)
	case dns.ECDSAP384SHA384:
		return new(384)
	case dns.ED448:
		return new(456)
	case dns.RSAMD5, dns.RSASHA1, dns.RSASHA1NSEC3SHA1, dns.RSASHA256, dns.RSASHA512:
		return rsaBits(key.PublicKey)
	}
	return nil
}

// rsaBits is the length of the modulus of an RSA key (RFC 3110 section 2).
func rsaBits(public string) *int {
	raw, err := base64.StdEncoding.DecodeString(public)
	if err != nil || len(raw) < 3 {
		return nil
	}
	exponent, begin := int(raw[0]), 1
	if exponent == 0 {
		exponent, begin = int(raw[1])<<8|int(raw[2]), 3
	}
	if begin+exponent >= len(raw) {
		return nil
	}
	modulus := raw[begin+exponent:]
	bits := 8 * len(modulus)
	for _, b := range modulus {
		if b != 0 {
			for mask := byte(0x80); b&mask == 0; mask >>= 1 {
				bits--
			}
			break
		}
		bits -= 8
	}
	return &bits
}

// moment writes a time of a signature, which counts seconds modulo 2^32 (RFC 4034 section 3.1.5).
func moment(seconds uint32) string {
	at, _ := time.Parse("20060102150405", dns.TimeToString(seconds)) // of the library's own form
	return format.RFC3339(at)
}

// denialOf is how the first reply with such records proves an absence.
func denialOf(replies ...*reply) *denialResult {
	for _, p := range replies {
		if p == nil {
			continue
		}
		for _, rr := range p.Ns {
			switch rr := rr.(type) {
			case *dns.NSEC:
				return &denialResult{Kind: "nsec"}
			case *dns.NSEC3:
				return &denialResult{Kind: "nsec3", Iterations: new(int(rr.Iterations)), OptOut: new(rr.Flags&1 == 1)}
			}
		}
	}
	return nil
}

// rollover is what the zone announces of a change of its DS records (RFC 7344), nil where it announces nothing.
func (z *zone) rollover() *rollover {
	r := rollover{CDS: []string{}, CDNSKEY: []string{}}
	agree := true
	if z.cds != nil {
		for _, rr := range recordsOf(z.cds.Answer, z.name, dns.TypeCDS) {
			ds := rr.(*dns.CDS).DS
			r.CDS = append(r.CDS, dnsclient.Presentation(&ds))
			agree = agree && slices.ContainsFunc(z.dsRecords(), func(have *dns.DS) bool {
				return have.KeyTag == ds.KeyTag && have.DigestType == ds.DigestType && strings.EqualFold(have.Digest, ds.Digest)
			})
		}
	}
	if z.cdnskey != nil {
		for _, rr := range recordsOf(z.cdnskey.Answer, z.name, dns.TypeCDNSKEY) {
			key := rr.(*dns.CDNSKEY).DNSKEY
			r.CDNSKEY = append(r.CDNSKEY, dnsclient.Presentation(&key))
		}
	}
	switch {
	case len(r.CDS)+len(r.CDNSKEY) == 0:
		return nil
	case len(r.CDS) == 0:
		r.State = "announced"
	case agree && len(r.CDS) == len(z.dsRecords()):
		r.State = "done"
	default:
		r.State = "pending"
	}
	return &r
}
