package lab

import (
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"diagnostics/lab/internal/authority"

	"github.com/miekg/dns"
)

// digests gives DS records of the first key with some digest types. That of an unassigned one is of SHA-256's length.
func digests(types ...uint8) func([]authority.Key) []*dns.DS {
	return func(keys []authority.Key) (list []*dns.DS) {
		for _, t := range types {
			if t == unassigned {
				ds := keys[0].DS(dns.SHA256)
				ds.DigestType = t
				list = append(list, ds)
				continue
			}
			list = append(list, keys[0].DS(t))
		}
		return list
	}
}

// other gives the DS record of a key that the zone does not have.
func other(keys []authority.Key) []*dns.DS {
	ds := keys[0].DS(dns.SHA256)
	ds.KeyTag, ds.Digest = ds.KeyTag+1, strings.Repeat("5a", 32)
	return []*dns.DS{ds}
}

func withOther(digest uint8) func([]authority.Key) []*dns.DS {
	return func(keys []authority.Key) []*dns.DS { return append(other(keys), keys[0].DS(digest)) }
}

func wrongDigest(keys []authority.Key) []*dns.DS {
	ds := keys[0].DS(dns.SHA256)
	ds.Digest = strings.Repeat("5a", 32)
	return []*dns.DS{ds}
}

func wrongAlgorithm(keys []authority.Key) []*dns.DS {
	ds := keys[0].DS(dns.SHA256)
	ds.Algorithm = dns.RSASHA256
	return []*dns.DS{ds}
}

// until ends the validity some time from now, ten days after its begin.
func until(d time.Duration) func(*authority.Signing) {
	return func(s *authority.Signing) {
		s.Until = time.Now().Add(d)
		s.From = s.Until.Add(-240 * time.Hour)
	}
}

func addRevoked(s *authority.Signing) {
	k, err := authority.NewKey(s.Keys[0].Hdr.Name, authority.KSK|dns.REVOKE, dns.ED25519, 256, "revoked")
	if err == nil {
		s.Keys = append(s.Keys, k)
	}
}

func revokeFirst(s *authority.Signing) { s.Keys[0].Flags |= dns.REVOKE }

func notZoneKeys(s *authority.Signing) {
	for _, k := range s.Keys {
		k.Flags &^= dns.ZONE
	}
}

// stripped leaves all of DNSSEC out.
func stripped(z *authority.Zone) {
	for _, types := range z.Records {
		for _, t := range []uint16{dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3, dns.TypeNSEC3PARAM, dns.TypeDNSKEY} {
			delete(types, t)
		}
	}
}

// dropDenials leaves the denial records out.
func dropDenials(z *authority.Zone) {
	for _, types := range z.Records {
		delete(types, dns.TypeNSEC)
		delete(types, dns.TypeNSEC3)
	}
}

func dropSignatures(z *authority.Zone, name string, rrtype uint16) {
	z.Records[name][dns.TypeRRSIG] = slices.DeleteFunc(z.Records[name][dns.TypeRRSIG], func(rr dns.RR) bool {
		return rr.(*dns.RRSIG).TypeCovered == rrtype
	})
}

func unsignedAddress(z *authority.Zone) { dropSignatures(z, z.Origin, dns.TypeA) }

// signatureOf is that of a type at the apex.
func signatureOf(z *authority.Zone, rrtype uint16) *dns.RRSIG {
	for _, rr := range z.Records[z.Origin][dns.TypeRRSIG] {
		if s := rr.(*dns.RRSIG); s.TypeCovered == rrtype {
			return s
		}
	}
	return &dns.RRSIG{}
}

// flip changes one bit of a signature.
func flip(s *dns.RRSIG) {
	octets, err := base64.StdEncoding.DecodeString(s.Signature)
	if err == nil && len(octets) > 8 {
		octets[8] ^= 1
		s.Signature = base64.StdEncoding.EncodeToString(octets)
	}
}

func corrupt(z *authority.Zone) { flip(signatureOf(z, dns.TypeA)) }

// addBroken puts a broken signature before the good one of the address.
func addBroken(z *authority.Zone) {
	broken := dns.Copy(signatureOf(z, dns.TypeA)).(*dns.RRSIG)
	flip(broken)
	z.Records[z.Origin][dns.TypeRRSIG] = append([]dns.RR{broken}, z.Records[z.Origin][dns.TypeRRSIG]...)
}

func wrongLabels(z *authority.Zone) { signatureOf(z, dns.TypeA).Labels = 3 }

func changeAddress(z *authority.Zone) {
	z.Records[z.Origin][dns.TypeA][0].(*dns.A).A[3]++
}

// denyAll makes the NSEC record of the apex deny all names below it, signed as it should be.
func denyAll(z *authority.Zone) {
	keys, err := keyPair(z.Origin, dns.ED25519, 256)
	if err != nil {
		return
	}
	z.Records[z.Origin][dns.TypeNSEC][0].(*dns.NSEC).NextDomain = z.Origin
	dropSignatures(z, z.Origin, dns.TypeNSEC)
	_ = z.SignSet(z.Origin, dns.TypeNSEC, authority.Signing{Keys: keys}) // the keys have just signed all else
}
