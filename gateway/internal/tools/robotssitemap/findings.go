package robotssitemap

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"diagnostics/gateway/internal/analyze/robotstxt"
	"diagnostics/gateway/internal/analyze/sitemap"
	"diagnostics/gateway/internal/egress/http1"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text"
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
	codeMistakes     = "ROBOTS_HAS_MISTAKES"
	codeSitemaps     = "SITEMAPS_FAULTY"
	codeNoSitemap    = "SITEMAP_NOT_FOUND"
)

const robotsSpec = "https://www.rfc-editor.org/rfc/rfc9309.html"

// In the sentences of conclusions %[1]s is the host, %[2]s what crawlers may visit, %[3]s is about the sitemaps.
var catalogue = finding.Catalogue{
	Conclusions: map[string]finding.Outcome{
		codeOpen:         {State: finding.OK, Message: "%[1]s %[2]s. %[3]s"},
		codeRules:        {State: finding.OK, Message: "%[1]s %[2]s. %[3]s"},
		codeClosed:       {State: finding.Warned, Message: "%[1]s %[2]s. %[3]s"},
		codeSearchClosed: {State: finding.Warned, Message: "%[1]s %[2]s. %[3]s"},
		codeNoRobots:     {State: finding.OK, Message: "%[1]s has no robots.txt, so crawlers may visit everything. %[3]s"},
		codeLost: {State: finding.Warned,
			Message: "/robots.txt of %[1]s redirects to no file, so crawlers may visit everything. %[3]s"},
		codeRefused: {State: finding.Warned,
			Message: "%[1]s refuses /robots.txt, at least to this service. Crawlers that are refused too may visit everything."},
		codeLimited: {State: finding.Warned,
			Message: "%[1]s refuses /robots.txt because of too many requests. Google then treats the whole site as closed."},
		codeUnread: {State: finding.Failed,
			Message: "/robots.txt of %[1]s cannot be read, so crawlers stay away from the whole site."},
		codeNotChecked: {State: finding.Unknown, Message: "This service could not check /robots.txt of %[1]s."},
		codePage: {State: finding.Warned,
			Message: "/robots.txt returns a web page instead of rules, so crawlers ignore it."},
		codeBinary: {State: finding.Warned, Message: "/robots.txt is not text, so crawlers ignore it."},
		webview.CodeCertificate: {State: finding.Warned,
			Message: "%[1]s %[2]s. The certificate of %[5]s is not valid: %[6]s."},
		codeMistakes: {State: finding.Warned, Message: "%[1]s %[2]s. %[4]s. %[3]s"},
		codeSitemaps: {State: finding.Warned, Message: "%[1]s %[2]s. %[3]s"},
	},
	Findings: webview.WithNotes(webview.Entries(issueRows(map[string]finding.Entry{
		codeUnread: {Severity: finding.Fail, Group: finding.Broken, Weight: 72,
			Message: "/robots.txt of %[1]s cannot be read, so crawlers stay away from the whole site. %[2]s",
			Remedy:  "Serve the file, or answer 404 where there is none.", Reference: robotsSpec + "#section-2.3.1.4"},
		codeClosed: {Severity: finding.Warn, Group: finding.Safer, Weight: 54,
			Message: "%[1]s asks crawlers to stay away from the whole site.",
			Remedy:  "If the site should be found, remove the line \"Disallow: /\" of the group \"*\"."},
		codeSearchClosed: {Severity: finding.Warn, Group: finding.Safer, Weight: 52,
			Message: "%[1]s asks %[2]s to stay away from the whole site, so it is not found there.",
			Remedy:  "If the site should be found there, remove the group or its line \"Disallow: /\"."},
		codeNoSitemap: {Severity: finding.Warn, Group: finding.Safer, Weight: 25,
			Message: "%[1]s is declared in robots.txt and does not exist.",
			Remedy:  "Put the file there, or remove its line from robots.txt."},
	}), webview.CodeCertificate, webview.CodeUnverified, webview.CodeHello)),
}

