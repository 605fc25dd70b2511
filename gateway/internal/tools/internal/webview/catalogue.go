package webview

import (
	"diagnostics/gateway/internal/egress/http1"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

// The codes of what several web tools report. What a failed request comes to has the code of package fault.
const (
	CodeSlow        = "SLOW_RESPONSE"
	CodeChallenge   = "BOT_CHALLENGE"
	CodeServerError = "SERVER_ERROR"
	CodeClientError = "ERROR_STATUS"
	CodeRefused     = "REQUEST_REFUSED"
	CodePlain       = "NOT_ENCRYPTED"
	CodeConflict    = "LOCATION_CONFLICT"

	CodeCertificate = "CERTIFICATE_INVALID"
	CodeRefusedCert = "CERTIFICATE_REFUSED"
	CodeUnverified  = "CERTIFICATE_NOT_VERIFIED"
	CodeHello       = "HELLO_INTOLERANT"

	CodeNoConnection = "NO_CONNECTION"
	CodeNoAnswer     = "NO_ANSWER"
	CodeNotVisited   = "NOT_VISITED"
	CodeNotRead      = "ANSWER_NOT_READ"

	CodeLoop         = "REDIRECT_LOOP"
	CodeManyRedirect = "TOO_MANY_REDIRECTS"
	CodeNoLocation   = "REDIRECT_WITHOUT_LOCATION"
	CodeBadLocation  = "REDIRECT_INVALID"
	CodeScheme       = "REDIRECT_SCHEME"
	CodeNotPublic    = "REDIRECT_NOT_PUBLIC"
	CodeUserName     = "REDIRECT_USER_NAME"
	CodeDeadRedirect = "REDIRECT_UNREACHABLE"
	CodeNotFinished  = "NOT_FINISHED"
)

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

	repairExpired   = "REPAIR_EXPIRED"
	repairEarly     = "REPAIR_NOT_YET_VALID"
	repairName      = "REPAIR_NAME"
	repairChain     = "REPAIR_CHAIN"
	repairOtherwise = "REPAIR_CERTIFICATE"

	codeHTTP3NoAnswer = "HTTP3_WITHOUT_ANSWER"
	codeHTTP3Plain    = "HTTP3_ONLY_FOR_HTTPS"
)

const (
	httpSpec     = "https://www.rfc-editor.org/rfc/rfc9110.html"
	http1Spec    = "https://www.rfc-editor.org/rfc/rfc9112.html"
	altSvcSpec   = "https://www.rfc-editor.org/rfc/rfc7838.html"
	http3Spec    = "https://www.rfc-editor.org/rfc/rfc9114.html"
	bindingsSpec = "https://www.rfc-editor.org/rfc/rfc9460.html"
)

