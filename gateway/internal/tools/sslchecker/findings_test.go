package sslchecker

import (
	"fmt"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/endpoints"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

const ofHost = "certificate of " + sslName

func TestRows(t *testing.T) {
	t.Parallel()
	toolstest.Rows(t, rows)
	for _, code := range append(certs.Codes(), certs.DefectLongKey, certs.DefectUnfinished, certs.DefectCostly) {
		if rows[code].Severity == "" || rows[code].Clause != fault.Rows[code].Clause || !isAboutCertificate(code) {
			t.Errorf("%s: %+v", code, rows[code])
		}
	}
	for code, row := range certificateRows {
		if row.Severity != "" && (row.Severity != finding.Fail || row.Group != finding.Broken || row.Brief == "") {
			t.Errorf("%s: %+v", code, row)
		}
	}
	for code, issue := range olderCodes {
		if rows[code].Severity == "" || rows[issue].Severity == "" {
			t.Errorf("%s has the issue %s", code, issue)
		}
	}
}

// codesIn are the findings as "group severity code".
func codesIn(list []finding.Finding) string {
	var codes []string
	for _, f := range list {
		codes = append(codes, fmt.Sprintf("%s %s %s", f.Group, f.Severity, f.Code))
	}
	return strings.Join(codes, ", ")
}

func findingsWith(codes ...string) (list []finding.Finding) {
	for _, code := range codes {
		list = append(list, only(code, nil)...)
	}
	return list
}

func TestConclusions(t *testing.T) {
	t.Parallel()
	const unverified = "CHAIN_NOT_VERIFIED"
	for _, c := range []struct {
		name       string
		refusal    string
		authorized bool
		found      []string
		conclusion string
		findings   string
	}{
		{"well", "", true, nil, "ok CERTIFICATE_TRUSTED Trusted", ""},
		{"notes", "", true, []string{"NO_TLS13"}, "ok CERTIFICATE_TRUSTED Trusted", "note info NO_TLS13"},
		{"expires soon", "", true, []string{"CERT_EXPIRES_SOON"}, "warn CERTIFICATE_EXPIRES_SOON Expires within a day", "safer warn CERT_EXPIRES_SOON"},
		{"chain expires soon", "", true, []string{"CHAIN_EXPIRES_SOON"}, "warn CERTIFICATE_EXPIRES_SOON Expires within a day", "safer warn CHAIN_EXPIRES_SOON"},
		{"a fault that weighs less than a warning", "", true, []string{"CERT_ABOUT_TO_EXPIRE", "HELLO_INTOLERANT"}, "fail CERTIFICATE_ABOUT_TO_EXPIRE Expires within a day", "broken warn HELLO_INTOLERANT, broken fail CERT_ABOUT_TO_EXPIRE"},
		{"chain expires first", "", true, []string{"CHAIN_EXPIRES_FIRST"}, "ok CERTIFICATE_TRUSTED Trusted", "note info CHAIN_EXPIRES_FIRST"},
		{"weak suite", "", true, []string{"RC4_CIPHER"}, "warn TRUSTED_WITH_WARNINGS Trusted, with warnings", "safer fail RC4_CIPHER"},
		{"weak key", "", true, []string{"WEAK_KEY"}, "warn TRUSTED_WITH_WARNINGS Trusted, with warnings", "safer fail WEAK_KEY"},
		{"old versions as well", "", true, []string{"DEPRECATED_PROTOCOL"}, "warn TRUSTED_WITH_WARNINGS Trusted, with warnings", "safer warn DEPRECATED_PROTOCOL"},
		{"old versions only", "", true, []string{"SSL3", "ONLY_OUTDATED_PROTOCOLS"}, "fail PROTOCOLS_OUTDATED Only ",
			"broken fail ONLY_OUTDATED_PROTOCOLS, safer fail SSL3"},
		{"SSL 3.0 as well", "", true, []string{"SSL3"}, "warn TRUSTED_WITH_WARNINGS Trusted, with warnings", "safer fail SSL3"},
		{"SSL 3.0 only", "", true, []string{"ONLY_SSL3"}, "fail PROTOCOLS_OUTDATED Only ", "broken fail ONLY_SSL3"},
		{"no handshake", "", true, []string{"HANDSHAKE_NOT_COMPLETED"}, "fail TRUSTED_WITH_PROBLEMS Some clients fail", "broken fail HANDSHAKE_NOT_COMPLETED"},
		{"no timestamps", "", true, []string{"NO_SCTS"}, "fail TRUSTED_WITH_PROBLEMS Some clients fail", "broken warn NO_SCTS"},
		{"revoked", "", true, []string{"CERT_REVOKED"}, "fail CERTIFICATE_REFUSED Revoked", "broken fail CERT_REVOKED"},
		{"bad staple", "", true, []string{"OCSP_STAPLE_INVALID"}, "warn TRUSTED_WITH_WARNINGS Trusted, with warnings", "safer warn OCSP_STAPLE_INVALID"},
		{"bad staple that is required", "", true, []string{"MUST_STAPLE_INVALID"}, "fail TRUSTED_WITH_PROBLEMS Some clients fail", "broken fail MUST_STAPLE_INVALID"},
		{"expired and of another name", certs.CodeExpired, false, []string{certs.CodeNameMismatch, certs.CodeExpired}, "fail CERTIFICATE_REFUSED Expired",
			"broken fail CERT_HAS_EXPIRED, broken fail ERR_TLS_CERT_ALTNAME_INVALID"},
		{"incomplete", certs.CodeUnverifiableLeaf, false, []string{"INCOMPLETE_CHAIN", certs.CodeUnverifiableLeaf}, "fail CERTIFICATE_REFUSED Incomplete chain",
			"broken fail UNABLE_TO_VERIFY_LEAF_SIGNATURE, broken warn INCOMPLETE_CHAIN"},
		{"long key", "", false, []string{unverified, certs.DefectLongKey}, "unknown CERTIFICATE_NOT_VERIFIED Not verified", "note info KEY_TOO_LONG"},
		{"not read", "", false, []string{unverified, certs.DefectUnfinished}, "unknown CERTIFICATE_NOT_VERIFIED Not verified", "note info CHAIN_NOT_READ"},
		{"costly", "", false, []string{unverified, certs.DefectCostly, "RC4_CIPHER"}, "unknown CERTIFICATE_NOT_VERIFIED Not verified",
			"safer fail RC4_CIPHER, note info CHAIN_TOO_COSTLY"},
		{"costly and expired", certs.CodeExpired, false, []string{unverified, certs.DefectCostly, certs.CodeExpired}, "fail CERTIFICATE_REFUSED Expired",
			"broken fail CERT_HAS_EXPIRED, note info CHAIN_TOO_COSTLY"},
		{"addresses differ", "", true, []string{"ENDPOINTS_DIFFER"}, "ok CERTIFICATE_TRUSTED Trusted", "note info ENDPOINTS_DIFFER"},
		{"versions differ", "", true, []string{"ENDPOINT_VERSIONS_DIFFER"}, "warn TRUSTED_WITH_WARNINGS Trusted, with warnings", "safer warn ENDPOINT_VERSIONS_DIFFER"},
		{"one is refused", "", true, []string{"ENDPOINT_STILL_EXPIRED"}, "fail TRUSTED_WITH_PROBLEMS Some clients fail", "broken fail ENDPOINT_STILL_EXPIRED"},
		{"second certificate", "", true, []string{"OTHER_CERTIFICATE_NOT_VERIFIED"}, "ok CERTIFICATE_TRUSTED Trusted", "note info OTHER_CERTIFICATE_NOT_VERIFIED"},
		{"records of another key", "", true, []string{"TLSA_MATCHES_NOTHING"}, "warn TRUSTED_WITH_WARNINGS Trusted, with warnings", "safer warn TLSA_MATCHES_NOTHING"},
		{"mail that does not come", "", true, []string{"TLSA_STOPS_MAIL"}, "warn TRUSTED_WITH_WARNINGS Trusted, with warnings", "broken warn TLSA_STOPS_MAIL"},
	} {
		got := report(Result{Port: 443, Authorized: c.authorized, refusal: c.refusal, found: findingsWith(c.found...)},
			ofHost)
		if o := got.Conclusion; fmt.Sprint(o.State, " ", o.Code, " ", o.Brief) != c.conclusion {
			t.Errorf("%s: %+v", c.name, o)
		}
		if list := codesIn(got.Findings); list != c.findings {
			t.Errorf("%s: %s", c.name, list)
		}
		for _, f := range got.Findings {
			if about := f.Subject != nil && *f.Subject == ofHost; about != isAboutCertificate(f.Code) {
				t.Errorf("%s: subject of %s", c.name, f.Code)
			}
		}
	}
}

// TestAddressesBeyondOurBounds: an address whose handshake this service does not read to the end does not lack TLS.
func TestAddressesBeyondOurBounds(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{"TLS_TOO_LONG": "note info ENDPOINT_SKIPPED",
		"TLS_NOT_SPOKEN": "broken fail ENDPOINT_WITHOUT_TLS"} {
		one := endpointCheck{State: endpoints.Down, Value: &attempt{connected: true},
			Err: fault.New(fault.Upstream, code, finding.Args{"host": "192.0.2.2"})}
		if got := codesIn(unreached(one)); got != want {
			t.Errorf("%s: %s", code, got)
		}
	}
}

// TestConclusionsTakeTheirWordsFromFindings: the reason of a conclusion is a finding with its arguments, or a failure
// in it.
func TestConclusionsTakeTheirWordsFromFindings(t *testing.T) {
	t.Parallel()
	refused := endpointCheck{State: endpoints.Down, Value: &attempt{connected: true}, Err: fault.New(fault.Upstream,
		"TLS_REFUSED", finding.Args{"host": "192.0.2.2", "port": 443, "explanation": "ALERT_NO_REASON"})}
	otherName := finding.Args{"names": []string{"a.example", "b.example"}}
	for want, r := range map[string]Result{
		"Browsers refuse www.example.com: the certificate is for a.example and b.example, not for this host.": {
			Port: 443, refusal: certs.CodeNameMismatch, found: only(certs.CodeNameMismatch, otherName)},
		"Clients that check certificates refuse www.example.com: the certificate expired 3 days ago.": {
			Port: 993, refusal: certs.CodeExpired, found: only(certs.CodeExpired, days(3).With(finding.Args{"leaf": true}))},
		"Many clients refuse www.example.com: the server does not send the certificate of its issuer, which clients do " +
			"not know.": {Port: 443, refusal: certs.CodeUnverifiableLeaf, found: only(certs.CodeUnverifiableLeaf, nil)},
		"The certificate of www.example.com is trusted, but not every client can connect. Clients cannot use TLS at " +
			refused.Address.String() + ": it refused the TLS handshake on port 443: it gave no reason (handshake_failure).": {
			Authorized: true, found: unreached(refused)},
		"The certificate of www.example.com is trusted. The key has 1024 bits; RSA keys need 2048 and elliptic curves 256.": {
			Authorized: true, found: only("WEAK_KEY", finding.Args{"bits": 1024})},
	} {
		if got := report(r, ofHost).Conclusion.Message; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestRefusedAt: the conclusion names the addresses only if clients accept the certificate at others.
func TestRefusedAt(t *testing.T) {
	t.Parallel()
	sound := endpoint{Address: "192.0.2.1", Authorized: true}
	refused := endpoint{Address: "192.0.2.2", refusal: certs.CodeExpired}
	unknown := endpoint{Address: "192.0.2.3"}
	for _, c := range []struct {
		endpoints []endpoint
		untried   bool
		want      string
	}{
		{[]endpoint{refused}, false, ""},
		{[]endpoint{refused, unknown}, false, ""},
		{[]endpoint{refused, sound}, false, " at one of its 2 addresses (192.0.2.2)"},
		{[]endpoint{sound, sound, refused, unknown}, false, " at one of its 4 addresses (192.0.2.2)"},
		{[]endpoint{refused, refused, sound}, false, " at 2 of its 3 addresses (192.0.2.2 and 192.0.2.2)"},
		{[]endpoint{sound, sound, refused, unknown}, true, " at 1 of 4 addresses tried (192.0.2.2)"},
	} {
		r := Result{Port: 443, refusal: certs.CodeSelfSigned, Endpoints: c.endpoints, untried: c.untried,
			found: findingsWith(certs.CodeSelfSigned)}
		got := report(r, ofHost).Conclusion.Message
		if !strings.HasPrefix(got, "Browsers refuse "+sslName+c.want+": ") {
			t.Errorf("%q, want%s", got, c.want)
		}
	}
}

// TestNoBrowserConnects: a server without TLS 1.2 is not one whose certificate is trusted with some trouble.
func TestNoBrowserConnects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		port     uint16
		versions []tlsscan.Version
		want     string
	}{
		{443, []tlsscan.Version{tlsscan.TLS10}, "No current browser can connect to www.example.com: the server supports nothing " +
			"newer than TLS 1.0."},
		{443, []tlsscan.Version{tlsscan.SSL30, tlsscan.TLS10, tlsscan.TLS11}, "No current browser can connect to " +
			"www.example.com: the server supports nothing newer than TLS 1.1. It also accepts SSL 3.0."},
		{443, []tlsscan.Version{tlsscan.SSL30}, "No current browser can connect to www.example.com: the server supports " +
			"nothing newer than SSL 3.0."},
		{993, []tlsscan.Version{tlsscan.TLS10}, "No current client can connect to www.example.com: the server supports " +
			"nothing newer than TLS 1.0."},
	} {
		supported := map[string]*bool{}
		for _, version := range c.versions {
			supported[version.String()] = new(true)
		}
		got := report(Result{Port: c.port, Authorized: true, found: protocolFindings(supported)}, ofHost).Conclusion
		if got.State != finding.Failed || got.Code != codeOutdated || got.Message != c.want {
			t.Errorf("%+v, want %s", got, c.want)
		}
	}
}
