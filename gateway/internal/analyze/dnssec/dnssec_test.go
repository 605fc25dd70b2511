package dnssec

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// The order of RFC 4034 section 6.1.
func TestCanonicalOrder(t *testing.T) {
	t.Parallel()
	want := []string{"example.", "a.example.", "yljkjljk.a.example.", "Z.a.example.", "zABC.a.EXAMPLE.", "z.example.",
		`\001.z.example.`, "*.z.example.", `\200.z.example.`}
	var names []name
	for _, s := range want {
		n, ok := parseName(s)
		if !ok {
			t.Fatalf("%s is no name", s)
		}
		names = append(names, n)
	}
	slices.Reverse(names)
	slices.SortFunc(names, func(a, b name) int { return slices.Compare(a, b) })
	var got []string
	for _, n := range names {
		got = append(got, n.String())
	}
	for i := range want {
		want[i] = strings.ToLower(want[i])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		".": ".", "Example.COM": "example.com.", `\065\.b.Example.`: `a\.b.example.`, `\255.`: `\255.`,
		`a\ b.`: `a\ b.`, strings.Repeat("a.", 127): strings.Repeat("a.", 127),
	} {
		n, ok := parseName(in)
		if !ok || n.String() != want {
			t.Errorf("%s: %s, %v; want %s", in, n, ok, want)
		}
	}
	for _, in := range []string{"", "a..b", ".a", strings.Repeat("a.", 128), strings.Repeat("a", 64) + ".", `a\`} {
		if n, ok := parseName(in); ok {
			t.Errorf("%q is the name %s", in, n)
		}
	}
}

// The hashes of RFC 5155 appendix A.
func TestHash(t *testing.T) {
	t.Parallel()
	p := params{12, "\xaa\xbb\xcc\xdd"}
	for in, want := range map[string]string{
		"example.": "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom", "a.example.": "35mthgpgcu1qg68fab165klnsnk3dpvl",
		"x.y.w.example.": "2vptu5timamqttgl4luu9kg21e0aor3s", "*.w.example.": "r53bq7cc2uvmubfu5ocmm6pers9tk9en",
	} {
		n, _ := parseName(in)
		if got := strings.ToLower(hashLabel(n, p)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	v := New(testNow, affording(0, 1))
	for range 3 {
		if _, ok := v.hash(name{"a"}, p); !ok {
			t.Error("a repeated name has no hash")
		}
	}
	if _, ok := v.hash(name{"b"}, p); ok {
		t.Error("there is no bound")
	}
}

// The signed data is what another implementation signs, for types with and without names.
func TestSignedData(t *testing.T) {
	t.Parallel()
	z := newZone(t, "example.", "@ MX 10 Mail", "@ MX 9 b", "p PTR Www", "r RP A B", `n NAPTR 1 1 "a" "b" "c" D`, "s SRV 1 2 3 D",
		"d DNAME E", "c CNAME F", "k KX 1 G", "a AFSDB 1 H", "t RT 1 I", "x PX 1 J K", `t2 TXT "A" "" "b\"c"`, "h HINFO A B",
		"v SVCB 1 Svc alpn=h2 port=53", "u TYPE65280 \\# 3 010203", "w CAA 0 issue Ca.example", "@ NSEC Www A NS",
		"l LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m", "e A 192.0.2.1", "e AAAA 2001:db8::1", "mi MINFO L M",
		"mb MB N", "mg MG O", "mr MR P", "ds DS 1 8 2 "+strings.Repeat("ab", 32), "ta TLSA 3 1 1 "+strings.Repeat("cd", 32))
	for _, set := range group(z.records) {
		for _, k := range z.keys {
			z.check(set, k)
		}
	}
}

func (z *testZone) check(set *rrset, k testKey) {
	z.Helper()
	s := z.sign(set.records, k)
	data, ok := set.signedData(s, z.apex())
	sig, err := base64.StdEncoding.DecodeString(s.Signature)
	verify, _, _, flaw := readKey(k.record)
	if !ok || err != nil || flaw != "" || !verify(data, sig) {
		z.Errorf("%s: not as another implementation signs it", set.records[0])
	}
	if err := s.Verify(k.record, set.records); err != nil {
		z.Errorf("%s: %v", set.records[0], err)
	}
}

// What zones sign with each algorithm validates, and with a bit changed it does not.
func TestAlgorithms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		algorithm uint8
		bits      int
	}{
		{dns.RSASHA1, 1024}, {dns.RSASHA1NSEC3SHA1, 1024}, {dns.RSASHA256, 512}, {dns.RSASHA256, 1024}, {dns.RSASHA256, 2048},
		{dns.RSASHA512, 1024}, {dns.ECDSAP256SHA256, 256}, {dns.ECDSAP384SHA384, 384}, {dns.ED25519, 256}, {dns.ED448, 456},
	} {
		z, v := keyed(c.algorithm, c.bits)(t), New(testNow, ample)
		a := v.Answer(z.authentic(v), "a.wild.example.", dns.TypeA, z.ask("a.wild.example.", dns.TypeA))
		if a.Status != Secure {
			t.Errorf("%s, %d bits: %s %+v", AlgorithmName(c.algorithm), c.bits, a.Status, a.Reason)
		}
		if got := z.authentic(v).Keys[0].Bits; got != c.bits || !Supported(c.algorithm) {
			t.Errorf("%s has %d bits, want %d", AlgorithmName(c.algorithm), got, c.bits)
		}
		m := z.ask("www.example.", dns.TypeA)
		m.Answer[0] = flip(m.Answer[0], len("\x03www\x07example\x00")+headerSize+3, 0)
		a = v.Answer(z.authentic(v), "www.example.", dns.TypeA, m)
		if a.Status != Bogus || a.Reason.Code != SignatureInvalid {
			t.Errorf("%s, %d bits, changed: %s %+v", AlgorithmName(c.algorithm), c.bits, a.Status, a.Reason)
		}
	}
	for algorithm, want := range map[uint8]string{13: "ECDSAP256SHA256", 17: "SM2SM3", 23: "ECC-GOST12", 200: "200"} {
		if got := AlgorithmName(algorithm); got != want {
			t.Errorf("%d is %s", algorithm, got)
		}
	}
}

func TestKeyFlaws(t *testing.T) {
	t.Parallel()
	rsa := func(e []byte, n ...byte) string {
		return base64.StdEncoding.EncodeToString(slices.Concat([]byte{byte(len(e))}, e, n))
	}
	odd := slices.Repeat([]byte{0xff}, 64)
	for _, c := range []struct {
		algorithm uint8
		key       string
		want      Code
	}{
		{dns.RSASHA256, "", KeyMalformed},
		{dns.RSASHA256, "#", KeyMalformed},
		{dns.RSASHA256, "AAAA", KeyMalformed},
		{dns.RSASHA256, "AP//AQ==", KeyMalformed}, // an exponent longer than the key
		{dns.RSASHA256, rsa([]byte{1}, odd...), KeyMalformed},
		{dns.RSASHA256, rsa([]byte{3}, append(odd, 0)...), KeyMalformed},
		{dns.RSASHA256, rsa([]byte{3}, odd[1:]...), KeyUnusable},
		{dns.RSASHA256, rsa([]byte{3}, odd...), ""},
		{dns.RSASHA256, rsa([]byte{1, 0, 0, 0, 1}, odd...), ""},
		{dns.RSASHA256, rsa(odd[:8], odd...), ""},
		{dns.RSASHA256, rsa(odd[:9], odd...), KeyUnusable},
		{dns.ECDSAP256SHA256, base64.StdEncoding.EncodeToString(odd), KeyMalformed}, // not on the curve
		{dns.ECDSAP384SHA384, base64.StdEncoding.EncodeToString(odd), KeyMalformed},
		{dns.ED25519, base64.StdEncoding.EncodeToString(odd), KeyMalformed},
		{dns.ED448, base64.StdEncoding.EncodeToString(odd), KeyMalformed},
		{dns.DSA, base64.StdEncoding.EncodeToString(odd), AlgorithmUnsupported},
		{dns.RSAMD5, base64.StdEncoding.EncodeToString(odd), AlgorithmUnsupported},
	} {
		verify, _, _, got := readKey(&dns.DNSKEY{Algorithm: c.algorithm, PublicKey: c.key})
		if got != c.want || (verify == nil) != (got != "") {
			t.Errorf("%d %s: %q, want %q", c.algorithm, c.key, got, c.want)
		}
		if verify != nil && (verify(nil, nil) || verify(nil, odd)) {
			t.Errorf("%d %s verifies anything", c.algorithm, c.key)
		}
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	z := example(t)
	roles := func() (out []Role) {
		for _, k := range z.authentic(validator()).Keys {
			out = append(out, k.Role)
		}
		return out
	}
	if got := roles(); !slices.Equal(got, []Role{RoleKSK, RoleZSK}) {
		t.Error(got)
	}
	z.keys = z.keys[:1]
	if got := roles(); !slices.Equal(got, []Role{RoleCSK}) {
		t.Error(got)
	}
}

func TestAnswerDetails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone     func(testing.TB) *testZone
		q        string
		qtype    uint16
		kind     Kind
		wildcard string
		target   string
		denial   *Denial
	}{
		{example, "www.example.", dns.TypeA, KindData, "", "", nil},
		{example, "alias.example.", dns.TypeA, KindAlias, "", "www.example.", nil},
		{example, "a.b.old.example.", dns.TypeA, KindAlias, "", "a.b.new.example.", nil},
		{example, "a.wild.example.", dns.TypeA, KindData, "*.wild.example.", "", &Denial{Kind: KindNSEC}},
		{example, "x.alias2.example.", dns.TypeA, KindAlias, "*.alias2.example.", "www.example.", &Denial{Kind: KindNSEC}},
		{example, "www.example.", dns.TypeMX, KindNoData, "", "", &Denial{Kind: KindNSEC}},
		{example, "ent.example.", dns.TypeMX, KindNoData, "", "", &Denial{Kind: KindNSEC}},
		{example, "a.wild.example.", dns.TypeTXT, KindNoData, "*.wild.example.", "", &Denial{Kind: KindNSEC}},
		{iterated(3), "a.wild.example.", dns.TypeTXT, KindNoData, "*.wild.example.", "", &Denial{Kind: KindNSEC3, Iterations: 3}},
		{optedOut, "nope.example.", dns.TypeTXT, KindNXDomain, "", "", &Denial{Kind: KindNSEC3, OptOut: true}},
		{example3, "nope.example.", dns.TypeTXT, KindNXDomain, "", "", &Denial{Kind: KindNSEC3}},
	} {
		z, v := c.zone(t), validator()
		a := v.Answer(z.authentic(v), c.q, c.qtype, z.ask(c.q, c.qtype))
		if a.Kind != c.kind || a.Wildcard != c.wildcard || a.Target != c.target || !cmp.Equal(a.Denial, c.denial) {
			t.Errorf("%s: %s, wildcard %q, target %q, %+v", c.q, a.Kind, a.Wildcard, a.Target, a.Denial)
		}
	}
}

// A chain of three zones, as the package's comment shows it.
func TestChain(t *testing.T) {
	t.Parallel()
	leaf := newZone(t, "www.example.", "@ A 192.0.2.1")
	middle := newZone(t, "example.", "www NS ns", leaf.ds(dns.SHA256)[0].String())
	root := newZone(t, ".", "example. NS ns.example.", middle.ds(dns.SHA256)[0].String())
	v := validator()
	z := root.authentic(v)
	z = v.Keys(v.Delegation(z, "example.", root.ask("example.", dns.TypeDS)), middle.keysMessage())
	z = v.Keys(v.Delegation(z, "www.example.", middle.ask("www.example.", dns.TypeDS)), leaf.keysMessage())
	if a := v.Answer(z, "www.example.", dns.TypeA, leaf.ask("www.example.", dns.TypeA)); a.Status != Secure {
		t.Errorf("%s: %+v", a.Status, a.Reason)
	}
	if a := v.Answer(z, "nope.www.example.", dns.TypeA, leaf.ask("nope.www.example.", dns.TypeA)); a.Kind != KindNXDomain {
		t.Errorf("%s: %+v", a.Status, a.Reason)
	}
	ends := testNow.Add(480 * time.Hour)
	if s := z.Signatures; len(s) != 1 || !s[0].Valid || s[0].Covers != "DNSKEY" || !s[0].Expiration.Equal(ends) {
		t.Errorf("%+v", s)
	}
	if a := v.Answer(root.authentic(v), "nope.", dns.TypeA, root.ask("nope.", dns.TypeA)); a.Status != Secure {
		t.Errorf("below the root: %s: %+v", a.Status, a.Reason)
	}
}

// A run that repeats an answer spends nothing on it.
func TestRepetitionIsFree(t *testing.T) {
	t.Parallel()
	var spent time.Duration
	z, v := example3(t), New(testNow, func(cost time.Duration) bool {
		spent += cost
		return true
	})
	m, trusted := z.ask("nope.example.", dns.TypeA), z.authentic(v)
	v.Answer(trusted, "nope.example.", dns.TypeA, m)
	before := spent
	v.Answer(trusted, "nope.example.", dns.TypeA, m)
	if spent != before || before == 0 {
		t.Errorf("%v, then %v", before, spent)
	}
}

// Dates wrap (RFC 1982): the nearest of the meanings counts.
func TestDates(t *testing.T) {
	t.Parallel()
	for _, want := range []time.Time{testNow, testNow.AddDate(30, 0, 0), testNow.AddDate(-30, 0, 0)} {
		if got := validator().date(uint32(want.Unix())); !got.Equal(want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestRollover(t *testing.T) {
	t.Parallel()
	z, next := example(t), pair(t, "example.", flagsKSK, dns.ECDSAP256SHA256, 256, 1)
	cds := func(k testKey, digest uint8) dns.RR { return k.record.ToDS(digest).ToCDS() }
	cdnskey := func(k testKey) dns.RR { return k.record.ToCDNSKEY() }
	remove := parse(t, "example.", "@ CDS 0 0 0 00")
	removeKey := parse(t, "example.", "@ CDNSKEY 0 3 0 AA==")
	own := z.keys[0]
	many := slices.Repeat([]dns.RR{cds(own, dns.SHA256)}, maxAsked+1)
	for _, c := range []struct {
		name    string
		records []dns.RR
		want    Rollover
	}{
		{"nothing", nil, RolloverNone},
		{"other types", z.records, RolloverNone},
		{"as published", []dns.RR{cds(own, dns.SHA256), cdnskey(own)}, RolloverDone},
		{"as published, CDS alone", []dns.RR{cds(own, dns.SHA256)}, RolloverDone},
		{"as published, CDNSKEY alone", []dns.RR{cdnskey(own)}, RolloverDone},
		{"another digest", []dns.RR{cds(own, dns.SHA384)}, RolloverPending},
		{"one more", []dns.RR{cds(own, dns.SHA256), cds(next, dns.SHA256)}, RolloverPending},
		{"one more, CDNSKEY", []dns.RR{cdnskey(own), cdnskey(next)}, RolloverPending},
		{"another that is not there", []dns.RR{cds(next, dns.SHA256)}, RolloverUnsafe},
		{"another that is not there, CDNSKEY", []dns.RR{cdnskey(next)}, RolloverUnsafe},
		{"not the same", []dns.RR{cds(own, dns.SHA256), cdnskey(next)}, RolloverInconsistent},
		{"delete", []dns.RR{remove, removeKey}, RolloverDelete},
		{"delete and keep", []dns.RR{remove, cds(own, dns.SHA256)}, RolloverInconsistent},
		{"too many", many, RolloverInconsistent},
	} {
		if got := z.authentic(validator()).Rollover(c.records); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestContradiction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone   func(testing.TB) *testZone
		from   string // a question of type TXT, whose denials are examined
		q      string
		qtype  uint16
		denied bool
	}{
		{example, "www.example.", "www.example.", dns.TypeA, false},
		{example, "alias.example.", "alias.example.", dns.TypeA, false},
		{example, "zz.example.", "zz.example.", dns.TypeA, true},
		{example, "nope.example.", "nope.example.", dns.TypeA, true},
		{example, "nope.example.", "nosuch.example.", dns.TypeA, true},
		{example, "nope.example.", "www.example.", dns.TypeA, false},
		{example, "ent.example.", "ent.example.", dns.TypeA, false},
		{example3, "ent.example.", "ent.example.", dns.TypeA, true}, // NSEC3 has a record for it, without types
		{example3, "zz.example.", "zz.example.", dns.TypeA, true},
		{example3, "zz.example.", "zz.example.", dns.TypeSRV, false},
		{example3, "nope.example.", "nope.example.", dns.TypeA, true},
		{optedOut, "nope.example.", "nope.example.", dns.TypeA, false},
		{iterated(101), "nope.example.", "nope.example.", dns.TypeA, false},
		{example, "nope.example.", "nope.example.net.", dns.TypeA, false},
	} {
		z, v := c.zone(t), validator()
		m := z.ask(c.from, dns.TypeTXT)
		if c.from == "www.example." || c.from == "alias.example." {
			m = &dns.Msg{}
			n, _ := parseName(c.from)
			z.deny(m, n)
		}
		r := v.Contradiction(z.authentic(v), c.q, c.qtype, m)
		if (r != nil) != c.denied || r != nil && (r.Code != DenialContradicts || r.Record == "") {
			t.Errorf("%s for %s: %+v", c.from, c.q, r)
		}
		if rr := Denying(m.Ns, c.q, c.qtype, ample); (rr != nil) != c.denied {
			t.Errorf("%s for %s, not verified: %v", c.from, c.q, rr)
		}
	}
	z, v := example(t), validator()
	m := z.ask("nope.example.", dns.TypeA)
	without(isType(dns.TypeRRSIG))(m)
	if r := v.Contradiction(z.authentic(v), "nope.example.", dns.TypeA, m); r != nil {
		t.Errorf("without signatures: %+v", r)
	}
}
