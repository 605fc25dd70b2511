package dnssec

import (
	"diagnostics/gateway/internal/analyze/weight"

	"encoding/base64"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// judgement is a case: how a verdict comes about, and what it must be.
type judgement struct {
	name     string
	judge    func(t testing.TB) Verdict
	status   Status
	code     Code
	warnings []Code
}

// authentic is a zone judged by trust anchors for its keys.
func (z *testZone) authentic(v *Validator) Zone {
	z.Helper()
	return v.Keys(Trusted(z.name, z.ds(dns.SHA256)), z.keysMessage())
}

type (
	zoneOf    = func(testing.TB) *testZone
	verdictOf = func(testing.TB) Verdict
	edit      = func(*dns.Msg)
)

func validator() *Validator { return New(testNow, ample) }

// ample affords everything.
func ample(time.Duration) bool { return true }

// affording affords so many verifications and hashes, which cost less than any verification.
func affording(verifications, hashes int) Afford {
	return func(cost time.Duration) bool {
		left := &verifications
		if cost < weight.Ed25519.Cost {
			left = &hashes
		}
		*left--
		return *left >= 0
	}
}

// example has one of everything.
func example(t testing.TB) *testZone {
	return newZone(t, "example.",
		"www A 192.0.2.1", "www A 192.0.2.2", "www TXT a b", "alias CNAME www", "out CNAME www.example.net.",
		"*.wild A 192.0.2.3", "*.wild MX 10 Mail.Example.", "*.alias2 CNAME www", "deep.ent TXT x", "old DNAME new",
		"signed NS ns.signed", "signed DS 12345 13 2 "+strings.Repeat("ab", 32), "ns.signed A 192.0.2.9",
		"unsigned NS ns.unsigned", "ns.unsigned A 192.0.2.9", `\009\.x TXT odd`, "zz SRV 0 0 25 WWW")
}

func example3(t testing.TB) *testZone {
	z := example(t)
	z.nsec3 = true
	return z
}

func optedOut(t testing.TB) *testZone {
	z := example3(t)
	z.optOut = true
	return z
}

func iterated(n uint16) zoneOf {
	return func(t testing.TB) *testZone {
		z := example3(t)
		z.params = params{n, "\xaa\xbb"}
		return z
	}
}

// asking judges the answer to a question, changed by edits.
func asking(zone zoneOf, q string, qtype uint16, edits ...edit) verdictOf {
	return func(t testing.TB) Verdict {
		z, v := zone(t), validator()
		m := z.ask(q, qtype)
		for _, edit := range edits {
			edit(m)
		}
		return v.Answer(z.authentic(v), q, qtype, m).Verdict
	}
}

// delegating judges the answer for a child's DS records, changed by edits.
func delegating(zone zoneOf, child string, edits ...edit) verdictOf {
	return func(t testing.TB) Verdict {
		z, v := zone(t), validator()
		m := z.ask(child, dns.TypeDS)
		for _, edit := range edits {
			edit(m)
		}
		return v.Delegation(z.authentic(v), child, m).Verdict
	}
}

// zoned judges the keys of a zone that is changed before it signs; ds may change the DS records.
func zoned(change func(*testZone), ds func(*testZone, []*dns.DS) []*dns.DS, edits ...edit) verdictOf {
	return func(t testing.TB) Verdict {
		z, v := example(t), validator()
		change(z)
		d := Trusted(z.name, z.ds(dns.SHA256))
		d.anchored = false
		if ds != nil {
			d.DS = ds(z, d.DS)
		}
		m := z.keysMessage()
		for _, edit := range edits {
			edit(m)
		}
		return v.Keys(d, m).Verdict
	}
}

func same(*testZone) {}

// without drops the records that match from all sections.
func without(match func(rr dns.RR) bool) edit {
	return func(m *dns.Msg) {
		m.Answer, m.Ns = slices.DeleteFunc(m.Answer, match), slices.DeleteFunc(m.Ns, match)
	}
}

func isType(t uint16) func(dns.RR) bool {
	return func(rr dns.RR) bool { return rr.Header().Rrtype == t }
}

func covering(t uint16) func(dns.RR) bool {
	return func(rr dns.RR) bool {
		s, ok := rr.(*dns.RRSIG)
		return ok && s.TypeCovered == t
	}
}

// without both the records and the signatures of a type.
func stripped(t uint16) edit {
	return without(func(rr dns.RR) bool { return isType(t)(rr) || covering(t)(rr) })
}

// editing changes each signature.
func editing(change func(s *dns.RRSIG)) edit {
	return func(m *dns.Msg) {
		for _, rr := range slices.Concat(m.Answer, m.Ns) {
			if s, ok := rr.(*dns.RRSIG); ok {
				change(s)
			}
		}
	}
}

func rcode(n int) edit { return func(m *dns.Msg) { m.Rcode = n } }

// signedBetween are zones whose signatures have other dates.
func signedBetween(starts, ends time.Duration) zoneOf {
	return func(t testing.TB) *testZone {
		z := example(t)
		z.starts, z.ends = testNow.Add(starts), testNow.Add(ends)
		return z
	}
}

// keyed has keys of one algorithm.
func keyed(algorithm uint8, bits int) zoneOf {
	return func(t testing.TB) *testZone {
		z := example(t)
		z.keys = []testKey{pair(t, z.name, flagsKSK, algorithm, bits, 0), pair(t, z.name, flagsZSK, algorithm, bits, 0)}
		return z
	}
}

// swapDenials gives the denials of one answer in place of those of another.
func swapDenials(zone zoneOf, q string, qtype uint16) func(t testing.TB) edit {
	return func(t testing.TB) edit {
		other := zone(t).ask(q, qtype)
		return func(m *dns.Msg) { m.Ns = other.Ns }
	}
}

// askingWith is asking with the denials of another question.
func askingWith(zone zoneOf, q string, qtype uint16, from string, fromType uint16, edits ...edit) verdictOf {
	return func(t testing.TB) Verdict {
		all := append([]edit{swapDenials(zone, from, fromType)(t)}, edits...)
		return asking(zone, q, qtype, all...)(t)
	}
}

// denying judges an answer that holds only the denials of some names.
func denying(zone zoneOf, q string, code int, names ...string) verdictOf {
	return func(t testing.TB) Verdict {
		z, v, m := zone(t), validator(), new(dns.Msg)
		m.Rcode = code
		for _, s := range names {
			n, _ := parseName(s)
			z.deny(m, n)
		}
		return v.Answer(z.authentic(v), q, dns.TypeA, z.pass(m)).Verdict
	}
}

// child is a signed child of example, whose records its parent's zone does not vouch for.
func child(t testing.TB) *testZone { return newZone(t, "signed.example.", "www A 192.0.2.1") }

var answers = []judgement{
	{"data", asking(example, "www.example.", dns.TypeA), Secure, "", nil},
	{"data of the apex", asking(example, "example.", dns.TypeSOA), Secure, "", nil},
	{"name with escapes", asking(example, `\009\.x.example.`, dns.TypeTXT), Secure, "", nil},
	{"question in another case", asking(example, "WWW.Example.", dns.TypeA), Secure, "", nil},
	{"names in data in another case", asking(example, "zz.example.", dns.TypeSRV), Secure, "", nil},
	{"owner in another case", asking(example, "www.example.", dns.TypeA, func(m *dns.Msg) { m.Answer[0].Header().Name = "wWw.eXample." }), Secure, "", nil},
	{"a record twice", asking(example, "www.example.", dns.TypeA, func(m *dns.Msg) { m.Answer = append(m.Answer, m.Answer[0]) }), Secure, "", nil},
	{"keys of the apex", asking(example, "example.", dns.TypeDNSKEY), Secure, "", nil},
	{"alias", asking(example, "alias.example.", dns.TypeA), Secure, "", nil},
	{"alias out of the zone", asking(example, "out.example.", dns.TypeA), Secure, "", nil},
	{"the alias itself", asking(example, "alias.example.", dns.TypeCNAME), Secure, "", nil},
	{"DNAME", asking(example, "a.b.old.example.", dns.TypeA), Secure, "", nil},
	{"DNAME whose CNAME leads elsewhere", asking(example, "a.old.example.", dns.TypeA, func(m *dns.Msg) {
		for _, rr := range m.Answer {
			if c, ok := rr.(*dns.CNAME); ok {
				c.Target = "a.evil.example."
			}
		}
	}), Bogus, AliasWrong, nil},
	{"CNAME without signature nor DNAME", asking(example, "alias.example.", dns.TypeA, without(covering(dns.TypeCNAME))), Bogus, SignatureMissing, nil},
	{"two aliases", asking(example, "alias.example.", dns.TypeA, func(m *dns.Msg) {
		m.Answer = append(m.Answer, &dns.CNAME{Hdr: *m.Answer[0].Header(), Target: "other."})
	}), Bogus, AliasWrong, nil},
	{"wildcard", asking(example, "a.wild.example.", dns.TypeA), Secure, "", nil},
	{"wildcard, two labels", asking(example, "a.b.wild.example.", dns.TypeMX), Secure, "", nil},
	{"wildcard alias", asking(example, "x.alias2.example.", dns.TypeA), Secure, "", nil},
	{"the wildcard itself", asking(example, "*.wild.example.", dns.TypeA), Secure, "", nil},
	{"wildcard, NSEC3", asking(example3, "a.b.wild.example.", dns.TypeA), Secure, "", nil},
	{"wildcard, opt-out", asking(optedOut, "a.b.wild.example.", dns.TypeA), Insecure, OptOut, nil},
	{"wildcard without proof", asking(example, "a.wild.example.", dns.TypeA, stripped(dns.TypeNSEC)), Bogus, WildcardUnproven, nil},
	{"wildcard without proof, NSEC3", asking(example3, "a.wild.example.", dns.TypeA, stripped(dns.TypeNSEC3)), Bogus, WildcardUnproven, nil},
	{"wildcard alias without proof", asking(example, "x.alias2.example.", dns.TypeA, stripped(dns.TypeNSEC)), Bogus, WildcardUnproven, nil},
	{"wildcard for a name that exists", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		m := z.ask("a.wild.example.", dns.TypeA)
		for _, rr := range m.Answer {
			rr.Header().Name = "deep.wild.example."
		}
		m.Ns = z.ask("nope.example.", dns.TypeA).Ns
		return v.Answer(z.authentic(v), "deep.wild.example.", dns.TypeA, m).Verdict
	}, Bogus, WildcardUnproven, nil},
	{"no such type", asking(example, "www.example.", dns.TypeMX), Secure, "", nil},
	{"no such type at the apex", asking(example, "example.", dns.TypeCAA), Secure, "", nil},
	{"no such type, NSEC3", asking(example3, "www.example.", dns.TypeMX), Secure, "", nil},
	{"no such name", asking(example, "nope.example.", dns.TypeA), Secure, "", nil},
	{"no such name, deep", asking(example, "a.b.c.www.example.", dns.TypeA), Secure, "", nil},
	{"no such name after the last", asking(example, "zzz.example.", dns.TypeA), Secure, "", nil},
	{"no such name, NSEC3", asking(example3, "a.b.nope.example.", dns.TypeA), Secure, "", nil},
	{"no such name, opt-out", asking(optedOut, "nope.example.", dns.TypeA), Insecure, OptOut, nil},
	{"empty non-terminal", asking(example, "ent.example.", dns.TypeA), Secure, "", nil},
	{"empty non-terminal, NSEC3", asking(example3, "ent.example.", dns.TypeA), Secure, "", nil},
	{"empty non-terminal denied by code", asking(example, "ent.example.", dns.TypeA, rcode(dns.RcodeNameError)), Secure, "", []Code{NameExists}},
	{"empty non-terminal denied by code, NSEC3", asking(example3, "ent.example.", dns.TypeA, rcode(dns.RcodeNameError)), Bogus, NameExists, nil},
	{"no such type at a wildcard", asking(example, "a.wild.example.", dns.TypeTXT), Secure, "", nil},
	{"no such type at a wildcard, NSEC3", asking(example3, "a.b.wild.example.", dns.TypeTXT), Secure, "", nil},
	{"no such type at a wildcard, opt-out", asking(optedOut, "a.b.wild.example.", dns.TypeTXT), Insecure, OptOut, nil},
	{"denial below the apex of another's name", asking(example, "nope.example.", dns.TypeA, rcode(dns.RcodeSuccess)), Bogus, NameDenied, nil},
	{"no denial", asking(example, "www.example.", dns.TypeMX, stripped(dns.TypeNSEC)), Bogus, DenialMissing, nil},
	{"empty answer", asking(example, "www.example.", dns.TypeMX, func(m *dns.Msg) { m.Ns = nil }), Bogus, DenialMissing, nil},
	{"denial of another name", askingWith(example, "nope.example.", dns.TypeA, "zzz.example.", dns.TypeA), Bogus, DenialIncomplete, nil},
	{"denial without the wildcard's", asking(example, "nope.example.", dns.TypeA, without(func(rr dns.RR) bool {
		return rr.Header().Name == `\009\.x.example.` && (isType(dns.TypeNSEC)(rr) || covering(dns.TypeNSEC)(rr))
	})), Bogus, DenialIncomplete, nil},
	{"denial of another name, NSEC3", askingWith(example3, "nope.example.", dns.TypeA, "www.example.", dns.TypeMX), Bogus, DenialIncomplete, nil},
	{"denial without a closest encloser", asking(example3, "a.b.nope.example.", dns.TypeA, func(m *dns.Msg) {
		m.Ns = slices.DeleteFunc(m.Ns, func(rr dns.RR) bool {
			return strings.EqualFold(strings.Split(rr.Header().Name, ".")[0], hashLabel(name{"example"}, params{}))
		})
	}), Bogus, DenialIncomplete, nil},
	{"type that exists", askingWith(example, "www.example.", dns.TypeA, "www.example.", dns.TypeMX, func(m *dns.Msg) { m.Answer = nil }), Bogus, TypeExists, nil},
	{"alias that exists", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		m := &dns.Msg{}
		z.negative(m, name{"example", "alias"})
		return v.Answer(z.authentic(v), "alias.example.", dns.TypeA, z.pass(m)).Verdict
	}, Bogus, TypeExists, nil},
	{"type that exists at a wildcard", askingWith(example, "a.wild.example.", dns.TypeA, "a.wild.example.", dns.TypeTXT, func(m *dns.Msg) { m.Answer = nil }), Bogus, TypeExists, nil},
	{"type that exists, NSEC3", askingWith(example3, "www.example.", dns.TypeA, "www.example.", dns.TypeMX, func(m *dns.Msg) { m.Answer = nil }), Bogus, TypeExists, nil},
	{"denial by the parent's side of a cut", denying(example, "signed.example.", dns.RcodeSuccess, "signed.example."), Bogus, DenialWrongSide, nil},
	{"denial below a cut by the parent's side", denying(example, "a.unsigned.example.", dns.RcodeNameError, "unsigned.example.", "*.example."), Bogus, DenialWrongSide, nil},
	{"denial below a DNAME record", denying(example, "a.old.example.", dns.RcodeNameError, "old.example.", "*.example."), Bogus, DenialWrongSide, nil},
	{"denial below a cut, NSEC3", denying(example3, "a.unsigned.example.", dns.RcodeNameError, "unsigned.example.", "a.unsigned.example.", "*.unsigned.example."), Bogus, DenialWrongSide, nil},
	{"iterations", asking(iterated(1), "nope.example.", dns.TypeA), Secure, "", []Code{IterationsNotZero}},
	{"iterations at the bound", asking(iterated(100), "www.example.", dns.TypeMX), Secure, "", []Code{IterationsNotZero}},
	{"iterations above the bound", asking(iterated(101), "nope.example.", dns.TypeA), Insecure, IterationsHigh, nil},
	{"iterations of a wildcard above the bound", asking(iterated(2000), "a.wild.example.", dns.TypeA), Insecure, IterationsHigh, nil},
	{"iterations changed", asking(iterated(1), "nope.example.", dns.TypeA, func(m *dns.Msg) {
		for _, rr := range m.Ns {
			if n, ok := rr.(*dns.NSEC3); ok {
				n.Iterations = 2000
			}
		}
	}), Bogus, SignatureInvalid, nil},
	{"no signature", asking(example, "www.example.", dns.TypeA, without(covering(dns.TypeA))), Bogus, SignatureMissing, nil},
	{"no signature of a denial", asking(example, "www.example.", dns.TypeMX, without(covering(dns.TypeNSEC))), Bogus, SignatureMissing, nil},
	{"signature without records", asking(example, "www.example.", dns.TypeMX, without(isType(dns.TypeSOA))), Bogus, RecordsMissing, nil},
	{"expired", asking(signedBetween(-48*time.Hour, -time.Second), "www.example.", dns.TypeA), Bogus, SignatureExpired, nil},
	{"expires now", asking(signedBetween(-48*time.Hour, 0), "www.example.", dns.TypeA), Secure, "", []Code{SignatureExpiresSoon}},
	{"expires soon", asking(signedBetween(-48*time.Hour, 72*time.Hour-time.Second), "www.example.", dns.TypeA), Secure, "", []Code{SignatureExpiresSoon}},
	{"expires in three days", asking(signedBetween(-48*time.Hour, 72*time.Hour), "www.example.", dns.TypeA), Secure, "", nil},
	{"begins now", asking(signedBetween(0, 480*time.Hour), "www.example.", dns.TypeA), Secure, "", nil},
	{"not yet valid", asking(signedBetween(5*time.Minute, 480*time.Hour), "www.example.", dns.TypeA), Bogus, SignatureNotYetValid, nil},
	{"ends before it begins", asking(signedBetween(time.Hour, -time.Hour), "www.example.", dns.TypeA), Bogus, SignatureExpired, nil},
	{"record changed", asking(example, "www.example.", dns.TypeA, func(m *dns.Msg) { m.Answer[0].(*dns.A).A[3]++ }), Bogus, SignatureInvalid, nil},
	{"signature is no base64", asking(example, "www.example.", dns.TypeA, editing(func(s *dns.RRSIG) { s.Signature = "#" })), Bogus, SignatureInvalid, nil},
	{"signature is short", asking(example, "www.example.", dns.TypeA, editing(func(s *dns.RRSIG) { s.Signature = "AAAA" })), Bogus, SignatureInvalid, nil},
	{"another signer", asking(example, "www.example.", dns.TypeA, editing(func(s *dns.RRSIG) { s.SignerName = "com." })), Bogus, SignerWrong, nil},
	{"unknown key", asking(example, "www.example.", dns.TypeA, editing(func(s *dns.RRSIG) { s.KeyTag++ })), Bogus, SignatureKeyMissing, nil},
	{"too many labels", asking(example, "www.example.", dns.TypeA, editing(func(s *dns.RRSIG) { s.Labels++ })), Bogus, LabelsWrong, nil},
	{"fewer labels than the zone", asking(example, "www.example.", dns.TypeA, editing(func(s *dns.RRSIG) { s.Labels = 0 })), Bogus, LabelsWrong, nil},
	{"one label less", asking(example, "www.example.", dns.TypeA, editing(func(s *dns.RRSIG) { s.Labels-- })), Bogus, SignatureInvalid, nil},
	{"TTL raised", asking(example, "www.example.", dns.TypeA, func(m *dns.Msg) { m.Answer[0].Header().Ttl = 7200 }), Secure, "", []Code{TTLAboveOriginal}},
	{"invalid beside valid", asking(example, "www.example.", dns.TypeA, func(m *dns.Msg) {
		s := dns.Copy(m.Answer[2]).(*dns.RRSIG)
		s.KeyTag++
		m.Answer = append(m.Answer, s)
	}), Secure, "", []Code{SignatureKeyMissing}},
	{"by a key that only others support", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		m := z.ask("www.example.", dns.TypeA)
		gost := *z.keys[1].record
		gost.Algorithm = dns.ECCGOST
		z.keys = append(z.keys[:1:1], testKey{&gost, nil})
		keys := &dns.Msg{Answer: []dns.RR{z.keys[0].record, &gost}}
		keys.Answer = append(keys.Answer, z.sign(keys.Answer, z.keys[0]))
		editing(func(s *dns.RRSIG) { s.Algorithm, s.KeyTag = dns.ECCGOST, gost.KeyTag() })(m)
		return v.Answer(v.Keys(Trusted(z.name, z.ds(dns.SHA256)), keys), "www.example.", dns.TypeA, m).Verdict
	}, Bogus, SignatureUnsupported, nil},
	{"NS records of the apex beside data", asking(example, "www.example.", dns.TypeA, func(m *dns.Msg) {
		header := dns.RR_Header{Name: "example.", Rrtype: dns.TypeNS, Class: dns.ClassINET}
		m.Ns = []dns.RR{&dns.NS{Hdr: header, Ns: "ns.example."}}
	}), Secure, "", []Code{SignatureMissing}},
	{"truncated", asking(example, "www.example.", dns.TypeA, func(m *dns.Msg) { m.Truncated = true }), Indeterminate, Truncated, nil},
	{"server failure", asking(example, "www.example.", dns.TypeA, rcode(dns.RcodeServerFailure)), Indeterminate, NoAnswer, nil},
	{"referral", asking(example, "www.signed.example.", dns.TypeA), Indeterminate, Referral, nil},
	{"out of the zone", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		return v.Answer(z.authentic(v), "www.example.net.", dns.TypeA, new(dns.Msg)).Verdict
	}, Indeterminate, OutOfZone, nil},
	{"no name", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		return v.Answer(z.authentic(v), "a..b", dns.TypeA, new(dns.Msg)).Verdict
	}, Indeterminate, OutOfZone, nil},
	{"any type", asking(example, "www.example.", dns.TypeANY), Indeterminate, TypeNotValidated, nil},
	{"no message", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		return v.Answer(z.authentic(v), "www.example.", dns.TypeA, nil).Verdict
	}, Indeterminate, NoAnswer, nil},
	{"verifications spent", func(t testing.TB) Verdict {
		z, v := example(t), New(testNow, affording(1, 150))
		return v.Answer(z.authentic(v), "www.example.", dns.TypeA, z.ask("www.example.", dns.TypeA)).Verdict
	}, Indeterminate, SignatureBudget, nil},
	{"hashes spent", func(t testing.TB) Verdict {
		z, v := example3(t), New(testNow, affording(512, 3))
		return v.Answer(z.authentic(v), "a.b.nope.example.", dns.TypeA, z.ask("a.b.nope.example.", dns.TypeA)).Verdict
	}, Indeterminate, HashBudget, nil},
}

