package securityheaders

import (
	"fmt"
	"strings"

	"diagnostics/gateway/internal/analyze/csp"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// The codes that the judging code names more than once. It names the others literally, once each.
const (
	codeReportOnly      = "REPORT_ONLY"
	codeHSTSAddress     = "HSTS_FOR_ADDRESS"
	codeLineBase        = "CSP_LINE_BASE_URI"
	codeReferrerStrict  = "REFERRER_POLICY_STRICT"
	codeCookiesNone     = "COOKIES_NONE"
	codeCookieDeleted   = "COOKIE_DELETED"
	codeCookieNoPrefix  = "COOKIE_NO_PREFIX"
	codeNewerDictionary = "NEWER_NO_DICTIONARY"
	codeNewerSecure     = "NEWER_NOT_SECURE"
	codeClearsAll       = "CLEAR_SITE_DATA_ALL"
	codeChallenge       = "NOT_THE_PAGE_CHALLENGE"
	codeNotJudged       = "NOT_JUDGED"
	codeNoContentType   = "CONTENT_TYPE_MISSING"
)

// What several rows share.
const (
	mdn = "https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/"

	hstsReference        = "https://www.rfc-editor.org/rfc/rfc6797"
	cspReference         = "https://www.w3.org/TR/CSP3/"
	framingReference     = "https://www.w3.org/TR/CSP3/#directive-frame-ancestors"
	noSniffReference     = "https://fetch.spec.whatwg.org/#x-content-type-options-header"
	referrerReference    = "https://www.w3.org/TR/referrer-policy/"
	permissionsReference = "https://www.w3.org/TR/permissions-policy/"
	coopReference        = mdn + coopHeader
	coepReference        = mdn + coepHeader
	corpReference        = mdn + corpHeader
	corsReference        = "https://fetch.spec.whatwg.org/#http-cors-protocol"
	cookiesReference     = mdn + "Set-Cookie"
	leakReference        = "https://www.rfc-editor.org/rfc/rfc9110#section-10.2.4"
	retiredReference     = "https://cheatsheetseries.owasp.org/cheatsheets/HTTP_Headers_Cheat_Sheet.html"

	notForData     = " protects documents, and this answer is not one ({media}[status {status}, without content])."
	notForDataArgs = "media text, status number"

	hstsHeader = "Strict-Transport-Security"
	hstsValue  = "max-age=31536000; includeSubDomains"
	hstsLine   = hstsHeader + ": " + hstsValue
	hstsRemedy = hstsLine + "{preload?; preload}{redirects? (on the redirects too)}"
	hstsArgs   = "preload flag, redirects flag"
	// An age is given in one unit.
	ageArgs = "days number, hours number, minutes number, seconds number, century flag"
	ageText = "[{days} {days:day|days}][{hours} {hours:hour|hours}][{minutes} {minutes:minute|minutes}]" +
		"[{seconds} {seconds:second|seconds}]{century?more than a century}"

	cspHeader = "Content-Security-Policy"
	// cspValue is a policy that a site can start from: the random part changes with every answer.
	cspValue = "default-src 'self'; script-src 'nonce-{RANDOM}' 'strict-dynamic'; object-src 'none'; base-uri 'none'; " +
		"form-action 'self'; frame-ancestors 'self'"
	cspBest = cspHeader + ": default-src 'self'; script-src 'nonce-\\{RANDOM}' 'strict-dynamic'; object-src 'none'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'self' (with \\{RANDOM} as at least 128 random bits in " +
		"base64, new in every answer and repeated in the nonce attribute of each script element)"
	// cspRemedy is one more line beside a policy, since policies are enforced together, or one to compare with.
	cspRemedy = "[{weak?Correct what is named above, and send beside it|Send one more line beside it}: " + cspHeader +
		": {line}][; {line2}][; {line3}][{compare?Correct what is named above; a policy to compare with}: " + cspBest + "]"
	cspArgs = "weak flag, line code, line2 code, line3 code, compare flag"

	framingValue   = "frame-ancestors 'self'"
	framingLine    = cspHeader + ": " + framingValue
	noSniffHeader  = "X-Content-Type-Options"
	referrerHeader = "Referrer-Policy"
	referrerValue  = "strict-origin-when-cross-origin"
	referrerLine   = referrerHeader + ": " + referrerValue

	permissionsHeader = "Permissions-Policy"
	permissionsValue  = "camera=(), microphone=(), geolocation=(), payment=(), usb=()"
	permissionsRemedy = "[" + permissionsHeader + ": {policy}]" +
		"{long?Correct what is named above and keep the rest; what most sites can add: " + permissionsValue + "}"
	permissionsArgs = "policy text, long flag"

	coopHeader   = "Cross-Origin-Opener-Policy"
	coepHeader   = "Cross-Origin-Embedder-Policy"
	corpHeader   = "Cross-Origin-Resource-Policy"
	overHTTPS    = "Send this header over https with a valid certificate."
	allowOrigin  = "Access-Control-Allow-Origin"
	exampleAllow = allowOrigin + ": " + exampleOrigin
	// exampleOrigin stands for a site that only the owner can name.
	exampleOrigin = "https://the-site-that-may.example"

	// An issue of a cookie names it among the findings, and begins with "It" in cookies[].issues.
	cookieArgs   = "cookie text, nameless flag, issue flag"
	cookieRemedy = "Set-Cookie: __Host-name=value; Path=/; Secure; HttpOnly; SameSite=Lax"

	leakRemedy = "[Remove private addresses from: {addresses}]{both?. }[Do not send: {remove}]" +
		"{product?; or name the product alone, as in: Server: nginx}"
	leakArgs      = "addresses text, both flag, remove text, product flag"
	retiredRemedy = "Do not send: {remove}"

	plainRemedy = "Redirect every http URL to https on the same host, with 301 or 308."
	otherPort   = " The URL that was checked has its own port, {port}, and may be another service."
)

// nginxAdd returns the line of nginx that sends a header.
func nginxAdd(name, value string) finding.Paste {
	return finding.Paste{Kind: finding.PasteNginx, Text: fmt.Sprintf(`add_header %s "%s" always;`, name, value)}
}

// nginxReplace returns the lines that send a header instead of the server's. Policies add up, but there must be only
// one of any other header.
func nginxReplace(name, value string) finding.Paste {
	paste := nginxAdd(name, value)
	paste.Text = "proxy_hide_header " + name + ";\n" + paste.Text
	return paste
}

var (
	hstsPaste     = nginxReplace(hstsHeader, hstsValue+"{preload?; preload}")
	referrerPaste = nginxReplace(referrerHeader, referrerValue)
	// cspPaste only reports, and so breaks nothing.
	cspPaste = nginxAdd(cspHeader+"-Report-Only", "default-src 'self'; object-src 'none'; base-uri 'none'; "+
		"form-action 'self'; frame-ancestors 'self'")
	cspLinePaste = finding.Paste{Kind: finding.PasteNginx,
		Text: "[add_header " + cspHeader + ` "{line}][; {line2}][; {line3}]{line?" always;}`}
	framingPaste = nginxAdd(cspHeader, framingValue)
)

// rows are all that the tool reports. Each control's facts are rows. If a message begins with the control's name and a
// colon, controls[].finding omits them.
var rows = finding.Join(webview.Rows.Only(webview.CodeHello), fault.Rows.Only(webview.CodeUnverified), webview.NoteRows,
	resultRows, hstsRows, cspRows, framingRows, contentRows, permissionsRows, isolationRows,
	corsRows, cookieRows, leakRows, retiredRows(), plainRows, newerRows).WithClauses(fault.Rows)

// aboutRedirect is the name of a suggestion about the answer over plain HTTP.
const aboutRedirect = "the redirect from http"

// onOtherPage ends the meaning of a conclusion about an answer that is not the page that was meant.
const onOtherPage = "{other? Check a page that opens without a login or an error: its headers may differ.}"

var resultRows = finding.Rows{
	"HEADERS_FINE": {
		State: finding.OK, Args: "site text, notes flag",
		Message: "All security headers of {site} are fine.",
		Brief:   "All headers fine",
		Meaning: "{notes?Controls with a note are optional; whether they fit depends on the site.}",
	},
	"OTHER_PAGE_FINE": {
		State: finding.Noted, Args: "site text",
		Message: "The security headers of {site} are fine, but the answer may not be the site's page.",
		Brief:   "Not the site's page",
		Meaning: "Check the address of a page that opens without a login or a challenge.",
	},
	"HEADERS_MISSING": {
		State: finding.Warned, Args: "site text, several number, first text, other flag",
		Message: "{site} lacks [{several} security headers. Start with]{several?|one security header:} {first}.",
		Brief:   "[{several} headers missing]{several?|1 header missing}",
		Meaning: "A missing header is not by itself a vulnerability." + onOtherPage,
	},
	"HEADERS_TO_FIX": {
		State: finding.Warned, Args: "site text, several number, first text, reason sentence, other flag",
		Message: "[{several} things could be safer at {site}. Start with {first}.]" +
			"[One thing could be safer at {site}. {reason}]",
		Brief:   "[{several} suggestions]{several?|1 suggestion}",
		Meaning: "Nothing here breaks the site." + onOtherPage,
	},
	"HEADERS_NOT_JUDGED": {
		State: finding.Unknown, Args: "site text, service text",
		Message: "The headers of {site} are not known: {service} answered instead, with a challenge or a block page.",
		Brief:   "Bot challenge",
		Meaning: "{service} keeps out automated checks such as this one. Let this service through with a rule there, or " +
			"look at the headers in a browser's developer tools.",
	},

	codeChallenge: {
		Severity: finding.Info, Group: finding.Note, Weight: 9, Args: "service text, status number",
		Message: "{service} answered instead of the site, with a challenge or a block page (status {status}).",
	},
	codeNotJudged: {
		Args:    "service text",
		Message: "Not judged: this is an answer of {service}, not of the site.",
	},
	"NOT_THE_PAGE_LOGIN": {
		Severity: finding.Info, Group: finding.Note, Weight: 9,
		Message: "The target asks for a login (status 401): these are the headers of that answer, and the pages behind it " +
			"may send others.",
	},
	"NOT_THE_PAGE_ERROR": {
		Severity: finding.Info, Group: finding.Note, Weight: 9, Args: "answer text",
		Message: "The target answered with an error ({answer}): error pages often lack headers that a site's other pages " +
			"have.",
	},
	"NOT_THE_PAGE_REDIRECT": {
		Severity: finding.Info, Group: finding.Note, Weight: 9, Args: "answer text",
		Message: "The target answered {answer} and redirects nowhere: these are the headers of that answer, not of a page.",
	},
	"SEEN_ON_OTHER_PAGE": {
		Args:    "status number",
		Message: "This was seen on an answer with status {status}, which may differ from the site's pages.",
	},
	"MORE_REMARKS": {Args: "count number", Message: "{count} more remarks are left out."},
	codeReportOnly: {Args: "header text", Message: "{header}-Report-Only is sent, which only reports."},
	"ENDPOINT_NOT_DEFINED": {
		Args: "endpoint text",
		Message: "Its report-to names “{endpoint}”, which Reporting-Endpoints does not define, so no report " +
			"is sent.",
	},
}

var hstsRows = finding.Rows{
	"HSTS_MISSING": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40,
		Message: "Strict-Transport-Security is missing, so browsers may still use plain HTTP.",
		Remedy:  hstsLine, Paste: nginxAdd(hstsHeader, hstsValue), Reference: hstsReference,
	},
	"HSTS_WITHOUT_TLS": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 55, Args: "sent flag",
		Message: "The answer came over plain HTTP, so the network can read and change it" +
			"{sent?, and browsers ignore its Strict-Transport-Security}.",
		Remedy: "Redirect every http URL to https, and send there: " + hstsLine, Reference: hstsReference,
	},
	"HSTS_CERTIFICATE_REFUSED": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 54, Args: "defect code, sent flag",
		Message: "The certificate is not valid: {defect}{sent?, so browsers ignore Strict-Transport-Security}.",
		Remedy:  "Install a valid certificate, then send: " + hstsLine, Reference: hstsReference,
	},
	"HSTS_IGNORED": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40, Args: "problem code",
		Message: "Browsers ignore Strict-Transport-Security: {problem}.",
		Remedy:  hstsLine, Paste: nginxReplace(hstsHeader, hstsValue), Reference: hstsReference,
	},
	"HSTS_INEFFECTIVE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 40,
		Message: "Strict-Transport-Security has max-age=0, which makes browsers forget the policy.",
		Remedy:  hstsLine, Paste: nginxReplace(hstsHeader, hstsValue), Reference: hstsReference,
	},
	"HSTS_REPEATED": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 22, Args: "times number, " + hstsArgs,
		Message: "Strict-Transport-Security is sent {times} times; browsers obey only the first.",
		Remedy:  hstsRemedy, Paste: hstsPaste, Reference: hstsReference,
	},
	"HSTS_SHORT": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 22, Args: ageArgs + ", " + hstsArgs,
		Message: "Strict-Transport-Security keeps browsers to https for only " + ageText +
			". Send at least 180 days, better a year.",
		Remedy: hstsRemedy, Paste: hstsPaste, Reference: hstsReference,
	},
	"HSTS_PRELOAD_REFUSED": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 22, Args: hstsArgs,
		Message: "Strict-Transport-Security asks for preload, but the browsers' built-in lists accept only " +
			"max-age=31536000 or more with includeSubDomains.",
		Remedy: hstsRemedy, Paste: hstsPaste, Reference: hstsReference,
	},
	"HSTS_REDIRECT_WITHOUT": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 22, Args: "host text, " + hstsArgs,
		Message: "The redirect from https://{host} lacks Strict-Transport-Security, so that name stays unprotected.",
		Remedy:  hstsRemedy, Paste: hstsPaste, Reference: hstsReference,
	},
	"HSTS_NOT_VERIFIED": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "It is not known whether browsers obey Strict-Transport-Security, because the certificate was not " +
			"verified.",
		Reference: hstsReference,
	},
	"HSTS_KEPT": {Args: ageArgs, Message: "Browsers keep to https for " + ageText + "."},
	"HSTS_PRELOAD": {Message: "It covers subdomains and requests a place in the browsers' built-in lists (preload); " +
		"whether it has one is not known here."},
	"HSTS_PRELOAD_DOMAIN": {
		Args:    "name text",
		Message: "The lists accept only whole domains, so the header must say the same at https://{name}.",
	},
	"HSTS_SUBDOMAINS": {Message: "It covers subdomains."},
	"HSTS_NO_SUBDOMAINS": {
		Args:    hstsArgs,
		Message: "Subdomains are not covered, so a subdomain over plain HTTP can set cookies for this site.",
		Remedy:  hstsRemedy,
	},
	codeHSTSAddress: {Message: "Browsers keep no such policy for an IP address, only for names."},

	"HSTS_NOT_A_DIRECTIVE": {
		Args:   "directive text",
		Clause: "“{directive}” is not a directive in the form of RFC 6797",
	},
	"HSTS_DIRECTIVE_TWICE":      {Args: "directive text", Clause: "the directive {directive} appears twice"},
	"HSTS_NO_MAX_AGE":           {Clause: "max-age is missing"},
	"HSTS_MAX_AGE_NOT_A_NUMBER": {Clause: "max-age is not a whole number of seconds"},
	"HSTS_SUBDOMAINS_VALUE":     {Clause: "includeSubDomains takes no value"},
}

