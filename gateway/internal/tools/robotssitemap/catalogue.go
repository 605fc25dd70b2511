package robotssitemap

import (
	"diagnostics/gateway/internal/analyze/robotstxt"
	"diagnostics/gateway/internal/analyze/sitemap"
	"diagnostics/gateway/internal/egress/http1"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// The codes of conclusions, and of findings beside the issues of the files.
const (
	codeOpen         = "SITE_OPEN"
	codeRules        = "SITE_HAS_RULES"
	codeClosed       = "SITE_CLOSED"
	codeSearchClosed = "SEARCH_ENGINE_CLOSED"
	codeNoRobots     = "NO_ROBOTS"
	codeLost         = "ROBOTS_REDIRECTS_NOWHERE"
	codeUnread       = "ROBOTS_UNREADABLE"
	codeNotChecked   = "ROBOTS_NOT_CHECKED"
	codePage         = "ROBOTS_IS_A_PAGE"
	codeBinary       = "NOT_TEXT"
	codeCertificate  = "SITE_CERTIFICATE_INVALID"
	codeMistakes     = "ROBOTS_HAS_MISTAKES"
	codeSitemaps     = "SITEMAPS_FAULTY"
	codeNoSitemap    = "SITEMAP_NOT_FOUND"
	codeUndeclared   = "UNDECLARED_SITEMAP_FAULTY"
)

// The codes of issues about how a file is served. Those of a robots.txt and of a sitemap are in packages robotstxt and
// sitemap.
const (
	codeRedirects      = "FILE_TOO_MANY_REDIRECTS"
	codeBadRedirect    = "BAD_REDIRECT"
	codeNotPublic      = "NOT_PUBLIC"
	codeUnreachable    = "FILE_UNREACHABLE"
	codeBadURL         = "SITEMAP_URL_INVALID"
	codeLimit          = "LIMIT_REACHED"
	codeBound          = "SITEMAPS_CUT"
	codeNotFinished    = "NOT_FINISHED"
	codeIncomplete     = "INCOMPLETE"
	codeStatus         = "HTTP_STATUS"
	codeServerError    = "FILE_SERVER_ERROR"
	codeContentType    = "CONTENT_TYPE"
	codeNotRead        = "SITEMAPS_NOT_READ"
	codeBadCertificate = "FILE_CERTIFICATE_INVALID"
	codeUnverified     = "FILE_CERTIFICATE_NOT_VERIFIED"
	// The server has the file, as far as can be seen, but does not send it.
	codeRefused        = "ACCESS_REFUSED"
	codeLimited        = "RATE_LIMITED"
	codeSitemapRefused = "SITEMAP_REFUSED"
	codeSitemapLimited = "SITEMAP_RATE_LIMITED"
)

// issueCodes are the codes of issues by those of rows, if they differ: an issue has one code for what several rows
// tell apart.
var issueCodes = map[string]string{
	codePage: "HTML", sitemap.CodeHTML: "HTML",
	codeUnreachable: "UNREACHABLE", codeBadURL: "UNREACHABLE",
	codeRedirects: "TOO_MANY_REDIRECTS", codeServerError: "SERVER_ERROR",
	codeBound:          codeLimit,
	codeBadCertificate: "CERTIFICATE_INVALID", codeUnverified: "CERTIFICATE_NOT_VERIFIED",
	codeSitemapRefused: codeRefused, codeSitemapLimited: codeLimited,
	sitemap.CodeTooLong: robotstxt.CodeTooLong, sitemap.CodeUnreadable: sitemap.CodeEncoding,
	robotstxt.CodeFieldMissing: robotstxt.CodeUnknownField, robotstxt.CodeRetiredField: robotstxt.CodeUnknownField,
	robotstxt.CodeExtension: robotstxt.CodeUnknownField, robotstxt.CodeProposal: robotstxt.CodeUnknownField,
}

// The codes of parts of conclusions: what the site asks of crawlers, and what the sitemaps come to.
const (
	asksNothing    = "CRAWLERS_VISIT_ALL"
	asksSome       = "CRAWLERS_VISIT_SOME"
	asksAll        = "CRAWLERS_VISIT_NOTHING"
	asksNoFile     = "CRAWLERS_WITHOUT_FILE"
	sitemapsNone   = "SITEMAPS_NONE"
	sitemapDenied  = "SITEMAPS_DENIED"
	sitemapsLost   = "SITEMAPS_LOST"
	sitemapsBad    = "SITEMAPS_WITH_MISTAKES"
	sitemapsSkip   = "SITEMAPS_NOT_CHECKED"
	sitemapsUsable = "SITEMAPS_USABLE"
)

const (
	robotsSpec = "https://www.rfc-editor.org/rfc/rfc9309.html"

	// at says which file an issue is about, in a finding: /robots.txt, or a sitemap.
	atArgs = "robots flag, sitemap text, lines list"
	at     = "{robots?/robots.txt}[The sitemap {sitemap}][, {lines:line|lines} {lines}]{robots?: }{sitemap?: }"

	// line is the subject of what is wrong with lines of a robots.txt: in a finding with their numbers.
	lineArgs = "robots flag, lines list"
	line     = "[{lines:Line|Lines} {lines} of {robots?robots.txt|the file}]{lines?|The line}"
	lineHas  = line + " {lines:has|have}{lines?|has}"
	lineIs   = line + " {lines:is|are}{lines?|is}"

	// again says how many more items of a sitemap have the same issue.
	againArgs = atArgs + ", once flag, more number"
	again     = "{once? The same applies to one more.}[ The same applies to {more} more.]"

	rights     = "{site} {asks}. "
	rightsArgs = "site text, asks code, sitemaps sentence"

	refused = "[{site} refuses /robots.txt]{site?|The server refuses the file}[ ({status})]"
)

// failing, warning and remark return the row of an issue: a line or file without its intended effect, something that
// crawlers read differently, and information.
func failing(args, message string) finding.Row {
	return finding.Row{Severity: finding.Fail, Group: finding.Safer, Weight: 30, Args: args, Message: message}
}

func warning(args, message string) finding.Row {
	return finding.Row{Severity: finding.Warn, Group: finding.Safer, Weight: 20, Args: args, Message: message}
}

func remark(args, message string) finding.Row {
	return finding.Row{Severity: finding.Info, Group: finding.Note, Weight: 5, Args: args, Message: message}
}

var rows = finding.Join(reportRows, partRows, servedRows, robotsRows, sitemapRows,
	webview.Rows.Only(webview.CodeHello), fault.Rows.Only(webview.CodeCertificate, webview.CodeUnverified),
	webview.NoteRows.Without(string(http1.TrailingBytes)), webview.RepairRows,
).WithClauses(fault.Rows)

// reportRows are conclusions, and findings beside issues.
var reportRows = finding.Rows{
	codeOpen: {
		State:   finding.OK,
		Args:    rightsArgs,
		Message: rights + "{sitemaps}",
		Brief:   "Open to crawlers",
	},
	codeRules: {
		State:   finding.OK,
		Args:    rightsArgs,
		Message: rights + "{sitemaps}",
		Brief:   "Open with rules",
	},
	codeClosed: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 54,
		Args:    rightsArgs,
		Message: "{site} {asks}.[ {sitemaps}]",
		Brief:   "Closed to crawlers",
		Meaning: "Search engines will not list its pages. If the site should be found, remove the line \"Disallow: /\" of " +
			"the group \"*\".",
		Remedy: "If the site should be found, remove the line \"Disallow: /\" of the group \"*\".",
	},
	codeSearchClosed: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 52,
		Args:    "site text, engines list, sitemaps sentence",
		Message: "{site} asks {engines} to stay away from the whole site, so it is not found there.[ {sitemaps}]",
		Brief:   "Search engine shut out",
		Meaning: "If the site should be found there, remove the group or its line \"Disallow: /\".",
		Remedy:  "If the site should be found there, remove the group or its line \"Disallow: /\".",
	},
	codeNoRobots: {
		State:   finding.OK,
		Args:    "site text, sitemaps sentence",
		Message: "{site} has no robots.txt, so crawlers may visit everything. {sitemaps}",
		Brief:   "No robots.txt",
		Meaning: "No action is needed unless crawlers should stay away from some pages.",
	},
	codeLost: {
		State:   finding.Warned,
		Args:    "site text, sitemaps sentence",
		Message: "/robots.txt of {site} redirects to no file, so crawlers may visit everything. {sitemaps}",
		Brief:   "Redirects to no file",
		Meaning: "Rules that the file should have do not apply. Serve the file, or answer 404 if there is none.",
	},
	codeUnread: {
		State: finding.Failed, Severity: finding.Fail, Group: finding.Broken, Weight: 72,
		Args:      "site text, issue sentence",
		Message:   "/robots.txt of {site} cannot be read, so crawlers stay away from the whole site.[ {issue}]",
		Brief:     "robots.txt unreadable",
		Meaning:   "Search engines may drop the site. Serve the file, or answer 404 if there is none.",
		Remedy:    "Serve the file, or answer 404 if there is none.",
		Reference: robotsSpec + "#section-2.3.1.4",
	},
	codeNotChecked: {
		State:   finding.Unknown,
		Args:    "site text",
		Message: "This service could not check /robots.txt of {site}.",
		Brief:   "Not checked",
		Meaning: "This says nothing about the file.",
	},
	codePage: {
		State: finding.Warned, Severity: finding.Fail, Group: finding.Safer, Weight: 30,
		Args:    "robots flag",
		Message: "{robots?/robots.txt|The server} returns a web page instead of rules, so crawlers ignore it.",
		Brief:   "A page, not robots.txt",
		Meaning: "They find no rules and visit everything. Serve the file as text, or answer 404 if there is none.",
	},
	codeBinary: {
		State: finding.Warned, Severity: finding.Fail, Group: finding.Safer, Weight: 30,
		Args:    "robots flag",
		Message: "{robots?/robots.txt|The file} is not text, so crawlers ignore it.",
		Brief:   "Not text",
		Meaning: "They find no rules and visit everything. Serve the file as text, or answer 404 if there is none.",
	},
	codeRefused: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 20,
		Args:    "site text, status text",
		Message: refused + ", at least to this service. Crawlers that are refused too may visit everything.",
		Brief:   "robots.txt refused",
		Meaning: "Some crawlers stay away from the whole site instead. Let everybody read the file.",
		Remedy:  "Let everybody read the file.",
	},
	codeLimited: {
		State: finding.Warned, Severity: finding.Warn, Group: finding.Safer, Weight: 20,
		Args:    "site text, status text",
		Message: refused + " because of too many requests. Google then treats the whole site as closed.",
		Brief:   "robots.txt refused",
		Meaning: "The limit may apply only to this service. Exempt /robots.txt from it.",
		Remedy:  "Exempt /robots.txt from the limit.",
	},
	codeCertificate: {
		State:   finding.Warned,
		Args:    "site text, asks code, other text, defect code, repair code",
		Message: rights + "{other?The certificate of |Its certificate}[{other}] is not valid: {defect}.",
		Brief:   "Certificate not valid",
		Meaning: "Crawlers may not read the file. {repair}.",
	},
	codeMistakes: {
		State:   finding.Warned,
		Args:    rightsArgs + ", several number",
		Message: rights + "[{several} lines of /robots.txt are]{several?|One line of /robots.txt is} wrong. {sitemaps}",
		Brief:   "Mistakes in robots.txt",
		Meaning: "Crawlers skip such lines or read them in another way. The findings name each line.",
	},
	codeSitemaps: {
		State:   finding.Warned,
		Args:    rightsArgs,
		Message: rights + "{sitemaps}",
		Brief:   "Sitemap needs attention",
		Meaning: "Search engines may miss pages. Repair the sitemap, or remove its line from robots.txt.",
	},
	codeNoSitemap: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 25,
		Args:    "sitemap text",
		Message: "robots.txt names the sitemap {sitemap}, which does not exist.",
		Remedy:  "Put the file there, or remove its line from robots.txt.",
	},
	codeUndeclared: {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args:    "file text, places list, issue sentence",
		Message: "The sitemap {file}[, {places:line|lines} {places}]: {issue}",
	},
}

