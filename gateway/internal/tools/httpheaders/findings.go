package httpheaders

import (
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// The codes of this tool. Its other findings and conclusions have those of package webview.
const (
	codeAnswers   = "ANSWERS"
	codeSlowly    = "ANSWERS_SLOWLY"
	codeRedirects = "REDIRECTS"
	codeNoPage    = "ANSWERS_WITHOUT_PAGE"

	codeNotCompressed = "NOT_COMPRESSED"
	codeVaryMissing   = "VARY_MISSING"
)

// maxShownURL bounds a URL in a sentence.
const maxShownURL = 200

var catalogue = finding.Catalogue{
	Conclusions: map[string]finding.Outcome{
		codeAnswers:             {State: finding.OK, Message: "%[1]s answers %[2]s."},
		codeSlowly:              {State: finding.Warned, Message: "%[1]s answers %[2]s, but only after %[3]s."},
		codeRedirects:           {State: finding.Noted, Message: "%[1]s answers %[2]s and sends visitors on to %[4]s."},
		codeNoPage:              {State: finding.Noted, Message: "%[1]s answers %[2]s."},
		webview.CodePlain:       {State: finding.Warned, Message: "%[1]s answers %[2]s without encryption."},
		webview.CodeClientError: {State: finding.Warned, Message: "%[1]s answers %[2]s."},
		webview.CodeRefused:     {State: finding.Warned, Message: "%[1]s answers %[2]s, perhaps only to automated checks."},
		webview.CodeServerError: {State: finding.Failed, Message: "%[1]s answers %[2]s."},
		webview.CodeChallenge:   {State: finding.Warned, Message: "%[1]s answers %[2]s: a bot challenge of %[3]s."},
		webview.CodeConflict: {State: finding.Failed,
			Message: "%[1]s answers %[2]s with conflicting Location headers, and browsers show an error instead."},
		webview.CodeCertificate: {State: finding.Failed,
			Message: "%[1]s answers %[2]s, but browsers refuse its certificate: %[3]s."},
	},
	Findings: webview.WithHTTP3(webview.WithNotes(webview.Entries(map[string]finding.Entry{
		codeNotCompressed: {Severity: finding.Info, Group: finding.Safer, Weight: 12,
			Message:   "%[1]s sends text without compression.",
			Remedy:    "Turn compression on in the web server: it makes text several times smaller.",
			Reference: "https://www.rfc-editor.org/rfc/rfc9110.html#section-8.4"},
		codeVaryMissing: {Severity: finding.Info, Group: finding.Safer, Weight: 14,
			Message:   "%[1]s compresses its answer without Vary: Accept-Encoding.",
			Remedy:    "Send that header: a cache may pass the compressed answer to a client that cannot read it.",
			Reference: "https://www.rfc-editor.org/rfc/rfc9110.html#section-12.5.5"},
	}, webview.CodeSlow, webview.CodeChallenge, webview.CodeServerError,
		webview.CodeClientError, webview.CodeRefused, webview.CodePlain, webview.CodeConflict, webview.CodeCertificate,
		webview.CodeUnverified, webview.CodeHello))),
}

// report makes the conclusion and the findings of an answer.
func (r Result) report(answer *egress.Response) finding.Report {
	var findings []finding.Finding
	add := func(f finding.Finding) { findings = append(findings, f) }
	host, answered := webview.Place(answer.URL), webview.Answered(r.Status, r.StatusText)
	certificate := webview.CheckCertificate(answer)
	if certificate != nil {
		add(certificate.Finding(catalogue))
	}
	if r.HelloTooLong {
		add(catalogue.Find(webview.CodeHello, host))
	}
	if r.Challenge != nil {
		add(catalogue.Find(webview.CodeChallenge, host, answered, r.Challenge.Vendor))
	} else if code := webview.StatusCode(r.Status); code != "" {
		add(catalogue.Find(code, host, answered))
	}
	if conflicts(answer) {
		add(catalogue.Find(webview.CodeConflict, host))
	}
	if webview.Slow(r.ResponseTimeMs, answer.Timings.Delay) {
		add(catalogue.Find(webview.CodeSlow, host, webview.Duration(r.ResponseTimeMs)))
	}
	if r.plain() {
		add(catalogue.Find(webview.CodePlain, host))
	}
	if code := compressionFault(answer, r.Compression); code != "" {
		add(catalogue.Find(code, host))
	}
	findings = append(findings, webview.NoteFindings(catalogue, host, r.Notes)...)
	return finding.NewReport(r.conclude(answer, certificate), findings...)
}

func (r Result) conclude(answer *egress.Response, certificate *webview.Certificate) finding.Conclusion {
	host, answered := webview.Place(answer.URL), webview.Answered(r.Status, r.StatusText)
	code := codeAnswers
	switch {
	case certificate != nil && !certificate.NotVerified:
		return catalogue.Conclude(webview.CodeCertificate, host, answered, certificate.Clause)
	case conflicts(answer):
		code = webview.CodeConflict
	case r.Challenge != nil:
		return catalogue.Conclude(webview.CodeChallenge, host, answered, r.Challenge.Vendor)
	case webview.StatusCode(r.Status) != "":
		code = webview.StatusCode(r.Status)
	case r.RedirectsTo != nil:
		return catalogue.Conclude(codeRedirects, host, answered, "", text.Marked(*r.RedirectsTo, maxShownURL))
	case r.plain():
		code = webview.CodePlain
	case webview.Slow(r.ResponseTimeMs, answer.Timings.Delay):
		code = codeSlowly
	case r.Status >= 300:
		code = codeNoPage
	}
	return catalogue.Conclude(code, host, answered, webview.Duration(r.ResponseTimeMs))
}

// conflicts reports whether the Location fields of an answer differ, which browsers refuse whatever its status.
func conflicts(r *egress.Response) bool { return len(r.Locations()) > 1 }

// plain reports whether the answer is a page without encryption.
func (r Result) plain() bool { return r.TLS == nil && r.Status < 300 }
