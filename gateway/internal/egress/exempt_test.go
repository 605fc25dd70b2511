package egress_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
)

const insideHost = "rdap.internal"

// withInside is a network whose operator runs a service of their own at a private address.
func withInside(t testing.TB) *egresstest.Network {
	n := egresstest.New(t)
	n.Records(
		insideHost+". 300 IN A 10.0.0.5",
		"public-name.com. 300 IN A 10.0.0.5",
	)
	n.Serve("10.0.0.5:8080", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://public-name.com:8080/", http.StatusFound)
		}
	}))
	return n
}

func operatorURL(t testing.TB, s string) target.URL {
	t.Helper()
	u, err := target.ParseOperatorURL(s)
	if err != nil {
		t.Fatalf("ParseOperatorURL(%q): %v", s, err)
	}
	return u
}

func exempting(hosts ...string) func(*egress.Settings) {
	return func(s *egress.Settings) { s.ExemptHosts = hosts }
}

func TestOperatorsOwnHostIsReachedWhereItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, exempt string }{
		{"http://rdap.internal:8080/x", "rdap.internal:8080"},
		{"http://RDAP.internal.:8080/x", "rdap.internal:8080"},
		{"http://10.0.0.5:8080/x", "10.0.0.5:8080"},
	} {
		n := withInside(t)
		u := operatorURL(t, c.url)
		r, err := n.Client(exempting(c.exempt)).Do(t.Context(), egress.Request{URL: u, Exempt: true})
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		if r.Status != http.StatusOK || r.Address != netip.MustParseAddr("10.0.0.5") {
			t.Errorf("%s: status %d from %v", c.url, r.Status, r.Address)
		}
		if q := n.Queries(); len(q) != 0 {
			t.Errorf("%s: the visitors' resolver was queried: %v", c.url, q)
		}
	}
}

// Every one of these is one step from the exemption, and none may dial.
func TestExemptionExemptsNothingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, url string
		exempt    []string
		asks      bool
	}{
		{"not requested", "http://rdap.internal:8080/", []string{"rdap.internal:8080"}, false},
		{"no exemption at all", "http://rdap.internal:8080/", nil, true},
		{"another port", "http://rdap.internal:8081/", []string{"rdap.internal:8080"}, true},
		{"the default port", "http://rdap.internal/", []string{"rdap.internal:8080"}, true},
		{"without its port", "http://rdap.internal:8080/", []string{"rdap.internal"}, true},
		{"another name of the same address", "http://public-name.com:8080/", []string{"rdap.internal:8080"}, true},
		{"the address of the exempt name", "http://10.0.0.5:8080/", []string{"rdap.internal:8080"}, true},
		{"the exempt address by a name", "http://public-name.com:8080/", []string{"10.0.0.5:8080"}, true},
		{"a name below", "http://x.rdap.internal:8080/", []string{"rdap.internal:8080"}, true},
		{"a name above", "http://internal:8080/", []string{"rdap.internal:8080"}, true},
	} {
		n := withInside(t)
		_, err := n.Client(exempting(c.exempt...)).Do(t.Context(), egress.Request{URL: operatorURL(t, c.url), Exempt: c.asks})
		if !fault.Is(err, fault.Refused) && !fault.Is(err, fault.NoAddress) {
			t.Errorf("%s: %v, want a refusal", c.name, err)
		}
		if d := n.Dials(); len(d) != 0 {
			t.Errorf("%s: dialled %v", c.name, d)
		}
	}
}

func TestChainsAreNeverExempt(t *testing.T) {
	t.Parallel()
	n := withInside(t)
	n.Records("start.com. 300 IN A " + web4)
	n.Serve(web4+":80", http.RedirectHandler("http://public-name.com:8080/", http.StatusFound))
	client := n.Client(exempting("rdap.internal:8080", "public-name.com:8080"))
	// The name inside does not exist for a request that is not exempt; the public one is refused for its address.
	for url, want := range map[string]egress.ChainEnd{
		"http://rdap.internal:8080/away": egress.EndUnreachable, "http://start.com/": egress.EndBlocked,
	} {
		chain := client.Follow(t.Context(), egress.Request{URL: operatorURL(t, url), Exempt: true}, 5)
		if chain.End != want {
			t.Errorf("%s: ended %s, want %s", url, chain.End, want)
		}
	}
	for _, d := range n.Dials() {
		if d.Addr() != netip.MustParseAddr(web4) {
			t.Errorf("dialled %v", d)
		}
	}
}

func TestExemptHostThatCannotBeFound(t *testing.T) {
	t.Parallel()
	slow := func(ctx context.Context, _ string) ([]netip.Addr, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	nothing := func(context.Context, string) ([]netip.Addr, error) { return nil, nil }
	failing := func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("no such host 10.1.2.3") }
	for _, c := range []struct {
		name   string
		lookup egress.LookupFunc
		family int
		kind   fault.Kind
	}{
		{"silence", slow, 0, fault.Timeout},
		{"an error", failing, 0, fault.Upstream},
		{"no address", nothing, 0, fault.Upstream},
		{"no address of the family", func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("::ffff:10.0.0.5")}, nil
		}, 6, fault.Upstream},
	} {
		n := withInside(t)
		client := n.Client(exempting("rdap.internal:8080"), egress.WithSystemLookup(c.lookup),
			egress.WithBounds(50*time.Millisecond, time.Second, time.Second))
		_, err := client.Do(t.Context(), egress.Request{URL: operatorURL(t, "http://rdap.internal:8080/"), Exempt: true,
			Family: c.family})
		wantFault(t, err, c.kind)
	}
}

func TestExemptHostThatRefuses(t *testing.T) {
	t.Parallel()
	n := withInside(t)
	_, err := n.Client(exempting("rdap.internal:8081")).Do(t.Context(),
		egress.Request{URL: operatorURL(t, "http://rdap.internal:8081/"), Exempt: true})
	wantFault(t, err, fault.Upstream)
}