// partRows are parts of conclusions. named is set if the file names crawlers; shut, some and open are the known
// crawlers that may visit nothing, some paths and everything, unlike the others.
var partRows = finding.Rows{
	asksNothing: {
		Args: "named flag, shut list, some list",
		Clause: "lets {named?most crawlers|crawlers} visit everything[, but asks {shut} to stay away from the whole " +
			"site][{shut? and|, but} asks {some} to stay away from some paths]",
	},
	asksSome: {
		Args: "named flag, shut list, open list",
		Clause: "asks {named?most crawlers|crawlers} to stay away from some paths[, but asks {shut} to stay away from the " +
			"whole site][{shut? and|, but} lets {open} visit everything]",
	},
	asksAll: {
		Args: "named flag, some list, open list",
		Clause: "asks {named?most|all} crawlers to stay away from the whole site[, but lets {some} visit everything except " +
			"some paths][{some? and|, but} lets {open} visit everything]",
	},
	asksNoFile: {Clause: "has no robots.txt, so crawlers may visit everything"},

	// of is set if there are several sitemaps.
	sitemapsNone:  {Message: "It has no sitemap."},
	sitemapDenied: {Message: "It refuses access to its sitemap."},
	sitemapsLost: {
		Args:    "count number, of number",
		Message: "[{count} of {of} sitemaps]{of?|Its sitemap} cannot be used.",
	},
	sitemapsBad: {
		Args:    "count number, of number",
		Message: "[{count} of {of} sitemaps {count:has|have}]{of?|Its sitemap has} mistakes.",
	},
	sitemapsSkip: {
		Args:    "count number, of number",
		Message: "[{count} of {of} sitemaps]{of?|Its sitemap} could not be checked.",
	},
	sitemapsUsable: {
		Args:    "of number",
		Message: "{of?|Its sitemap can be read.}[All {of} sitemaps that were read can be used.]",
	},
}

