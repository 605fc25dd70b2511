package dkim

import (
	"testing"

	"diagnostics/gateway/internal/analyze/mail/mailtest"
)

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", "p=", "v=DKIM1; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQ==", "v=DKIM1\\; k=rsa\\; p=AA",
		"k=rsa; t=y:s; s=email; h=sha1:sha256; g=*; n=note; p=A A\t=", "v=DKIM2; p=x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, record string) {
		report := Read([]string{record})
		if report.KeyBits > 0 && (!report.Found || report.Revoked) {
			t.Fatalf("%q: %+v", record, report)
		}
		if report.Found && report.KeyBits == 0 && len(report.Issues) == 0 {
			t.Fatalf("%q has no key and no fault", record)
		}
		mailtest.Showable(t, report.Issues)
	})
}
