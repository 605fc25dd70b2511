package netpolicy

import (
	"encoding/json"
	"net/netip"
	"os"
	"strings"
	"testing"
)

// TestCaseAddresses judges every input of testdata/targets.json that is an address, or a URL or host:port around one.
func TestCaseAddresses(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/targets.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ ID, Input, Expect, Why string }
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range cases {
		a, ok := addressIn(c.Input)
		if !ok {
			continue
		}
		n++
		if v := Judge(a); v.Public != (c.Expect == "accept-format") {
			t.Errorf("%s: %s: public %t, want %s (%s)", c.ID, c.Input, v.Public, c.Expect, c.Why)
		}
	}
	if n < 300 {
		t.Errorf("only %d cases are addresses", n)
	}
	t.Logf("%d of %d cases are addresses", n, len(cases))
}

// addressIn finds the address of an input whose other parts are in order.
func addressIn(s string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		return a, true
	}
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s, _, _ = strings.Cut(rest, "/")
		if a, err := netip.ParseAddr(s); err == nil {
			return a, a.Is4()
		}
	}
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr(), true
	}
	inner, ok := strings.CutPrefix(s, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	a, err := netip.ParseAddr(inner)
	return a, ok && closed && err == nil && a.Is6()
}