// servedRows are issues about how a file is served.
var servedRows = finding.Rows{
	codeRedirects: failing(atArgs+", most number",
		at+"The file's URL redirects in a loop or more than {most} times, where crawlers give up."),
	codeBadRedirect: failing(atArgs+", browsers flag",
		at+"The file's URL redirects to a URL that cannot be fetched.{browsers? Browsers follow it all the same.}"),
	codeNotPublic: failing(atArgs+", browsers flag",
		at+"The file's URL leads to an address that is not public, or that this service may not visit. Nothing was sent "+
			"to it.{browsers? Browsers follow it all the same.}"),
	codeUnreachable: failing(atArgs+", reason sentence", at+"[{reason}]{reason?|The request failed.}"),
	codeBadURL: failing(atArgs,
		at+"The sitemap's URL cannot be fetched: it must be a valid http or https URL without a user name."),
	codeLimit: remark(atArgs+", reason sentence", at+"The file was not fetched.[ {reason}]"),
	codeBound: remark(atArgs,
		at+"This service did not read the whole file: from all sitemaps of a check together it reads at most 4 MiB as "+
			"received, 8 MiB decompressed, and 1,200,000 tags, texts and lines."),
	codeNotFinished: remark(atArgs, at+"This check ran out of time before the file arrived."),
	codeIncomplete:  failing(atArgs+", reason sentence", at+"The file could not be read completely.[ {reason}]"),
	codeStatus:      warning(atArgs+", status number", at+"The server answers {status}. Crawlers treat that as no file."),
	codeServerError: failing(atArgs+", status number", at+"The server answers {status}, which is an error on its side."),
	codeContentType: warning(atArgs, at+"The content type is not text/plain, which RFC 9309 requires."),
	codeNotRead: remark(atArgs+", count number, most number",
		at+"The file names {count} sitemaps. This check reads only the first {most}."),
	codeSitemapRefused: warning(atArgs+", status text",
		at+"The server refuses the file[ ({status})], perhaps only to this service. Crawlers that get this answer cannot "+
			"read it."),
	codeSitemapLimited: warning(atArgs+", status text",
		at+"The server refuses the file because of too many requests[ ({status})], perhaps only to this service. Crawlers "+
			"that get this answer cannot read it."),

	// The findings of certificates are those of all web tools, one for all files.
	codeBadCertificate: {
		Severity: finding.Warn, Group: finding.Safer, Weight: 20,
		Args:    "certificate text, defect code",
		Message: "The certificate of {certificate} is not valid: {defect}. Crawlers may not read the file.",
	},
	codeUnverified: {
		Severity: finding.Info, Group: finding.Note, Weight: 5,
		Args:    "certificate text, defect code",
		Message: "This service could not verify the certificate of {certificate}: {defect}.",
	},
}