// cspUnsafe is a policy that leaves out its main use, cspWeak one that is weaker than its author meant.
func cspUnsafe(args, message string) finding.Row {
	return finding.Row{
		Severity: finding.Fail, Group: finding.Safer, Weight: 34, Args: args, Message: cspHeader + ": " + message,
		Remedy: cspBest, Paste: cspPaste, Reference: cspReference,
	}
}

func cspWeak(args, message string) finding.Row {
	return finding.Row{
		Severity: finding.Warn, Group: finding.Safer, Weight: 20, Args: strings.TrimPrefix(args+", "+cspArgs, ", "),
		Message: cspHeader + ": " + message, Remedy: cspRemedy, Paste: cspLinePaste, Reference: cspReference,
	}
}

var cspRows = finding.Rows{
	"CSP_MISSING": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 35,
		Message: "Content-Security-Policy is missing, so injected script runs unhindered.",
		Remedy:  cspBest, Paste: cspPaste, Reference: cspReference,
	},
	"CSP_EMPTY": cspUnsafe("", "The header has no directive, so nothing is restricted."),
	"CSP_FOR_DATA": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: notForDataArgs,
		Message: "Content-Security-Policy: This answer is not a document ({media}[status {status}, without content]), so " +
			"the policy matters only if a browser shows it as one.",
		Reference: cspReference,
	},
	"CSP_REPORT_ONLY": {Message: "Content-Security-Policy-Report-Only is sent, which reports what it would block but " +
		"blocks nothing."},
	"CSP_META_ELEMENT":   {Message: "A policy in a meta element would not be seen here, because the body is not read."},
	"CSP_NOT_A_DOCUMENT": {Args: notForDataArgs, Message: "A content security policy" + notForData},
	"CSP_COSTS_NOTHING":  {Message: "For data, “default-src 'none'; frame-ancestors 'none'” costs nothing."},
	"CSP_SEVERAL": {
		Args:    "policies number",
		Message: "{policies} policies are enforced together, so a source is allowed only if all of them allow it.",
	},
	"CSP_REPORT_ONLY_BESIDE": {Message: "Content-Security-Policy-Report-Only is sent too, and only reports; sandbox and " +
		"upgrade-insecure-requests do nothing in it."},
	"CSP_ENDPOINT_NOT_DEFINED": {
		Args: "endpoint text",
		Message: "report-to names “{endpoint}”, which neither Reporting-Endpoints nor Report-To defines, so no report is " +
			"sent to it.",
	},

	"CSP_NO_SCRIPT":        {Message: "No script runs."},
	"CSP_NO_SCRIPT_SOURCE": {Message: "No script runs, since no source of scripts is allowed."},
	"CSP_INJECTED_SCRIPT":  {Message: "Injected script is not stopped."},
	"CSP_SCRIPT_BY_TRUST": {
		Message: "Only script that carries a nonce or hash runs, and what such script loads ('strict-dynamic').",
	},
	"CSP_SCRIPT_BY_NONCE":           {Message: "Only script that carries a nonce or hash runs."},
	"CSP_SCRIPT_BY_SOURCE_OR_NONCE": {Message: "Only script from listed sources, or named by a nonce or hash, runs."},
	"CSP_SCRIPT_BY_SOURCE":          {Message: "Only script from listed sources runs."},

	"CSP_LINE_OBJECT_SRC":  {Clause: "object-src 'none'"},
	codeLineBase:           {Clause: "base-uri 'none'"},
	"CSP_LINE_FORM_ACTION": {Clause: "form-action 'self'"},

	csp.NoScriptPolicy: cspUnsafe("",
		"Neither script-src nor default-src is set, so any script runs, inline or from any host."),
	csp.ScriptElementsOpen: cspUnsafe("",
		"No directive governs script elements, so any script runs, inline or from any host."),
	csp.InlineScripts: cspUnsafe("",
		"'unsafe-inline' lets injected inline scripts run, and no nonce, hash or 'strict-dynamic' overrides it."),
	csp.InlineHandlers: cspUnsafe("", "Injected event handler attributes (such as onerror) run, because script-src-attr "+
		"allows them or is not governed."),
	csp.AnyScriptSource: cspUnsafe("schemes text",
		"Scripts may come from anywhere over {schemes}, so an attacker's own script may run just like the site's."),

	csp.BypassHost: cspWeak("hosts text",
		"Scripts may come from {hosts}, where anyone can publish scripts or find one that bypasses the policy."),
	csp.BlobScripts: cspWeak("", "blob: as a script source lets a running script create more scripts from strings."),
	csp.PlainScriptHost: cspWeak("hosts text",
		"Scripts may come over unprotected http from {hosts}, where the network can change them."),
	csp.Eval: cspWeak("", "'unsafe-eval' lets strings run as script (eval, Function, setTimeout with a string)."),
	csp.StrictDynamicAlone: cspWeak("", "'strict-dynamic' without a nonce or hash lets no script element run at all: it "+
		"makes browsers ignore 'self', hosts and schemes."),
	csp.BaseWithNonce: cspWeak("", "base-uri is not restricted (default-src does not cover it), so an injected base "+
		"element can make scripts that carry a nonce load from an attacker's host."),
	csp.Plugins: cspWeak("", "Neither object-src nor default-src restricts object and embed elements, which can load "+
		"documents and plugins of any origin."),
	csp.NotASCII: cspWeak("",
		"A directive contains characters outside ASCII, so browsers ignore the whole directive."),
	csp.DuplicateDirective: cspWeak("directive text", "“{directive}” appears more than once; only the first counts."),
	csp.UnexpectedValue:    cspWeak("directive text", "{directive} takes no value; is a semicolon missing after it?"),
	csp.DirectiveColon: cspWeak("directive text",
		"“{directive}” is not a directive: write the name without a colon."),
	csp.SourceAsDirective: cspWeak("directive text", "“{directive}” is where a directive's name should be: spaces "+
		"separate sources, a comma begins another policy and a semicolon another directive."),
	csp.UnknownDirective: cspWeak("directive text",
		"“{directive}” is not a directive that browsers know, so they ignore it."),
	csp.SandboxToken: cspWeak("source text", "“{source}” in sandbox is not a token that browsers know."),
	csp.TrustedTypesSink: cspWeak("",
		"require-trusted-types-for has only one value that counts: 'script', with its quotes."),
	csp.ReportToNames:  cspWeak("", "report-to takes the name of one endpoint."),
	csp.NoneWithOthers: cspWeak("directive text", "'none' in {directive} is ignored because it is not the only source."),
	csp.ShortNonce: cspWeak("directive text, bits number, needed number",
		"The nonce in {directive} has at most {bits} bits; it needs at least {needed} random bits, new in every answer."),
	csp.BadHash: cspWeak("directive text, algorithm text",
		"A hash in {directive} does not have the length of {algorithm}, so it never matches."),
	csp.MalformedNonce: cspWeak("directive text",
		"A nonce in {directive} is malformed: it is base64, with a quotation mark on both sides."),
	csp.MalformedHash: cspWeak("directive text",
		"A hash in {directive} is malformed: it is 'sha256-…', 'sha384-…' or 'sha512-…' in base64."),
	csp.UnknownKeyword: cspWeak("directive text, source text",
		"“{source}” in {directive} is not a keyword that browsers know."),
	csp.IPv6Source: cspWeak("directive text, source text",
		"“{source}” in {directive} is not a source: IPv6 addresses are not allowed."),
	csp.InvalidSource: cspWeak("directive text, source text",
		"“{source}” in {directive} is not a source and is ignored."),
	csp.UnquotedKeyword: cspWeak("directive text, source text",
		"“{source}” in {directive} lacks its single quotes, so it names a host."),
	csp.MissingSemicolon: cspWeak("directive text, source text",
		"“{source}” is among the sources of {directive}: is a semicolon missing before it?"),

	csp.Base: {
		Args: cspArgs,
		Message: "base-uri is not restricted (default-src does not cover it), so an injected base element can redirect " +
			"relative links.",
		Remedy: cspRemedy,
	},
	csp.Forms: {
		Args: cspArgs,
		Message: "form-action is not restricted (default-src does not cover it), so an injected form can send what is " +
			"typed anywhere.",
		Remedy: cspRemedy,
	},
	csp.WASM: {Message: "'wasm-unsafe-eval' allows WebAssembly, without allowing eval."},
	csp.UnsafeHashes: {Message: "'unsafe-hashes' lets event handlers that match a hash run wherever an attacker puts " +
		"them."},
	csp.StrictDynamicFallback: {Message: "With 'strict-dynamic' the hosts, schemes, 'self' and 'unsafe-inline' beside " +
		"it count only in browsers that do not know it."},
	csp.Sandbox: {Message: "sandbox without allow-scripts lets no script run at all, whatever the lists of sources say."},
	csp.Upgrade: {Message: "upgrade-insecure-requests makes browsers ask for the page's http resources over https."},
	csp.InlineStyles: {Message: "Inline styles are allowed, which lets injected ones read parts of a page by CSS " +
		"selectors."},
	csp.TrustedTypes: {Message: "Trusted Types are required, so strings cannot reach the DOM's script sinks unchecked."},
	csp.ReportURI: {Message: "report-uri is being replaced by report-to with a Reporting-Endpoints header; browsers " +
		"that know both use report-to."},
	csp.EmptyList: {
		Args:    "directive text",
		Message: "{directive} has no value, which allows nothing, just like 'none'.",
	},
	csp.InlineIgnored: {
		Args: "directive text",
		Message: "'unsafe-inline' in {directive} is ignored because of the nonces or hashes beside it; only very old " +
			"browsers use it.",
	},
	csp.MisplacedSource: {
		Args:    "directive text, source text",
		Message: "“{source}” has no effect in {directive}.",
	},
	csp.RetiredDirective: {
		Args:    "directive text, why code",
		Message: "{directive} does nothing in today's browsers: {why}.",
	},
	"CSP_WHY_DEFAULT_SRC":      {Clause: "default-src replaced it"},
	"CSP_WHY_PREFETCH":         {Clause: "default-src governs prefetching"},
	"CSP_WHY_MIXED_CONTENT":    {Clause: "browsers block or upgrade mixed content by themselves"},
	"CSP_WHY_PLUGINS":          {Clause: "object-src 'none' switches plugins off"},
	"CSP_WHY_REFERRER_POLICY":  {Clause: "the Referrer-Policy header replaced it"},
	"CSP_WHY_FILTERS":          {Clause: "the filters that it controlled are gone"},
	"CSP_WHY_REMOVED":          {Clause: "it was removed from the specification"},
	"CSP_WHY_INTEGRITY_POLICY": {Clause: "the Integrity-Policy header replaced it"},
	"CSP_WHY_OPENER_POLICY":    {Clause: "the Cross-Origin-Opener-Policy header replaced it"},
	"CSP_WHY_HEADER":           {Clause: "a policy is sent in the header itself"},
	"CSP_WHY_SCRIPT_SRC":       {Clause: "script-src with 'unsafe-inline' or 'unsafe-eval' replaced it"},
	"CSP_WHY_CONNECT_SRC":      {Clause: "connect-src replaced it"},
}

