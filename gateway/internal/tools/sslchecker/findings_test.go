package sslchecker

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/tool/finding"
)

const ofHost = "certificate of " + sslName

// codesIn are the findings as "group severity code".
func codesIn(list []finding.Finding) string {
	var codes []string
	for _, f := range list {
		codes = append(codes, fmt.Sprintf("%s %s %s", f.Group, f.Severity, f.Code))
	}
	return strings.Join(codes, ", ")
}

func TestConclusions(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	fails := func(codes ...string) (list []issue) {
		for _, code := range codes {
			list = append(list, issue{code, severityFail, "The sentence."})
		}
		return list
	}
	of := func(severity, code string) []issue { return []issue{{code, severity, "The sentence."}} }
	unverified := func(defect string, more ...issue) []issue {
		return append([]issue{{certs.CodeNoLocalIssuer, severityInfo, "It was not verified."},
			{defect, severityInfo, "The sentence."}}, more...)
	}
	old := map[string]*bool{"TLSv1.0": &yes, "TLSv1.2": &no, "TLSv1.3": &no}
	stillOld := map[string]*bool{"TLSv1.0": &yes, "TLSv1.2": &yes, "TLSv1.3": &no}
	for _, c := range []struct {
		name       string
		refusal    string
		authorized bool
		issues     []issue
		supported  map[string]*bool
		conclusion string
		findings   string
	}{
		{"well", "", true, nil, nil, "ok CERTIFICATE_TRUSTED", ""},
		{"notes", "", true, of(severityInfo, "NO_TLS13"), nil, "ok CERTIFICATE_TRUSTED", "note info NO_TLS13"},
		{"expires soon", "", true, of(severityWarn, "CERT_EXPIRES_SOON"), nil, "warn CERTIFICATE_EXPIRES_SOON", "safer warn CERT_EXPIRES_SOON"},
		{"weak suite", "", true, fails("RC4_CIPHER"), nil, "warn TRUSTED_WITH_WARNINGS", "safer fail RC4_CIPHER"},
		{"weak key", "", true, fails("WEAK_KEY"), nil, "warn TRUSTED_WITH_WARNINGS", "safer fail WEAK_KEY"},
		{"old versions as well", "", true, of(severityWarn, "DEPRECATED_PROTOCOL"), stillOld, "warn TRUSTED_WITH_WARNINGS", "safer warn DEPRECATED_PROTOCOL"},
		{"old versions only", "", true, fails("DEPRECATED_PROTOCOL"), old, "fail TRUSTED_WITH_PROBLEMS", "broken fail DEPRECATED_PROTOCOL"},
		{"SSL 3.0 as well", "", true, fails("SSL3"), stillOld, "warn TRUSTED_WITH_WARNINGS", "safer fail SSL3"},
		{"no handshake", "", true, fails("HANDSHAKE_NOT_COMPLETED"), nil, "fail TRUSTED_WITH_PROBLEMS", "broken fail HANDSHAKE_NOT_COMPLETED"},
		{"no timestamps", "", true, of(severityWarn, "NO_SCTS"), nil, "warn TRUSTED_WITH_WARNINGS", "broken warn NO_SCTS"},
		{"revoked", "", true, fails("CERT_REVOKED"), nil, "fail CERTIFICATE_REFUSED", "broken fail CERT_REVOKED"},
		{"bad staple", "", true, of(severityWarn, "OCSP_STAPLE_INVALID"), nil, "warn TRUSTED_WITH_WARNINGS", "safer warn OCSP_STAPLE_INVALID"},
		{"bad staple that is required", "", true, fails("OCSP_STAPLE_INVALID"), nil, "fail TRUSTED_WITH_PROBLEMS", "broken fail OCSP_STAPLE_INVALID"},
		{"expired and of another name", certs.CodeExpired, false, fails(certs.CodeNameMismatch, certs.CodeExpired), nil, "fail CERTIFICATE_REFUSED",
			"broken fail CERT_HAS_EXPIRED, broken fail ERR_TLS_CERT_ALTNAME_INVALID"},
		{"incomplete", certs.CodeUnverifiableLeaf, false, append(of(severityWarn, "INCOMPLETE_CHAIN"), fails(certs.CodeUnverifiableLeaf)...), nil, "fail CERTIFICATE_REFUSED",
			"broken fail UNABLE_TO_VERIFY_LEAF_SIGNATURE, broken warn INCOMPLETE_CHAIN"},
		{"long key", "", false, unverified(certs.DefectLongKey), nil, "unknown CERTIFICATE_NOT_VERIFIED", "note info KEY_TOO_LONG"},
		{"not read", "", false, unverified(certs.DefectUnfinished), nil, "unknown CERTIFICATE_NOT_VERIFIED", "note info CHAIN_NOT_READ"},
		{"costly", "", false, unverified(certs.DefectCostly, fails("RC4_CIPHER")...), nil, "unknown CERTIFICATE_NOT_VERIFIED",
			"safer fail RC4_CIPHER, note info CHAIN_TOO_COSTLY"},
		{"costly and expired", certs.CodeExpired, false, unverified(certs.DefectCostly, fails(certs.CodeExpired)...), nil, "fail CERTIFICATE_REFUSED",
			"broken fail CERT_HAS_EXPIRED, note info CHAIN_TOO_COSTLY"},
		{"addresses differ", "", true, of(severityInfo, "ENDPOINTS_DIFFER"), nil, "ok CERTIFICATE_TRUSTED", "note info ENDPOINTS_DIFFER"},
		{"versions differ", "", true, of(severityWarn, "ENDPOINTS_DIFFER"), nil, "warn TRUSTED_WITH_WARNINGS", "safer warn ENDPOINTS_DIFFER"},
		{"one is refused", "", true, fails("ENDPOINTS_DIFFER"), nil, "fail TRUSTED_WITH_PROBLEMS", "broken fail ENDPOINTS_DIFFER"},
		{"second certificate", "", true, of(severityInfo, "OTHER_CERTIFICATE_NOT_VERIFIED"), nil, "ok CERTIFICATE_TRUSTED", "note info OTHER_CERTIFICATE_NOT_VERIFIED"},
	} {
		r := Result{Port: 443, Authorized: c.authorized, refusal: c.refusal, Issues: c.issues,
			SupportedProtocols: c.supported}
		got := report(r, ofHost)
		if state := fmt.Sprint(got.Conclusion.State, " ", got.Conclusion.Code); state != c.conclusion {
			t.Errorf("%s: %s: %s", c.name, state, got.Conclusion.Message)
		}
		if list := codesIn(got.Findings); list != c.findings {
			t.Errorf("%s: %s", c.name, list)
		}
		for _, f := range got.Findings {
			if about := f.Subject != nil && *f.Subject == ofHost; about != rows[f.Code].certificate {
				t.Errorf("%s: subject of %s", c.name, f.Code)
			}
		}
	}
}

