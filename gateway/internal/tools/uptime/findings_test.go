package uptime

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// checkReport reports what every result's conclusion, findings and verdict owe each other.
func checkReport(t *testing.T, r *Result) {
	t.Helper()
	broken := slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Group == finding.Broken })
	states := map[string][]finding.State{
		verdictUp:       {finding.OK, finding.Warned},
		verdictDegraded: {finding.Warned, finding.Failed, finding.Unknown},
		verdictDown:     {finding.Failed, finding.Unknown},
	}
	state := r.Conclusion.State
	if state == finding.Failed && !broken || state == finding.OK && broken || !slices.Contains(states[r.Verdict], state) ||
		r.Findings == nil || strings.Contains(r.Conclusion.Message, "%!") {
		t.Errorf("%s: %+v", r.Verdict, r.Report)
	}
	for _, f := range r.Findings {
		if strings.Contains(f.Message, "%!") || f.Message == "" {
			t.Errorf("%+v", f)
		}
	}
}

// answers is a chain of one answer.
func answers(u target.URL, status int, verdict *certs.Verdict) egress.Chain {
	r := &egress.Response{URL: u, Status: status, Address: netip.MustParseAddr(one)}
	if verdict != nil {
		r.TLS = &egress.TLS{Verdict: *verdict}
	}
	return egress.Chain{Hops: []egress.Hop{{URL: u, Response: r}}, End: egress.EndFinal}
}