var framingRows = finding.Rows{
	"FRAME_PROTECTION_MISSING": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 33,
		Message: "No X-Frame-Options or frame-ancestors: any site can frame this page (clickjacking).",
		Remedy:  framingLine, Paste: framingPaste, Reference: framingReference,
	},
	"FRAME_PROTECTION_ANYONE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 33,
		Message: "frame-ancestors lets any site frame this page (an asterisk, a bare scheme, or a wildcard below a public " +
			"suffix).",
		Remedy: framingLine, Paste: framingPaste, Reference: framingReference,
	},
	"FRAME_PROTECTION_ALLOW_FROM": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 33,
		Message: "Browsers ignore ALLOW-FROM in X-Frame-Options, so any site can frame this page.",
		Remedy:  framingLine + " " + exampleOrigin, Reference: framingReference,
	},
	"FRAME_PROTECTION_INEFFECTIVE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 33,
		Message: "X-Frame-Options has no value that browsers act on (DENY or SAMEORIGIN), so any site can frame this page.",
		Remedy:  framingLine, Paste: framingPaste, Reference: framingReference,
	},
	"FRAME_PROTECTION_CONFLICT": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20,
		Message: "X-Frame-Options has several different values, so browsers refuse every frame, whatever was meant.",
		Remedy:  framingLine, Paste: framingPaste, Reference: framingReference,
	},
	"FRAME_PROTECTION_NONE": {Message: "frame-ancestors lets no site show this page in a frame."},
	"FRAME_PROTECTION_SELF": {Message: "frame-ancestors lets only the site itself show this page in a frame."},
	"FRAME_PROTECTION_HOSTS": {
		Message: "frame-ancestors lets only the named sites show this page in a frame; each of them must be trusted with " +
			"it.",
	},
	"FRAME_PROTECTION_DENY": {
		Message: "X-Frame-Options lets no site show this page in a frame; frame-ancestors is the newer way to say so.",
	},
	"FRAME_PROTECTION_SAMEORIGIN": {
		Message: "X-Frame-Options lets only the site itself show this page in a frame; frame-ancestors is the newer way " +
			"to say so.",
	},
	"FRAME_PROTECTION_XFO_BESIDE": {Message: "X-Frame-Options beside it counts only in browsers too " +
		"old for frame-ancestors."},
	"FRAME_PROTECTION_REPORT_ONLY":    {Message: "frame-ancestors in Content-Security-Policy-Report-Only only reports."},
	"FRAME_PROTECTION_NOT_A_DOCUMENT": {Args: notForDataArgs, Message: "Frame protection" + notForData},
}