// issueCodes are those of the issues of files. The message and the severity of their findings are those of the issue.
var issueCodes = []string{
	codeHTML, codeBinary, codeContentType, codeNotRead, codeRedirects, codeBadRedirect, codeNotPublic, codeUnreachable,
	codeLimit, codeNotFinished, codeIncomplete, codeStatus, codeServerError, codeRefused, codeLimited,
	codeTrailing,

	robotstxt.CodeTooLong, robotstxt.CodeByteOrderMark, robotstxt.CodeNotUTF8, robotstxt.CodeNoColon,
	robotstxt.CodeUnknownField, robotstxt.CodeMisspelt, robotstxt.CodeBadUserAgent, robotstxt.CodeUserAgentVersion,
	robotstxt.CodeRuleBeforeAgent, robotstxt.CodePathWithoutSlash, robotstxt.CodePathWithSpace, robotstxt.CodeInnerDollar,
	robotstxt.CodeBrokenEscape, robotstxt.CodeEmptyGroup, robotstxt.CodeGroupsJoin, robotstxt.CodeBadCrawlDelay,
	robotstxt.CodeSitemapMissing, robotstxt.CodeSitemapInvalid, robotstxt.CodeSitemapRelative, robotstxt.CodeTooManyRules,
	robotstxt.CodeMoreIssues,

	sitemap.CodeEmpty, sitemap.CodeNeither, sitemap.CodeMalformed, sitemap.CodeTooDeep, sitemap.CodeEncoding,
	sitemap.CodeCorrupt, sitemap.CodeRoot, sitemap.CodeFeed, sitemap.CodeNamespace, sitemap.CodeTooMany,
	sitemap.CodeNothing, sitemap.CodeNoLoc, sitemap.CodeBadLoc, sitemap.CodeLongLoc, sitemap.CodeOtherHost,
	sitemap.CodeBadDate, sitemap.CodeFutureDate,
}

// ownBounds are the issues that are about this service's own bounds, and no fault of a file.
var ownBounds = []string{codeLimit, codeNotFinished, codeNotRead, webview.CodeUnverified}

func issueRows(rows map[string]finding.Entry) map[string]finding.Entry {
	for _, code := range issueCodes {
		rows[code] = finding.Entry{Severity: finding.Warn, Group: finding.Safer, Weight: 20, Message: "%[1]s: %[2]s"}
	}
	return rows
}

// maxShownURL bounds the URL of a sitemap in a finding.
const maxShownURL = 200

// report makes the conclusion and the findings; certificates are those that are not known to be valid.
func (r Result) report(site target.URL, certificates []webview.Certificate) finding.Report {
	host := webview.Place(site)
	var findings []finding.Finding
	for _, c := range certificates {
		findings = append(findings, c.Finding(catalogue))
	}
	findings = append(findings, webview.HelloFindings(catalogue, r.shortHellos)...)
	switch code := r.effectCode(); code {
	case codeUnread:
		reason := ""
		if i := slices.IndexFunc(r.Robots.Issues, isFailed); i >= 0 {
			reason = r.Robots.Issues[i].Message
		}
		findings = append(findings, catalogue.Find(code, host, reason).About("robots.txt"))
	case codeClosed:
		findings = append(findings, catalogue.Find(code, host).About("robots.txt"))
	case codeSearchClosed:
		findings = append(findings, catalogue.Find(code, host, text.Listed(r.shutSearch())).About("robots.txt"))
	}
	findings = append(findings, issueFindings("/robots.txt", "robots.txt", r.Robots.Issues, false)...)
	for _, s := range r.lookedAt() {
		declared := slices.Contains(r.DeclaredSitemaps, s.URL)
		url := text.Marked(s.URL, maxShownURL)
		if declared && s.Status == fileMissing && len(s.Issues) == 0 {
			findings = append(findings, catalogue.Find(codeNoSitemap, "The sitemap "+url).About(url))
		}
		findings = append(findings, issueFindings("The sitemap "+url, url, s.Issues, !declared)...)
	}
	findings = append(findings, r.noteFindings()...)
	return finding.NewReport(r.conclude(host, certificates), findings...)
}

// noteFindings are those of the notes on the files, each code once, about the first file that has it. Trailing bytes
// are an issue of the file.
func (r Result) noteFindings() []finding.Finding {
	var findings []finding.Finding
	seen := map[http1.NoteCode]bool{http1.TrailingBytes: true}
	add := func(name, subject string, notes []webview.Note) {
		notes = slices.DeleteFunc(slices.Clone(notes), func(n webview.Note) bool { return seen[n.Code] })
		for _, note := range notes {
			seen[note.Code] = true
		}
		for _, f := range webview.NoteFindings(catalogue, name, notes) {
			findings = append(findings, f.About(subject))
		}
	}
	add("/robots.txt", "robots.txt", r.Robots.Notes)
	for _, s := range r.lookedAt() {
		url := text.Marked(s.URL, maxShownURL)
		add("the sitemap "+url, url, s.Notes)
	}
	return findings
}

func isFailed(issue fileIssue) bool { return issue.Severity == fileFail }

