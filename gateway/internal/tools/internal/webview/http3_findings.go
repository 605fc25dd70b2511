package webview

import "diagnostics/gateway/internal/tool/finding"

// The codes of what CheckHTTP3 reports.
const (
	CodeHTTP3Works        = "HTTP3_WORKS"
	CodeHTTP3Unadvertised = "HTTP3_NOT_ADVERTISED"
	CodeHTTP3Dropped      = "HTTP3_DROPPED"
	CodeHTTP3Refused      = "HTTP3_REFUSED"
	CodeHTTP3Certificate  = "HTTP3_CERTIFICATE"
	CodeHTTP3NotPublic    = "HTTP3_NOT_PUBLIC"
	CodeHTTP3Fails        = "HTTP3_FAILS"
	CodeHTTP3Draft        = "HTTP3_DRAFT_ONLY"
	CodeHTTP3Hints        = "HTTP3_HINTS_DIFFER"
	CodeHTTP3Differs      = "HTTP3_OFFERS_DIFFER"
	CodeHTTP3NotTried     = "HTTP3_NOT_TRIED"
)

const (
	altSvcSpec   = "https://www.rfc-editor.org/rfc/rfc7838.html"
	http3Spec    = "https://www.rfc-editor.org/rfc/rfc9114.html"
	bindingsSpec = "https://www.rfc-editor.org/rfc/rfc9460.html"
)

// http3Rows are the findings on HTTP/3: %[1]s is the origin, %[2]d the port of the server, %[3]s a sentence.
var http3Rows = map[string]finding.Entry{
	CodeHTTP3Works: {Severity: finding.Info, Group: finding.Note, Weight: 1,
		Message: "%[1]s offers HTTP/3, and it works.", Reference: http3Spec + "#section-3.1"},
	CodeHTTP3Unadvertised: {Severity: finding.Info, Group: finding.Safer, Weight: 14,
		Message:   "%[1]s answers over HTTP/3, but does not offer it, so browsers do not use it.",
		Remedy:    "Send an Alt-Svc header, or add h3 to the alpn of an HTTPS record.",
		Reference: http3Spec + "#section-3.1"},
	CodeHTTP3Dropped: {Severity: finding.Warn, Group: finding.Safer, Weight: 38,
		Message: "%[1]s offers HTTP/3, but nothing answers on UDP port %[2]d. Browsers may wait for it before they use " +
			"HTTP/2.",
		Remedy:    "Let UDP port %[2]d through the firewall, or stop offering HTTP/3.",
		Reference: http3Spec + "#section-3.1"},
	CodeHTTP3Refused: {Severity: finding.Warn, Group: finding.Safer, Weight: 34,
		Message:   "%[1]s offers HTTP/3, but UDP port %[2]d is closed, so browsers fall back to HTTP/2.",
		Remedy:    "Let the web server listen on UDP port %[2]d, or stop offering HTTP/3.",
		Reference: http3Spec + "#section-3.1"},
	CodeHTTP3Certificate: {Severity: finding.Warn, Group: finding.Safer, Weight: 36,
		Message:   "%[1]s offers HTTP/3, but with a certificate that browsers refuse. %[3]s",
		Remedy:    "Install the certificate of this name for HTTP/3 too.",
		Reference: altSvcSpec + "#section-2.1"},
	CodeHTTP3NotPublic: {Severity: finding.Warn, Group: finding.Safer, Weight: 35,
		Message:   "%[1]s offers HTTP/3 at a server that is not public. %[3]s",
		Remedy:    "Name a public server, or stop offering HTTP/3.",
		Reference: altSvcSpec + "#section-3"},
	CodeHTTP3Fails: {Severity: finding.Warn, Group: finding.Safer, Weight: 33,
		Message: "%[1]s offers HTTP/3, but it does not work. %[3]s", Remedy: "Repair HTTP/3, or stop offering it.",
		Reference: http3Spec + "#section-3.1"},
	CodeHTTP3Draft: {Severity: finding.Info, Group: finding.Safer, Weight: 16,
		Message:   "%[1]s offers only drafts of HTTP/3, which browsers no longer use.",
		Remedy:    "Update the web server, so that Alt-Svc names h3.",
		Reference: http3Spec + "#section-3.1"},
	CodeHTTP3Hints: {Severity: finding.Info, Group: finding.Safer, Weight: 15,
		Message:   "The HTTPS record of %[1]s hints at addresses that its name does not have: %[2]s.",
		Remedy:    "Correct ipv4hint and ipv6hint, or leave them out.",
		Reference: bindingsSpec + "#section-7.3"},
	CodeHTTP3Differs: {Severity: finding.Info, Group: finding.Note, Weight: 7,
		Message:   "%[1]s offers HTTP/3 in %[2]s, but not in %[3]s.",
		Reference: bindingsSpec + "#section-9.3"},
	CodeHTTP3NotTried: {Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "Whether HTTP/3 works with %[1]s is not known. %[3]s"},
}

// WithHTTP3 are the rows with those of CheckHTTP3.
func WithHTTP3(own map[string]finding.Entry) map[string]finding.Entry { return with(http3Rows, own) }