// Rows are what several web tools report about an answer. {host} has its port if that is no default; in a row that
// quotes a failure, whose host may be another one, it is {of}.
var Rows = finding.Rows{
	CodeSlow: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 40,
		Args: "host text, took duration", Message: "{host} takes {took} to answer.",
	},
	CodeChallenge: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Note, Weight: 9,
		Args:    "host text, answer text, vendor text",
		Message: "{host} answers {answer}: a bot challenge of {vendor}.",
		Brief:   "Bot challenge",
		Meaning: "{vendor} asks visitors to prove that they are human, which this service cannot do. The site " +
			"itself may be fine.",
		Remedy: "Open the site in a browser, or let this service through with a rule in {vendor}.",
	},
	CodeServerError: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 94,
		Args: "host text, answer text, means sentence", Message: "{host} answers {answer}.",
		Brief:   "Server error",
		Meaning: "[{means}]{means?|Visitors see the error too. Look for it in the server's log.}",
		Remedy:  "[{means}]{means?|Look for the error in the server's log.}", Reference: httpSpec + "#section-15.6",
	},
	CodeClientError: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 62,
		Args: "host text, answer text, means sentence", Message: "{host} answers {answer}.",
		Brief:     "Error status",
		Meaning:   "[{means}]{means?|Visitors of this URL see an error. Check the path of the URL first.}",
		Reference: httpSpec + "#section-15.5",
	},
	CodeRefused: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Note, Weight: 9,
		Args:      "host text, answer text, signIn flag, means sentence",
		Message:   "{host} answers {answer}{signIn?: visitors must sign in|, perhaps only to automated checks}.",
		Brief:     "{signIn?Sign-in required|Request refused}",
		Meaning:   "[{means}]{means?|Open the URL in a browser to see whether visitors are refused too.}",
		Reference: httpSpec + "#section-15.5",
	},
	CodePlain: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 55,
		Args: "host text, answer text", Message: "{host} answers {answer} without encryption.",
		Brief:   "Not encrypted",
		Meaning: "Anyone on the way can read and change the page. Redirect every http URL to https.",
		Remedy:  "Redirect every http URL to https.",
	},
	CodeRefusedCert: {
		State: finding.Failed,
		Args:  "host text, answer text, other text, defect code, repair code",
		Message: "{host} answers[ {answer}], but browsers refuse {other?the certificate of |its certificate}[{other}]: " +
			"{defect}.",
		Brief:   "Certificate refused",
		Meaning: "Visitors see a warning instead of the site. {repair}.",
	},
	CodeHello: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Broken, Weight: 84,
		Args:      "host text",
		Message:   "{host} answers only short TLS hellos, and current browsers send longer ones.",
		Brief:     "Fails for new browsers",
		Meaning:   "Current browsers may fail to connect. " + remedyHello,
		Remedy:    remedyHello,
		Reference: "https://www.rfc-editor.org/rfc/rfc8446#section-4.1.2",
	},
	CodeNoAnswer: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 96,
		Args: "of text, reason code", Message: "{of} gave no usable answer: {reason}.",
		Brief: "No usable answer",
	},
	CodeNotVisited: {
		State: finding.Unknown, Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args: "reason sentence", Message: "The next URL was not visited. {reason}",
		Brief:   "Not finished",
		Meaning: "That is a limit of this service; browsers may go on.",
	},
	CodeNotRead: {
		State: finding.Unknown, Severity: finding.Info, Group: finding.Note, Weight: 15,
		Args:    "of text, reason code",
		Message: "{of} answers, but this service cannot read the answer: {reason}.",
		Brief:   "Answer not read",
		Meaning: "That is a limit of this service; browsers may show the page all the same. Open it in a browser.",
	},
	CodeDeadRedirect: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 89,
		Args: "of text, reason sentence", Message: "A redirect of {of} leads to no answer. {reason}",
		Brief:   "Dead redirect",
		Meaning: "Visitors end at an error. Let the redirect lead to a page that works.",
	},
	CodeNotFinished: {
		State: finding.Unknown, Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "The check ran out of time before the redirects ended.",
		Brief:   "Not finished",
		Meaning: "Visitors wait for the redirects too. Try again later.",
	},
}

const remedyHello = "Update the server or the firewall before it, so that a ClientHello may be longer than one packet."

// StatusRows say what some statuses mean and what to do about them. The codes 520 to 526 are Cloudflare's.
var StatusRows = finding.Rows{
	"STATUS_401": {Message: "If everyone should see the page, remove the password."},
	"STATUS_403": {Message: "The server refuses the request. Open the URL in a browser to see whether " +
		"visitors are refused too; if only checks are, a firewall or a bot rule is the cause."},
	"STATUS_407": {Message: "A proxy in front of the site asks for a password. Visitors cannot give one: " +
		"take the proxy out of their way."},
	"STATUS_410": {Message: "The page was removed for good. Remove the links to it, or redirect the URL " +
		"to its successor."},
	"STATUS_421": {Message: "The request reached a server that is not set up for this host. Add the host " +
		"to its configuration, or point the name to the right server."},
	"STATUS_429": {Message: "The server asks us to wait because of too many requests, so visitors may be " +
		"served all the same. Try again later."},
	"STATUS_451": {Message: "The page is withheld for legal reasons, perhaps only in some countries."},
	"STATUS_502": {Message: "The server in front got no usable answer from the one behind it. Check that " +
		"the application behind it runs."},
	"STATUS_503": {Message: "The site is overloaded or under maintenance. If that lasts, check its load and its log."},
	"STATUS_504": {Message: "The server in front got no answer in time from the one behind it. Check the " +
		"load and the log of that one."},
	"STATUS_520": {Message: "Cloudflare got an answer that it cannot use from the site's own server. " +
		"Check that server's log."},
	"STATUS_521": {Message: "The site's own server refuses connections from Cloudflare. Check that it " +
		"runs and lets Cloudflare's addresses in."},
	"STATUS_522": {Message: "Cloudflare cannot connect to the site's own server in time. Check that it " +
		"runs and that no firewall drops Cloudflare's packets."},
	"STATUS_523": {Message: "Cloudflare finds no route to the site's own server. Check the address in " +
		"Cloudflare's DNS settings."},
	"STATUS_524": {Message: "The site's own server took Cloudflare's connection but did not answer in " +
		"time. Check its load and its log."},
	"STATUS_525": {Message: "TLS between Cloudflare and the site's own server fails. Check the TLS " +
		"settings of that server."},
	"STATUS_526": {Message: "Cloudflare does not accept the certificate of the site's own server. Install " +
		"a valid one there."},
}

