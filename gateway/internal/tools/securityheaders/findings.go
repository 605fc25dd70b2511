package securityheaders

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// The codes of findings that are not only of a control and its status.
const (
	codeHSTSPlain       = "HSTS_WITHOUT_TLS"
	codeHSTSCertificate = "HSTS_CERTIFICATE_REFUSED"
	codeNotRedirected   = "HTTP_NOT_REDIRECTED"
	codeRedirect        = "HTTP_REDIRECT"
	codeNotVerified     = "CERTIFICATE_NOT_VERIFIED"
	codeOtherPage       = "NOT_THE_PAGE"
)

// The codes of conclusions.
const (
	codeFine      = "HEADERS_FINE"
	codeOtherFine = "OTHER_PAGE_FINE"
	codeToFix     = "HEADERS_TO_FIX"
)

// outcome is what the finding of a control reports.
type outcome int

const (
	outcomeMissing outcome = iota // a header that should be there is not
	outcomeFailed
	outcomeWarned
	outcomeNoted
)

// row is one row of the table of findings: what it is of a control to come to an outcome. Message is empty where it is
// the control's name with the sentence that decided; %[1]s.
type row struct {
	control  string
	outcome  outcome
	code     string
	severity finding.Severity
	group    finding.Group
	weight   int
	message  string
}

// rows are the findings of all controls. A missing header that is only a note is also outcomeMissing.
var rows = []row{
	{"hsts", outcomeMissing, "HSTS_MISSING", finding.Fail, finding.Safer, 40,
		"Strict-Transport-Security is missing, so the first request of a visit may go over plain HTTP."},
	{"hsts", outcomeFailed, "HSTS_INEFFECTIVE", finding.Fail, finding.Safer, 40, ""},
	{"hsts", outcomeWarned, "HSTS_WEAK", finding.Warn, finding.Safer, 22, ""},
	{"hsts", outcomeNoted, "HSTS_NOTE", finding.Info, finding.Note, 5, ""},
	{"csp", outcomeMissing, "CSP_MISSING", finding.Fail, finding.Safer, 35,
		"Content-Security-Policy is missing, so injected script runs unhindered."},
	{"csp", outcomeFailed, "CSP_UNSAFE", finding.Fail, finding.Safer, 34, ""},
	{"csp", outcomeWarned, "CSP_WEAK", finding.Warn, finding.Safer, 20, ""},
	{"csp", outcomeNoted, "CSP_NOTE", finding.Info, finding.Note, 5, ""},
	{"frame-protection", outcomeMissing, "FRAME_PROTECTION_MISSING", finding.Fail, finding.Safer, 33,
		"Any site can show this page in a frame and trick people into clicking on it."},
	{"frame-protection", outcomeFailed, "FRAME_PROTECTION_INEFFECTIVE", finding.Fail, finding.Safer, 33, ""},
	{"frame-protection", outcomeWarned, "FRAME_PROTECTION_WEAK", finding.Warn, finding.Safer, 18, ""},
	{"frame-protection", outcomeNoted, "FRAME_PROTECTION_NOTE", finding.Info, finding.Note, 5, ""},
	{"content-type-options", outcomeMissing, "CONTENT_TYPE_OPTIONS_MISSING", finding.Fail, finding.Safer, 28,
		"X-Content-Type-Options is missing, so browsers may treat a file as another type than declared."},
	{"content-type-options", outcomeFailed, "CONTENT_TYPE_OPTIONS_INEFFECTIVE", finding.Fail, finding.Safer, 28, ""},
	{"content-type-options", outcomeWarned, "CONTENT_TYPE_MISSING", finding.Warn, finding.Safer, 16,
		"The answer declares no Content-Type, so browsers must guess what it is."},
	{"referrer-policy", outcomeMissing, "REFERRER_POLICY_MISSING", finding.Info, finding.Note, 6,
		"Referrer-Policy is missing, so old browsers give other sites the whole URL."},
	{"referrer-policy", outcomeFailed, "REFERRER_POLICY_UNSAFE", finding.Fail, finding.Safer, 30, ""},
	{"referrer-policy", outcomeWarned, "REFERRER_POLICY_WEAK", finding.Warn, finding.Safer, 15, ""},
	{"referrer-policy", outcomeNoted, "REFERRER_POLICY_NOTE", finding.Info, finding.Note, 5, ""},
	{"permissions-policy", outcomeMissing, "PERMISSIONS_POLICY_MISSING", finding.Info, finding.Note, 5,
		"Permissions-Policy is missing, so scripts may ask for every feature that browsers offer."},
	{"permissions-policy", outcomeWarned, "PERMISSIONS_POLICY_WEAK", finding.Warn, finding.Safer, 14, ""},
	{"permissions-policy", outcomeNoted, "PERMISSIONS_POLICY_NOTE", finding.Info, finding.Note, 4, ""},
	{"coop", outcomeMissing, "COOP_MISSING", finding.Info, finding.Note, 4,
		"Cross-Origin-Opener-Policy is missing, so windows of other sites keep a reference to this page."},
	{"coop", outcomeWarned, "COOP_INEFFECTIVE", finding.Warn, finding.Safer, 13, ""},
	{"coop", outcomeNoted, "COOP_NOTE", finding.Info, finding.Note, 3, ""},
	{"coep", outcomeMissing, "COEP_MISSING", finding.Info, finding.Note, 3,
		"Cross-Origin-Embedder-Policy is missing. Only pages that need cross-origin isolation must send it."},
	{"coep", outcomeWarned, "COEP_INEFFECTIVE", finding.Warn, finding.Safer, 12, ""},
	{"coep", outcomeNoted, "COEP_NOTE", finding.Info, finding.Note, 3, ""},
	{"corp", outcomeMissing, "CORP_MISSING", finding.Info, finding.Note, 4,
		"Cross-Origin-Resource-Policy is missing, so other sites can embed this resource."},
	{"corp", outcomeWarned, "CORP_INEFFECTIVE", finding.Warn, finding.Safer, 13, ""},
	{"corp", outcomeNoted, "CORP_NOTE", finding.Info, finding.Note, 3, ""},
	{"cors", outcomeFailed, "CORS_UNSAFE", finding.Fail, finding.Safer, 45, ""},
	{"cors", outcomeWarned, "CORS_WEAK", finding.Warn, finding.Safer, 25, ""},
	{"cors", outcomeNoted, "CORS_OPEN", finding.Info, finding.Note, 5, ""},
	{"cookies", outcomeFailed, "COOKIES_UNSAFE", finding.Fail, finding.Safer, 44, ""},
	{"cookies", outcomeWarned, "COOKIES_WEAK", finding.Warn, finding.Safer, 24, ""},
	{"cookies", outcomeNoted, "COOKIES_NOTE", finding.Info, finding.Note, 6, ""},
	{"information-leak", outcomeFailed, "LEAK_INTERNALS", finding.Fail, finding.Safer, 42, ""},
	{"information-leak", outcomeWarned, "LEAK_VERSION", finding.Warn, finding.Safer, 21, ""},
	{"information-leak", outcomeNoted, "LEAK_SOFTWARE", finding.Info, finding.Note, 4, ""},
	{"deprecated", outcomeWarned, "RETIRED_HEADERS_MISLEADING", finding.Warn, finding.Note, 9, ""},
	{"deprecated", outcomeNoted, "RETIRED_HEADERS", finding.Info, finding.Note, 3, ""},
}

