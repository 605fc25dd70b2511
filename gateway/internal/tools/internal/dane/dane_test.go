package dane

import (
	"context"
	"errors"
	"testing"

	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The records are those of the end of the aliases where DNSSEC vouches for it, else of the host (RFC 7671 section 7).
func TestLookup(t *testing.T) {
	t.Parallel()
	const host, end = "www.example.com", "cdn.example.net"
	record, err := dns.NewRR("x. 60 IN TLSA 3 1 1 ab")
	if err != nil {
		t.Fatal(err)
	}
	signed, unsigned := Answer{Records: []dns.RR{record}, Authenticated: true}, Answer{Records: []dns.RR{record}}
	failed := Answer{Err: errors.New("no answer")}
	for _, c := range []struct {
		name          string
		address       Answer
		atEnd, atHost Answer
		want          string
		records       int
		asked         int
		err           error
	}{
		{"no alias", Answer{}, signed, signed, host, 1, 1, nil},
		{"an alias that is not signed", Answer{Expanded: end}, signed, unsigned, host, 1, 1, nil},
		{"a signed alias", Answer{Expanded: end, Authenticated: true}, signed, signed, end, 1, 1, nil},
		{"to where there are none", Answer{Expanded: end, Authenticated: true}, Answer{}, signed, host, 1, 2, nil},
		{"to where they are not signed", Answer{Expanded: end, Authenticated: true}, unsigned, signed, host, 1, 2, nil},
		{"neither is signed", Answer{Expanded: end, Authenticated: true}, unsigned, unsigned, end, 1, 2, nil},
		{"to where the lookup fails", Answer{Expanded: end, Authenticated: true}, failed, signed, end, 0, 1, failed.Err},
		{"to a network inside", Answer{Expanded: "db.internal", Authenticated: true}, signed, Answer{}, host, 0, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			addresses := func(context.Context, string, uint16) Answer { return c.address }
			keys := func(_ context.Context, name string, _ uint16) Answer {
				asked++
				if name == "_443._tcp."+end || name == "_443._tcp.db.internal" {
					return c.atEnd
				}
				return c.atHost
			}
			got := Lookup(t.Context(), addresses, keys, host, 443)
			if got.Name != c.want || len(got.Records) != c.records || got.Records == nil || asked != c.asked ||
				!errors.Is(got.Err, c.err) {
				t.Errorf("%+v after %d questions", got, asked)
			}
		})
	}
}
