package robotssitemap

import (
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/robotstxt"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
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

// robots is a file in a state with issues, each "CODE severity" or with a line, "CODE severity 3".
func robots(state string, effect robotstxt.Effect, issues ...fileIssue) robotsFile {
	return robotsFile{Status: state, Effect: effect, Issues: issues}
}

func issue(code, severity string, line int) fileIssue {
	return describeIssue(code, severity, line, "Because.")
}

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
	}{
		{"open", open, nil, none, nil, nil, finding.OK, codeOpen, ""},
		{"rules", robots(fileFound, robotstxt.SomeRules), nil, none, nil, nil, finding.OK, codeRules, ""},
		{"closed", robots(fileFound, robotstxt.DisallowAll), nil, none, nil, nil, finding.Warned, codeClosed, codeClosed},
		{"closed but for one", robots(fileFound, robotstxt.DisallowAll), []string{"Googlebot allowAll"}, none, nil, nil, finding.Warned, codeClosed, codeClosed},
		{"closed to a search engine", open, []string{"Bingbot disallowAll"}, none, nil, nil, finding.Warned, codeSearchClosed, codeSearchClosed},
		{"closed to a model", open, []string{"GPTBot disallowAll", "CCBot rules"}, none, nil, nil, finding.OK, codeOpen, ""},
		{"no file", robots(fileMissing, robotstxt.AllowAll), nil, none, nil, nil, finding.OK, codeNoRobots, ""},
		{"redirects to no file", robots(fileMissing, robotstxt.AllowAll, issue(codeRedirects, fileFail, 0)), nil, none, nil, nil, finding.Warned, codeLost, codeRedirects},
		{"refused", robots(fileMissing, robotstxt.AllowAll, issue(codeRefused, fileWarn, 0)), nil, none, nil, nil, finding.Warned, codeRefused, codeRefused},
		{"too many requests", robots(fileMissing, robotstxt.AllowAll, issue(codeLimited, fileWarn, 0)), nil, none, nil, nil, finding.Warned, codeLimited, codeLimited},
		{"a server error", robots(fileUnreachable, robotstxt.DisallowAll, issue(codeServerError, fileFail, 0)), nil, none, nil, nil, finding.Failed, codeUnread, codeUnread + " " + codeServerError},
		{"a limit of this service", robots(fileUnreachable, robotstxt.DisallowAll, issue(codeLimit, fileInfo, 0)), nil, none, nil, nil, finding.Unknown, codeNotChecked, codeLimit},
		{"out of time", robots(fileUnreachable, robotstxt.DisallowAll, issue(codeNotFinished, fileInfo, 0)), nil, none, nil, nil, finding.Unknown, codeNotChecked, codeNotFinished},
		{"a key that is not verified", robots(fileUnreachable, robotstxt.DisallowAll, issue(webview.CodeUnverified, fileInfo, 0)), nil, none, nil,
			[]webview.Certificate{{Host: "example.com", NotVerified: true}}, finding.Unknown, codeNotChecked,
			webview.CodeUnverified},
		{"a page", robots(fileInvalid, robotstxt.AllowAll, issue(codeHTML, fileFail, 0)), nil, none, nil, nil, finding.Warned, codePage, codeHTML},
		{"no text", robots(fileInvalid, robotstxt.AllowAll, issue(codeBinary, fileFail, 0)), nil, none, nil, nil, finding.Warned, codeBinary, codeBinary},
		{"mistakes", robots(fileFound, robotstxt.AllowAll, issue(robotstxt.CodeNoColon, fileFail, 3), issue(robotstxt.CodeNoColon, fileFail, 4)), nil, none, nil, nil, finding.Warned, codeMistakes, robotstxt.CodeNoColon},
		{"remarks", robots(fileFound, robotstxt.AllowAll, issue(robotstxt.CodeNotUTF8, fileWarn, 3), issue(robotstxt.CodeByteOrderMark, fileInfo, 1)), nil, none, nil, nil, finding.OK, codeOpen, robotstxt.CodeNotUTF8 + " " + robotstxt.CodeByteOrderMark},
		{"a sitemap", open, nil, sitemapIn(usualURL, fileFound), nil, nil, finding.OK, codeOpen, ""},
		{"a page for a sitemap", open, nil, sitemapIn(usualURL, fileInvalid, issue(codeHTML, fileFail, 0)), nil, nil, finding.Warned, codeSitemaps, codeHTML},
		{"a sitemap with mistakes", open, nil, sitemapIn(usualURL, fileFound, issue("BAD_LOC", fileFail, 2)), nil, nil, finding.Warned, codeSitemaps, "BAD_LOC"},
		{"a sitemap with a remark", open, nil, sitemapIn(usualURL, fileFound, issue("BAD_LASTMOD", fileWarn, 2)), nil, nil, finding.OK, codeOpen, "BAD_LASTMOD"},
		{"a sitemap beyond the bounds", open, nil, none, []sitemapFile{sitemapIn(otherURL, fileUnreachable, issue(codeNotFinished, fileInfo, 0))}, nil, finding.OK, codeOpen, codeNotFinished},
		{"a declared sitemap that is missing", open, nil, none, []sitemapFile{sitemapIn(otherURL, fileMissing)}, nil, finding.Warned, codeSitemaps, codeNoSitemap},
		{"refused at the usual place", open, nil, sitemapIn(usualURL, fileMissing, issue(codeRefused, fileWarn, 0)), nil, nil, finding.Warned, codeSitemaps, codeRefused},
		{"and another is declared", open, nil, sitemapIn(usualURL, fileMissing, issue(codeRefused, fileWarn, 0)), []sitemapFile{sitemapIn(otherURL, fileFound)}, nil, finding.OK, codeOpen, ""},
		{"a certificate", robots(fileFound, robotstxt.AllowAll, issue(webview.CodeCertificate, fileWarn, 0)), nil, none, nil,
			[]webview.Certificate{{Host: "example.com", Subject: "certificate of example.com", Clause: "it has expired"}},
			finding.Warned, webview.CodeCertificate, webview.CodeCertificate},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			site, err := target.ParseURL("https://example.com/")
			if err != nil {
				t.Fatal(err)
			}
			r := Result{Robots: c.robots, Crawlers: crawlerEffects(c.robots.Effect, c.others...), Sitemap: c.usual,
				Sitemaps: c.declared}
			for _, s := range c.declared {
				r.DeclaredSitemaps = append(r.DeclaredSitemaps, s.URL)
			}
			got := r.report(site, c.certs)
			var codes []string
			for _, f := range got.Findings {
				codes = append(codes, f.Code)
				if strings.Contains(f.Message, "%!") {
					t.Error(f.Message)
				}
			}
			broken := slices.ContainsFunc(got.Findings, func(f finding.Finding) bool { return f.Group == finding.Broken })
			if got.Conclusion.State != c.state || got.Conclusion.Code != c.conclusion || strings.Join(codes,
				" ") != c.findings ||
				c.state == finding.Failed && !broken || strings.Contains(got.Conclusion.Message, "%!") {
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
		{robotstxt.AllowAll, []string{"GPTBot disallowAll", "Bingbot rules"}, "lets crawlers that it does not name visit everything, " +
			"but asks GPTBot to stay away from the whole site and asks Bingbot to stay away from some paths"},
		{robotstxt.DisallowAll, []string{"Googlebot allowAll", "Bingbot rules"}, "asks crawlers that it does not name to stay away " +
			"from the whole site, but lets Bingbot visit all but some paths and lets Googlebot visit everything"},
	} {
		r := Result{Robots: robots(fileFound, c.effect), Crawlers: crawlerEffects(c.effect, c.others...)}
		r.Robots.Groups = []robotsGroup{{UserAgents: []string{"*"}}}
		for _, other := range c.others {
			name, _, _ := strings.Cut(other, " ")
			r.Robots.Groups = append(r.Robots.Groups, robotsGroup{UserAgents: []string{name}})
		}
		if got := r.rights(); got != c.want {
			t.Errorf("got %q", got)
		}
	}
}

// TestFindingsAgreeWithIssues: one finding for each code of a file, as severe as its worst issue, with its lines.
func TestFindingsAgreeWithIssues(t *testing.T) {
	t.Parallel()
	got := issueFindings("/robots.txt", "robots.txt", []fileIssue{issue(robotstxt.CodeUnknownField, fileInfo, 2),
		issue(robotstxt.CodeUnknownField, fileWarn, 7), issue(codeLimit, fileInfo, 0)}, false)
	if len(got) != 2 || got[0].Severity != finding.Warn || got[0].Group != finding.Safer ||
		!strings.HasPrefix(got[0].Message, "/robots.txt, lines 2 and 7: ") || got[1].Group != finding.Note {
		t.Errorf("%+v", got)
	}
}
