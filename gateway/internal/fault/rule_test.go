package fault

import (
	"net/netip"
	"slices"
	"testing"

	"diagnostics/shared/netpolicy"
)

// The rules of addresses are known by the policy's own words, which must still be there.
func TestRulesOfAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]Rule{
		"10.0.0.1": RulePrivateAddress, "fd00::1": RulePrivateAddress, "127.0.0.1": RuleLoopbackAddress,
		"::1": RuleLoopbackAddress, "169.254.169.254": RuleLinkLocalAddress, "fe80::1%eth0": RuleLinkLocalAddress,
		"100.64.0.1": RuleSharedAddress, "0.0.0.0": RuleUnspecifiedAddress, "0.1.2.3": RuleUnspecifiedAddress,
		"224.0.0.1": RuleMulticastAddress, "255.255.255.255": RuleBroadcastAddress, "240.0.0.1": RuleReservedAddress,
		"5000::1": RuleReservedAddress, "192.0.2.1": RuleTestAddress, "198.18.0.1": RuleTestAddress,
		"168.63.129.16": RuleCloudAddress, "64:ff9b::1": RuleSpecialAddress, "2002::1": RuleSpecialAddress,
	} {
		if got := RuleOf(netpolicy.Judge(netip.MustParseAddr(address))); got != want {
			t.Errorf("%s is refused by %s, want %s", address, got, want)
		}
	}
	reasons := []string{netpolicy.Judge(netip.MustParseAddr("fe80::1%eth0")).Reason,
		netpolicy.Judge(netip.MustParseAddr("5000::1")).Reason}
	for _, row := range netpolicy.Rows() {
		reasons = append(reasons, row.Kind)
	}
	for reason, rule := range ruleOfReason {
		if !slices.Contains(reasons, reason) {
			t.Errorf("the policy says %q no more", reason)
		}
		if !slices.Contains(Refusals(), rule) {
			t.Errorf("%s is not among the refusals", rule)
		}
	}
}