var keys = []judgement{
	{"DS", zoned(same, nil), Secure, "", nil},
	{"RSA/SHA-256", zoned(func(z *testZone) { z.keys = keyed(dns.RSASHA256, 2048)(z).keys }, nil), Secure, "", nil},
	{"RSA/SHA-512", zoned(func(z *testZone) { z.keys = keyed(dns.RSASHA512, 2048)(z).keys }, nil), Secure, "", nil},
	{"RSA/SHA-1", zoned(func(z *testZone) { z.keys = keyed(dns.RSASHA1, 2048)(z).keys }, nil), Secure, "", []Code{AlgorithmDeprecated}},
	{"RSA of 1,024 bits", zoned(func(z *testZone) { z.keys = keyed(dns.RSASHA256, 1024)(z).keys }, nil), Secure, "", []Code{KeyShort}},
	{"RSA of 512 bits", zoned(func(z *testZone) { z.keys = keyed(dns.RSASHA256, 512)(z).keys }, nil), Secure, "", []Code{KeyShort}},
	{"P-384", zoned(func(z *testZone) { z.keys = keyed(dns.ECDSAP384SHA384, 384)(z).keys }, nil), Secure, "", nil},
	{"Ed25519", zoned(func(z *testZone) { z.keys = keyed(dns.ED25519, 256)(z).keys }, nil), Secure, "", nil},
	{"Ed448", zoned(func(z *testZone) { z.keys = keyed(dns.ED448, 456)(z).keys }, nil), Secure, "", nil},
	{"one key for all", zoned(func(z *testZone) { z.keys = z.keys[:1] }, nil), Secure, "", nil},
	{"SHA-1 digest", zoned(same, func(z *testZone, _ []*dns.DS) []*dns.DS { return Trusted(z.name, z.ds(dns.SHA1)).DS }), Secure, "", []Code{DigestDeprecated}},
	{"SHA-384 digest", zoned(same, func(z *testZone, _ []*dns.DS) []*dns.DS { return Trusted(z.name, z.ds(dns.SHA384)).DS }), Secure, "", nil},
	{"SHA-1 beside a stronger digest", zoned(same, func(z *testZone, ds []*dns.DS) []*dns.DS {
		return append(Trusted(z.name, z.ds(dns.SHA1)).DS, ds...)
	}), Secure, "", []Code{DigestIgnored, DigestDeprecated}},
	{"SHA-1 that matches beside a stronger digest that does not", zoned(same, func(z *testZone, ds []*dns.DS) []*dns.DS {
		ds[0].Digest = strings.Repeat("00", 32)
		return append(Trusted(z.name, z.ds(dns.SHA1)).DS, ds...)
	}), Bogus, DigestMismatch, nil},
	{"digest in upper case", zoned(same, func(_ *testZone, ds []*dns.DS) []*dns.DS {
		ds[0].Digest = strings.ToUpper(ds[0].Digest)
		return ds
	}), Secure, "", nil},
	{"digest that does not match", zoned(same, func(_ *testZone, ds []*dns.DS) []*dns.DS {
		ds[0].Digest = strings.Repeat("00", 32)
		return ds
	}), Bogus, DigestMismatch, nil},
	{"key that is not published", zoned(same, func(_ *testZone, ds []*dns.DS) []*dns.DS {
		ds[0].KeyTag++
		return ds
	}), Bogus, DSKeyMissing, nil},
	{"a second DS without key", zoned(same, func(_ *testZone, ds []*dns.DS) []*dns.DS {
		other := *ds[0]
		other.KeyTag++
		return append(ds, &other)
	}), Secure, "", []Code{DSKeyMissing}},
	{"unsupported algorithm", zoned(same, func(_ *testZone, ds []*dns.DS) []*dns.DS {
		ds[0].Algorithm = dns.ECCGOST
		return ds
	}), Insecure, AlgorithmUnsupported, nil},
	{"unsupported algorithm without answer", zoned(same, func(_ *testZone, ds []*dns.DS) []*dns.DS {
		ds[0].Algorithm = dns.DSA
		return ds
	}, rcode(dns.RcodeServerFailure)), Insecure, AlgorithmUnsupported, nil},
	{"unsupported algorithm beside another", zoned(same, func(_ *testZone, ds []*dns.DS) []*dns.DS {
		other := *ds[0]
		other.Algorithm = 23
		return append(ds, &other)
	}), Secure, "", []Code{AlgorithmUnsupported}},
	{"digest type 3", zoned(same, func(_ *testZone, ds []*dns.DS) []*dns.DS {
		ds[0].DigestType = dns.GOST94
		return ds
	}), Insecure, DigestUnsupported, nil},
	{"digest type 5 is not SHA-512", zoned(same, func(z *testZone, _ []*dns.DS) []*dns.DS { return Trusted(z.name, z.ds(dns.SHA512)).DS }), Insecure, DigestUnsupported, nil},
	{"no keys", zoned(same, nil, func(m *dns.Msg) { m.Answer = nil }), Bogus, KeysMissing, nil},
	{"no answer", zoned(same, nil, rcode(dns.RcodeRefused)), Indeterminate, NoAnswer, nil},
	{"truncated", zoned(same, nil, func(m *dns.Msg) { m.Truncated = true }), Indeterminate, Truncated, nil},
	{"keys without signature", zoned(same, nil, without(isType(dns.TypeRRSIG))), Bogus, SignatureMissing, nil},
	{"keys signed by the other key alone", zoned(func(z *testZone) {
		z.keys[0].record.Flags, z.keys[1].record.Flags = flagsZSK, flagsKSK
	}, func(z *testZone, _ []*dns.DS) []*dns.DS {
		return []*dns.DS{z.keys[0].record.ToDS(dns.SHA256)}
	}), Bogus, KeysUnsigned, nil},
	{"keys signed by both", zoned(func(z *testZone) { z.keys[1].record.Flags = flagsKSK }, func(z *testZone, ds []*dns.DS) []*dns.DS { return ds[:1] }), Secure, "", nil},
	{"expired", zoned(func(z *testZone) { z.ends = testNow.Add(-72 * time.Hour) }, nil), Bogus, SignatureExpired, nil},
	{"revoked", zoned(func(z *testZone) { z.keys[0].record.Flags |= dns.REVOKE }, func(z *testZone, ds []*dns.DS) []*dns.DS {
		before := *z.keys[0].record
		before.Flags &^= dns.REVOKE
		return []*dns.DS{before.ToDS(dns.SHA256)}
	}), Bogus, KeyRevoked, nil},
	{"DS of a revoked key", zoned(func(z *testZone) { z.keys[0].record.Flags |= dns.REVOKE }, nil), Bogus, KeyRevoked, nil},
	{"a revoked key beside others", zoned(func(z *testZone) {
		z.keys = append(z.keys, pair(z, z.name, flagsKSK|dns.REVOKE, dns.ECDSAP256SHA256, 256, 1))
	}, func(z *testZone, ds []*dns.DS) []*dns.DS { return ds[:1] }), Secure, "", []Code{KeyRevoked}},
	{"no zone key", zoned(func(z *testZone) { z.keys[0].record.Flags = dns.SEP }, nil), Bogus, KeyNotZone, nil},
	{"another protocol", zoned(func(z *testZone) { z.keys[0].record.Protocol = 2 }, nil), Bogus, KeyNotZone, nil},
	{"malformed key", zoned(func(z *testZone) { z.keys[0].record.PublicKey = "AQAB" }, nil), Bogus, KeyMalformed, nil},
	{"key beyond the limits", zoned(func(z *testZone) {
		long := slices.Concat([]byte{3, 1, 0, 1}, slices.Repeat([]byte{0xff}, 1024))
		z.keys[0].record.PublicKey, z.keys[0].record.Algorithm = base64.StdEncoding.EncodeToString(long), dns.RSASHA256
		z.keys[0].private = &rawRSA{n: big.NewInt(0).Lsh(big.NewInt(1), 8191), d: big.NewInt(1)}
	}, nil), Indeterminate, KeyUnusable, nil},
	{"algorithm of a DS record that does not sign", zoned(func(z *testZone) {
		z.keys = append(z.keys, pair(z, z.name, flagsZSK, dns.ED25519, 256, 0))
	}, func(z *testZone, ds []*dns.DS) []*dns.DS {
		return append(ds, z.keys[2].record.ToDS(dns.SHA256))
	}), Secure, "", []Code{AlgorithmUnsigned}},
	{"anchor", func(t testing.TB) Verdict { return example(t).authentic(validator()).Verdict }, Secure, "", nil},
	{"anchor as DNSKEY", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		return v.Keys(Trusted(z.name, []dns.RR{z.keys[0].record}), z.keysMessage()).Verdict
	}, Secure, "", nil},
	{"two anchors, one of them in use", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		next := pair(t, z.name, flagsKSK, dns.RSASHA256, 2048, 0)
		return v.Keys(Trusted(z.name, append(z.ds(dns.SHA256), next.record.ToDS(dns.SHA256))), z.keysMessage()).Verdict
	}, Secure, "", []Code{DSKeyMissing}},
	{"no anchor in use", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		next := pair(t, z.name, flagsKSK, dns.RSASHA256, 2048, 0)
		return v.Keys(Trusted(z.name, []dns.RR{next.record.ToDS(dns.SHA256)}), z.keysMessage()).Verdict
	}, Indeterminate, AnchorUnmatched, nil},
	{"anchor of another zone", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		return v.Keys(Trusted("com.", z.ds(dns.SHA256)), z.keysMessage()).Verdict
	}, Indeterminate, AnchorUnmatched, nil},
	{"no anchors", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		return v.Keys(Trusted(z.name, nil), z.keysMessage()).Verdict
	}, Indeterminate, AnchorUnmatched, nil},
	{"colliding keys", func(t testing.TB) Verdict { // of one tag: the signature is tried by few of them
		z, v := example(t), validator()
		m := z.keysMessage()
		for range 100 {
			m.Answer = append(m.Answer, z.keys[0].record)
		}
		m.Answer[2].(*dns.RRSIG).Signature = "AAAA"
		verdict := v.Keys(Trusted(z.name, z.ds(dns.SHA256)), m).Verdict
		if spent := len(v.verified); spent > maxColliding {
			t.Errorf("%d verifications", spent)
		}
		return verdict
	}, Indeterminate, SignatureBudget, nil},
	{"DS record of colliding keys", zoned(same, func(_ *testZone, ds []*dns.DS) []*dns.DS {
		ds[0].Digest = strings.Repeat("00", 32)
		return ds
	}, func(m *dns.Msg) {
		for range maxColliding {
			m.Answer = append(m.Answer, m.Answer[0])
		}
	}), Indeterminate, SignatureBudget, nil},
	{"too many signatures", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		m := z.keysMessage()
		valid := m.Answer[2]
		for i := range 40 {
			s := dns.Copy(valid).(*dns.RRSIG)
			s.Signature = base64.StdEncoding.EncodeToString(slices.Repeat([]byte{byte(i + 1)}, 64))
			m.Answer[2] = s
			m.Answer = append(m.Answer, s)
		}
		m.Answer = append(m.Answer, valid)
		verdict := v.Keys(Trusted(z.name, z.ds(dns.SHA256)), m).Verdict
		if spent := len(v.verified); spent > maxAttempts {
			t.Errorf("%d verifications", spent)
		}
		return verdict
	}, Indeterminate, SignatureBudget, nil},
}