var contentRows = finding.Rows{
	"CONTENT_TYPE_OPTIONS_MISSING": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 28,
		Message: "X-Content-Type-Options is missing, so browsers may treat a file as another type than declared.",
		Remedy:  noSniffHeader + ": nosniff", Paste: nginxAdd(noSniffHeader, "nosniff"), Reference: noSniffReference,
	},
	"CONTENT_TYPE_OPTIONS_INEFFECTIVE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 28, Args: "value text",
		Message: "Browsers ignore X-Content-Type-Options: its first value is “{value}”, and only nosniff counts, without " +
			"quotes or anything after it.",
		Remedy: noSniffHeader + ": nosniff", Paste: nginxReplace(noSniffHeader, "nosniff"), Reference: noSniffReference,
	},
	codeNoContentType: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20,
		Message: "The answer declares no Content-Type, so browsers must guess what it is.",
		Remedy:  "Content-Type: text/html; charset=utf-8", Reference: noSniffReference,
	},
	"CONTENT_TYPE_OPTIONS_NOSNIFF": {Message: "Browsers accept scripts and style sheets only with " +
		"matching declared types."},
	"CONTENT_TYPE_OPTIONS_MORE": {Message: "Any further values are ignored."},

	"REFERRER_POLICY_MISSING": {
		Severity: finding.Info, Group: finding.Note, Weight: 6,
		Message: "Referrer-Policy is missing, so old browsers send other sites the whole URL.",
		Remedy:  referrerLine, Paste: nginxAdd(referrerHeader, referrerValue), Reference: referrerReference,
	},
	"REFERRER_POLICY_UNKNOWN": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20, Args: "example text",
		Message: "Browsers know none of the values of Referrer-Policy[ (“{example}”)], so their default applies.",
		Remedy:  referrerLine, Paste: referrerPaste, Reference: referrerReference,
	},
	"REFERRER_POLICY_UNSAFE": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 30,
		Message: "Referrer-Policy: unsafe-url sends everybody the whole URL, with its path and query, also over plain HTTP.",
		Remedy:  referrerLine, Paste: referrerPaste, Reference: referrerReference,
	},
	"REFERRER_POLICY_WEAK": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20,
		Message: "Referrer-Policy: no-referrer-when-downgrade sends other https sites the whole URL, with its path and " +
			"query.",
		Remedy: referrerLine, Paste: referrerPaste, Reference: referrerReference,
	},
	"REFERRER_POLICY_ORIGIN": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "Referrer-Policy: origin sends everybody the origin, also over plain HTTP.",
		Remedy:  referrerLine, Paste: referrerPaste, Reference: referrerReference,
	},
	"REFERRER_POLICY_CROSS_ORIGIN": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "Referrer-Policy: origin-when-cross-origin sends other sites the origin, also over plain HTTP.",
		Remedy:  referrerLine, Paste: referrerPaste, Reference: referrerReference,
	},
	"REFERRER_POLICY_NO_REFERRER": {Message: "no-referrer applies: links and resources are fetched without a referrer."},
	"REFERRER_POLICY_SAME_ORIGIN": {Message: "same-origin applies: only the site itself gets a referrer."},
	codeReferrerStrict: {
		Args:    "policy text",
		Message: "{policy} applies: other sites get the origin, and nothing over plain HTTP.",
	},
	"REFERRER_POLICY_SKIPPED": {
		Args:    "example text",
		Message: "Browsers skip the values that they do not know (“{example}”).",
	},
	"REFERRER_POLICY_NOT_A_DOCUMENT": {Args: notForDataArgs, Message: "A referrer policy" + notForData},
}

