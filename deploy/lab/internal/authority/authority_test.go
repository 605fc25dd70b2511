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

// An answer has the response code, the authority and the number of denial records that RFC 4035 and RFC 5155 ask for.
func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		name        string
		qtype       uint16
		rcode       int
		nsec, nsec3 int // denial records
	}{
		{"example.", dns.TypeSOA, dns.RcodeSuccess, 0, 0},
		{"example.", dns.TypeMX, dns.RcodeSuccess, 1, 1},
		{"b.example.", dns.TypeTXT, dns.RcodeSuccess, 1, 1},
		{"x.y.example.", dns.TypeTXT, dns.RcodeNameError, 2, 2},
		{"x.w.example.", dns.TypeTXT, dns.RcodeSuccess, 1, 1},
		{"x.w.example.", dns.TypeMX, dns.RcodeSuccess, 1, 2},
		{"x.sub.example.", dns.TypeTXT, dns.RcodeSuccess, 1, 1},
		{"sub.example.", dns.TypeDS, dns.RcodeSuccess, 1, 1},
	} {
		for chain, want := range map[*NSEC3]int{nil: test.nsec, {}: test.nsec3} {
			q := new(dns.Msg).SetQuestion(test.name, test.qtype)
			q.SetEdns0(1232, true)
			m := Serving(example(t, chain))(q, true)
			if got := denials(m); m.Rcode != test.rcode || got != want || m.Authoritative == (test.name == "x.sub.example.") {
				t.Errorf("%s %s, NSEC3 %t: %d denial records, want %d:\n%v", test.name, dns.TypeToString[test.qtype],
					chain != nil, got, want, m)
			}
		}
	}
}

// example is the zone, signed.
func example(t *testing.T, chain *NSEC3) *Zone {
	t.Helper()
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
	return z
}

// denials counts the NSEC and NSEC3 records of a message.
func denials(m *dns.Msg) (n int) {
	for _, rr := range m.Ns {
		switch rr.(type) {
		case *dns.NSEC, *dns.NSEC3:
			n++
		}
	}
	return n
}
