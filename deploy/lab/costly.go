package lab

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"

	"diagnostics/lab/internal/authority"

	"github.com/miekg/dns"
)

// CostlyZone is as expensive to validate as its owner can make it: on each of 16 addresses a zone of its own, each set
// with signatures that fit four keys with one tag (KeyTrap, CVE-2023-50387), each key of 4,096 bits with a long
// exponent, and denials by NSEC3 with 100 iterations (CVE-2023-50868). CostlyName is one that it denies.
const (
	CostlyZone = "lab-costly.com"
	CostlyName = "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z." + CostlyZone
)

const (
	costlyZone    = CostlyZone + "."
	costlyServers = 8
	costlyKeys    = 4
	costlyNetwork = 20 // and those after it
	costlyTag     = 4711
)

// publishCostly makes the zone of CostlyName.
func (a *authorities) publishCostly() error {
	text := zoneText(CostlyZone, CostlyZone)
	text += "lab-costly.com. IN MX 10 lab-costly.com.\nlab-costly.com. IN CAA 0 issue \"lab-ca.com\"\n"
	var delegation []string
	for i := range costlyServers {
		name := fmt.Sprintf("ns%d.lab-costly.com", i+1)
		v4, v6 := nameServer(costlyNetwork+i, 1)
		delegation = append(append(delegation, addressRecords(name, v4, v6)...), "lab-costly.com. IN NS "+name+".")
	}
	for _, line := range delegation {
		text += line + "\n"
	}
	z, err := authority.Parse(costlyZone, text)
	if err != nil {
		return err
	}
	keys, err := keyPair(costlyZone, dns.ED25519, 256)
	if err != nil {
		return err
	}
	for i := range costlyKeys {
		z.Add(costlyKey(uint64(i)))
	}
	if err := z.Sign(authority.Signing{Keys: keys, NSEC3: &authority.NSEC3{Iterations: 100}}); err != nil {
		return err
	}
	for name := range z.Records {
		z.Records[name][dns.TypeRRSIG] = besides(z.Records[name][dns.TypeRRSIG])
	}
	a.delegate("lab-costly.com", append(delegation, keys[0].DS(dns.SHA256).String())...)
	for i := range 2 * costlyServers {
		own := z.Clone()
		own.Records[costlyZone][dns.TypeSOA][0].(*dns.SOA).Serial = uint32(i) // nothing that was verified serves twice
		v4, v6 := nameServer(costlyNetwork+i/2, 1)
		a.servers[[]netip.Addr{v4, v6}[i%2]] = authority.Serving(own)
	}
	return nil
}

// costlyKey is a key with the tag that all of them have. No one has the other half of it.
func costlyKey(seed uint64) *dns.DNSKEY {
	random := rand.New(rand.NewPCG(seed, costlyTag)) //nolint:gosec // the zones are the same in every lab
	raw := append([]byte{8}, make([]byte, 8+512)...) // the length of the exponent, it, and the modulus
	for i := 1; i < len(raw); i++ {
		if raw[i] = byte(random.Uint32()); i < 10 || i == len(raw)-1 {
			raw[i] = 0xff
		}
	}
	k := &dns.DNSKEY{Hdr: dns.RR_Header{Name: costlyZone, Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET, Ttl: 3600},
		Flags: dns.ZONE, Protocol: 3, Algorithm: dns.RSASHA512}
	for word := 0; ; word++ {
		raw[100], raw[101] = byte(word>>8), byte(word)
		if k.PublicKey = base64.StdEncoding.EncodeToString(raw); k.KeyTag() == costlyTag {
			return k
		}
	}
}

// besides puts signatures that look like those of the costly keys before each, as many as can be tried for one set.
func besides(signatures []dns.RR) (all []dns.RR) {
	random := rand.New(rand.NewPCG(costlyTag, 0)) //nolint:gosec // the zones are the same in every lab
	for _, rr := range signatures {
		few := 4
		if rr.(*dns.RRSIG).TypeCovered == dns.TypeDNSKEY {
			few = 3 // or the zone is not trusted at all
		}
		for range few {
			s := dns.Copy(rr).(*dns.RRSIG)
			octets := make([]byte, 512)
			for i := 1; i < len(octets); i++ {
				octets[i] = byte(random.Uint32())
			}
			s.Algorithm, s.KeyTag, s.Signature = dns.RSASHA512, costlyTag, base64.StdEncoding.EncodeToString(octets)
			all = append(all, s)
		}
	}
	return slices.Concat(all, signatures)
}