var permissionsRows = finding.Rows{
	"PERMISSIONS_POLICY_MISSING": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "Permissions-Policy is missing, so scripts may ask for every feature that browsers offer.",
		Remedy:  permissionsHeader + ": " + permissionsValue, Paste: nginxAdd(permissionsHeader, permissionsValue),
		Reference: permissionsReference,
	},
	"PERMISSIONS_POLICY_INEFFECTIVE": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20, Args: permissionsArgs,
		Message: "Browsers ignore Permissions-Policy, because it is not a structured dictionary (RFC 9651).",
		Remedy:  permissionsRemedy, Reference: permissionsReference,
	},
	"PERMISSIONS_POLICY_EMPTY": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20, Args: permissionsArgs,
		Message: "Permissions-Policy names no feature.",
		Remedy:  permissionsRemedy, Reference: permissionsReference,
	},
	"PERMISSIONS_POLICY_SKIPPED_VALUES": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20, Args: "feature text, " + permissionsArgs,
		Message: "The list of {feature} in Permissions-Policy has values that browsers skip: only (), self, * and quoted " +
			"origins count, so “none” is written ().",
		Remedy: permissionsRemedy, Reference: permissionsReference,
	},
	"PERMISSIONS_POLICY_NO_LIMIT": {
		Severity: finding.Info, Group: finding.Note, Weight: 4, Args: permissionsArgs,
		Message: "Permissions-Policy limits nothing, so the page and its scripts may ask for every feature, as without it.",
		Remedy:  permissionsRemedy, Reference: permissionsReference,
	},
	"PERMISSIONS_POLICY_LIMITS": {
		Args:    "limited number, " + permissionsArgs,
		Message: "It limits {limited} {limited:feature|features}.",
		Remedy:  permissionsRemedy,
	},
	"PERMISSIONS_POLICY_OLD_SYNTAX": {
		Message: "It is written as Feature-Policy was: a feature now takes “=” and a list in brackets, and commas " +
			"separate features.",
	},
	"PERMISSIONS_POLICY_OPEN": {
		Args: "features list",
		Message: "{features} {features:is|are} set to *, which is no limit: any frame that is given “allow” for the " +
			"feature may use it, as without the header.",
	},
	"PERMISSIONS_POLICY_OPEN_BY_DEFAULT": {
		Args: "features list",
		Message: "{features} {features:is|are} set to *, which is no limit: every frame may use the feature, as without " +
			"the header.",
	},
	"PERMISSIONS_POLICY_UNKNOWN_FEATURES": {
		Args: "features list",
		Message: "{features} {features:is not a feature|are not features} known here, and browsers ignore names that " +
			"they do not know.",
	},
	"PERMISSIONS_POLICY_PREDECESSOR":    {Message: "Most browsers do not read Feature-Policy, its predecessor."},
	"PERMISSIONS_POLICY_NOT_A_DOCUMENT": {Args: notForDataArgs, Message: "A permissions policy" + notForData},
}