// issueFindings are one finding for each code among the issues of a file. A file that is not declared anywhere is worth
// a note.
func issueFindings(name, subject string, issues []fileIssue, note bool) []finding.Finding {
	var order []string
	byCode := make(map[string][]fileIssue)
	for _, issue := range issues {
		if byCode[issue.Code] == nil {
			order = append(order, issue.Code)
		}
		byCode[issue.Code] = append(byCode[issue.Code], issue)
	}
	var findings []finding.Finding
	for _, code := range order {
		if code == webview.CodeCertificate || code == webview.CodeUnverified {
			continue // of which there is one finding for all files
		}
		same := byCode[code]
		worst := slices.MinFunc(same, func(a, b fileIssue) int { return cmp.Compare(rank(a), rank(b)) })
		f := catalogue.Find(code, name+linesOf(same), worst.Message).About(subject)
		f.Severity = finding.Severity(worst.Severity)
		switch {
		case note || f.Severity == finding.Info || slices.Contains(ownBounds, code):
			f.Group, f.Weight = finding.Note, 5
		case f.Severity == finding.Fail:
			f.Weight = 30
		}
		findings = append(findings, f)
	}
	return findings
}

func rank(issue fileIssue) int {
	return slices.Index([]string{fileFail, fileWarn, fileInfo}, issue.Severity)
}

// maxLines is how many lines a finding names.
const maxLines = 5