// NoteRows are faults of a response head that browsers accept all the same. {of} is the host or the file.
var NoteRows = finding.Rows{
	string(http1.StatusLineRepaired): {
		Severity: finding.Warn, Group: finding.Safer, Weight: 22,
		Args:      "of text",
		Message:   "The first line of the response[ of {of}] is not a valid status line. Browsers read it all the same.",
		Remedy:    `Begin the response with a line such as "HTTP/1.1 200 OK".`,
		Reference: http1Spec + "#section-4",
	},
	string(http1.HeaderLineSkipped): {
		Severity: finding.Warn, Group: finding.Safer, Weight: 24,
		Args: "of text", Message: "A line of the header[ of {of}] is broken. Browsers skip it.",
		Remedy: "Remove the line, or write it as a name, a colon and a value.", Reference: http1Spec + "#section-5",
	},
	string(http1.ControlCharacter): {
		Severity: finding.Info, Group: finding.Note, Weight: 6,
		Args: "of text", Message: "A header[ of {of}] has a control character in its value.",
		Remedy: "Leave control characters out of headers.", Reference: httpSpec + "#section-5.5",
	},
	string(http1.TransferEncodingRepeated): {
		Severity: finding.Warn, Group: finding.Safer, Weight: 23,
		Args: "of text", Message: "The Transfer-Encoding[ of {of}] names chunked more than once. Browsers count it once.",
		Remedy: "Let one part of the server add the header.", Reference: http1Spec + "#section-6.1",
	},
	string(http1.TransferEncodingUnknown): {
		Severity: finding.Warn, Group: finding.Safer, Weight: 23,
		Args: "of text", Message: "The Transfer-Encoding[ of {of}] names a coding that browsers do not undo.",
		Remedy: "Send only chunked; compress with Content-Encoding.", Reference: http1Spec + "#section-6.1",
	},
	string(http1.LengthBesideEncoding): {
		Severity: finding.Warn, Group: finding.Safer, Weight: 26,
		Args: "of text",
		Message: "A response[ of {of}] has both Content-Length and Transfer-Encoding, so proxies may disagree about " +
			"where it ends.",
		Remedy: "Send one of the two headers.", Reference: http1Spec + "#section-6.2",
	},
	string(http1.ContentLengthRepeated): {
		Severity: finding.Info, Group: finding.Note, Weight: 6,
		Args: "of text", Message: "The Content-Length[ of {of}] is repeated with the same number. Browsers count it once.",
		Remedy: "Let one part of the server add the header.", Reference: http1Spec + "#section-6.3",
	},
	string(http1.TrailingBytes): {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20,
		Args:      "of text",
		Message:   "Other bytes follow the compressed body[ of {of}]. Browsers ignore them; others may refuse it.",
		Remedy:    "Add nothing to a body once it is compressed.",
		Reference: "https://www.rfc-editor.org/rfc/rfc1952.html#section-2.2",
	},
}

