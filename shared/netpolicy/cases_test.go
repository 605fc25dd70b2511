package netpolicy

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
)

// caseAddress is an input of testdata/targets.json that is an address, or a URL or host:port around one.
type caseAddress struct {
	id, input, expect, why string
	addr                   netip.Addr
}

func caseAddresses(t *testing.T) []caseAddress {
	t.Helper()
	raw, err := os.ReadFile("testdata/targets.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ ID, Input, Expect, Why string }
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	var all []caseAddress
	for _, c := range cases {
		if a, ok := addressIn(c.Input); ok {
			all = append(all, caseAddress{c.ID, c.Input, c.Expect, c.Why, a})
		}
	}
	if len(all) < 300 {
		t.Fatalf("only %d of %d cases are addresses", len(all), len(cases))
	}
	return all
}

// caseFailures holds them against what judges.
func caseFailures(cases []caseAddress, judge func(netip.Addr) Verdict) (failures []string) {
	for _, c := range cases {
		if v := judge(c.addr); v.Public != (c.expect == "accept-format") {
			failures = append(failures, fmt.Sprintf("%s: %s: public %t, want %s (%s)", c.id, c.input, v.Public, c.expect, c.why))
		}
	}
	return failures
}

func TestCaseAddresses(t *testing.T) {
	t.Parallel()
	report(t, caseFailures(caseAddresses(t), Judge))
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
