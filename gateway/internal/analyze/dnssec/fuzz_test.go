package dnssec

import (
	"testing"

	"github.com/miekg/dns"
)

// FuzzMessages judges messages of any content: nothing panics, the budget holds, and each verdict is whole.
func FuzzMessages(f *testing.F) {
	for _, zone := range []*testZone{example(f), example3(f), iterated(200)(f)} {
		for _, q := range questions {
			wire, err := zone.ask(q.q, q.qtype).Pack()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(wire)
		}
		signed, unsigned := zone.ask("signed.example.", dns.TypeDS), zone.ask("unsigned.example.", dns.TypeDS)
		for _, m := range []*dns.Msg{zone.keysMessage(), signed, unsigned} {
			wire, err := m.Pack()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(wire)
		}
	}
	signer := example(f)
	trusted, keys := Trusted(signer.name, signer.ds(dns.SHA256)), signer.keysMessage()
	f.Fuzz(func(t *testing.T, wire []byte) {
		m := new(dns.Msg)
		if m.Unpack(wire) != nil {
			return
		}
		const signatures, hashes = 20, 10
		v := New(testNow, affording(signatures, hashes))
		z := v.Keys(trusted, keys)
		verdicts := []Verdict{
			v.Keys(trusted, m).Verdict, v.Delegation(z, "unsigned.example.", m).Verdict,
			v.Answer(z, "www.example.", dns.TypeA, m).Verdict, v.Answer(z, "a.b.wild.example.", dns.TypeMX, m).Verdict,
		}
		for _, q := range m.Question {
			verdicts = append(verdicts, v.Answer(z, q.Name, q.Qtype, m).Verdict)
			v.Contradiction(z, q.Name, q.Qtype, m)
			Denying(m.Ns, q.Name, q.Qtype, ample)
		}
		z.Rollover(m.Answer)
		for _, got := range verdicts {
			if got.Status == "" || (got.Reason == nil) != (got.Status == Secure) {
				t.Errorf("%+v", got)
			}
			if got.Reason != nil && (got.Reason.Code.Status() != got.Status) {
				t.Errorf("%+v", got.Reason)
			}
		}
		if len(v.verified) > signatures || len(v.hashed) > hashes {
			t.Errorf("%d verified, %d hashed", len(v.verified), len(v.hashed))
		}
	})
}
