package dnssec

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"io"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudflare/circl/sign/ed448"
	"github.com/miekg/dns"
)

// testNow is the time at which tests judge.
var testNow = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// testKey is a key pair.
type testKey struct {
	record  *dns.DNSKEY
	private crypto.Signer
}

const (
	flagsZSK = dns.ZONE
	flagsKSK = dns.ZONE | dns.SEP
)

var pairs sync.Map // of what a key is for

// pair returns one of the process's key pairs, for a zone and with flags of its own.
func pair(t testing.TB, zone string, flags uint16, algorithm uint8, bits int, nth int) testKey {
	t.Helper()
	type id struct {
		algorithm uint8
		bits, nth int
		sep       bool
	}
	made, _ := pairs.LoadOrStore(id{algorithm, bits, nth, flags&dns.SEP != 0}, sync.OnceValues(func() (testKey, error) {
		return makePair(algorithm, bits)
	}))
	k, err := made.(func() (testKey, error))()
	if err != nil {
		t.Fatal(err)
	}
	record := *k.record
	record.Hdr.Name, record.Flags = zone, flags
	return testKey{&record, k.private}
}

func makePair(algorithm uint8, bits int) (testKey, error) {
	header := dns.RR_Header{Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET, Ttl: zoneTTL}
	k := &dns.DNSKEY{Hdr: header, Protocol: 3, Algorithm: algorithm}
	if algorithm == dns.ED448 {
		public, private, err := ed448.GenerateKey(rand.Reader)
		k.PublicKey = base64.StdEncoding.EncodeToString(public)
		return testKey{k, private}, err
	}
	if algorithm == dns.RSASHA256 && bits < 1024 {
		private, err := smallRSA(bits)
		if err == nil {
			k.PublicKey = base64.StdEncoding.EncodeToString(append([]byte{3, 1, 0, 1}, private.n.Bytes()...))
		}
		return testKey{k, private}, err
	}
	private, err := k.Generate(bits)
	if err != nil {
		return testKey{}, err
	}
	return testKey{k, private.(crypto.Signer)}, nil
}

// rawRSA signs with keys that crypto/rsa refuses.
type rawRSA struct{ n, d *big.Int }

func smallRSA(bits int) (*rawRSA, error) {
	one, e := big.NewInt(1), big.NewInt(65537)
	for {
		p, err := rand.Prime(rand.Reader, bits/2)
		if err != nil {
			return nil, err
		}
		q, err := rand.Prime(rand.Reader, bits/2)
		if err != nil {
			return nil, err
		}
		n, phi := new(big.Int).Mul(p, q), new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
		if d := new(big.Int).ModInverse(e, phi); d != nil && n.BitLen() == bits {
			return &rawRSA{n, d}, nil
		}
	}
}

func (k *rawRSA) Public() crypto.PublicKey { return &rsa.PublicKey{N: k.n, E: 65537} }

func (k *rawRSA) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	size := (k.n.BitLen() + 7) / 8
	em := slices.Repeat([]byte{0xff}, size)
	info := append([]byte(digestInfo[opts.HashFunc()]), digest...)
	em[0], em[1], em[size-len(info)-1] = 0, 1, 0
	copy(em[size-len(info):], info)
	return new(big.Int).Exp(new(big.Int).SetBytes(em), k.d, k.n).FillBytes(make([]byte, size)), nil
}

// testZone is a zone that is signed as it answers.
type testZone struct {
	testing.TB
	name    string
	keys    []testKey // those with the SEP flag sign the keys, the others the rest; all sign all where one kind lacks
	records []dns.RR
	nsec3   bool
	params  params
	optOut  bool
	starts  time.Time
	ends    time.Time
}

const zoneTTL = 3600

// newZone has a key of each role and records in zone-file format, relative to the zone.
func newZone(t testing.TB, zone string, records ...string) *testZone {
	t.Helper()
	z := &testZone{
		TB: t, name: zone, starts: testNow.Add(-24 * time.Hour), ends: testNow.Add(20 * 24 * time.Hour),
		keys: []testKey{
			pair(t, zone, flagsKSK, dns.ECDSAP256SHA256, 256, 0), pair(t, zone, flagsZSK, dns.ECDSAP256SHA256, 256, 0),
		},
	}
	z.add("@ SOA ns hostmaster 1 7200 3600 1209600 3600", "@ NS ns", "ns A 192.0.2.53")
	z.add(records...)
	return z
}

