package httpheaders

import (
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// maxShownURL bounds a URL in a sentence.
const maxShownURL = 200

// report makes the conclusion and the findings of an answer.
func (r Result) report(answer *egress.Response) finding.Report {
	report := rows.Draft()
	host := finding.Args{"host": webview.Place(answer.URL)}
	answered := host.With(finding.Args{"answer": webview.Answered(r.Status, r.StatusText)})
	took := finding.Args{"took": r.ResponseTimeMs}
	certificate := webview.CheckCertificate(answer)
	if certificate != nil {
		certificate.Report(report)
	}
	if r.HelloTooLong {
		report.Add(webview.CodeHello, "", host)
	}
	if r.Challenge != nil {
		report.Add(webview.CodeChallenge, "", answered.With(finding.Args{"vendor": r.Challenge.Vendor}))
	} else if code := webview.StatusCode(r.Status); code != "" {
		report.Add(code, "", host.With(webview.Failure(r.Status, r.StatusText)))
	}
	if conflicts(answer) {
		report.Add(webview.CodeConflict, "", host)
	}
	slow := webview.Slow(r.ResponseTimeMs, answer.Timings.Delay)
	if slow {
		report.Add(webview.CodeSlow, "", host.With(took))
	}
	if r.plain() {
		report.Add(webview.CodePlain, "", answered)
	}
	if code := compressionFault(answer, r.Compression); code != "" {
		report.Add(code, "", host)
	}
	webview.ReportNotes(report, webview.Place(answer.URL), r.Notes)
	switch {
	case certificate != nil && !certificate.NotVerified:
		return report.Conclude(webview.CodeRefusedCert, answered.With(webview.Refused(certificate.Defect)))
	case conflicts(answer):
		return report.Conclude(webview.CodeConflict, host)
	case r.Challenge != nil:
		return report.Conclude(webview.CodeChallenge, answered.With(finding.Args{"vendor": r.Challenge.Vendor}))
	case webview.StatusCode(r.Status) != "":
		return report.Conclude(webview.StatusCode(r.Status), host.With(webview.Failure(r.Status, r.StatusText)))
	case r.HelloTooLong:
		return report.Conclude(webview.CodeHello, host)
	case r.RedirectsTo != nil:
		return report.Conclude(codeRedirects, answered.With(finding.Args{"url": text.Marked(*r.RedirectsTo, maxShownURL)}))
	case r.plain():
		return report.Conclude(webview.CodePlain, answered)
	case slow:
		return report.Conclude(codeSlowly, answered.With(took))
	case r.Status >= 300:
		return report.Conclude(codeNoPage, answered)
	}
	return report.Conclude(codeAnswers, answered)
}

// conflicts reports whether the Location fields of an answer differ, which browsers refuse whatever its status.
func conflicts(r *egress.Response) bool { return len(r.Locations()) > 1 }

// plain reports whether the answer is a page without encryption.
func (r Result) plain() bool { return r.TLS == nil && r.Status < 300 }