var isolationRows = finding.Rows{
	"COOP_MISSING": {
		Severity: finding.Info, Group: finding.Note, Weight: 4,
		Message: "Cross-Origin-Opener-Policy is missing, so windows of other sites keep a reference to this page.",
		Remedy:  coopHeader + ": same-origin", Paste: nginxAdd(coopHeader, "same-origin"), Reference: coopReference,
	},
	"COOP_INEFFECTIVE": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20,
		Message: "Browsers ignore Cross-Origin-Opener-Policy: it must be one token, sent once (RFC 9651), such as " +
			"same-origin.",
		Remedy: coopHeader + ": same-origin", Paste: nginxReplace(coopHeader, "same-origin"), Reference: coopReference,
	},
	"COOP_UNKNOWN": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20, Args: "value text",
		Message: "Browsers ignore Cross-Origin-Opener-Policy, because they do not know the value “{value}” (values are " +
			"lower case).",
		Remedy: coopHeader + ": same-origin", Paste: nginxReplace(coopHeader, "same-origin"), Reference: coopReference,
	},
	"COOP_WITHOUT_TLS": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20,
		Message: "Browsers ignore Cross-Origin-Opener-Policy, because the answer did not come over valid HTTPS.",
		Remedy:  overHTTPS, Reference: coopReference,
	},
	"COOP_NOTE": {
		Severity: finding.Info, Group: finding.Note, Weight: 3,
		Message: "Cross-Origin-Opener-Policy: unsafe-none is the default and protects nothing.",
		Remedy:  coopHeader + ": same-origin", Paste: nginxReplace(coopHeader, "same-origin"), Reference: coopReference,
	},
	"COOP_SAME_ORIGIN": {Message: "same-origin: windows of other origins keep no reference to this page."},
	"COOP_ALLOW_POPUPS": {Message: "same-origin-allow-popups: windows of other origins that open this page keep no " +
		"reference to it; popups that it opens itself do."},
	"COOP_NOOPENER": {Message: "noopener-allow-popups: no window that opens this page keeps a reference to it, not even " +
		"one of the same origin."},

	"COEP_MISSING": {
		Severity: finding.Info, Group: finding.Note, Weight: 3,
		Message: "Cross-Origin-Embedder-Policy is missing. Only pages that need cross-origin isolation must send it.",
		Remedy:  coepHeader + ": require-corp", Reference: coepReference,
	},
	"COEP_INEFFECTIVE": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20,
		Message: "Browsers ignore Cross-Origin-Embedder-Policy: it must be one token, sent once (RFC 9651), such as " +
			"require-corp.",
		Remedy: coepHeader + ": require-corp", Paste: nginxReplace(coepHeader, "require-corp"), Reference: coepReference,
	},
	"COEP_UNKNOWN": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20, Args: "value text",
		Message: "Browsers ignore Cross-Origin-Embedder-Policy, because they do not know the value “{value}” (values are " +
			"lower case).",
		Remedy: coepHeader + ": require-corp", Paste: nginxReplace(coepHeader, "require-corp"), Reference: coepReference,
	},
	"COEP_WITHOUT_TLS": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20,
		Message: "Browsers ignore Cross-Origin-Embedder-Policy, because the answer did not come over valid HTTPS.",
		Remedy:  overHTTPS, Reference: coepReference,
	},
	"COEP_NOTE": {
		Severity: finding.Info, Group: finding.Note, Weight: 3,
		Message: "Cross-Origin-Embedder-Policy: unsafe-none is the default and protects nothing.",
		Remedy:  coepHeader + ": require-corp", Reference: coepReference,
	},
	"COEP_REQUIRE_CORP": {Message: "require-corp: resources of other origins load only with their consent."},
	"COEP_CREDENTIALLESS": {
		Message: "credentialless: resources of other origins load without credentials, or with their consent.",
	},
	"COEP_ISOLATED": {
		Message: "Together with Cross-Origin-Opener-Policy: same-origin the page is cross-origin isolated.",
	},

	"ISOLATION_REPORT_ONLY": {
		Args:    "header text, value text",
		Message: "{header}-Report-Only: {value} only reports.",
	},
	"ISOLATION_REPORT_ONLY_UNKNOWN": {
		Args:    "header text",
		Message: "{header}-Report-Only has no value that browsers know.",
	},
	"ISOLATION_NOT_A_DOCUMENT": {Args: notForDataArgs, Message: "This header" + notForData},

	"CORP_MISSING": {
		Severity: finding.Info, Group: finding.Note, Weight: 4,
		Message: "Cross-Origin-Resource-Policy is missing, so other sites can embed this resource.",
		Remedy:  corpHeader + ": same-origin", Paste: nginxAdd(corpHeader, "same-origin"), Reference: corpReference,
	},
	"CORP_INEFFECTIVE": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20, Args: "value text",
		Message: "Browsers ignore Cross-Origin-Resource-Policy: its value “{value}” must be same-origin, same-site or " +
			"cross-origin, in lower case and sent once.",
		Remedy: corpHeader + ": same-origin", Paste: nginxReplace(corpHeader, "same-origin"), Reference: corpReference,
	},
	"CORP_OPEN": {
		Severity: finding.Info, Group: finding.Note, Weight: 3,
		Message:   "Cross-Origin-Resource-Policy lets every site embed this resource, which is right only for public files.",
		Reference: corpReference,
	},
	"CORP_SAME": {Args: "scope text", Message: "Only the same {scope} can embed this resource."},
}

var corsRows = finding.Rows{
	"CORS_NULL_CREDENTIALS": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 45,
		Message: "Any site can read answers made for a logged-in person, because the origin null is allowed with " +
			"credentials.",
		Remedy: exampleAllow, Reference: corsReference,
	},
	"CORS_NULL": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25,
		Message: "Any site can read this answer through a sandboxed frame, because the origin null is allowed.",
		Remedy:  exampleAllow, Reference: corsReference,
	},
	"CORS_WILDCARD_CREDENTIALS": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25,
		Message: "An asterisk beside Access-Control-Allow-Credentials: true does not work, because browsers then refuse " +
			"answers to requests with credentials. To allow every site, leave Access-Control-Allow-Credentials out.",
		Remedy: exampleAllow + " (with Vary: Origin)", Reference: corsReference,
	},
	"CORS_INVALID": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "origin text",
		Message: "Browsers refuse the value “{origin}” of Access-Control-Allow-Origin: it must be one origin, *, or null, " +
			"sent once, without a path, a list or a wildcard inside.",
		Remedy: exampleAllow, Reference: corsReference,
	},
	"CORS_PLAIN_CREDENTIALS": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25, Args: "origin text, host text",
		Message: "{origin}, over plain HTTP, can read answers made for a logged-in person, and so can anyone on its " +
			"network.",
		Remedy: allowOrigin + ": https://{host}", Reference: corsReference,
	},
	"CORS_OPEN": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "Every site can read this answer. That is right for public data, and wrong if only the network or the " +
			"address protects it.",
		Reference: corsReference,
	},
	"CORS_OWN_ORIGIN": {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message:   "Access-Control-Allow-Origin names the site's own origin, which needs no permission.",
		Reference: corsReference,
	},
	"CORS_CREDENTIALS": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "origin text",
		Message:   "{origin} can read answers made for a logged-in person, so that origin must be trusted.",
		Reference: corsReference,
	},
	"CORS_ORIGIN": {
		Severity: finding.Info, Group: finding.Note, Weight: 5, Args: "origin text",
		Message: "{origin} can read this answer.", Reference: corsReference,
	},
	"CORS_NONE": {
		Message: "No other site is allowed to read this answer. The request had no Origin header; a server may allow more " +
			"when there is one.",
	},
	"CORS_CREDENTIALS_CASE": {Message: "Access-Control-Allow-Credentials counts only as true, in lower case."},
}

// cookieRow is an issue of a cookie, whose message goes on after its subject.
func cookieRow(severity finding.Severity, args, message string) finding.Row {
	return rowOf("cookie", severity, args, message)
}

// loginRow is an issue of a cookie that looks like one for logins.
func loginRow(severity finding.Severity, message string) finding.Row {
	return rowOf("login cookie", severity, "", message)
}

func rowOf(kind string, severity finding.Severity, args, message string) finding.Row {
	row := finding.Row{
		Severity: severity, Args: strings.TrimPrefix(args+", "+cookieArgs, ", "),
		Message: "[The " + kind + " “{cookie}”]{nameless?A " + kind + " without a name}{issue?It} " + message,
		Remedy:  cookieRemedy, Reference: cookiesReference,
	}
	switch severity {
	case finding.Fail:
		row.Group, row.Weight = finding.Safer, 44
	case finding.Warn:
		row.Group, row.Weight = finding.Safer, 24
	case finding.Info:
		row.Group, row.Weight = finding.Note, 6
	}
	return row
}