var delegations = []judgement{
	{"signed", delegating(example, "signed.example."), Secure, "", nil},
	{"signed, by a referral", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		return v.Delegation(z.authentic(v), "signed.example.", z.ask("www.signed.example.", dns.TypeA)).Verdict
	}, Secure, "", nil},
	{"unsigned", delegating(example, "unsigned.example."), Insecure, NoDS, nil},
	{"unsigned, by a referral", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		return v.Delegation(z.authentic(v), "unsigned.example.", z.ask("www.unsigned.example.", dns.TypeA)).Verdict
	}, Insecure, NoDS, nil},
	{"unsigned, NSEC3", delegating(example3, "unsigned.example."), Insecure, NoDS, nil},
	{"unsigned, opt-out", delegating(optedOut, "unsigned.example."), Insecure, OptOut, nil},
	{"unsigned, iterations above the bound", delegating(iterated(150), "unsigned.example."), Insecure, IterationsHigh, nil},
	{"unsigned, iterations", delegating(iterated(10), "unsigned.example."), Insecure, NoDS, []Code{IterationsNotZero}},
	{"not delegated", delegating(example, "www.example."), Bogus, NotDelegated, nil},
	{"not delegated, NSEC3", delegating(example3, "www.example."), Bogus, NotDelegated, nil},
	{"no such name", delegating(example, "nope.example."), Bogus, NotDelegated, nil},
	{"no such name, NSEC3", delegating(example3, "nope.example."), Bogus, NotDelegated, nil},
	{"no proof", delegating(example, "unsigned.example.", stripped(dns.TypeNSEC)), Bogus, DenialMissing, nil},
	{"DS records taken away", func(t testing.TB) Verdict {
		z, v, m := example(t), validator(), new(dns.Msg)
		z.negative(m, name{"example", "signed"})
		return v.Delegation(z.authentic(v), "signed.example.", z.pass(m)).Verdict
	}, Bogus, TypeExists, nil},
	{"proof from the child", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		z.add("other SOA . . 1 2 3 4 5", "other NS ns")
		m := new(dns.Msg)
		for _, rr := range z.chain() {
			n := rr.(*dns.NSEC)
			if n.Hdr.Name == "other.example." {
				n.TypeBitMap = []uint16{dns.TypeNS, dns.TypeSOA}
				m.Ns = z.signed([]dns.RR{n})
			}
		}
		return v.Delegation(z.authentic(v), "other.example.", z.pass(m)).Verdict
	}, Bogus, DenialWrongSide, nil},
	{"DS records without signature", delegating(example, "signed.example.", without(isType(dns.TypeRRSIG))), Bogus, SignatureMissing, nil},
	{"DS records changed", delegating(example, "signed.example.", func(m *dns.Msg) { m.Answer[0].(*dns.DS).KeyTag++ }), Bogus, SignatureInvalid, nil},
	{"DS records from a wildcard", func(t testing.TB) Verdict {
		z, v := newZone(t, "example.", "*.w DS 12345 13 2 "+strings.Repeat("ab", 32)), validator()
		return v.Delegation(z.authentic(v), "a.w.example.", z.ask("a.w.example.", dns.TypeDS)).Verdict
	}, Bogus, LabelsWrong, nil},
	{"signed by the child", func(t testing.TB) Verdict {
		z, c, v := example(t), child(t), validator()
		m := z.ask("signed.example.", dns.TypeDS)
		m.Answer = append(m.Answer[:1:1], c.sign(m.Answer[:1], c.keys[0]))
		return v.Delegation(z.authentic(v), "signed.example.", m).Verdict
	}, Bogus, SignerWrong, nil},
	{"not below the zone", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		return v.Delegation(z.authentic(v), "example.", z.ask("example.", dns.TypeDS)).Verdict
	}, Indeterminate, OutOfZone, nil},
	{"refused", delegating(example, "signed.example.", rcode(dns.RcodeRefused)), Indeterminate, NoAnswer, nil},
	{"below an unsigned zone", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		d := v.Delegation(z.authentic(v), "unsigned.example.", z.ask("unsigned.example.", dns.TypeDS))
		u := v.Keys(d, new(dns.Msg))
		return v.Delegation(u, "a.unsigned.example.", new(dns.Msg)).Verdict
	}, Insecure, NoDS, nil},
	{"answer below an unsigned zone", func(t testing.TB) Verdict {
		z, v := example(t), validator()
		d := v.Delegation(z.authentic(v), "unsigned.example.", z.ask("unsigned.example.", dns.TypeDS))
		return v.Answer(v.Keys(d, nil), "a.unsigned.example.", dns.TypeA, new(dns.Msg)).Verdict
	}, Insecure, NoDS, nil},
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	for group, cases := range map[string][]judgement{"answers": answers, "keys": keys, "delegations": delegations} {
		for _, c := range cases {
			t.Run(group+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				c.check(t, c.judge(t))
			})
		}
	}
}

func (c judgement) check(t *testing.T, v Verdict) {
	t.Helper()
	code := Code("")
	if v.Reason != nil {
		code = v.Reason.Code
	}
	if v.Status != c.status || code != c.code || (v.Reason == nil) != (v.Status == Secure) {
		t.Fatalf("%s, %+v; want %s, %s", v.Status, v.Reason, c.status, c.code)
	}
	var warnings []Code
	for _, w := range v.Warnings {
		warnings = append(warnings, w.Code)
	}
	if c.warnings != nil || c.status == Secure {
		slices.Sort(warnings)
		want := slices.Sorted(slices.Values(c.warnings))
		if !slices.Equal(slices.Compact(warnings), want) {
			t.Errorf("warnings %v, want %v", warnings, want)
		}
	}
}

// Each code is a reason or a warning of some case.
func TestEveryCodeIsReached(t *testing.T) {
	t.Parallel()
	reached := map[Code]bool{DenialContradicts: true} // in TestContradiction
	for _, c := range slices.Concat(answers, keys, delegations) {
		reached[c.code] = true
		for _, w := range c.warnings {
			reached[w] = true
		}
	}
	for code := range statuses {
		if !reached[code] {
			t.Errorf("no case reaches %s", code)
		}
	}
}