// robotsRows are the issues of a robots.txt.
var robotsRows = finding.Rows{
	robotstxt.CodeTooLong: warning(atArgs, at+"The file is longer than 500 KiB. Crawlers may ignore the rest."),
	robotstxt.CodeByteOrderMark: remark(atArgs,
		at+"The file begins with a byte order mark, which not every crawler skips."),
	robotstxt.CodeNotUTF8:      warning(lineArgs, lineIs+" not UTF-8."),
	robotstxt.CodeNoColon:      failing(lineArgs, lineHas+" no colon, so crawlers skip {lines:it|them}{lines?|it}."),
	robotstxt.CodeUnknownField: warning(atArgs+", field text", at+"{field} is not a field that crawlers know."),
	robotstxt.CodeFieldMissing: warning(lineArgs, lineHas+" no field before the colon."),
	robotstxt.CodeRetiredField: warning(atArgs+", field text, never flag",
		at+"Crawlers {never?do not|no longer} read {field} in robots.txt. Use a robots meta tag or the X-Robots-Tag header."),
	robotstxt.CodeExtension: remark(atArgs+", field text, yandex flag, host flag",
		at+"{field} is an extension {yandex?of Yandex|that hardly any crawler reads}.{host? A redirect to the preferred "+
			"host does the same for all crawlers.}"),
	robotstxt.CodeProposal: remark(atArgs+", field text", at+"{field} is a proposal that not every crawler reads."),
	robotstxt.CodeMisspelt: failing(atArgs+", field text, meant text", at+"{field} is not a field. Write {meant}."),
	robotstxt.CodeBadUserAgent: failing(atArgs+", empty flag",
		at+"The user-agent line {empty?names no crawler|does not begin with a product token or *}."),
	robotstxt.CodeUserAgentVersion: remark(atArgs+", token text",
		at+"Only the product token counts: {token}. What follows it is ignored."),
	robotstxt.CodeRuleBeforeAgent: failing(atArgs+", delay flag",
		at+"The {delay?crawl delay|rule} comes before any user-agent line, so it applies to no crawler."),
	robotstxt.CodePathWithoutSlash: failing(atArgs, at+"The path begins with neither / nor *, so it matches nothing."),
	robotstxt.CodePathWithSpace: warning(atArgs,
		at+"The path contains a space. If it is intended, write it as %20."),
	robotstxt.CodeInnerDollar: remark(atArgs, at+"A $ that is not at the end of a path is an ordinary character."),
	robotstxt.CodeBrokenEscape: warning(atArgs,
		at+"The path has a percent sign without two hexadecimal digits after it."),
	robotstxt.CodeEmptyGroup: remark(atArgs,
		at+"The last group has no allow or disallow line, so it allows everything."),
	robotstxt.CodeGroupsJoin: warning(atArgs,
		at+"The group before has no allow or disallow line, so the rules that follow apply to its crawlers too."),
	robotstxt.CodeBadCrawlDelay:  warning(atArgs, at+"The crawl delay is not a number of seconds."),
	robotstxt.CodeSitemapMissing: failing(atArgs, at+"The sitemap line names no URL."),
	robotstxt.CodeSitemapInvalid: failing(atArgs, at+"The sitemap line does not have a valid URL."),
	robotstxt.CodeSitemapRelative: failing(atArgs,
		at+"The URL of a sitemap must be absolute, with scheme and host."),
	robotstxt.CodeTooManyRules: failing(atArgs,
		at+"The groups for the same crawlers have so many rules together that this check leaves out the last ones."),
	robotstxt.CodeMoreIssues: remark(atArgs+", count number", at+"{count} more issues are not listed."),
}

