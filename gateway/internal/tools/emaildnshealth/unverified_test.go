package emaildnshealth

import (
	"testing"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

// TestUnverifiedPolicyHost: a certificate that this service did not verify is no fault of the mail domain.
func TestUnverifiedPolicyHost(t *testing.T) {
	t.Parallel()
	for notVerified, want := range map[bool]string{true: "MTASTS_NOT_FINISHED", false: "MTASTS_CERTIFICATE"} {
		cause := &egress.CertificateError{Code: certs.CodeNoLocalIssuer, NotVerified: notVerified}
		var f mtaStsFetch
		f.unreachable(t.Context(), fault.Wrap(fault.Upstream, cause, "CERTIFICATE_INVALID",
			finding.Args{"host": "mta-sts.example.com", "defect": cause.Code}))
		if len(f.issues) != 1 || f.issues[0].Code != want || f.failed != notVerified {
			t.Errorf("not verified %v: %+v, failed %v", notVerified, f.issues, f.failed)
		}
	}
}