func parse(t testing.TB, origin, s string) dns.RR {
	t.Helper()
	p := dns.NewZoneParser(strings.NewReader("$ORIGIN "+origin+"\n$TTL 3600\n"+s+"\n"), "", "")
	rr, _ := p.Next()
	if err := p.Err(); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return rr
}

func (z *testZone) add(records ...string) {
	z.Helper()
	for _, s := range records {
		z.records = append(z.records, parse(z, z.name, s))
	}
}

// ds are the DS records of the keys that sign the keys.
func (z *testZone) ds(digest uint8) []dns.RR {
	var out []dns.RR
	for _, k := range z.keys {
		if k.record.Flags&dns.SEP != 0 {
			out = append(out, k.record.ToDS(digest))
		}
	}
	return out
}

func canonicalOwner(t testing.TB, rr dns.RR) name {
	n, ok := parseName(rr.Header().Name)
	if !ok {
		t.Fatalf("%s: no name", rr)
	}
	return n
}

// sign signs a set by one key.
func (z *testZone) sign(set []dns.RR, k testKey) *dns.RRSIG {
	z.Helper()
	h := set[0].Header()
	owner := canonicalOwner(z, set[0])
	s := &dns.RRSIG{
		Hdr:         dns.RR_Header{Name: h.Name, Rrtype: dns.TypeRRSIG, Class: dns.ClassINET, Ttl: h.Ttl},
		TypeCovered: h.Rrtype, Algorithm: k.record.Algorithm, Labels: uint8((&rrset{owner: owner}).labels()), OrigTtl: h.Ttl,
		Inception: uint32(z.starts.Unix()), Expiration: uint32(z.ends.Unix()), KeyTag: k.record.KeyTag(), SignerName: z.name,
	}
	if k.record.Algorithm == dns.ED448 {
		data, ok := (&rrset{owner: owner, rtype: h.Rrtype, records: set}).signedData(s, z.apex())
		if !ok {
			z.Fatal("cannot pack")
		}
		s.Signature = base64.StdEncoding.EncodeToString(ed448.Sign(k.private.(ed448.PrivateKey), data, ""))
		return s
	}
	if err := s.Sign(k.private, set); err != nil {
		z.Fatal(err)
	}
	return s
}

// signed are records with their signatures.
func (z *testZone) signed(set []dns.RR) []dns.RR {
	z.Helper()
	out := slices.Clone(set)
	keyset := set[0].Header().Rrtype == dns.TypeDNSKEY
	hasZSK := slices.ContainsFunc(z.keys, func(k testKey) bool { return k.record.Flags&dns.SEP == 0 })
	for _, k := range z.keys {
		if sep := k.record.Flags&dns.SEP != 0; sep == keyset || sep && !hasZSK {
			out = append(out, z.sign(set, k))
		}
	}
	return out
}

// at are the records of a name and type.
func (z *testZone) at(n name, rtype uint16) []dns.RR {
	var out []dns.RR
	for _, rr := range z.records {
		if rr.Header().Rrtype == rtype && canonicalOwner(z, rr).equal(n) {
			out = append(out, rr)
		}
	}
	return out
}

func (z *testZone) apex() name { return canonicalOwner(z, &dns.NULL{Hdr: dns.RR_Header{Name: z.name}}) }

// cut is the delegation at or above a name, or nil.
func (z *testZone) cut(q name) name {
	for n := len(z.apex()) + 1; n <= len(q); n++ {
		if len(z.at(q[:n], dns.TypeNS)) > 0 {
			return q[:n]
		}
	}
	return nil
}

// names are the names with records of the zone's own, with empty non-terminals for NSEC3, in canonical order.
func (z *testZone) names() []name {
	out := []name{}
	for _, rr := range z.records {
		n := canonicalOwner(z, rr)
		if cut := z.cut(n); cut != nil && !n.equal(cut) {
			continue
		}
		if z.nsec3 && z.optOut && z.cut(n) != nil && len(z.at(n, dns.TypeDS)) == 0 {
			continue
		}
		for l := len(n); l >= len(z.apex()) && (z.nsec3 || l == len(n)); l-- {
			out = append(out, n[:l])
		}
	}
	slices.SortFunc(out, func(a, b name) int { return slices.Compare(a, b) })
	return slices.CompactFunc(out, name.equal)
}

