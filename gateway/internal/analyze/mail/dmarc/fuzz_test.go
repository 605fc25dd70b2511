package dmarc

import (
	"context"
	"testing"

	"diagnostics/gateway/internal/analyze/mail/mailtest"
)

// hall answers every question with the same records.
type hall []string

func (h hall) TXT(context.Context, string) ([]string, error) { return h, nil }

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"v=DMARC1; p=reject; sp=none; np=quarantine; adkim=s; aspf=r; fo=1:d; rua=mailto:a@b.com!10m,https://c.com/; ruf=mailto:x; psd=n; t=y; pct=5; rf=afrf; ri=1",
		"v = DMARC1;p=none", "v=DMARC1", "v=DMARC1\\; p=reject", "v=dmarc1; p=reject", "v=DMARC1; p=reject; p=none; =; x",
	} {
		f.Add(seed, "a.b.home.com")
	}
	f.Fuzz(func(t *testing.T, record, domain string) {
		if names := Names(domain); len(names) > maxQueries || names[0] != domain {
			t.Fatalf("%q", names)
		}
		report := Check(t.Context(), hall{record}, "a.b.home.com")
		if (report.Record != nil) != IsRecord(record) {
			t.Fatalf("%q: %+v", record, report)
		}
		if report.Record != nil && (report.Policy == "" || report.Subdomains == "" || report.Nonexistent == "" ||
			report.Organizational == "") {
			t.Fatalf("%q: %+v", record, report)
		}
		mailtest.Showable(t, report.Issues)
	})
}
