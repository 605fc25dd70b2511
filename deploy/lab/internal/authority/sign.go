package authority

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cloudflare/circl/sign/ed448"
	"github.com/miekg/dns"
)

// Key is a key of a zone.
type Key struct {
	*dns.DNSKEY
	signer crypto.Signer
}

// The flags of a DNSKEY record.
const (
	ZSK = dns.ZONE
	KSK = dns.ZONE | dns.SEP
)

// NewKey makes a key. Those of Ed25519 follow from zone, flags and role, and so do their signatures: they are the same
// in every lab. An algorithm that is not supported gets a key of Ed25519, whose signatures are not of the algorithm.
func NewKey(zone string, flags uint16, algorithm uint8, bits int, role string) (Key, error) {
	k := Key{DNSKEY: &dns.DNSKEY{
		Hdr:   dns.RR_Header{Name: zone, Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET, Ttl: 3600},
		Flags: flags, Protocol: 3, Algorithm: algorithm,
	}}
	seed := sha256.Sum256(fmt.Append(nil, zone, flags, role))
	switch algorithm {
	case dns.ED25519:
		private := ed25519.NewKeyFromSeed(seed[:])
		k.signer, k.PublicKey = private, base64Of(private.Public().(ed25519.PublicKey))
	case dns.ED448:
		private := ed448.NewKeyFromSeed(append(seed[:], seed[:25]...))
		k.signer, k.PublicKey = ed448Signer{private}, base64Of(private.Public().(ed448.PublicKey))
	case dns.RSASHA1, dns.RSASHA1NSEC3SHA1, dns.RSASHA256, dns.RSASHA512, dns.ECDSAP256SHA256, dns.ECDSAP384SHA384:
		private, err := k.Generate(bits)
		if err != nil {
			return Key{}, err
		}
		k.signer = private.(crypto.Signer)
	default:
		private := ed25519.NewKeyFromSeed(seed[:])
		k.signer, k.PublicKey = private, base64Of(private.Public().(ed25519.PublicKey))
	}
	return k, nil
}

// ed448Signer signs what the DNS library made for Ed25519, of which the octet of the algorithm is another.
type ed448Signer struct{ ed448.PrivateKey }

func (s ed448Signer) Sign(_ io.Reader, data []byte, _ crypto.SignerOpts) ([]byte, error) {
	data[2] = dns.ED448
	return ed448.Sign(s.PrivateKey, data, ""), nil
}

// NSEC3 are the parameters of a chain of NSEC3 records.
type NSEC3 struct {
	Iterations uint16
	OptOut     bool
}

// Signing says how a zone is signed.
type Signing struct {
	Keys   []Key // those with SEP sign the key set and what a parent reads, the others the rest; one kind may do all
	NSEC3  *NSEC3
	From   time.Time // the zero values are the validity of all zones in good order
	Until  time.Time
	Signer string // empty is the zone
}