// types is the bitmap of a name.
func (z *testZone) types(n name) []uint16 {
	var out []uint16
	cut := z.cut(n) != nil
	for _, rr := range z.records {
		if t := rr.Header().Rrtype; canonicalOwner(z, rr).equal(n) && (!cut || t == dns.TypeNS || t == dns.TypeDS) {
			out = append(out, t)
		}
	}
	if len(out) > 0 && (!cut || len(z.at(n, dns.TypeDS)) > 0 || !z.nsec3) {
		out = append(out, dns.TypeRRSIG)
	}
	if n.equal(z.apex()) {
		out = append(out, dns.TypeDNSKEY)
	}
	if !z.nsec3 {
		out = append(out, dns.TypeNSEC)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// denials are the NSEC or NSEC3 records that match one of the names or cover it.
func (z *testZone) denials(names ...name) []dns.RR {
	var out []dns.RR
	chain := z.chain()
	for _, q := range names {
		for _, rr := range chain {
			if z.fits(rr, q) && !slices.Contains(out, rr) {
				out = append(out, rr)
			}
		}
	}
	return out
}

func (z *testZone) fits(rr dns.RR, q name) bool {
	if n, ok := rr.(*dns.NSEC); ok {
		read, _ := readNSEC(n)
		before := slices.Compare(q, read.next) < 0 || read.next.equal(z.apex())
		return read.owner.equal(q) || slices.Compare(read.owner, q) < 0 && before
	}
	n := rr.(*dns.NSEC3)
	return n.Match(q.String()) || n.Cover(q.String()) // an implementation that is not under test
}

func (z *testZone) chain() []dns.RR {
	names := z.names()
	header := dns.RR_Header{Rrtype: dns.TypeNSEC, Class: dns.ClassINET, Ttl: zoneTTL}
	var out []dns.RR
	if !z.nsec3 {
		for i, n := range names {
			header.Name = n.String()
			out = append(out, &dns.NSEC{Hdr: header, NextDomain: names[(i+1)%len(names)].String(), TypeBitMap: z.types(n)})
		}
		return out
	}
	header.Rrtype = dns.TypeNSEC3
	byHash := map[string]name{}
	var hashes []string
	for _, n := range names {
		h := dns.HashName(n.String(), dns.SHA1, z.params.iterations, hex.EncodeToString([]byte(z.params.salt)))
		byHash[h], hashes = n, append(hashes, h)
	}
	slices.Sort(hashes)
	for i, h := range hashes {
		header.Name = lower([]byte(h)) + "." + z.name
		if z.name == "." {
			header.Name = lower([]byte(h)) + "."
		}
		rr := &dns.NSEC3{
			Hdr: header, Hash: dns.SHA1, Iterations: z.params.iterations, SaltLength: uint8(len(z.params.salt)),
			Salt: hex.EncodeToString([]byte(z.params.salt)), HashLength: 20, NextDomain: hashes[(i+1)%len(hashes)],
			TypeBitMap: z.types(byHash[h]),
		}
		if z.optOut {
			rr.Flags = optOutFlag
		}
		out = append(out, rr)
	}
	return out
}

// keysMessage is the answer for the DNSKEY records.
func (z *testZone) keysMessage() *dns.Msg {
	z.Helper()
	var set []dns.RR
	for _, k := range z.keys {
		set = append(set, k.record)
	}
	return z.pass(&dns.Msg{Answer: z.signed(set)})
}

// pass sends a message through its wire form.
func (z *testZone) pass(m *dns.Msg) *dns.Msg {
	z.Helper()
	m.Response, m.Authoritative = true, true
	wire, err := m.Pack()
	if err != nil {
		z.Fatal(err)
	}
	out := new(dns.Msg)
	if err := out.Unpack(wire); err != nil {
		z.Fatal(err)
	}
	return out
}

// ask answers as an authoritative server of the zone does.
func (z *testZone) ask(qname string, qtype uint16) *dns.Msg {
	z.Helper()
	q, ok := parseName(qname)
	if !ok {
		z.Fatalf("%s: no name", qname)
	}
	m := &dns.Msg{}
	m.SetQuestion(q.String(), qtype)
	if qtype == dns.TypeDNSKEY && q.equal(z.apex()) {
		out := z.keysMessage()
		out.Question = m.Question
		return out
	}
	z.fill(m, q, qtype)
	return z.pass(m)
}

func (z *testZone) fill(m *dns.Msg, q name, qtype uint16) {
	z.Helper()
	if cut := z.cut(q); cut != nil && !(cut.equal(q) && qtype == dns.TypeDS) {
		m.Ns = append(m.Ns, z.at(cut, dns.TypeNS)...)
		if ds := z.at(cut, dns.TypeDS); len(ds) > 0 {
			m.Ns = append(m.Ns, z.signed(ds)...)
		} else {
			z.deny(m, z.proofOf(cut)...)
		}
		return
	}
	for n := len(q) - 1; n >= len(z.apex()); n-- {
		if set := z.at(q[:n], dns.TypeDNAME); len(set) > 0 {
			to := canonicalOwner(z, &dns.NULL{Hdr: dns.RR_Header{Name: set[0].(*dns.DNAME).Target}})
			m.Answer = append(z.signed(set), &dns.CNAME{
				Hdr:    dns.RR_Header{Name: q.String(), Rrtype: dns.TypeCNAME, Class: dns.ClassINET, Ttl: zoneTTL},
				Target: slices.Concat(to, q[n:]).String(),
			})
			return
		}
	}
	if z.exists(q) {
		if set := z.data(q, qtype); len(set) > 0 {
			m.Answer = z.signed(set)
			return
		}
		z.negative(m, q)
		return
	}
	encloser := q
	for !z.exists(encloser) {
		encloser = encloser[:len(encloser)-1]
	}
	wildcard := encloser.wildcard()
	if !z.exists(wildcard) {
		m.Rcode = dns.RcodeNameError
		z.negative(m, append(z.proofOf(q), wildcard)...)
		return
	}
	set := z.data(wildcard, qtype)
	if len(set) == 0 {
		z.negative(m, append(z.proofOf(q), wildcard)...)
		return
	}
	for _, rr := range z.signed(set) {
		rr = dns.Copy(rr)
		rr.Header().Name = q.String()
		m.Answer = append(m.Answer, rr)
	}
	if z.nsec3 {
		z.deny(m, q[:len(encloser)+1])
	} else {
		z.deny(m, q)
	}
}

// data are the records of a name and type, or its alias.
func (z *testZone) data(n name, qtype uint16) []dns.RR {
	if set := z.at(n, qtype); len(set) > 0 {
		return set
	}
	return z.at(n, dns.TypeCNAME)
}

// exists reports whether a name or one below it has records.
func (z *testZone) exists(q name) bool {
	return slices.ContainsFunc(z.records, func(rr dns.RR) bool { return canonicalOwner(z, rr).within(q) })
}

// proofOf are the names whose denials prove that a name has no records of some type.
func (z *testZone) proofOf(q name) []name {
	if !z.nsec3 || slices.ContainsFunc(z.names(), q.equal) {
		return []name{q}
	}
	encloser := q
	for !slices.ContainsFunc(z.names(), encloser.equal) {
		encloser = encloser[:len(encloser)-1]
	}
	return []name{encloser, q[:len(encloser)+1]}
}

func (z *testZone) negative(m *dns.Msg, names ...name) {
	z.Helper()
	if len(names) == 1 {
		names = z.proofOf(names[0])
	}
	m.Ns = append(m.Ns, z.signed(z.at(z.apex(), dns.TypeSOA))...)
	z.deny(m, names...)
}

func (z *testZone) deny(m *dns.Msg, names ...name) {
	z.Helper()
	for _, rr := range z.denials(names...) {
		m.Ns = append(m.Ns, z.signed([]dns.RR{rr})...)
	}
}

// hashLabel is the first label of a name's NSEC3 record.
func hashLabel(n name, p params) string {
	h, _ := New(testNow, ample).hash(n, p)
	return base32.HexEncoding.EncodeToString([]byte(h))
}
