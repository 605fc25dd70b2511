package robotssitemap

import (
	"slices"
	"strconv"

	"diagnostics/gateway/internal/analyze/robotstxt"
	"diagnostics/gateway/internal/egress/http1"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// ownBounds are the issues that are about this service's own bounds, and no fault of a file.
var ownBounds = []string{codeLimit, codeNotFinished, codeNotRead, issueCodes[codeUnverified]}

// maxShownURL bounds the URL of a sitemap in a finding.
const maxShownURL = 200

// report makes the conclusion and the findings; certificates are those that are not known to be valid.
func (r Result) report(site target.URL, certificates []webview.Certificate) finding.Report {
	host := webview.Place(site)
	report := rows.Draft()
	for _, c := range certificates {
		c.Report(report)
	}
	for _, short := range r.shortHellos {
		report.Add(webview.CodeHello, "", finding.Args{"host": short})
	}
	switch code := r.effectCode(); code {
	case codeUnread:
		args := finding.Args{"site": host}
		if i := slices.IndexFunc(r.Robots.Issues, isFailed); i >= 0 {
			args = args.With(finding.Args{"issue": r.Robots.Issues[i].row}).With(r.Robots.Issues[i].args)
		}
		report.Add(code, "robots.txt", args)
	case codeClosed:
		report.Add(code, "robots.txt", r.rights(host))
	case codeSearchClosed:
		report.Add(code, "robots.txt", finding.Args{"site": host, "engines": r.shutSearch()})
	}
	addIssues(report, r.Robots.Issues, "robots.txt", func(i fileIssue, lines []string) (string, finding.Args) {
		if i.row == codeRefused || i.row == codeLimited {
			return i.row, finding.Args{"site": host}.With(i.args)
		}
		return i.row, finding.Args{"robots": true, "lines": lines}.With(i.args)
	})
	for _, s := range r.lookedAt() {
		declared := slices.Contains(r.DeclaredSitemaps, s.URL)
		url := text.Marked(s.URL, maxShownURL)
		if declared && s.Status == fileMissing && len(s.Issues) == 0 {
			report.Add(codeNoSitemap, url, finding.Args{"sitemap": url})
		}
		addIssues(report, s.Issues, url, func(i fileIssue, lines []string) (string, finding.Args) {
			if !declared {
				return codeUndeclared, finding.Args{"file": url, "places": lines, "issue": i.row}.With(i.args)
			}
			return i.row, finding.Args{"sitemap": url, "lines": lines}.With(i.args)
		})
	}
	r.reportNotes(report)
	return r.conclude(report, host, certificates)
}

// reportNotes reports the notes on the files, each code once, about the first file that has it. Trailing bytes are an
// issue of the file.
func (r Result) reportNotes(report *finding.Draft) {
	seen := map[http1.NoteCode]bool{http1.TrailingBytes: true}
	add := func(name, subject string, notes []webview.Note) {
		for _, note := range notes {
			if !seen[note.Code] {
				seen[note.Code] = true
				report.Add(string(note.Code), subject, finding.Args{"of": name})
			}
		}
	}
	add("/robots.txt", "robots.txt", r.Robots.Notes)
	for _, s := range r.lookedAt() {
		url := text.Marked(s.URL, maxShownURL)
		add("the sitemap "+url, url, s.Notes)
	}
}

func isFailed(issue fileIssue) bool { return issue.Severity == string(finding.Fail) }

// maxLines is how many lines a finding names.
const maxLines = 5

// addIssues adds one finding for each row among the issues of a file. row returns the row and the arguments of a
// finding.
func addIssues(
	report *finding.Draft, issues []fileIssue, subject string, row func(fileIssue, []string) (string, finding.Args),
) {
	seen := map[string]bool{codeBadCertificate: true, codeUnverified: true} // they have one finding for all files
	for _, issue := range issues {
		if seen[issue.row] {
			continue
		}
		seen[issue.row] = true
		code, args := row(issue, linesOf(issues, issue.row))
		report.Add(code, subject, args)
	}
}

// linesOf lists the lines of the issues of a row; past five, the last element says how many more there are.
func linesOf(issues []fileIssue, row string) (lines []string) {
	for _, issue := range issues {
		if issue.row == row && issue.Line != nil {
			lines = append(lines, strconv.Itoa(*issue.Line))
		}
	}
	if lines = slices.Compact(lines); len(lines) > maxLines {
		lines = append(lines[:maxLines], strconv.Itoa(len(lines)-maxLines)+" more")
	}
	return lines
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

func (r Result) conclude(
	report *finding.Draft, host string, certificates []webview.Certificate,
) finding.Report {
	code := r.effectCode()
	sitemaps, faulty := r.sitemapArgs()
	args := finding.Args{"site": host}
	switch code {
	case codeOpen, codeRules, codeClosed:
		args = r.rights(host).With(sitemaps)
	case codeSearchClosed:
		args = finding.Args{"site": host, "engines": r.shutSearch()}.With(sitemaps)
	case codeNoRobots, codeLost:
		args = args.With(sitemaps)
	case codePage, codeBinary:
		args = finding.Args{"robots": true}
	}
	if rows[code].State != finding.OK {
		return report.Conclude(code, args)
	}
	i := slices.IndexFunc(certificates, func(c webview.Certificate) bool { return !c.NotVerified })
	switch mistakes := r.faultyLines(); {
	case i >= 0:
		args := r.rights(host).With(webview.Refused(certificates[i].Defect))
		if certificates[i].Host != host {
			args["other"] = certificates[i].Host
		}
		return report.Conclude(codeCertificate, args)
	case len(r.shortHellos) > 0:
		return report.Conclude(webview.CodeHello, finding.Args{"host": r.shortHellos[0]})
	case mistakes > 0:
		wrong := r.rights(host).With(sitemaps)
		if mistakes > 1 {
			wrong["several"] = mistakes
		}
		return report.Conclude(codeMistakes, wrong)
	case faulty:
		return report.Conclude(codeSitemaps, r.rights(host).With(sitemaps))
	}
	return report.Conclude(code, args)
}

// rights returns what the site asks of crawlers, as arguments.
func (r Result) rights(host string) finding.Args {
	if r.Robots.Status == fileMissing {
		return finding.Args{"site": host, "asks": asksNoFile}
	}
	args := finding.Args{"site": host, "asks": asksSome}
	switch r.Robots.Effect {
	case robotstxt.AllowAll:
		args["asks"] = asksNothing
	case robotstxt.DisallowAll:
		args["asks"] = asksAll
	case robotstxt.SomeRules:
	}
	args["named"] = slices.ContainsFunc(r.Robots.Groups, func(g robotsGroup) bool {
		return slices.ContainsFunc(g.UserAgents, func(name string) bool { return name != "*" })
	})
	for name, effect := range map[string]robotstxt.Effect{
		"shut": robotstxt.DisallowAll, "some": robotstxt.SomeRules, "open": robotstxt.AllowAll,
	} {
		var names []string
		for _, c := range r.exceptions() {
			if c.Effect == effect {
				names = append(names, c.Name)
			}
		}
		args[name] = names
	}
	return args
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

// sitemapArgs returns what the sitemaps come to, as arguments, and whether something is wrong with them.
func (r Result) sitemapArgs() (args finding.Args, faulty bool) {
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
	state := func(code string, count int) finding.Args {
		args := finding.Args{"sitemaps": code}
		if len(all) > 1 {
			args["of"] = len(all)
			if count > 0 {
				args["count"] = count
			}
		}
		return args
	}
	switch {
	case len(all) == 0:
		return state(sitemapsNone, 0), false
	case len(all) == 1 && refusedFile(all[0]) && len(r.DeclaredSitemaps) > 0:
		return state(sitemapDenied, 0), true
	case len(all) == 1 && refusedFile(all[0]):
		return state(sitemapsSkip, 0), true
	case lost > 0:
		return state(sitemapsLost, lost), true
	case bad > 0:
		return state(sitemapsBad, bad), true
	case unchecked > 0:
		return state(sitemapsSkip, unchecked), false
	}
	return state(sitemapsUsable, 0), false
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