// The validity of signatures in good order. It is fixed, so that the zones are the same in every lab.
var (
	validFrom  = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	validUntil = time.Date(2037, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// Sign adds keys, denial records and signatures.
func (z *Zone) Sign(s Signing) error {
	for _, k := range s.Keys {
		z.Add(dns.Copy(k.DNSKEY))
	}
	if s.NSEC3 != nil {
		z.chainNSEC3(*s.NSEC3)
	} else {
		z.chainNSEC()
	}
	for _, name := range z.names() {
		for rrtype := range z.Records[name] {
			if z.signed(name, rrtype) {
				if err := z.SignSet(name, rrtype, s); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// signed reports whether records belong to the zone: NS records of a cut and glue do not.
func (z *Zone) signed(name string, rrtype uint16) bool {
	switch rrtype {
	case dns.TypeRRSIG:
		return false
	case dns.TypeDS, dns.TypeNSEC, dns.TypeNSEC3:
		return true
	}
	return z.cut(name, rrtype) == ""
}

// SignSet adds the signatures of one set of records.
func (z *Zone) SignSet(name string, rrtype uint16, s Signing) error {
	sep := slices.Contains([]uint16{dns.TypeDNSKEY, dns.TypeCDS, dns.TypeCDNSKEY}, rrtype)
	for _, k := range s.Keys {
		both := !slices.ContainsFunc(s.Keys, func(o Key) bool { return o.Flags&dns.SEP != k.Flags&dns.SEP })
		if !both && (k.Flags&dns.SEP != 0) != sep {
			continue
		}
		rr, err := signature(k, z.Records[name][rrtype], s, z.Origin)
		if err != nil {
			return fmt.Errorf("sign %s %s: %w", name, dns.TypeToString[rrtype], err)
		}
		z.Add(rr)
	}
	return nil
}

func signature(k Key, set rrset, s Signing, origin string) (*dns.RRSIG, error) {
	from, until, signer := s.From, s.Until, s.Signer
	if from.IsZero() {
		from = validFrom
	}
	if until.IsZero() {
		until = validUntil
	}
	if signer == "" {
		signer = origin
	}
	rr := &dns.RRSIG{Algorithm: k.Algorithm, KeyTag: k.KeyTag(), SignerName: signer,
		Inception: uint32(from.Unix()), Expiration: uint32(until.Unix())}
	if !slices.Contains(generated, k.Algorithm) {
		rr.Algorithm = dns.ED25519 // what the library then signs with is the key's own
	}
	err := rr.Sign(k.signer, set)
	rr.Algorithm, rr.Hdr.Ttl = k.Algorithm, rr.OrigTtl
	return rr, err
}

// generated are the algorithms that the DNS library signs with.
var generated = []uint8{dns.RSASHA1, dns.RSASHA1NSEC3SHA1, dns.RSASHA256, dns.RSASHA512, dns.ECDSAP256SHA256,
	dns.ECDSAP384SHA384, dns.ED25519}

// types are those of a name in a denial record.
func (z *Zone) types(name string, more ...uint16) []uint16 {
	list := more
	delegated := z.cut(name, dns.TypeNS) == name && name != z.Origin
	for t := range z.Records[name] {
		if !delegated || t == dns.TypeNS || t == dns.TypeDS {
			list = append(list, t)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// owned reports whether a name is the zone's, cuts included.
func (z *Zone) owned(name string) bool { return name == z.Origin || z.cut(name, dns.TypeDS) == "" }

func (z *Zone) chainNSEC() {
	names := slices.DeleteFunc(z.names(), func(name string) bool { return !z.owned(name) })
	for i, name := range names {
		z.Add(&dns.NSEC{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeNSEC, Class: dns.ClassINET, Ttl: 300},
			NextDomain: names[(i+1)%len(names)], TypeBitMap: z.types(name, dns.TypeNSEC, dns.TypeRRSIG)})
	}
}

// hashed is a name of the zone with its hash.
type hashed struct{ hash, name string }

func (z *Zone) chainNSEC3(p NSEC3) {
	var flags uint8
	if p.OptOut {
		flags = 1
	}
	z.Add(&dns.NSEC3PARAM{Hdr: dns.RR_Header{Name: z.Origin, Rrtype: dns.TypeNSEC3PARAM, Class: dns.ClassINET},
		Hash: dns.SHA1, Iterations: p.Iterations})
	var list []hashed
	for _, name := range z.withEmpty() {
		if p.OptOut && len(z.Records[name][dns.TypeNS]) > 0 && name != z.Origin && len(z.Records[name][dns.TypeDS]) == 0 {
			continue
		}
		list = append(list, hashed{dns.HashName(name, dns.SHA1, p.Iterations, ""), name})
	}
	slices.SortFunc(list, func(a, b hashed) int { return strings.Compare(a.hash, b.hash) })
	for i, h := range list {
		more := []uint16{dns.TypeRRSIG}
		set := z.Records[h.name]
		unsigned := len(set[dns.TypeNS]) > 0 && len(set[dns.TypeDS]) == 0 && h.name != z.Origin
		if len(set) == 0 || unsigned {
			more = nil
		}
		owner := strings.ToLower(h.hash) + "." + z.Origin
		z.Add(&dns.NSEC3{
			Hdr:  dns.RR_Header{Name: owner, Rrtype: dns.TypeNSEC3, Class: dns.ClassINET, Ttl: 300},
			Hash: dns.SHA1, Flags: flags, Iterations: p.Iterations, HashLength: 20,
			NextDomain: list[(i+1)%len(list)].hash, TypeBitMap: z.types(h.name, more...),
		})
	}
}

// withEmpty are the names of the zone and those that only have names below them.
func (z *Zone) withEmpty() []string {
	var all []string
	for _, name := range z.names() {
		if !z.owned(name) {
			continue
		}
		for at := name; ; at = parent(at) {
			all = append(all, at)
			if at == z.Origin {
				break
			}
		}
	}
	slices.SortFunc(all, compare)
	return slices.Compact(all)
}

// DS is the record for a key at the parent of its zone.
func (k Key) DS(digest uint8) *dns.DS {
	ds := k.ToDS(digest)
	ds.Hdr.Ttl = 3600
	return ds
}

func base64Of(octets []byte) string { return base64.StdEncoding.EncodeToString(octets) }
