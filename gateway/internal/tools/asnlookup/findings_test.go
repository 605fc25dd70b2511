package asnlookup

import (
	"net/netip"
	"strings"
	"testing"

	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/registration"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

// announced are announcements in the order of the provider: "701 216.90.108.0/24".
func announced(all ...string) asn.Announcements {
	var found asn.Announcements
	for i, one := range all {
		_, prefix, _ := strings.Cut(one, " ")
		record := asn.Record{ASN: uint32(i + 1), Prefix: netip.MustParsePrefix(prefix)}
		found.Records = append(found.Records, asn.Announcement{Record: record})
	}
	return found
}

func TestReport(t *testing.T) {
	t.Parallel()
	nameless := announced("1 8.0.0.0/8")
	nameless.NamesMissing = true
	for name, c := range map[string]struct {
		report   finding.Report
		code     string
		state    finding.State
		findings string
	}{
		"one origin":         {reportAddress("8.8.8.8", announced("1 8.8.8.0/24", "2 8.0.0.0/8"), false), codeAnnounced, finding.OK, ""},
		"several origins":    {reportAddress("8.8.8.8", announced("1 8.8.8.0/24", "2 8.8.8.0/24"), false), registration.CodeSeveralOrigins, finding.Noted, registration.CodeSeveralOrigins},
		"no origin":          {reportAddress("8.8.8.8", announced(), false), registration.CodeNotAnnounced, finding.Warned, registration.CodeNotAnnounced},
		"no peers, no names": {reportAddress("8.8.8.8", nameless, true), codeAnnounced, finding.OK, registration.CodeNamesMissing + " " + codePeersMissing},
		"a number":           {reportNumber("AS1", &asn.System{ASN: 1, Name: "LVLT-1, US"}), codeAllocated, finding.OK, ""},
		"a nameless number":  {reportNumber("AS1", &asn.System{ASN: 1}), codeAllocated, finding.OK, ""},
		"no number":          {reportNumber("AS1", nil), codeNotAllocated, finding.Warned, codeNotAllocated},
	} {
		var codes []string
		for _, f := range c.report.Findings {
			codes = append(codes, f.Code)
		}
		if got := c.report.Conclusion; got.Code != c.code || got.State != c.state || strings.Join(codes, " ") != c.findings ||
			got.Brief == "" {
			t.Errorf("%s: %+v", name, c.report)
		}
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	toolstest.Rows(t, rows)
}
