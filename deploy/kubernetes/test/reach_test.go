package kubernetes

import (
	"net/netip"
	"slices"
	"testing"

	networking "k8s.io/api/networking/v1"
)

// reach are the addresses that rules of egress let pods connect to, with the exceptions of each block.
type reach []struct {
	block  netip.Prefix
	except []netip.Prefix
}

func reachOf(t *testing.T, rules []networking.NetworkPolicyEgressRule) (all reach) {
	t.Helper()
	for _, rule := range rules {
		for _, to := range rule.To {
			if to.IPBlock == nil {
				continue
			}
			block := netip.MustParsePrefix(to.IPBlock.CIDR)
			var except []netip.Prefix
			for _, e := range to.IPBlock.Except {
				p := netip.MustParsePrefix(e)
				// Kubernetes rejects an exception that is not strictly within its block, or not in canonical form.
				if !block.Contains(p.Addr()) || p.Bits() <= block.Bits() || p != p.Masked() {
					t.Errorf("%s is no exception of %s", e, block)
				}
				except = append(except, p)
			}
			all = append(all, struct {
				block  netip.Prefix
				except []netip.Prefix
			}{block, except})
		}
	}
	return all
}

func (r reach) contains(address string) bool {
	a := netip.MustParseAddr(address)
	for _, rule := range r {
		if rule.block.Contains(a) && !slices.ContainsFunc(rule.except, func(p netip.Prefix) bool { return p.Contains(a) }) {
			return true
		}
	}
	return false
}