// sitemapRows are the issues of a sitemap.
var sitemapRows = finding.Rows{
	sitemap.CodeEmpty: failing(atArgs, at+"The file is empty."),
	sitemap.CodeHTML:  failing(atArgs, at+"The file is an HTML page, not a sitemap."),
	sitemap.CodeNeither: failing(atArgs+", xml flag",
		at+"{xml?The XML document has no root element|The file is neither XML nor a list of URLs}."),
	sitemap.CodeMalformed: failing(againArgs+", defect sentence", at+"{defect}"+again),
	sitemap.CodeTooDeep:   failing(atArgs, at+"The XML is nested more than 32 elements deep."),
	sitemap.CodeEncoding: warning(atArgs,
		at+"The XML declares an encoding other than UTF-8, but a sitemap must be UTF-8."),
	sitemap.CodeUnreadable: failing(atArgs+", utf16 flag",
		at+"{utf16?The file is UTF-16. A sitemap must be UTF-8|The XML declares an encoding other than UTF-8, but a "+
			"sitemap must be UTF-8}."),
	sitemap.CodeCorrupt: failing(atArgs, at+"The compressed file is corrupt."),
	sitemap.CodeTrailing: warning(againArgs,
		at+"Other bytes follow the compressed file. This check ignores them; some crawlers may refuse the file."+again),
	sitemap.CodeRoot: failing(atArgs, at+"The XML document's root element is neither urlset nor sitemapindex."),
	sitemap.CodeFeed: remark(atArgs,
		at+"The file is a feed. Crawlers accept it as a sitemap, but it lists only the newest pages. Its pages are not "+
			"counted."),
	sitemap.CodeNamespace: warning(atArgs+", namespace text", at+"The namespace of the root element is not {namespace}."),
	sitemap.CodeTooLong: failing(atArgs,
		at+"The file is longer than 50 MiB (52,428,800 bytes), the most that a sitemap may have."),
	sitemap.CodeTooMany: failing(atArgs+", index flag",
		at+"The file lists more than 50,000 {index?sitemaps|URLs}. Split it up."),
	sitemap.CodeNothing: warning(atArgs+", index flag", at+"The file lists no {index?sitemaps|URLs}."),
	sitemap.CodeNoLoc:   failing(againArgs, at+"An entry has no URL in a loc element."+again),
	sitemap.CodeBadLoc:  failing(againArgs, at+"A URL is not an absolute http or https URL."+again),
	sitemap.CodeLongLoc: failing(againArgs, at+"A URL has 2,048 characters or more."+again),
	sitemap.CodeOtherHost: remark(againArgs,
		at+"A URL is on a different host than the sitemap. Crawlers accept it only if that host's robots.txt names this "+
			"sitemap."+again),
	sitemap.CodeBadDate: warning(againArgs,
		at+"A lastmod is not a date of the form 2006-01-02 or 2006-01-02T15:04:05Z."+again),
	sitemap.CodeFutureDate: warning(againArgs, at+"A lastmod is in the future."+again),

	sitemap.DefectTooLong: {Message: "The XML has a text, comment or tag longer than 256 KiB."},
	sitemap.DefectDeclaration: {Message: "The XML declaration is not at the very beginning of the file, where XML " +
		"requires it, so most readers stop there."},
	sitemap.DefectTextOutside:  {Message: "There is text outside the XML document's root element."},
	sitemap.DefectSeveralRoots: {Message: "The XML document has more than one root element."},
	sitemap.DefectTags:         {Message: "An end tag of the XML document does not match its start tag."},
	sitemap.DefectCutOff:       {Message: "The XML document is cut off before its end."},
	sitemap.DefectSyntax:       {Message: "The file is not well-formed XML."},
	sitemap.DefectEncodings:    {Message: "The file declares its encoding more than once."},
}
