package lab

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"diagnostics/lab/internal/authority"

	"github.com/miekg/dns"
)

// The states of DNSSEC (RFC 4035 section 4.3).
const (
	Secure   = "secure"
	Insecure = "insecure"
	Bogus    = "bogus"
)

// SignedZone is a zone that is signed well or in one wrong way, and what a validator says of one question.
type SignedZone struct {
	label, Truth, Note string
	name               string // to ask for, below the domain; empty is the domain itself
	Type               uint16 // A where 0
	// Differs says why a validating resolver need not come to the truth, where that is so.
	Differs string

	unsigned  bool
	algorithm uint8 // Ed25519 where 0
	bits      int
	nsec3     *authority.NSEC3
	records   string // beside an address and a text, as for Delegation
	child     bool   // an unsigned zone below it
	networks  []int  // of its two servers
	host      int    // of them in both networks
	sign      func(*authority.Signing)
	signed    func(*authority.Zone)                // changes the signed zone
	second    func(*authority.Zone)                // changes what the second server has alone
	silent    bool                                 // the second server is, for this zone
	ds        func(keys []authority.Key) []*dns.DS // of the first key where nil
}

// Domain is the domain of a signed zone.
func (s SignedZone) Domain() string { return "lab-sec-" + s.label + ".com" }

// Input is the name to ask for.
func (s SignedZone) Input() string { return s.name + s.Domain() }

// SignedZones are the table of signed zones.
func SignedZones() []SignedZone { return slices.Clone(signedZones) }

const (
	unassigned = 200 // as the number of an algorithm and of a digest type
	gost       = 12
	dsa        = 3
)