var catalogue = finding.Catalogue{
	Conclusions: map[string]finding.Outcome{
		codeFine: {State: finding.OK, Message: "All security headers of %[1]s are fine."},
		codeOtherFine: {State: finding.Noted,
			Message: "The security headers of %[1]s are fine, but the answer may not be the site's page."},
		codeToFix: {State: finding.Warned, Message: "The security headers of %[1]s could be safer: %[2]s."},
	},
	Findings: entries(),
}

func entries() map[string]finding.Entry {
	references := make(map[string]string)
	for _, c := range controls() {
		references[c.id] = c.reference
	}
	const named = "%[1]s: %[2]s"
	list := map[string]finding.Entry{
		codeHSTSPlain: {Severity: finding.Fail, Group: finding.Safer, Weight: 55, Message: named,
			Reference: references["hsts"]},
		codeHSTSCertificate: {Severity: finding.Fail, Group: finding.Safer, Weight: 54, Message: named,
			Reference: references["hsts"]},
		codeNotRedirected: {Severity: finding.Warn, Group: finding.Safer, Weight: 38, Message: "%[1]s",
			Reference: references["hsts"]},
		codeRedirect: {Severity: finding.Info, Group: finding.Note, Weight: 8, Message: "%[1]s",
			Reference: references["hsts"]},
		codeNotVerified: {Severity: finding.Info, Group: finding.Note, Weight: 9, Message: "%[1]s"},
		codeOtherPage:   {Severity: finding.Info, Group: finding.Note, Weight: 9, Message: "%[1]s"},
	}
	maps.Copy(list, webview.Entries(nil, webview.CodeHello))
	for _, r := range rows {
		list[r.code] = finding.Entry{Severity: r.severity, Group: r.group, Weight: r.weight,
			Message: cmp.Or(r.message, named), Reference: references[r.control]}
	}
	return webview.WithNotes(list)
}