// linesOf names the lines of issues: ", lines 3 and 8".
func linesOf(issues []fileIssue) string {
	var lines []int
	for _, issue := range issues {
		if issue.Line != nil && !slices.Contains(lines, *issue.Line) {
			lines = append(lines, *issue.Line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return ", " + text.Number(len(lines), "line ", "lines ") + text.ListedUpTo(maxLines, lines, strconv.Itoa)
}

// effectCode is what robots.txt comes to, whatever else is wrong.
func (r Result) effectCode() string {
	has := func(code string) bool {
		return slices.ContainsFunc(r.Robots.Issues, func(i fileIssue) bool { return i.Code == code })
	}
	switch r.Robots.Status {
	case fileUnreachable:
		if slices.ContainsFunc(append([]string{codeNotPublic}, ownBounds...), has) {
			return codeNotChecked
		}
		return codeUnread
	case fileInvalid:
		if has(codeBinary) {
			return codeBinary
		}
		return codePage
	case fileMissing:
		switch {
		case has(codeLimited):
			return codeLimited
		case has(codeRefused):
			return codeRefused
		case slices.ContainsFunc(r.Robots.Issues, isFailed):
			return codeLost
		}
		return codeNoRobots
	}
	switch {
	case r.Robots.Effect == robotstxt.DisallowAll:
		return codeClosed
	case len(r.shutSearch()) > 0:
		return codeSearchClosed
	case r.Robots.Effect == robotstxt.SomeRules:
		return codeRules
	}
	return codeOpen
}

// searchEngines are the known crawlers of search engines. A site that they may not visit is not found there.
var searchEngines = []string{"Googlebot", "Bingbot", "Applebot", "DuckDuckBot", "YandexBot"}

// shutSearch are the search engines that are shut out by name.
func (r Result) shutSearch() []string {
	var names []string
	for _, c := range r.exceptions() {
		if c.Effect == robotstxt.DisallowAll && slices.Contains(searchEngines, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// exceptions are the known crawlers to which something else applies than to those that the file does not name.
func (r Result) exceptions() []crawler {
	return slices.DeleteFunc(slices.Clone(r.Crawlers), func(c crawler) bool { return c.Effect == r.Robots.Effect })
}

func (r Result) conclude(host string, certificates []webview.Certificate) finding.Conclusion {
	code, rights := r.effectCode(), r.rights()
	sitemaps, faulty := r.sitemapSentence()
	mistakes := r.faultyLines()
	args := []any{host, rights, sitemaps, fmt.Sprintf("%d %s of /robots.txt %s", mistakes,
		text.Number(mistakes, "line", "lines"), text.Number(mistakes, "has a mistake", "have mistakes"))}
	if catalogue.Conclusions[code].State == finding.OK {
		i := slices.IndexFunc(certificates, func(c webview.Certificate) bool { return !c.NotVerified })
		switch {
		case i >= 0:
			code, args = webview.CodeCertificate, append(args, certificates[i].Host, certificates[i].Clause)
		case mistakes > 0:
			code = codeMistakes
		case faulty:
			code = codeSitemaps
		}
	}
	return catalogue.Conclude(code, args...)
}

// rights are what the site asks of crawlers, as the end of a sentence that begins with the site.
func (r Result) rights() string {
	if r.Robots.Status == fileMissing {
		return "has no robots.txt, so crawlers may visit everything"
	}
	closed := r.Robots.Effect == robotstxt.DisallowAll
	who := "crawlers"
	switch {
	case slices.ContainsFunc(r.Robots.Groups, func(g robotsGroup) bool {
		return slices.ContainsFunc(g.UserAgents, func(name string) bool { return name != "*" })
	}):
		who = "crawlers that it does not name"
	case closed:
		who = "all crawlers"
	}
	rest := ""
	if but := r.exceptionWords(closed); but != "" {
		rest = ", but " + but
	}
	return described(r.Robots.Effect, who, false) + rest
}

// exceptionWords are what the site asks of the crawlers to which something else applies.
func (r Result) exceptionWords(closed bool) string {
	var parts []string
	for _, effect := range []robotstxt.Effect{robotstxt.DisallowAll, robotstxt.SomeRules, robotstxt.AllowAll} {
		var names []string
		for _, c := range r.exceptions() {
			if c.Effect == effect {
				names = append(names, c.Name)
			}
		}
		if len(names) > 0 {
			parts = append(parts, described(effect, text.Listed(names), closed))
		}
	}
	return text.Listed(parts)
}

// described is what an effect means for crawlers; closed means that all others may visit nothing.
func described(effect robotstxt.Effect, who string, closed bool) string {
	switch {
	case effect == robotstxt.AllowAll:
		return "lets " + who + " visit everything"
	case effect == robotstxt.DisallowAll:
		return "asks " + who + " to stay away from the whole site"
	case closed:
		return "lets " + who + " visit all but some paths"
	}
	return "asks " + who + " to stay away from some paths"
}

// faultyLines counts the lines of robots.txt that do not do what they are meant to.
func (r Result) faultyLines() int {
	lines := make(map[int]bool)
	for _, issue := range r.Robots.Issues {
		if isFailed(issue) && issue.Line != nil {
			lines[*issue.Line] = true
		}
	}
	return len(lines)
}

// lookedAt are the sitemaps that are worth a remark: the declared ones, and the one at the usual place, unless it is
// empty, or refused where others are declared.
func (r Result) lookedAt() []sitemapFile {
	list := slices.Clone(r.Sitemaps)
	usual := r.Sitemap
	known := slices.ContainsFunc(list, func(s sitemapFile) bool { return s.URL == usual.URL })
	declared := slices.Contains(r.DeclaredSitemaps, usual.URL)
	if !known && (declared || usual.Status != fileMissing || len(r.DeclaredSitemaps) == 0 && refusedFile(usual)) {
		list = append(list, usual)
	}
	return list
}

func refusedFile(s sitemapFile) bool {
	return slices.ContainsFunc(s.Issues, func(i fileIssue) bool { return i.Code == codeRefused || i.Code == codeLimited })
}

// bounded reports whether this service's own bounds kept it from a sitemap.
func bounded(s sitemapFile) bool {
	return s.Status != fileFound && slices.ContainsFunc(s.Issues, func(i fileIssue) bool {
		return slices.Contains(ownBounds, i.Code)
	})
}

// sitemapSentence is what the sitemaps come to, and whether something is wrong with them.
func (r Result) sitemapSentence() (sentence string, faulty bool) {
	all := r.lookedAt()
	lost, bad, unchecked := 0, 0, 0
	for _, s := range all {
		switch {
		case bounded(s):
			unchecked++
		case s.Status != fileFound:
			lost++
		case slices.ContainsFunc(s.Issues, isFailed):
			bad++
		}
	}
	some := func(n int) string {
		if len(all) == 1 {
			return "Its sitemap"
		}
		return fmt.Sprintf("%d of %d sitemaps", n, len(all))
	}
	switch {
	case len(all) == 0:
		return "It has no sitemap.", false
	case len(all) == 1 && refusedFile(all[0]) && len(r.DeclaredSitemaps) > 0:
		return "It refuses access to its sitemap.", true
	case len(all) == 1 && refusedFile(all[0]):
		return "Its sitemap could not be checked.", true
	case lost > 0:
		return some(lost) + " cannot be used.", true
	case bad > 0:
		return some(bad) + text.Number(bad, " has", " have") + " mistakes.", true
	case unchecked > 0:
		return some(unchecked) + " could not be checked.", false
	case len(all) == 1:
		return "Its sitemap can be read.", false
	}
	return fmt.Sprintf("All %d sitemaps that were read can be used.", len(all)), false
}

// joinCertificates is a list of certificates in which each stands once.
func joinCertificates(lists ...[]webview.Certificate) []webview.Certificate {
	var all []webview.Certificate
	for _, c := range slices.Concat(lists...) {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}