var signedZones = []SignedZone{
	{label: "good", Truth: Secure, Note: "Ed25519, NSEC"},
	{label: "nodata", Truth: Secure, Note: "NSEC denies a type", Type: dns.TypeMX},
	{label: "nxdomain", Truth: Secure, Note: "NSEC denies a name", name: "missing."},
	{label: "empty", Truth: Secure, Note: "NSEC denies the type of an empty name", name: "b.",
		records: "a.b.DOMAIN. IN A 11.80.0.1"},
	{label: "nsec3", Truth: Secure, Note: "NSEC3 denies a type", Type: dns.TypeMX, nsec3: &authority.NSEC3{}},
	{label: "nsec3-nx", Truth: Secure, Note: "NSEC3 denies a name", name: "a.missing.", nsec3: &authority.NSEC3{}},
	{label: "nsec3-10", Truth: Secure, Note: "NSEC3 with 10 iterations denies a type", Type: dns.TypeMX,
		nsec3: &authority.NSEC3{Iterations: 10}},
	{label: "ecdsa256", Truth: Secure, Note: "ECDSA P-256", algorithm: dns.ECDSAP256SHA256, bits: 256},
	{label: "ecdsa384", Truth: Secure, Note: "ECDSA P-384", algorithm: dns.ECDSAP384SHA384, bits: 384},
	{label: "ed448", Truth: Secure, Note: "Ed448", algorithm: dns.ED448},
	{label: "rsa2048", Truth: Secure, Note: "RSA-2048 with SHA-256", algorithm: dns.RSASHA256, bits: 2048},
	{label: "rsa1024", Truth: Secure, Note: "RSA-1024 with SHA-256", algorithm: dns.RSASHA256, bits: 1024},
	{label: "rsasha512", Truth: Secure, Note: "RSA-1024 with SHA-512", algorithm: dns.RSASHA512, bits: 1024},
	{label: "rsasha1", Truth: Secure, Note: "RSA-1024 with SHA-1", algorithm: dns.RSASHA1, bits: 1024},
	{label: "wildcard", Truth: Secure, Note: "a wildcard with its proof", name: "any.",
		records: "*.DOMAIN. IN A 11.80.0.1"},
	{label: "wildcard3", Truth: Secure, Note: "a wildcard with its proof in NSEC3", name: "any.",
		nsec3:   &authority.NSEC3{},
		records: "*.DOMAIN. IN A 11.80.0.1"},
	{label: "wildnodata", Truth: Secure, Note: "a wildcard without the type", name: "any.", Type: dns.TypeMX,
		records: "*.DOMAIN. IN A 11.80.0.1"},
	{label: "alias", Truth: Secure, Note: "an alias", name: "www.", records: "www.DOMAIN. IN CNAME DOMAIN."},
	{label: "csk", Truth: Secure, Note: "one key for all", sign: func(s *authority.Signing) { s.Keys = s.Keys[:1] }},
	{label: "standby", Truth: Secure, Note: "a second DS record, of no key", ds: withOther(dns.SHA256)},
	{label: "sha384", Truth: Secure, Note: "a DS record with SHA-384", ds: digests(dns.SHA384)},
	{label: "sha1ds", Truth: Secure, Note: "a DS record with SHA-1 alone", ds: digests(dns.SHA1)},
	{label: "twods", Truth: Secure, Note: "DS records with SHA-256 and an unassigned digest type",
		ds: digests(dns.SHA256, unassigned)},
	{label: "cds", Truth: Secure, Note: "CDS announces a rollover",
		records: "DOMAIN. IN CDS 4711 15 2 " + strings.Repeat("5a", 32)},
	{label: "issue", Truth: Secure, Note: "CAA and TLSA records", records: issueRecords},
	{label: "revoking", Truth: Secure, Note: "a revoked key beside a valid one", sign: addRevoked},
	{label: "soon", Truth: Secure, Note: "signatures that end within two days",
		sign: func(s *authority.Signing) { s.Until = time.Now().Add(48 * time.Hour) }},
	{label: "denied", Truth: Secure, Note: "NSEC at the apex denies that there are names", signed: denyAll},
	{label: "spare", Truth: Secure, Note: "a broken signature beside a good one", signed: addBroken},
	{label: "onebare", Truth: Secure, Note: "one of two servers has no signatures", second: stripped,
		Differs: "resolvers query the other server then"},

	{label: "unsigned", Truth: Insecure, Note: "not signed", unsigned: true},
	{label: "issueplain", Truth: Insecure, Note: "CAA and TLSA records, not signed", unsigned: true,
		records: issueRecords},
	{label: "island", Truth: Insecure, Note: "signed without a DS record", ds: digests()},
	{label: "algorithm", Truth: Insecure, Note: "an unassigned algorithm", algorithm: unassigned},
	{label: "gost", Truth: Insecure, Note: "GOST, which validators do not support", algorithm: gost},
	{label: "dsa", Truth: Insecure, Note: "DSA, which validators do not support", algorithm: dsa},
	{label: "digest", Truth: Insecure, Note: "a DS record with an unassigned digest type", ds: digests(unassigned)},
	{label: "nsec3-150", Truth: Insecure, Note: "NSEC3 with 150 iterations denies a type (RFC 9276)", Type: dns.TypeMX,
		nsec3: &authority.NSEC3{Iterations: 150}},
	{label: "optout", Truth: Insecure, Note: "an unsigned zone below an opt-out", name: "child.", child: true,
		nsec3: &authority.NSEC3{OptOut: true}},
	{label: "child", Truth: Insecure, Note: "an unsigned zone below a signed one", name: "child.", child: true},

	{label: "nokey", Truth: Bogus, Note: "a DS record of no key", ds: other},
	{label: "halfsilent", Truth: Bogus, Note: "a DS record of no key, and one of two servers is silent", ds: other,
		silent: true, Differs: "it queries the silent server again and again, and gives no answer in 20 s"},
	{label: "wrongdigest", Truth: Bogus, Note: "a DS record with a wrong digest", ds: wrongDigest},
	{label: "dsalgorithm", Truth: Bogus, Note: "a DS record with another algorithm", ds: wrongAlgorithm},
	{label: "stripped", Truth: Bogus, Note: "a DS record of a zone that is not signed", signed: stripped},
	{label: "expired", Truth: Bogus, Note: "signatures that expired three days ago", sign: until(-72 * time.Hour)},
	{label: "future", Truth: Bogus, Note: "signatures that are not valid yet",
		sign: func(s *authority.Signing) { s.From = time.Now().Add(72 * time.Hour) }},
	{label: "skewed", Truth: Bogus, Note: "signatures that expired five minutes ago", sign: until(-5 * time.Minute),
		Differs: "resolvers allow for an hour of clock skew, or a tenth of the validity"},
	{label: "unsignedset", Truth: Bogus, Note: "no signature of the address", signed: unsignedAddress},
	{label: "signer", Truth: Bogus, Note: "a signature by another zone's name",
		sign: func(s *authority.Signing) { s.Signer = "lab-sec-good.com." }},
	{label: "corrupt", Truth: Bogus, Note: "a signature with one bit changed", signed: corrupt},
	{label: "changed", Truth: Bogus, Note: "an address that was changed after it was signed", signed: changeAddress},
	{label: "labels", Truth: Bogus, Note: "a signature with a wrong number of labels", signed: wrongLabels},
	{label: "keyset", Truth: Bogus, Note: "the key set is not signed by the key of the DS record",
		signed: func(z *authority.Zone) { dropSignatures(z, z.Origin, dns.TypeDNSKEY) }},
	{label: "notzone", Truth: Bogus, Note: "a key without the zone flag", sign: notZoneKeys},
	{label: "revoked", Truth: Bogus, Note: "the key of the DS record is revoked", sign: revokeFirst,
		Differs: "unbound heeds the flag (RFC 5011) at trust anchors alone"},
	{label: "gap", Truth: Bogus, Note: "a name without the NSEC record that denies it", name: "missing.",
		signed: dropDenials},
	{label: "gap3", Truth: Bogus, Note: "a name without the NSEC3 records that deny it", name: "missing.",
		nsec3: &authority.NSEC3{}, signed: dropDenials},
	{label: "noproof", Truth: Bogus, Note: "a type without the NSEC record that denies it", Type: dns.TypeMX,
		signed: dropDenials},
	{label: "wildgap", Truth: Bogus, Note: "a wildcard without the proof that the name is not there", name: "any.",
		records: "*.DOMAIN. IN A 11.80.0.1", signed: dropDenials},
	{label: "lying", Truth: Bogus, Note: "NSEC proves that the denied type is there", Type: dns.TypeTXT,
		signed: func(z *authority.Zone) { delete(z.Records[z.Origin], dns.TypeTXT) }},
}

