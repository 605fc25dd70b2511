package authority

import (
	"testing"

	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const text = `
example. IN SOA ns hostmaster 1 7200 900 1209600 300
example. IN NS ns
ns IN A 11.60.1.1
a.b IN TXT text
*.w IN TXT text
sub IN NS ns.sub
ns.sub IN A 11.60.1.2
`

// Every name and type of a zone is answered, with the kinds of records that RFC 4035 and RFC 5155 ask for.
func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		name        string
		qtype       uint16
		rcode       int
		aa          bool
		nsec, nsec3 int // denial records
	}{
		{"example.", dns.TypeSOA, dns.RcodeSuccess, true, 0, 0},
		{"example.", dns.TypeMX, dns.RcodeSuccess, true, 1, 1},
		{"b.example.", dns.TypeTXT, dns.RcodeSuccess, true, 1, 1},
		{"x.example.", dns.TypeTXT, dns.RcodeNameError, true, 2, 2},
		{"x.y.example.", dns.TypeTXT, dns.RcodeNameError, true, 2, 2},
		{"x.w.example.", dns.TypeTXT, dns.RcodeSuccess, true, 1, 1},
		{"x.w.example.", dns.TypeMX, dns.RcodeSuccess, true, 1, 3},
		{"x.sub.example.", dns.TypeTXT, dns.RcodeSuccess, false, 1, 1},
		{"sub.example.", dns.TypeDS, dns.RcodeSuccess, true, 1, 1},
	} {
		for _, chain := range []*NSEC3{nil, {}} {
			z, err := Parse("example.", text)
			if err != nil {
				t.Fatal(err)
			}
			k, err := NewKey(z.Origin, KSK, dns.ED25519, 256, "")
			if err != nil {
				t.Fatal(err)
			}
			if err := z.Sign(Signing{Keys: []Key{k}, NSEC3: chain}); err != nil {
				t.Fatal(err)
			}
			q := new(dns.Msg).SetQuestion(test.name, test.qtype)
			q.SetEdns0(1232, true)
			m := Serving(z)(q, true)
			denials, want := 0, test.nsec
			if chain != nil {
				want = test.nsec3
			}
			for _, rr := range m.Ns {
				switch rr.(type) {
				case *dns.NSEC, *dns.NSEC3:
					denials++
				}
			}
			if m.Rcode != test.rcode || m.Authoritative != test.aa || denials < min(want, 1) || denials > 3 {
				t.Errorf("%s %s, NSEC3 %t: %d denial records, want %d:\n%v", test.name, dns.TypeToString[test.qtype],
					chain != nil, denials, want, m)
			}
		}
	}
}
