package robotssitemap

import (
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/robotstxt"
	"diagnostics/gateway/internal/analyze/sitemap"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// crawlerEffects are the known crawlers, all with one effect but for those that are given as "name effect".
func crawlerEffects(effect robotstxt.Effect, others ...string) []crawler {
	list := describeCrawlers(robotstxt.CrawlersWithoutFile(effect))
	for _, other := range others {
		name, effect, _ := strings.Cut(other, " ")
		i := slices.IndexFunc(list, func(c crawler) bool { return c.Name == name })
		list[i].Effect = robotstxt.Effect(effect)
	}
	return list
}

// robots is a file in a state with issues.
func robots(state string, effect robotstxt.Effect, issues ...fileIssue) robotsFile {
	return robotsFile{Status: state, Effect: effect, Issues: issues}
}

func issue(row string, line int) fileIssue { return describeIssue(row, line, nil) }

func sitemapIn(url, state string, issues ...fileIssue) sitemapFile {
	return sitemapFile{URL: url, Status: state, Issues: issues}
}

func TestReportOfFiles(t *testing.T) {
	t.Parallel()
	const usualURL, otherURL = "https://example.com/sitemap.xml", "https://example.com/other.xml"
	none := sitemapIn(usualURL, fileMissing)
	open := robots(fileFound, robotstxt.AllowAll)
	for _, c := range []struct {
		name       string
		robots     robotsFile
		others     []string // the effects that differ
		usual      sitemapFile
		declared   []sitemapFile
		certs      []webview.Certificate
		state      finding.State
		conclusion string
		findings   string
		short      []string // hosts that answer short hellos only
	}{
		{"open", open, nil, none, nil, nil, finding.OK, codeOpen, "", nil},
		{"rules", robots(fileFound, robotstxt.SomeRules), nil, none, nil, nil, finding.OK, codeRules, "", nil},
		{"closed", robots(fileFound, robotstxt.DisallowAll), nil, none, nil, nil, finding.Warned, codeClosed, codeClosed, nil},
		{"closed but for one", robots(fileFound, robotstxt.DisallowAll), []string{"Googlebot allowAll"}, none, nil, nil, finding.Warned, codeClosed, codeClosed, nil},
		{"closed to a search engine", open, []string{"Bingbot disallowAll"}, none, nil, nil, finding.Warned, codeSearchClosed, codeSearchClosed, nil},
		{"closed to a model", open, []string{"GPTBot disallowAll", "CCBot rules"}, none, nil, nil, finding.OK, codeOpen, "", nil},
		{"no file", robots(fileMissing, robotstxt.AllowAll), nil, none, nil, nil, finding.OK, codeNoRobots, "", nil},
		{"redirects to no file", robots(fileMissing, robotstxt.AllowAll, issue(codeRedirects, 0)), nil, none, nil, nil, finding.Warned, codeLost, codeRedirects, nil},
		{"refused", robots(fileMissing, robotstxt.AllowAll, issue(codeRefused, 0)), nil, none, nil, nil, finding.Warned, codeRefused, codeRefused, nil},
		{"too many requests", robots(fileMissing, robotstxt.AllowAll, issue(codeLimited, 0)), nil, none, nil, nil, finding.Warned, codeLimited, codeLimited, nil},
		{"a server error", robots(fileUnreachable, robotstxt.DisallowAll, issue(codeServerError, 0)), nil, none, nil, nil, finding.Failed, codeUnread, codeUnread + " " + codeServerError, nil},
		{"a limit of this service", robots(fileUnreachable, robotstxt.DisallowAll, issue(codeLimit, 0)), nil, none, nil, nil, finding.Unknown, codeNotChecked, codeLimit, nil},
		{"out of time", robots(fileUnreachable, robotstxt.DisallowAll, issue(codeNotFinished, 0)), nil, none, nil, nil, finding.Unknown, codeNotChecked, codeNotFinished, nil},
		{"a key that is not verified", robots(fileUnreachable, robotstxt.DisallowAll, issue(codeUnverified, 0)), nil, none, nil,
			[]webview.Certificate{{Host: "example.com", NotVerified: true}}, finding.Unknown, codeNotChecked,
			webview.CodeUnverified, nil},
		{"a page", robots(fileInvalid, robotstxt.AllowAll, issue(codePage, 0)), nil, none, nil, nil, finding.Warned, codePage, codePage, nil},
		{"no text", robots(fileInvalid, robotstxt.AllowAll, issue(codeBinary, 0)), nil, none, nil, nil, finding.Warned, codeBinary, codeBinary, nil},
		{"mistakes", robots(fileFound, robotstxt.AllowAll, issue(robotstxt.CodeNoColon, 3), issue(robotstxt.CodeNoColon, 4)), nil, none, nil, nil, finding.Warned, codeMistakes, robotstxt.CodeNoColon, nil},
		{"remarks", robots(fileFound, robotstxt.AllowAll, issue(robotstxt.CodeNotUTF8, 3), issue(robotstxt.CodeByteOrderMark, 1)), nil, none, nil, nil, finding.OK, codeOpen, robotstxt.CodeNotUTF8 + " " + robotstxt.CodeByteOrderMark, nil},
		{"a sitemap", open, nil, sitemapIn(usualURL, fileFound), nil, nil, finding.OK, codeOpen, "", nil},
		{"a page for a sitemap", open, nil, sitemapIn(usualURL, fileInvalid, issue(sitemap.CodeHTML, 0)), nil, nil, finding.Warned, codeSitemaps, codeUndeclared, nil},
		{"a sitemap with mistakes", open, nil, sitemapIn(usualURL, fileFound, issue(sitemap.CodeBadLoc, 2)), nil, nil, finding.Warned, codeSitemaps, codeUndeclared, nil},
		{"a sitemap with a remark", open, nil, sitemapIn(usualURL, fileFound, issue(sitemap.CodeBadDate, 2)), nil, nil, finding.OK, codeOpen, codeUndeclared, nil},
		{"a sitemap beyond the bounds", open, nil, none, []sitemapFile{sitemapIn(otherURL, fileUnreachable, issue(codeNotFinished, 0))}, nil, finding.OK, codeOpen, codeNotFinished, nil},
		{"a declared sitemap that is missing", open, nil, none, []sitemapFile{sitemapIn(otherURL, fileMissing)}, nil, finding.Warned, codeSitemaps, codeNoSitemap, nil},
		{"refused at the usual place", open, nil, sitemapIn(usualURL, fileMissing, issue(codeSitemapRefused, 0)), nil, nil, finding.Warned, codeSitemaps, codeUndeclared, nil},
		{"and another is declared", open, nil, sitemapIn(usualURL, fileMissing, issue(codeSitemapRefused, 0)), []sitemapFile{sitemapIn(otherURL, fileFound)}, nil, finding.OK, codeOpen, "", nil},
		{"a certificate", robots(fileFound, robotstxt.AllowAll, issue(codeBadCertificate, 0)), nil, none, nil,
			[]webview.Certificate{{Host: "example.com", Subject: "certificate of example.com", Defect: "CERT_HAS_EXPIRED"}},
			finding.Warned, codeCertificate, webview.CodeCertificate, nil},
		{"short hellos only", open, nil, none, nil, nil, finding.Warned, webview.CodeHello, webview.CodeHello, []string{"example.com"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			site, err := target.ParseURL("https://example.com/")
			if err != nil {
				t.Fatal(err)
			}
			r := Result{Robots: c.robots, Crawlers: crawlerEffects(c.robots.Effect, c.others...), Sitemap: c.usual,
				Sitemaps: c.declared, shortHellos: c.short}
			for _, s := range c.declared {
				r.DeclaredSitemaps = append(r.DeclaredSitemaps, s.URL)
			}
			got := r.report(site, c.certs)
			var codes []string
			for _, f := range got.Findings {
				codes = append(codes, f.Code)
			}
			broken := slices.ContainsFunc(got.Findings, func(f finding.Finding) bool { return f.Group == finding.Broken })
			if got.Conclusion.State != c.state || got.Conclusion.Code != c.conclusion || strings.Join(codes,
				" ") != c.findings ||
				c.state == finding.Failed && !broken || c.state == finding.OK && broken {
				t.Errorf("%+v, %v", got.Conclusion, codes)
			}
		})
	}
}

func TestRights(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		effect robotstxt.Effect
		others []string
		want   string
	}{
		{robotstxt.AllowAll, nil, "lets crawlers visit everything"},
		{robotstxt.DisallowAll, nil, "asks all crawlers to stay away from the whole site"},
		{robotstxt.AllowAll, []string{"GPTBot disallowAll", "Bingbot rules"}, "lets most crawlers visit everything, " +
			"but asks GPTBot to stay away from the whole site and asks Bingbot to stay away from some paths"},
		{robotstxt.DisallowAll, []string{"Googlebot allowAll", "Bingbot rules"}, "asks most crawlers to stay away from the whole " +
			"site, but lets Bingbot visit everything except some paths and lets Googlebot visit everything"},
	} {
		r := Result{Robots: robots(fileFound, c.effect), Crawlers: crawlerEffects(c.effect, c.others...)}
		r.Robots.Groups = []robotsGroup{{UserAgents: []string{"*"}}}
		for _, other := range c.others {
			name, _, _ := strings.Cut(other, " ")
			r.Robots.Groups = append(r.Robots.Groups, robotsGroup{UserAgents: []string{name}})
		}
		if got := rows.Conclude(codeMistakes, r.rights("It")).Message; !strings.HasPrefix(got, "It "+c.want+". ") {
			t.Errorf("got %q", got)
		}
	}
}

