package dnsdelegation

import (
	"crypto"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// signer signs a zone with one key of algorithm 13.
type signer struct {
	key  *dns.DNSKEY
	with crypto.Signer
	// from and until are the validity of all signatures.
	from, until time.Time
}

func newSigner(t *testing.T, zone string) *signer {
	t.Helper()
	s := &signer{from: time.Now().Add(-time.Hour), until: time.Now().Add(30 * 24 * time.Hour), key: &dns.DNSKEY{
		Hdr:   dns.RR_Header{Name: zone, Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET, Ttl: 3600},
		Flags: dns.ZONE | dns.SEP, Protocol: 3, Algorithm: dns.ECDSAP256SHA256,
	}}
	private, err := s.key.Generate(256)
	if err != nil {
		t.Fatal(err)
	}
	s.with = private.(crypto.Signer)
	return s
}

// ds is the record that the parent has of the key.
func (s *signer) ds() string { return s.key.ToDS(dns.SHA256).String() }

// sign returns the text of a zone with its key, its NSEC records and its signatures.
func (s *signer) sign(t *testing.T, text string) string {
	t.Helper()
	apex := dns.CanonicalName(s.key.Hdr.Name)
	records := []dns.RR{s.key}
	parser := dns.NewZoneParser(strings.NewReader(text), ".", "")
	parser.SetDefaultTTL(3600)
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		records = append(records, rr)
	}
	if err := parser.Err(); err != nil {
		t.Fatal(err)
	}
	types := typesByName(records, apex)
	records = append(records, denials(types, apex)...)
	signed := ""
	for _, rr := range records {
		signed = signed + rr.String() + "\n"
	}
	for owner, list := range types {
		for _, qtype := range append(list, dns.TypeNSEC) {
			if qtype == dns.TypeNS && owner != apex {
				continue
			}
			signed += s.signature(t, recordsOf(records, owner, qtype)).String() + "\n"
		}
	}
	return soaFirst(signed)
}

func (s *signer) signature(t *testing.T, set []dns.RR) *dns.RRSIG {
	t.Helper()
	sig := &dns.RRSIG{
		Hdr:        dns.RR_Header{Name: set[0].Header().Name, Rrtype: dns.TypeRRSIG, Class: dns.ClassINET, Ttl: 3600},
		SignerName: s.key.Hdr.Name, KeyTag: s.key.KeyTag(), Algorithm: s.key.Algorithm,
		Inception: uint32(s.from.Unix()), Expiration: uint32(s.until.Unix()),
	}
	if err := sig.Sign(s.with, set); err != nil {
		t.Fatal(err)
	}
	return sig
}

// typesByName are the types of each name that the zone is authoritative for; of a delegation NS and DS.
func typesByName(records []dns.RR, apex string) map[string][]uint16 {
	cuts := map[string]bool{}
	for _, rr := range records {
		if owner := dns.CanonicalName(rr.Header().Name); rr.Header().Rrtype == dns.TypeNS && owner != apex {
			cuts[owner] = true
		}
	}
	types := map[string][]uint16{}
	for _, rr := range records {
		owner, qtype := dns.CanonicalName(rr.Header().Name), rr.Header().Rrtype
		glue := false
		for cut := range cuts {
			glue = glue || below(owner, cut) && (owner != cut || qtype != dns.TypeNS && qtype != dns.TypeDS)
		}
		if !glue && !slices.Contains(types[owner], qtype) {
			types[owner] = append(types[owner], qtype)
		}
	}
	return types
}

// denials are the NSEC records of a zone.
func denials(types map[string][]uint16, apex string) (list []dns.RR) {
	var names []string
	for owner := range types {
		names = append(names, owner)
	}
	slices.SortFunc(names, func(a, b string) int { return slices.Compare(reversed(a), reversed(b)) })
	for i, owner := range names {
		bitmap := append(slices.Clone(types[owner]), dns.TypeNSEC, dns.TypeRRSIG)
		slices.Sort(bitmap)
		list = append(list, &dns.NSEC{
			Hdr:        dns.RR_Header{Name: owner, Rrtype: dns.TypeNSEC, Class: dns.ClassINET, Ttl: 3600},
			NextDomain: names[(i+1)%len(names)], TypeBitMap: bitmap,
		})
	}
	return list
}

// reversed are the labels of a name from the last to the first, as RFC 4034 section 6.1 orders names.
func reversed(name string) []string {
	labels := dns.SplitDomainName(name)
	slices.Reverse(labels)
	return labels
}

// soaFirst puts the SOA record first, as a zone file must.
func soaFirst(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.SortStableFunc(lines, func(a, b string) int {
		isSOA := func(s string) int {
			if strings.Contains(s, "\tSOA\t") && !strings.Contains(s, "RRSIG") {
				return 0
			}
			return 1
		}
		return isSOA(a) - isSOA(b)
	})
	return strings.Join(lines, "\n") + "\n"
}