var cookieRows = finding.Rows{
	codeCookiesNone: {Message: "The answer sets no cookies."},
	"COOKIES_FINE": {
		Args:    "count number",
		Message: "{count} {count:cookie is|cookies are} set, each with what it needs (Secure, HttpOnly, SameSite).",
	},
	"COOKIES_SET": {Args: "count number", Message: "{count} {count:cookie is|cookies are} set."},

	"COOKIE_IGNORED":           cookieRow(finding.Warn, "problem code", "is ignored by browsers: {problem}."),
	"COOKIE_CONTROL_CHARACTER": {Clause: "it contains a control character"},
	"COOKIE_EMPTY":             {Clause: "it has neither a name nor a value"},
	"COOKIE_TOO_LONG":          {Clause: "name and value are longer than 4,096 bytes"},
	"COOKIE_NAMELESS_PREFIX": {
		Clause: "it has no name, and a value that begins like a protected name",
	},
	"COOKIE_PREFIX": cookieRow(finding.Warn, "lacks text, more flag, domain flag", "is refused by browsers: its name's "+
		"prefix requires what it lacks ({lacks}{more?, }{domain?the absence of Domain})."),
	"COOKIE_SECURE_OVER_HTTP": cookieRow(finding.Warn, "", "is refused by browsers: a Secure cookie cannot be set over "+
		"plain HTTP."),
	"COOKIE_NONE_WITHOUT_SECURE": cookieRow(finding.Warn, "", "is refused by browsers: SameSite=None needs Secure."),
	"COOKIE_PARTITIONED_WITHOUT_SECURE": cookieRow(finding.Warn, "", "is refused by browsers: Partitioned needs "+
		"Secure."),
	"COOKIE_DOMAIN":        cookieRow(finding.Warn, "problem code", "is refused by browsers: {problem}."),
	"COOKIE_OTHER_DOMAIN":  {Clause: "its Domain is neither this host nor a parent of it"},
	"COOKIE_PUBLIC_SUFFIX": {Clause: "its Domain is a public suffix, which others use too"},
	codeCookieDeleted:      cookieRow(finding.Info, "", "is only deleted by this answer."),
	"COOKIE_DUPLICATE": cookieRow(finding.Info, "",
		"is set more than once with the same domain and path; the last one wins."),

	// A session that travels in clear is one that the network can take over.
	"COOKIE_LOGIN_NOT_SECURE": loginRow(finding.Fail, "lacks Secure, so it is also sent over plain HTTP."),
	"COOKIE_PLAIN_NOT_SECURE": cookieRow(finding.Warn, "",
		"is set and sent over plain HTTP. Use https and add Secure."),
	"COOKIE_NOT_SECURE":          cookieRow(finding.Warn, "", "lacks Secure, so it is also sent over plain HTTP."),
	"COOKIE_LOGIN_NOT_HTTP_ONLY": loginRow(finding.Fail, "lacks HttpOnly, so an injected script can steal it."),
	"COOKIE_NOT_HTTP_ONLY": cookieRow(finding.Info, "",
		"lacks HttpOnly, so scripts can read it. Add HttpOnly, unless the page's own scripts need the cookie."),
	"COOKIE_SAME_SITE_NONE": cookieRow(finding.Info, "", "has SameSite=None, so it is sent with requests that other "+
		"sites cause. Use Lax or Strict, unless it is meant for frames on other sites."),
	"COOKIE_SAME_SITE_INVALID": cookieRow(finding.Warn, "",
		"has a SameSite other than Strict, Lax or None, so the browser's default applies."),
	"COOKIE_LOGIN_NO_SAME_SITE": loginRow(finding.Warn, "lacks SameSite, so browsers whose default is not Lax send it "+
		"with requests that other sites cause."),
	"COOKIE_NO_SAME_SITE": cookieRow(finding.Info, "",
		"lacks SameSite, so some browsers treat it as Lax and others send it everywhere."),
	"COOKIE_DOMAIN_WIDE": cookieRow(finding.Info, "",
		"has a Domain, so it is sent to every subdomain too. Leave Domain out, unless they need the cookie."),
	"COOKIE_LONG_LIVED": cookieRow(finding.Info, "", "lives longer than the 400 days to which browsers cut it."),
	codeCookieNoPrefix: cookieRow(finding.Info, "name text",
		"could be named __Host-{name}, so that no subdomain can set a cookie in its place."),
}

var leakRows = finding.Rows{
	"LEAK_INTERNALS": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 42, Args: "header text, " + leakArgs,
		Message: "The header {header} is a debugging aid and must not reach visitors.",
		Remedy:  leakRemedy, Reference: leakReference,
	},
	"LEAK_DEVELOPMENT_SERVER": {
		Severity: finding.Fail, Group: finding.Safer, Weight: 42, Args: "value text, " + leakArgs,
		Message: "The Server header names a development server ({value}), which is not made for the public.",
		Remedy:  leakRemedy, Reference: leakReference,
	},
	"LEAK_VERSION": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 21, Args: "header text, value text, " + leakArgs,
		Message: "The header {header} reveals a version ({value}), which helps attackers find matching exploits.",
		Remedy:  leakRemedy, Reference: leakReference,
	},
	"LEAK_ADDRESS": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 21, Args: "headers text, count number, " + leakArgs,
		Message: "The {count:header|headers} {headers} {count:contains|contain} a private network address.",
		Remedy:  leakRemedy, Reference: leakReference,
	},
	"LEAK_PRODUCT": {
		Severity: finding.Info, Group: finding.Note, Weight: 4, Args: "header text, value text, " + leakArgs,
		Message: "The header {header} names the product without a version ({value}).",
		Remedy:  leakRemedy, Reference: leakReference,
	},
	"LEAK_SOFTWARE": {
		Severity: finding.Info, Group: finding.Note, Weight: 4, Args: "header text, value text, " + leakArgs,
		Message: "The header {header} reveals the software ({value}) and is of no use to visitors.",
		Remedy:  leakRemedy, Reference: leakReference,
	},
	"LEAK_NONE": {Message: "No header names the software, its version or its internals."},
}

// retiredRows are the rows of the headers that browsers no longer act on, or act on to no good.
func retiredRows() finding.Rows {
	all := finding.Rows{"RETIRED_NONE": {Message: "No retired header is sent."}}
	add := func(severity finding.Severity, weight int, messages map[string]string) {
		for code, message := range messages {
			all[code] = finding.Row{Severity: severity, Group: finding.Note, Weight: weight, Args: "remove text",
				Message: message, Remedy: retiredRemedy, Reference: retiredReference}
		}
	}
	add(finding.Warn, 9, map[string]string{
		"RETIRED_PUBLIC_KEY_PINS": "Browsers dropped Public-Key-Pins, because a lost key locked visitors out; Certificate " +
			"Transparency replaced it.",
		"RETIRED_PUBLIC_KEY_PINS_REPORT_ONLY": "Browsers dropped Public-Key-Pins-Report-Only with Public-Key-Pins.",
		"RETIRED_X_CONTENT_SECURITY_POLICY": "No current browser reads X-Content-Security-Policy, a predecessor of " +
			"Content-Security-Policy.",
		"RETIRED_X_WEBKIT_CSP":   "No current browser reads X-WebKit-CSP, a predecessor of Content-Security-Policy.",
		"RETIRED_FEATURE_POLICY": "Permissions-Policy replaced Feature-Policy, with another syntax.",
		"RETIRED_X_XSS_PROTECTION": "X-XSS-Protection switches on a filter that browsers removed, because pages could be " +
			"attacked through it.",
	})
	add(finding.Info, 3, map[string]string{
		"RETIRED_EXPECT_CT":                         "Browsers require Certificate Transparency without Expect-CT.",
		"RETIRED_P3P":                               "No current browser reads P3P.",
		"RETIRED_PRAGMA":                            "Pragma has a meaning only in requests; Cache-Control is for responses.",
		"RETIRED_REPORT_TO":                         "Reporting-Endpoints replaced Report-To, except for network errors.",
		"RETIRED_X_DOWNLOAD_OPTIONS":                "Only Internet Explorer used X-Download-Options.",
		"RETIRED_X_UA_COMPATIBLE":                   "Only Internet Explorer used X-UA-Compatible.",
		"RETIRED_X_PERMITTED_CROSS_DOMAIN_POLICIES": "Only Flash and PDF plugins used X-Permitted-Cross-Domain-Policies.",
		"RETIRED_SET_COOKIE2":                       "RFC 6265 retired Set-Cookie2, and browsers ignore it.",
		"RETIRED_LARGE_ALLOCATION":                  "Browsers dropped Large-Allocation.",
		"RETIRED_WARNING":                           "RFC 9111 retired the Warning header.",
		"RETIRED_CONTENT_MD5":                       "RFC 7231 retired Content-MD5; Content-Digest replaced it.",
		"RETIRED_TK":                                "Tk belongs to Do Not Track, which was abandoned.",
		"RETIRED_X_XSS_PROTECTION_OFF": "X-XSS-Protection: 0 switches off a filter that only very old browsers have, which " +
			"is harmless.",
	})
	return all
}

