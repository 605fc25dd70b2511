package dnssec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/miekg/dns"
	"pgregory.net/rapid"
)

// question is one to the zone example, whose answer is secure.
type question struct {
	q     string
	qtype uint16
}

var questions = []question{
	{"www.example.", dns.TypeA}, {"www.example.", dns.TypeTXT}, {"example.", dns.TypeSOA}, {"example.", dns.TypeNS},
	{"alias.example.", dns.TypeA}, {"out.example.", dns.TypeA}, {"zz.example.", dns.TypeSRV}, {"a.old.example.", dns.TypeA},
	{"a.b.wild.example.", dns.TypeA}, {"a.wild.example.", dns.TypeMX}, {"x.alias2.example.", dns.TypeA},
	{"www.example.", dns.TypeMX}, {"ent.example.", dns.TypeA}, {"a.wild.example.", dns.TypeTXT},
	{"nope.example.", dns.TypeA}, {"a.b.c.nope.example.", dns.TypeA}, {"a.www.example.", dns.TypeA},
}

// secure reports whether an answer is secure. An alias is where it leads to a name that is not the expected one.
func secure(v *Validator, z Zone, q question, m *dns.Msg, target string) bool {
	a := v.Answer(z, q.q, q.qtype, m)
	return a.Status == Secure && (a.Target == "" || a.Target == target)
}

// eachZone runs a test for a zone with each kind of denial and, of each question, the genuine answer.
func eachZone(t *testing.T, run func(t *testing.T, v *Validator, z Zone, q question, m *dns.Msg, target string)) {
	for kind, zone := range map[string]zoneOf{"NSEC": example, "NSEC3": example3, "salted": iterated(3)} {
		for _, q := range questions {
			t.Run(fmt.Sprintf("%s/%s/%s", kind, q.q, dns.Type(q.qtype)), func(t *testing.T) {
				t.Parallel()
				signer, v := zone(t), New(testNow, ample)
				z, m := signer.authentic(v), signer.ask(q.q, q.qtype)
				a := v.Answer(z, q.q, q.qtype, m)
				if a.Status != Secure {
					t.Fatalf("the genuine answer is %s", a.Status)
				}
				run(t, v, z, q, m, a.Target)
			})
		}
	}
}

// An answer that lacks a record is never secure.
func TestAnyRecordDropped(t *testing.T) {
	t.Parallel()
	eachZone(t, func(t *testing.T, v *Validator, z Zone, q question, m *dns.Msg, target string) {
		for i := range len(m.Answer) + len(m.Ns) {
			less := m.Copy()
			if i < len(m.Answer) {
				less.Answer = slices.Delete(less.Answer, i, i+1)
			} else {
				less.Ns = slices.Delete(less.Ns, i-len(m.Answer), i-len(m.Answer)+1)
			}
			if secure(v, z, q, less, target) {
				t.Errorf("secure without record %d of\n%s", i, m)
			}
		}
	})
}

// An answer with one record in place of another is never secure, be the other of the same answer or of another.
func TestAnyRecordSwapped(t *testing.T) {
	t.Parallel()
	eachZone(t, func(t *testing.T, v *Validator, z Zone, q question, m *dns.Msg, target string) {
		signer := example(t)
		others := slices.Concat(m.Answer, m.Ns, signer.ask("nope.example.", dns.TypeA).Ns,
			signer.ask("www.example.", dns.TypeTXT).Answer, example3(t).ask("zz.example.", dns.TypeA).Ns,
			child(t).ask("signed.example.", dns.TypeSOA).Answer)
		for i := range len(m.Answer) + len(m.Ns) {
			for _, other := range others {
				swapped := m.Copy()
				at := place(swapped, i)
				if dns.IsDuplicate(*at, other) || equivalent(*at, other) {
					continue
				}
				*at = other
				if secure(v, z, q, swapped, target) {
					t.Errorf("secure with\n%s\nin place of record %d of\n%s", other, i, m)
				}
			}
		}
	})
}

// equivalent reports whether two records are signatures of the same data: ECDSA makes others each time.
func equivalent(a, b dns.RR) bool {
	one, ok := a.(*dns.RRSIG)
	other, ok2 := b.(*dns.RRSIG)
	if !ok || !ok2 {
		return false
	}
	bare := *other
	bare.Signature = one.Signature
	return dns.IsDuplicate(one, &bare)
}

func place(m *dns.Msg, i int) *dns.RR {
	if i < len(m.Answer) {
		return &m.Answer[i]
	}
	return &m.Ns[i-len(m.Answer)]
}

// flip inverts a bit of a record in wire form. It returns nil where the result is no other record.
func flip(rr dns.RR, octet, bit int) dns.RR {
	wire, ok := pack(rr)
	if !ok {
		return nil
	}
	wire[octet%len(wire)] ^= 1 << bit
	out, _, err := dns.UnpackRR(wire, 0)
	if err != nil || dns.IsDuplicate(rr, out) {
		return nil
	}
	return out
}

// An answer with a bit changed in each octet of each record is never secure. TTL and case do not count.
func TestAnyOctetChanged(t *testing.T) {
	t.Parallel()
	eachZone(t, func(t *testing.T, v *Validator, z Zone, q question, m *dns.Msg, target string) {
		random := rand.New(rand.NewPCG(1, 2))
		for i := range len(m.Answer) + len(m.Ns) {
			wire, _ := pack(*place(m, i))
			for octet := range wire {
				changed := m.Copy()
				rr := flip(*place(m, i), octet, random.IntN(8))
				if rr == nil {
					continue
				}
				*place(changed, i) = rr
				if secure(v, z, q, changed, target) {
					t.Errorf("secure with\n%s\nin place of record %d of\n%s", rr, i, m)
				}
			}
		}
	})
}

// Answers, delegations and keys with any bits changed are never secure.
func TestAnyBitsChanged(t *testing.T) {
	t.Parallel()
	signer, v := example3(t), New(testNow, ample)
	z := signer.authentic(v)
	delegation, keys := signer.ask("signed.example.", dns.TypeDS), signer.keysMessage()
	genuine := map[question]*dns.Msg{}
	for _, q := range questions {
		genuine[q] = signer.ask(q.q, q.qtype)
	}
	rapid.Check(t, func(t *rapid.T) {
		change := func(m *dns.Msg) *dns.Msg {
			changed := m.Copy()
			i := rapid.IntRange(0, len(m.Answer)+len(m.Ns)-1).Draw(t, "record")
			rr := flip(*place(m, i), rapid.IntRange(0, 300).Draw(t, "octet"), rapid.IntRange(0, 7).Draw(t, "bit"))
			if rr == nil {
				t.Skip() // rapid draws another octet: this one cannot be changed
			}
			*place(changed, i) = rr
			return changed
		}
		q := rapid.SampledFrom(questions).Draw(t, "question")
		target := v.Answer(z, q.q, q.qtype, genuine[q]).Target
		if m := change(genuine[q]); secure(v, z, q, m, target) {
			t.Errorf("secure:\n%s", m)
		}
		if m := change(delegation); v.Delegation(z, "signed.example.", m).Status == Secure {
			t.Errorf("secure:\n%s", m)
		}
		if m := change(keys); v.Keys(Trusted(z.Name, signer.ds(dns.SHA256)), m).Status == Secure {
			t.Errorf("secure:\n%s", m)
		}
	})
}
