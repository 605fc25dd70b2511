package httpheaders

import (
	"diagnostics/gateway/internal/fault"
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

var rows = finding.Join(
	webview.Rows.Only(webview.CodeSlow, webview.CodeChallenge, webview.CodeServerError, webview.CodeClientError,
		webview.CodeRefused, webview.CodePlain, webview.CodeRefusedCert, webview.CodeHello),
	fault.Rows.Only(webview.CodeConflict, webview.CodeCertificate, webview.CodeUnverified),
	webview.StatusRows, webview.NoteRows, webview.HTTP3Rows, webview.RepairRows, own,
).WithClauses(fault.Rows)

var own = finding.Rows{
	codeAnswers: {
		State: finding.OK, Args: "host text, answer text", Message: "{host} answers {answer}.",
		Brief: "{answer}",
	},
	codeSlowly: {
		State: finding.Warned, Args: "host text, answer text, took duration",
		Message: "{host} answers {answer}, but only after {took}.",
		Brief:   "Slow",
		Meaning: "Visitors wait that long too. Check the load and the log of the server.",
	},
	codeRedirects: {
		State: finding.Noted, Args: "host text, answer text, url text",
		Message: "{host} answers {answer} and sends visitors on to {url}.",
		Brief:   "Redirects",
		Meaning: "These are the headers of the redirect. To see those of the page, check the URL that it leads to.",
	},
	codeNoPage: {
		State: finding.Noted, Args: "host text, answer text", Message: "{host} answers {answer}.",
		Brief: "{answer}",
	},
	codeNotCompressed: {
		Severity: finding.Info, Group: finding.Safer, Weight: 20,
		Args:      "host text",
		Message:   "{host} sends text without compression.",
		Remedy:    "Turn compression on in the web server: it makes text several times smaller.",
		Reference: "https://www.rfc-editor.org/rfc/rfc9110.html#section-8.4",
	},
	codeVaryMissing: {
		Severity: finding.Info, Group: finding.Safer, Weight: 21,
		Args:      "host text",
		Message:   "{host} compresses its answer without Vary: Accept-Encoding.",
		Remedy:    "Send that header: a cache may pass the compressed answer to a client that cannot read it.",
		Reference: "https://www.rfc-editor.org/rfc/rfc9110.html#section-12.5.5",
	},
}