// HTTP3Rows are about HTTP/3. {of} is the origin, {port} that of the server that is named for HTTP/3.
var HTTP3Rows = finding.Rows{
	CodeHTTP3Works: {
		Severity: finding.Info, Group: finding.Note, Weight: 1,
		Args: "of text", Message: "{of} offers HTTP/3, and it works.", Reference: http3Spec + "#section-3.1",
	},
	CodeHTTP3Unadvertised: {
		Severity: finding.Info, Group: finding.Safer, Weight: 20,
		Args:      "of text",
		Message:   "{of} answers over HTTP/3, but does not offer it, so browsers do not use it.",
		Remedy:    "Send an Alt-Svc header, or add h3 to the alpn of an HTTPS record.",
		Reference: http3Spec + "#section-3.1",
	},
	CodeHTTP3Dropped: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 38,
		Args: "of text, port number",
		Message: "{of} offers HTTP/3, but nothing answers on UDP port {port}. Browsers may wait for it before they use " +
			"HTTP/2.",
		Remedy:    "Let UDP port {port} through the firewall, or stop offering HTTP/3.",
		Reference: http3Spec + "#section-3.1",
	},
	CodeHTTP3Refused: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 34,
		Args:      "of text, port number",
		Message:   "{of} offers HTTP/3, but UDP port {port} is closed, so browsers fall back to HTTP/2.",
		Remedy:    "Let the web server listen on UDP port {port}, or stop offering HTTP/3.",
		Reference: http3Spec + "#section-3.1",
	},
	CodeHTTP3Certificate: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 36,
		Args: "of text, reason sentence", Message: "{of} offers HTTP/3, but with a certificate that browsers refuse. " +
			"{reason}",
		Remedy: "Install the certificate of this name for HTTP/3 too.", Reference: altSvcSpec + "#section-2.1",
	},
	CodeHTTP3NotPublic: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 35,
		Args: "of text, reason sentence", Message: "{of} offers HTTP/3 at a server that is not public. {reason}",
		Remedy: "Name a public server, or stop offering HTTP/3.", Reference: altSvcSpec + "#section-3",
	},
	CodeHTTP3Fails: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 33,
		Args: "of text, reason sentence", Message: "{of} offers HTTP/3, but it does not work. {reason}",
		Remedy: "Repair HTTP/3, or stop offering it.", Reference: http3Spec + "#section-3.1",
	},
	CodeHTTP3Draft: {
		Severity: finding.Info, Group: finding.Safer, Weight: 22,
		Args: "of text", Message: "{of} offers only drafts of HTTP/3, which browsers no longer use.",
		Remedy: "Update the web server, so that Alt-Svc names h3.", Reference: http3Spec + "#section-3.1",
	},
	CodeHTTP3Hints: {
		Severity: finding.Info, Group: finding.Safer, Weight: 21,
		Args: "of text, addresses list, both flag, private flag",
		Message: "The HTTPS record of {of} hints at addresses that the name does not have: [{addresses}]{both? and |}" +
			"{private?an address that is not public|}.",
		Remedy: "Correct ipv4hint and ipv6hint, or leave them out.", Reference: bindingsSpec + "#section-7.3",
	},
	CodeHTTP3Differs: {
		Severity: finding.Info, Group: finding.Note, Weight: 7,
		Args: "of text, record flag",
		Message: "{of} offers HTTP/3 in {record?the HTTPS record|Alt-Svc}, but not in {record?Alt-Svc|the HTTPS " +
			"record}.",
		Reference: bindingsSpec + "#section-9.3",
	},
	CodeHTTP3NotTried: {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args: "of text, reason sentence", Message: "It is not known whether HTTP/3 works with {of}. {reason}",
	},
	codeHTTP3NoAnswer: {Message: "HTTP/3 was not tried, because no answer came over TCP."},
	codeHTTP3Plain:    {Message: "Browsers use HTTP/3 only for https URLs."},
}

// RepairRows are clauses on what to do about a certificate that clients refuse.
var RepairRows = finding.Rows{
	repairExpired:   {Clause: "Renew the certificate"},
	repairEarly:     {Clause: "Use the previous certificate until this one is valid"},
	repairName:      {Clause: "Install a certificate for this name"},
	repairChain:     {Clause: "Install the whole chain that the authority provides"},
	repairOtherwise: {Clause: "Install a certificate from an authority that browsers trust"},
}

// FailureRows are the failures of requests that are findings of the tools that make them, and how a chain of redirects
// can fail to end at a page.
func FailureRows() finding.Rows {
	failures := finding.Rows{}
	for code, row := range fault.Rows {
		if row.Severity != "" {
			failures[code] = row
		}
	}
	return finding.Join(failures, Rows.Only(CodeNoAnswer, CodeNotVisited, CodeNotRead, CodeDeadRedirect, CodeNotFinished))
}
