package webview

import (
	"slices"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
)

func TestCheckCertificate(t *testing.T) {
	t.Parallel()
	untrusted, late := certs.CodeNoLocalIssuer, certs.CodeExpired
	for _, c := range []struct {
		name    string
		url     string
		verdict certs.Verdict
		subject string // empty where the certificate is valid
		refused bool
	}{
		{"valid", "https://example.com/", certs.Verdict{Authorized: true}, "", false},
		{"expired", "https://example.com/", certs.Verdict{Code: late, Codes: []string{late}}, "certificate of example.com", true},
		{"of another port", "https://example.com:8443/", certs.Verdict{Code: late, Codes: []string{late}}, "certificate of example.com:8443", true},
		{"of an address", "https://[2001:4860::8]/", certs.Verdict{Code: late, Codes: []string{late}}, "certificate of [2001:4860::8]", true},
		{"untrusted", "https://example.com/", certs.Verdict{Code: untrusted, Codes: []string{untrusted}}, "certificate of example.com", true},
		{"cut", "https://example.com/", certs.Verdict{Code: untrusted, Codes: []string{untrusted}, Cut: true}, "certificate of example.com", false},
		{"cut and expired", "https://example.com/", certs.Verdict{Code: late, Codes: []string{late, untrusted}, Cut: true}, "certificate of example.com", true},
		{"too costly", "https://example.com/", certs.Verdict{Code: untrusted, Codes: []string{untrusted}, Defects: []string{certs.DefectCostly}}, "certificate of example.com", false},
		{"not read", "https://example.com/", certs.Verdict{Code: untrusted, Codes: []string{untrusted}, Defects: []string{certs.DefectUnfinished}}, "certificate of example.com", false},
		{"a long key", "https://example.com/", certs.Verdict{Code: untrusted, Codes: []string{untrusted}, Defects: []string{certs.DefectLongKey}}, "certificate of example.com", false},
		{"a long key and expired", "https://example.com/", certs.Verdict{Code: late, Codes: []string{late, untrusted}, Defects: []string{certs.DefectLongKey}}, "certificate of example.com", true},
	} {
		u, err := target.ParseURL(c.url)
		if err != nil {
			t.Fatal(err)
		}
		r := &egress.Response{URL: u, TLS: &egress.TLS{Verdict: c.verdict}}
		got := CheckCertificate(r)
		if (got == nil) != (c.subject == "") || got != nil && (got.Subject != c.subject || got.NotVerified == c.refused ||
			got.Defect == "") ||
			CertificateRefused(r) != c.refused {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if CheckCertificate(nil) != nil || CheckCertificate(&egress.Response{}) != nil {
		t.Error("a certificate without TLS")
	}
}

// TestBeyondBounds: an answer beyond a bound of this service is unknown and a note, at the first URL and at later ones.
func TestBeyondBounds(t *testing.T) {
	t.Parallel()
	u, err := target.ParseURL("https://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	rows := FailureRows()
	for _, code := range []string{"HEADERS_TOO_LONG", "TLS_TOO_LONG", "CERTIFICATE_KEY_TOO_LONG", "CHECK_READS_TOO_MUCH"} {
		failed := egress.Hop{URL: u, Err: fault.New(fault.Upstream, code, finding.Args{"host": "example.com"})}
		for _, hops := range [][]egress.Hop{{failed}, {{URL: u, Response: &egress.Response{URL: u, Status: 302}}, failed}} {
			end := BadEnd(egress.Chain{Hops: hops, End: egress.EndUnreachable, Err: failed.Err}, 5)
			if row := rows[end.Code]; end.Code != CodeNotRead || row.State != finding.Unknown || row.Group != finding.Note ||
				end.Args["reason"] != code || end.Args["of"] != "example.com" {
				t.Errorf("%s: %+v, %+v", code, end, row)
			}
		}
	}
}

func TestFailure(t *testing.T) {
	t.Parallel()
	rows := finding.Join(Rows.Only(CodeServerError, CodeClientError, CodeRefused), StatusRows)
	for status, want := range map[int]struct{ code, means string }{
		400: {CodeClientError, ""}, 401: {CodeRefused, "STATUS_401"}, 403: {CodeRefused, "STATUS_403"},
		404: {CodeClientError, ""}, 405: {CodeRefused, ""}, 410: {CodeClientError, "STATUS_410"},
		421: {CodeClientError, "STATUS_421"}, 429: {CodeRefused, "STATUS_429"}, 451: {CodeRefused, "STATUS_451"},
		500: {CodeServerError, ""}, 502: {CodeServerError, "STATUS_502"}, 503: {CodeServerError, "STATUS_503"},
		504: {CodeServerError, "STATUS_504"}, 519: {CodeServerError, ""}, 520: {CodeServerError, "STATUS_520"},
		526: {CodeServerError, "STATUS_526"}, 527: {CodeServerError, ""},
	} {
		args := Failure(status, "Phrase")
		means, _ := args["means"].(string)
		if code := StatusCode(status); code != want.code || means != want.means {
			t.Errorf("%d: %s, %q", status, code, means)
		}
		got := rows.Conclude(want.code, args.With(finding.Args{"host": "example.com"}))
		if got.Meaning == nil || means != "" && *got.Meaning != StatusRows[means].Message {
			t.Errorf("%d: %+v", status, got)
		}
	}
}

func TestSlow(t *testing.T) {
	t.Parallel()
	if Slow(1999.9, 0) || !Slow(2000, 0) {
		t.Error("slow begins at 2 s")
	}
	if delay := 500 * time.Millisecond; Slow(2499.9, delay) || !Slow(2500, delay) {
		t.Error("the wait for the processor is not the site's")
	}
}

// Each host that answers short hellos alone is one finding, whatever the chain came to.
func TestShortHelloHosts(t *testing.T) {
	t.Parallel()
	hop := func(url string, tooLong bool) egress.Hop {
		u, err := target.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		return egress.Hop{URL: u, Response: &egress.Response{URL: u, HelloTooLong: tooLong}}
	}
	one, two := hop("https://one.example.com/", true), hop("https://two.example.com:8443/", true)
	hosts := ShortHelloHosts(egress.Chain{Hops: []egress.Hop{hop("http://example.com/", false), one, one, {URL: one.URL}}},
		egress.Chain{Hops: []egress.Hop{two, one}})
	if !slices.Equal(hosts, []string{"one.example.com", "two.example.com:8443"}) {
		t.Errorf("%q", hosts)
	}
}