// issueRecords are of a domain that an authority may issue for, and whose server shows another key.
var issueRecords = "DOMAIN. IN CAA 0 issue \"letsencrypt.org\"\n" +
	"_443._tcp.DOMAIN. IN TLSA 3 1 1 " + strings.Repeat("5A", 32)

// publishSigned makes the zones of the table, all at the same two addresses.
func (a *authorities) publishSigned() error {
	var zones [2][]*authority.Zone
	hush := func(s authority.Server) authority.Server { return s }
	for _, s := range signedZones {
		s.networks, s.host = []int{signedNetwork, secondSignedNetwork}, 1
		z, ds, err := s.make()
		if err != nil {
			return fmt.Errorf("%s: %w", s.label, err)
		}
		a.delegate(s.Domain(), s.delegation(ds)...)
		zones[0] = append(zones[0], z)
		if s.second != nil {
			z = z.Clone()
			s.second(z)
		}
		zones[1] = append(zones[1], z)
		if s.silent {
			hush = authority.Below(z.Origin, authority.Silent)
		}
		if s.child {
			below, err := authority.Parse("child."+s.Domain()+".", zoneText("child."+s.Domain(), s.Domain()))
			if err != nil {
				return err
			}
			zones[0], zones[1] = append(zones[0], below), append(zones[1], below)
		}
	}
	a.at(signedNetwork, 1, authority.Serving(zones[0]...))
	a.at(secondSignedNetwork, 1, hush(authority.Serving(zones[1]...)))
	return nil
}

// delegation is what the parent has of a zone.
func (s SignedZone) delegation(ds []*dns.DS) []string {
	lines := append(s.hosts(), fmt.Sprintf("%[1]s. IN NS ns1.%[1]s.", s.Domain()),
		fmt.Sprintf("%[1]s. IN NS ns2.%[1]s.", s.Domain()))
	for _, rr := range ds {
		lines = append(lines, rr.String())
	}
	return lines
}

// hosts are the addresses of the two servers.
func (s SignedZone) hosts() (lines []string) {
	for i, network := range s.networks {
		v4, v6 := nameServer(network, s.host)
		lines = append(lines, addressRecords(fmt.Sprintf("ns%d.%s", i+1, s.Domain()), v4, v6)...)
	}
	return lines
}

// zoneText is a zone whose servers are named below a domain.
func zoneText(zone, domain string) string {
	return fmt.Sprintf("%[1]s. IN SOA ns1.%[2]s. hostmaster.%[2]s. %[3]s\n%[1]s. IN NS ns1.%[2]s.\n"+
		"%[1]s. IN NS ns2.%[2]s.\n%[1]s. IN A 11.80.0.1\n%[1]s. IN TXT text\n", zone, domain, usualSOA)
}

// make is the zone and the DS records at its parent.
func (s SignedZone) make() (*authority.Zone, []*dns.DS, error) {
	text := zoneText(s.Domain(), s.Domain()) + strings.ReplaceAll(s.records, "DOMAIN", s.Domain()) + "\n"
	if s.child {
		text += fmt.Sprintf("child.%[1]s. IN NS ns1.%[1]s.\nchild.%[1]s. IN NS ns2.%[1]s.\n", s.Domain())
	}
	z, err := authority.Parse(s.Domain()+".", text+strings.Join(s.hosts(), "\n"))
	if err != nil || s.unsigned {
		return z, nil, err
	}
	algorithm := s.algorithm
	if algorithm == 0 {
		algorithm = dns.ED25519
	}
	signing := authority.Signing{NSEC3: s.nsec3}
	if signing.Keys, err = keyPair(z.Origin, algorithm, s.bits); err != nil {
		return nil, nil, err
	}
	if s.sign != nil {
		s.sign(&signing)
	}
	if err := z.Sign(signing); err != nil {
		return nil, nil, err
	}
	if s.signed != nil {
		s.signed(z)
	}
	if s.ds == nil {
		s.ds = digests(dns.SHA256)
	}
	return z, s.ds(signing.Keys), nil
}