var plainRows = finding.Rows{
	"HTTP_REDIRECT_TO_HTTP": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 38, Args: "host text, status number",
		Message: "http://{host} redirects to another http URL ({status}), where the network can read and change what is " +
			"sent.",
		Remedy:    "Redirect every http URL straight to https on the same host, with 301 or 308.",
		Reference: hstsReference,
	},
	"HTTP_REDIRECT_TO_HTTP_BESIDE_PORT": {
		Severity: finding.Info, Group: finding.Note, Weight: 8, Args: "host text, status number, port number",
		Message: "http://{host} redirects to another http URL ({status}), where the network can read and change what is " +
			"sent." + otherPort,
		Remedy:    "Redirect every http URL straight to https on the same host, with 301 or 308.",
		Reference: hstsReference,
	},
	"HTTP_NOT_REDIRECTED": {
		Severity: finding.Warn, Group: finding.Safer, Weight: 38, Args: "host text, status number",
		Message: "http://{host} answers {status} and does not redirect to https, so visitors who come that way are served " +
			"without encryption.",
		Remedy: plainRemedy, Reference: hstsReference,
	},
	"HTTP_NOT_REDIRECTED_BESIDE_PORT": {
		Severity: finding.Info, Group: finding.Note, Weight: 8, Args: "host text, status number, port number",
		Message: "http://{host} answers {status} and does not redirect to https, so visitors who come that way are served " +
			"without encryption." + otherPort,
		Remedy: plainRemedy, Reference: hstsReference,
	},
	"HTTP_REDIRECT_ELSEWHERE": {
		Severity: finding.Info, Group: finding.Note, Weight: 8, Args: "host text, status number, other text",
		Message: "http://{host} redirects to https at once ({status}), but to another host ({other}), so browsers that " +
			"come this way learn no HSTS policy for the first.",
		Remedy:    "Redirect http to https on the same host first, and from there onward.",
		Reference: hstsReference,
	},
	"HTTP_ERROR": {
		Severity: finding.Info, Group: finding.Note, Weight: 8, Args: "host text, answer text",
		Message: "http://{host} answers {answer} and does not redirect to https.",
		Remedy:  plainRemedy, Reference: hstsReference,
	},
	"HTTP_REDIRECTED": {
		Args:    "host text, status number",
		Message: "http://{host} redirects to https at once ({status}).",
	},
	"HTTP_REDIRECT_TEMPORARY": {Message: "The redirect is temporary: with 301 or 308 browsers remember it."},
	"HTTP_SILENT": {
		Args:    "host text",
		Message: "http://{host} does not answer (port 80), so no page is served there without encryption.",
	},
}

// newerRows are the rows of headers that few sites send yet, and that are not judged.
var newerRows = finding.Rows{
	"INTEGRITY_POLICY_MISSING": {Message: "Not sent, and most sites need none: it makes browsers refuse scripts or " +
		"style sheets without an integrity attribute."},
	"DOCUMENT_POLICY_MISSING": {Message: "Not sent, and most sites need none: it turns on or off what a page may do, " +
		"such as profiling its scripts, in Chromium only."},
	"ORIGIN_AGENT_CLUSTER_MISSING": {Message: "Not sent, and most sites need none: it asks browsers to run the page " +
		"apart from other hosts of the same domain."},
	"CLEAR_SITE_DATA_MISSING": {Message: "Not sent, and most sites need none: it makes browsers delete what they keep " +
		"for a site, and belongs on answers such as the one to a logout."},
	"REPORTING_ENDPOINTS_MISSING": {Message: "Not sent, and most sites need none: it names where browsers send reports, " +
		"such as those of a content security policy."},

	codeNewerDictionary:        {Message: "Browsers ignore it, because it is not a structured dictionary (RFC 9651)."},
	codeNewerSecure:            {Message: "Browsers ignore it, because the answer did not come over valid HTTPS."},
	"INTEGRITY_POLICY_SOURCES": {Message: "It refuses nothing: its sources must name inline, or be left out."},
	"INTEGRITY_POLICY_NOTHING": {Message: "It refuses nothing: blocked-destinations must name script or style, as in " +
		"blocked-destinations=(script)."},
	"INTEGRITY_POLICY_REFUSES": {
		Args:    "kinds list",
		Message: "Browsers that know it refuse {kinds} without an integrity attribute.",
	},
	"INTEGRITY_POLICY_ENDPOINT": {
		Args:    "endpoint text",
		Message: "It names the endpoint “{endpoint}”, which Reporting-Endpoints does not define.",
	},
	"DOCUMENT_POLICY_NOTHING":      {Message: "It sets nothing."},
	"DOCUMENT_POLICY_SETS":         {Args: "features list", Message: "It sets {features}. Only Chromium reads it."},
	"ORIGIN_AGENT_CLUSTER_INVALID": {Message: "Browsers ignore it: the value must be ?1."},
	"ORIGIN_AGENT_CLUSTER_ON": {
		Message: "It asks browsers to run the page apart from other hosts of the same domain. They may ignore that.",
	},
	"ORIGIN_AGENT_CLUSTER_OFF": {
		Message: "It asks browsers not to run the page apart from other hosts of the same domain.",
	},
	"CLEAR_SITE_DATA_NOTHING": {
		Message: `Browsers ignore it: the types of data must be in quotes, as in "cookies", "storage".`,
	},
	"CLEAR_SITE_DATA_CLEARS": {
		Args: "type1 code, type2 code, type3 code, type4 code, type5 code, type6 code, type7 code",
		Message: "With this answer browsers delete, of what they keep for the site: {type1}[; {type2}][; {type3}]" +
			"[; {type4}][; {type5}][; {type6}][; {type7}]. That belongs on an answer such as the one to a logout, and " +
			"nowhere else.",
	},
	codeClearsAll:              {Clause: "everything"},
	"CLEAR_CACHE":              {Clause: "what they cached"},
	"CLEAR_COOKIES":            {Clause: "cookies, of all hosts of the domain"},
	"CLEAR_STORAGE":            {Clause: "what scripts stored"},
	"CLEAR_EXECUTIONCONTEXTS":  {Clause: "open pages, which are loaded again"},
	"CLEAR_CLIENTHINTS":        {Clause: "client hints"},
	"CLEAR_PREFETCHCACHE":      {Clause: "prefetched pages"},
	"CLEAR_PRERENDERCACHE":     {Clause: "prerendered pages"},
	"REPORTING_ENDPOINTS_NONE": {Message: "It names no endpoint."},
	"REPORTING_ENDPOINTS_NAMED": {Args: "endpoints list", Message: "Browsers can send reports to what " +
		"it calls {endpoints}."},
	"REPORTING_ENDPOINTS_IGNORED": {
		Args:    "endpoints list",
		Message: "{endpoints} {endpoints:is|are} ignored: an endpoint is an https URL in quotes.",
	},
}