// report makes the conclusion, and the findings from those of the controls. Headers break nothing, so that it never
// fails.
func report(p page, counts summary, plain *httpRedirect, found []finding.Finding) finding.Report {
	if plain != nil && (plain.Verdict == controlWarn || plain.Verdict == controlInfo) {
		code := codeRedirect
		if plain.Verdict == controlWarn {
			code = codeNotRedirected
			counts.Warn++
		}
		f := catalogue.Find(code, plain.Finding)
		f.Remedy = plain.Recommendation
		found = append(found, f)
	}
	if p.notVerified() {
		url := p.answer.URL
		sentence := p.answer.TLS.Verdict.Sentence(url.Host().Short())
		found = append(found, catalogue.Find(codeNotVerified, sentence).About(certificateSubject(p.answer)))
	}
	if p.notice != nil {
		found = append(found, catalogue.Find(codeOtherPage, *p.notice))
	}
	found = append(found, webview.NoteFindings(catalogue, shownSite(p.answer), webview.Notes(p.answer))...)
	return finding.NewReport(conclude(shownSite(p.answer), counts, p.notice != nil), found...)
}

func conclude(site string, counts summary, otherPage bool) finding.Conclusion {
	switch {
	case counts.Fail+counts.Warn > 0:
		return catalogue.Conclude(codeToFix, site, countWord(counts.Fail+counts.Warn, "suggestion", "suggestions"))
	case otherPage:
		return catalogue.Conclude(codeOtherFine, site)
	}
	return catalogue.Conclude(codeFine, site)
}

// outcomeOf is what the finding of a control reports; false where there is nothing to report.
func outcomeOf(v controlVerdict) (outcome, bool) {
	switch v.status {
	case controlFail, controlWarn, controlInfo:
	case controlPass, controlNotApplicable:
		return 0, false
	}
	switch {
	case v.value == nil:
		return outcomeMissing, true
	case v.status == controlFail:
		return outcomeFailed, true
	case v.status == controlWarn:
		return outcomeWarned, true
	}
	return outcomeNoted, true
}

// codeOf is the code of a control's outcome. A control that is no one header has no code for one that is missing.
func codeOf(control string, of outcome, v controlVerdict) string {
	for _, r := range rows {
		if r.control == control && r.outcome == of {
			return r.code
		}
	}
	v.value = new(string)
	if present, ok := outcomeOf(v); ok && present != of {
		return codeOf(control, present, v)
	}
	panic(fmt.Sprintf("securityheaders: no finding for %s of %s", v.status, control))
}

// maxReason bounds the message of a finding, in bytes of JSON.
const maxReason = 2 << 10

// findingOf is the finding of a control that needs attention, nil where it does not.
func findingOf(c controlKind, v controlVerdict, p page) *finding.Finding {
	of, ok := outcomeOf(v)
	if !ok {
		return nil
	}
	code := cmp.Or(v.code, codeOf(c.id, of, v))
	reason := v.reason
	if reason == "" && len(v.findings) > 0 {
		reason = v.findings[0]
	}
	f := catalogue.Find(code, c.name, bound.Text(reason, maxReason))
	f.Remedy = format.TextOrNull(v.recommendation.text())
	if text := pasteOf(c.id, v); text != "" {
		f = f.WithPaste(finding.PasteNginx, text)
	}
	if code == codeHSTSCertificate {
		f = f.About(certificateSubject(p.answer))
	}
	return &f
}

// pasteOf are the lines of nginx that send what a control recommends. It is empty where that is no header, would repeat
// what the server sent, or is for the owner to complete or to decide.
func pasteOf(control string, v controlVerdict) string {
	set := v.recommendation.set
	switch {
	case set == nil, v.recommendation.repeats, set.ExampleHost, set.Name == "Content-Type", v.code != "",
		control == "coep" && v.status == controlInfo:
		return ""
	case set.StartingPoint: // one that only reports, and so breaks nothing
		return nginxLine(cspHeader+"-Report-Only", "default-src 'self'; object-src 'none'; base-uri 'none'; "+
			"form-action 'self'; frame-ancestors 'self'")
	case v.value != nil && set.Name != cspHeader: // policies add up; of any other header there must be one alone
		return "proxy_hide_header " + set.Name + ";\n" + nginxLine(set.Name, set.Value)
	}
	return nginxLine(set.Name, set.Value)
}

func nginxLine(name, value string) string {
	return fmt.Sprintf(`add_header %s "%s" always;`, name, strings.ReplaceAll(value, `"`, `\"`))
}

func certificateSubject(r *egress.Response) string {
	return webview.CertificateSubject(r.URL.Host().Authority(), r.URL.Port())
}

// shownSite is the host of an answer with its port where that is not the usual one.
func shownSite(r *egress.Response) string {
	usual := map[string]uint16{"http": 80, "https": httpsPort}
	if port := r.URL.Port(); port != usual[r.URL.Scheme()] {
		return fmt.Sprintf("%s:%d", r.URL.Host().Authority(), port)
	}
	return r.URL.Host().Authority()
}
