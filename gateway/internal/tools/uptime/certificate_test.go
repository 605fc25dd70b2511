package uptime

import (
	"testing"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
)

// TestCertificateValid: a certificate that was not verified is neither valid nor invalid, and hides none that is
// invalid.
func TestCertificateValid(t *testing.T) {
	t.Parallel()
	const site = "https://example.com/"
	valid, expired := answered(t, site, 200, "", ""), answered(t, site, 200, "", certs.CodeExpired)
	costly := answered(t, site, 200, "", certs.DefectCostly)
	plain := egress.Hop{URL: parsed(t, "http://example.com/"), Response: &egress.Response{Status: 200}}
	for _, c := range []struct {
		hops []egress.Hop
		want *bool
	}{
		{[]egress.Hop{plain}, nil},
		{[]egress.Hop{plain, valid}, new(true)},
		{[]egress.Hop{valid, expired}, new(false)},
		{[]egress.Hop{valid, costly}, nil},
		{[]egress.Hop{costly, expired}, new(false)},
	} {
		check := familyCheck{chain: egress.Chain{Hops: c.hops}}
		got := check.certificateValid()
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%d hops: %v", len(c.hops), got)
		}
	}
}