// TestFindingsOfAddresses: each has its address as its subject, and one that was not tried is only a note.
func TestFindingsOfAddresses(t *testing.T) {
	t.Parallel()
	unreachable := issue{"ENDPOINT_UNREACHABLE", severityWarn, "No answer."}
	got := report(Result{Authorized: true, Issues: []issue{unreachable}, Endpoints: []endpoint{
		{Address: "192.0.2.1", Authorized: true},
		{Address: "192.0.2.2", Issues: []issue{unreachable}},
		{Address: "192.0.2.3", Issues: []issue{{"ENDPOINT_WITHOUT_TLS", severityFail, "No TLS."}}},
		{Address: "192.0.2.4", Issues: []issue{{"ENDPOINT_SKIPPED", severityInfo, "Busy."}}},
	}}, ofHost)
	want := "broken fail ENDPOINT_WITHOUT_TLS, broken warn ENDPOINT_UNREACHABLE, note info ENDPOINT_SKIPPED"
	if list := codesIn(got.Findings); list != want || got.Conclusion.State != finding.Failed ||
		*got.Findings[0].Subject != "192.0.2.3" || *got.Findings[1].Subject != "192.0.2.2" {
		t.Errorf("%s, %+v", list, got.Conclusion)
	}
}

// TestRefusedAt: the conclusion names the addresses only where clients accept the certificate at others.
func TestRefusedAt(t *testing.T) {
	t.Parallel()
	sound := endpoint{Address: "192.0.2.1", Authorized: true}
	refused := endpoint{Address: "192.0.2.2", refusal: certs.CodeExpired}
	unverified := endpoint{Address: "192.0.2.3"}
	for _, c := range []struct {
		endpoints []endpoint
		want      string
	}{
		{[]endpoint{refused}, ""},
		{[]endpoint{refused, unverified}, ""},
		{[]endpoint{refused, sound}, " at 192.0.2.2, but not at 192.0.2.1"},
		{[]endpoint{refused, sound, sound}, " at 192.0.2.2, but not at 2 others"},
		{[]endpoint{refused, refused, sound}, " at 2 of 3 addresses"},
	} {
		if got := refusedAt(Result{Endpoints: c.endpoints}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestEveryIssueIsARow: a code that some file of this package gives an issue is in the table.
func TestEveryIssueIsARow(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"issues.go", "chain_issues.go", "endpoints.go", "others.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, is := n.(*ast.BasicLit)
			if !is || literal.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(literal.Value)
			is = len(text) > 3 && strings.Contains(text, "_") && strings.ToUpper(text) == text && !strings.Contains(text, " ")
			if _, has := rows[text]; is && !has {
				t.Errorf("%s: %s is no row", name, text)
			}
			return true
		})
	}
	for code := range verdictMessages {
		if r := rows[code]; !r.certificate || r.group != finding.Broken {
			t.Errorf("%s: %+v", code, r)
		}
	}
	for code := range defectMessages {
		if r := rows[code]; r.severity != finding.Info || r.group != finding.Note {
			t.Errorf("%s: %+v", code, r)
		}
	}
	for code, r := range rows {
		if !slices.Contains([]refusal{refusedYes, refusedNo, refusedUnknown}, r.refused) || r.weight < 0 || r.weight > 100 {
			t.Errorf("%s: %+v", code, r)
		}
	}
}
