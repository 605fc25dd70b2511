package robotssitemap

import (
	"slices"
	"testing"

	"diagnostics/gateway/internal/analyze/robotstxt"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

var crawlerNames = []string{
	"Googlebot", "Bingbot", "Applebot", "DuckDuckBot", "YandexBot", "GPTBot", "ClaudeBot", "CCBot",
}

func allCrawlers(effect robotstxt.Effect) []crawler {
	var list []crawler
	for _, name := range crawlerNames {
		list = append(list, crawler{Name: name, Effect: effect})
	}
	return list
}

func TestCrawlers(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4Port80, files{"/robots.txt": {body: "User-agent: *\nDisallow:\n\n" +
		"User-agent: Googlebot\nUser-agent: GPTBot\nDisallow: /\n\nUser-agent: bingbot\nDisallow: /search\n"}})
	got := mustRun(t, n, "http://example.com/")
	want := allCrawlers(robotstxt.AllowAll)
	want[0].Effect, want[2].Effect, want[5].Effect = robotstxt.DisallowAll, robotstxt.DisallowAll, robotstxt.DisallowAll
	want[1].Effect = robotstxt.SomeRules
	if got.Robots.Effect != robotstxt.AllowAll || !slices.Equal(got.Crawlers, want) {
		t.Errorf("effect %s, crawlers %+v, want %+v", got.Robots.Effect, got.Crawlers, want)
	}
}

// A server that refuses the file is distinguished from one that has none, and the consequence is reported.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		401: "The server refuses the file (401 Unauthorized), at least to this service. Crawlers that are refused too " +
			"may visit " +
			"everything.",
		429: "The server refuses the file (429 Too Many Requests) because of too many requests. Google then treats the " +
			"whole " +
			"site as closed.",
	} {
		n := toolstest.WebNetwork(t)
		n.Serve(toolstest.WebV4Port80, files{"/robots.txt": {status: status}, "/sitemap.xml": {status: status}})
		got := mustRun(t, n, "http://example.com/")
		if issues := got.Robots.Issues; len(issues) != 1 || issues[0].Message != want ||
			issues[0].Severity != string(finding.Warn) {
			t.Errorf("%d: %+v, want %s", status, issues, want)
		}
		if file := got.Sitemap; file.Status != fileMissing || fileCodes(file.Issues) != fileCodes(got.Robots.Issues) {
			t.Errorf("%d: the sitemap is %s: %+v", status, file.Status, file.Issues)
		}
	}
}