// TestFindingsAgreeWithIssues: one finding for each row of a file, with its lines.
func TestFindingsAgreeWithIssues(t *testing.T) {
	t.Parallel()
	site, err := target.ParseURL("https://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	file := robots(fileFound, robotstxt.AllowAll, issue(robotstxt.CodeProposal, 2), issue(robotstxt.CodeNotUTF8, 3),
		issue(robotstxt.CodeNotUTF8, 7), issue(codeNotRead, 0))
	got := Result{Robots: file, Crawlers: crawlerEffects(robotstxt.AllowAll)}.report(site, nil).Findings
	if len(got) != 3 || got[0].Message != "Lines 3 and 7 of robots.txt are not UTF-8." ||
		file.Issues[1].Message != "The line is not UTF-8." ||
		string(got[0].Severity) != file.Issues[1].Severity {
		t.Errorf("%+v", got)
	}
	var issues []fileIssue
	for line := range 8 {
		issues = append(issues, issue(robotstxt.CodeNoColon, line+1))
	}
	if lines := linesOf(issues, robotstxt.CodeNoColon); strings.Join(lines, " ") != "1 2 3 4 5 3 more" {
		t.Errorf("%q", lines)
	}
}

// TestIssuesKeepTheirCodes holds the codes of issues that several rows share.
func TestIssuesKeepTheirCodes(t *testing.T) {
	t.Parallel()
	for row, code := range issueCodes {
		if _, known := rows[row]; !known || describeIssue(row, 0, nil).Code != code {
			t.Errorf("%s: %s", row, code)
		}
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	toolstest.Rows(t, rows)
}

// TestFilesBeyondOurBounds: a file that this service does not read to the end is no fault of the server.
func TestFilesBeyondOurBounds(t *testing.T) {
	t.Parallel()
	site, err := target.ParseURL("https://example.com/robots.txt")
	if err != nil {
		t.Fatal(err)
	}
	beyond := fault.New(fault.Upstream, "HEADERS_TOO_LONG", finding.Args{"host": "example.com"})
	chain := egress.Chain{Hops: []egress.Hop{{URL: site, Err: beyond}}, End: egress.EndUnreachable, Err: beyond}
	report := describeRobots(site, chain, robotsBody{})
	none := sitemapIn("https://example.com/sitemap.xml", fileMissing)
	got := Result{Robots: report.file, Sitemap: none}.report(site, nil)
	if got.Conclusion.Code != codeNotChecked || len(got.Findings) != 1 || got.Findings[0].Code != codeLimit {
		t.Errorf("%+v", got)
	}
	var s served
	if s.cutShort(fault.New(fault.Upstream, "CHECK_READS_TOO_MUCH", nil)); !s.has(codeLimit) || s.has(codeIncomplete) {
		t.Errorf("%+v", s.issues)
	}
}