func TestReportOfFacts(t *testing.T) {
	t.Parallel()
	site, err := target.ParseURL("https://example.com:8443/")
	if err != nil {
		t.Fatal(err)
	}
	invalid := certs.Verdict{Code: certs.CodeExpired, Codes: []string{certs.CodeExpired, certs.CodeNoLocalIssuer},
		Defects: []string{certs.DefectCostly}}
	unverified := certs.Verdict{Code: certs.CodeNoLocalIssuer, Codes: []string{certs.CodeNoLocalIssuer},
		Defects: []string{certs.DefectCostly}}
	slow := func(d time.Duration) egress.Chain {
		c := answers(site, 200, nil)
		c.Hops[0].Response.Timings.Total = d
		return c
	}
	dead := egress.Chain{Hops: []egress.Hop{{URL: site, Err: fault.New(fault.Upstream, "CONNECTION_REFUSED",
		finding.Args{"host": "example.com"})}},
		End: egress.EndUnreachable}
	dead.Err = dead.Hops[0].Err
	looping := answers(site, 302, nil)
	looping.End = egress.EndLoop
	limited := egress.Chain{Hops: append(slices.Clone(looping.Hops), egress.Hop{URL: site,
		Err: fault.New(fault.Limited, "URL_TOO_LONG", nil)}),
		End: egress.EndBlocked}
	beyond := func(code string, before ...egress.Hop) egress.Chain {
		err := fault.New(fault.Upstream, code, finding.Args{"host": "example.com"})
		return egress.Chain{Hops: append(before, egress.Hop{URL: site, Err: err}), End: egress.EndUnreachable, Err: err}
	}
	rows := []struct {
		name       string
		v4, v6     egress.Chain
		noLookup   bool // of the IPv4 addresses; there are none
		verdict    string
		state      finding.State
		conclusion string
		findings   string
	}{
		{"just fast", slow(1999 * time.Millisecond), slow(time.Second), false, "up", finding.OK, codeUp, ""},
		{"just slow", slow(2 * time.Second), slow(3 * time.Second), false, "up", finding.Warned, codeSlow, webview.CodeSlow},
		{"399", answers(site, 399, nil), answers(site, 200, nil), false, "up", finding.OK, codeUp, ""},
		{"400", answers(site, 400, nil), answers(site, 400, nil), false, "degraded", finding.Warned, webview.CodeClientError, webview.CodeClientError},
		{"403", answers(site, 403, nil), answers(site, 403, nil), false, "degraded", finding.Warned, webview.CodeRefused, webview.CodeRefused},
		{"500", answers(site, 500, nil), answers(site, 500, nil), false, "down", finding.Failed, codeDown, webview.CodeServerError},
		{"one family", answers(site, 200, nil), answers(site, 500, nil), false, "degraded", finding.Warned, codeOneFamilyDown, codeFamilyDown},
		{"refuses", dead, dead, false, "down", finding.Failed, codeDown, "CONNECTION_REFUSED"},
		{"each its own failure", dead, answers(site, 503, nil), false, "down", finding.Failed, codeDown, "CONNECTION_REFUSED" + " " + webview.CodeServerError},
		{"a loop", looping, looping, false, "degraded", finding.Warned, codeRedirects, webview.CodeLoop},
		{"a limit of this service", limited, limited, false, "degraded", finding.Unknown, codeNotFollowed, webview.CodeNotVisited},
		{"long headers", beyond("HEADERS_TOO_LONG"), beyond("HEADERS_TOO_LONG"), false, "degraded", finding.Unknown, webview.CodeNotRead, webview.CodeNotRead},
		{"a long key", beyond("CERTIFICATE_KEY_TOO_LONG"), beyond("CERTIFICATE_KEY_TOO_LONG"), false, "degraded", finding.Unknown, webview.CodeNotRead, webview.CodeNotRead},
		{"long headers over one family", beyond("HEADERS_TOO_LONG"), answers(site, 200, nil), false, "degraded", finding.Unknown, webview.CodeNotRead, webview.CodeNotRead},
		{"and nothing over the other", beyond("HEADERS_TOO_LONG"), dead, false, "degraded", finding.Warned, codeOneFamilyDown, codeFamilyDown + " " + webview.CodeNotRead},
		{"long headers after a redirect", beyond("HEADERS_TOO_LONG", looping.Hops[0]), beyond("HEADERS_TOO_LONG", looping.Hops[0]), false, "degraded", finding.Unknown, webview.CodeNotRead, webview.CodeNotRead},
		{"an invalid certificate", answers(site, 200, &invalid), answers(site, 200, &invalid), false, "degraded", finding.Failed, webview.CodeRefusedCert, webview.CodeCertificate},
		{"and one family", answers(site, 200, &invalid), dead, false, "degraded", finding.Failed, webview.CodeRefusedCert, webview.CodeCertificate + " " + codeFamilyDown},
		{"a certificate that was not verified", answers(site, 200, &unverified), answers(site, 200, &unverified), false, "up", finding.OK, codeUp, webview.CodeUnverified},
		{"IPv6 alone", egress.Chain{}, answers(site, 200, nil), false, "up", finding.OK, codeUp, codeNoIPv4},
		{"IPv4 not looked up", egress.Chain{}, answers(site, 200, nil), true, "up", finding.OK, codeUp, codeUnlooked},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			var resolution egress.Resolution
			var checks []familyCheck
			for family, chain := range map[int]egress.Chain{4: r.v4, 6: r.v6} {
				if len(chain.Hops) == 0 {
					resolution.Unanswered.V4 = r.noLookup
					continue
				}
				c := familyCheck{family: family, chain: chain, address: netip.MustParseAddr(one)}
				c.addresses = []address{judge(c.address, chain.Hops[0])}
				if family == 4 {
					c.ended = time.Unix(1, 0)
				} else {
					c.ended = time.Unix(2, 0)
				}
				checks = append(checks, c)
			}
			slices.SortFunc(checks, func(a, b familyCheck) int { return a.family - b.family })
			got := (&checker{url: site}).conclude(resolution, checks)
			checkReport(t, got)
			var codes []string
			for _, f := range got.Findings {
				codes = append(codes, f.Code)
				if f.Code == webview.CodeCertificate && *f.Subject != "certificate of example.com:8443" {
					t.Errorf("the subject is %s", *f.Subject)
				}
			}
			if got.Verdict != r.verdict || got.Conclusion.State != r.state || got.Conclusion.Code != r.conclusion ||
				strings.Join(codes, " ") != r.findings {
				t.Errorf("%s, %+v, %v", got.Verdict, got.Conclusion, codes)
			}
			if strings.Contains(r.findings, webview.CodeUnverified) && got.CertificateValid != nil {
				t.Error("an opinion on a certificate that was not verified")
			}
		})
	}
}

func TestReportOnANameThatLeadsNowhere(t *testing.T) {
	t.Parallel()
	r := checker{}
	for _, c := range []struct {
		err        error
		conclusion string
		finding    string
	}{
		{fault.New(fault.NoAddress, "NO_ADDRESS", finding.Args{"host": "example.com"}), codeNoAddress, codeNoAddress},
		{fault.New(fault.Timeout, "NAME_SERVERS_SILENT", finding.Args{"name": "example.com"}), "NAME_SERVERS_SILENT", "NAME_SERVERS_SILENT"},
	} {
		got, err := r.unresolved(t.Context(), c.err)
		if err != nil || got.Verdict != verdictDown || strings.Contains(got.Conclusion.Message, "down") ||
			got.Conclusion.Code != c.conclusion || got.Conclusion.State != finding.Failed ||
			len(got.Findings) != 1 || got.Findings[0].Code != c.finding || got.Findings[0].Group != finding.Broken {
			t.Errorf("%+v, %v", got.Report, err)
		}
	}
	own := &fault.Error{Kind: fault.Upstream, Local: true}
	if _, err := r.unresolved(t.Context(), own); !errors.Is(err, own) {
		t.Errorf("got %v", err)
	}
}
