package robotstxt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parse(s string) File { return Parse([]byte(s), false) }

// describe writes the groups of a file on one line each: agents, delay, rules with their lines.
func describe(f File) []string {
	out := []string{}
	for _, g := range f.Groups {
		line := strings.Join(g.UserAgents, ",") + ":"
		if g.CrawlDelay != nil {
			line += fmt.Sprintf(" delay=%g", *g.CrawlDelay)
		}
		for _, r := range g.Rules {
			sign := "+"
			if r.Type == Disallow {
				sign = "-"
			}
			line += fmt.Sprintf(" %s%s@%d", sign, r.Path, r.Line)
		}
		out = append(out, line)
	}
	return out
}

func codes(f File) []string {
	out := []string{}
	for _, i := range f.Issues {
		out = append(out, fmt.Sprintf("%s@%d", i.Code, i.Line))
	}
	return out
}

func TestGroups(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file   string
		groups []string
		issues []string
	}{
		"nothing":           {"", []string{}, []string{}},
		"comments alone":    {"# hello\n\n  # world", []string{}, []string{}},
		"one":               {"User-agent: *\nDisallow: /a\nAllow: /a/b\n", []string{"*: -/a@2 +/a/b@3"}, []string{}},
		"several agents":    {"User-agent: a\nUser-agent: b\nDisallow: /", []string{"a,b: -/@3"}, []string{}},
		"empty rule":        {"User-agent: *\nDisallow:", []string{"*: -@2"}, []string{}},
		"names in any case": {"USER-AGENT: Foo\ndisALLOW: /\naLLow:/x", []string{"Foo: -/@2 +/x@3"}, []string{}},
		"spaces":            {"\t User-agent \t:\t* \n  Disallow  :  /a  \t# why", []string{"*: -/a@2"}, []string{}},
		"blank line does not end a group": {"User-agent: a\n\nUser-agent: b\n\n\nDisallow: /x\n\nAllow: /y",
			[]string{"a,b: -/x@6 +/y@8"}, []string{}},
		"same agent twice": {"User-agent: a\nDisallow: /1\nUser-agent: *\nDisallow: /2\nUser-agent: A\nDisallow: /3",
			[]string{"a: -/1@2 -/3@6", "*: -/2@4"}, []string{}},
		"shared once": {"User-agent: a\nUser-agent: b\nDisallow: /1\nUser-agent: a\nDisallow: /2",
			[]string{"a: -/1@3 -/2@5", "b: -/1@3"}, []string{}},
		"twice in one group":    {"User-agent: a\nUser-agent: a\nDisallow: /1", []string{"a: -/1@3"}, []string{}},
		"other fields between":  {"User-agent: a\nSitemap: https://example.com/s\nUser-agent: b\nDisallow: /", []string{"a,b: -/@4"}, []string{}},
		"delay":                 {"User-agent: a\nCrawl-delay: 1.5\nDisallow: /", []string{"a: delay=1.5 -/@3"}, []string{}},
		"first delay counts":    {"User-agent: a\nDisallow: /\nCrawl-delay: 1\nUser-agent: a\nAllow: /b\nCrawl-delay: 2", []string{"a: delay=1 -/@2 +/b@5"}, []string{}},
		"delay does not divide": {"User-agent: a\nCrawl-delay: 5\n\nUser-agent: *\nDisallow: /x", []string{"a: delay=5 -/x@5", "*: -/x@5"}, []string{"GROUPS_JOIN@4"}},
		"bad delays": {"User-agent: a\nCrawl-delay: soon\nCrawl-delay: -1\nCrawl-delay: NaN\nCrawl-delay: 86401\nCrawl-delay: 86400\nDisallow: /",
			[]string{"a: delay=86400 -/@7"}, []string{"BAD_CRAWL_DELAY@2", "BAD_CRAWL_DELAY@3", "BAD_CRAWL_DELAY@4",
				"BAD_CRAWL_DELAY@5"}},
		"rules before any agent": {"Disallow: /\nAllow: /x\nCrawl-delay: 3\nUser-agent: *\nDisallow: /y",
			[]string{"*: -/y@5"}, []string{"RULE_BEFORE_USER_AGENT@1", "RULE_BEFORE_USER_AGENT@3"}},
		"byte order mark": {"\xef\xbb\xbfUser-agent: *\nDisallow: /", []string{"*: -/@2"}, []string{"BYTE_ORDER_MARK@1"}},
		"CR":              {"User-agent: *\rDisallow: /a\r\rDisallow: /b", []string{"*: -/a@2 -/b@4"}, []string{}},
		"CRLF":            {"User-agent: *\r\nDisallow: /a\r\n\r\nDisallow: /b\r\n", []string{"*: -/a@2 -/b@4"}, []string{}},
		"LFCR":            {"User-agent: *\n\rDisallow: /a", []string{"*: -/a@3"}, []string{}},
		"bad lines cost themselves": {"User-agent: *\nDisallow /a\nnonsense\nFoo: bar\n: x\nDissallow: /b\nNoindex: /c\nDisallow: /d",
			[]string{"*: -/d@8"}, []string{"NO_COLON@2", "NO_COLON@3", "UNKNOWN_FIELD@4", "FIELD_MISSING@5", "MISSPELT_FIELD@6",
				"RETIRED_FIELD@7"}},
		"not UTF-8": {"User-agent: *\nDisallow: /caf\xe9\n", []string{"*: -/caf\uFFFD@2"}, []string{"NOT_UTF8@2"}},
		"agents": {"User-agent: Googlebot/2.1 (+http://x)\nUser-agent: * \nUser-agent: * # all\nUser-agent:\nUser-agent: *bot\nUser-agent: MJ12bot\nDisallow: /",
			[]string{"Googlebot,*,MJ12bot: -/@7"}, []string{"USER_AGENT_VERSION@1", "BAD_USER_AGENT@4", "BAD_USER_AGENT@5"}},
		"a group for no crawler": {"User-agent: a\nDisallow: /a\nUser-agent:\nDisallow: /", []string{"a: -/a@2"}, []string{"BAD_USER_AGENT@3"}},
		"empty last group":       {"User-agent: a\nDisallow: /a\nUser-agent: b", []string{"a: -/a@2", "b:"}, []string{"EMPTY_GROUP@3"}},
		"paths": {"User-agent: *\nDisallow: a\nDisallow: /a$b\nDisallow: /a b\nDisallow: /100%\nDisallow: *.php$\nDisallow: /a#b",
			[]string{"*: -a@2 -/a$b@3 -/a b@4 -/100%@5 -*.php$@6 -/a@7"},
			[]string{"PATH_WITHOUT_SLASH@2", "INNER_DOLLAR@3", "PATH_WITH_SPACE@4", "BROKEN_ESCAPE@5"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := parse(test.file)
			if diff := cmp.Diff(test.groups, describe(f)); diff != "" {
				t.Errorf("groups: -want +got\n%s", diff)
			}
			if diff := cmp.Diff(test.issues, codes(f)); diff != "" {
				t.Errorf("issues: -want +got\n%s", diff)
			}
		})
	}
}

func TestSitemapLines(t *testing.T) {
	t.Parallel()
	f := parse("Sitemap: https://example.com/a.xml\nUser-agent: *\nSITEMAP:http://other.example.net/b.xml.gz # " +
		"c\nsitemap: /c.xml\nsitemap: d.xml\n" +
		"sitemap: //example.com/e\nsitemap:\nsitemap: http://exa mple.com/\nDisallow:\nsitemap: ftp://example.com/f\nsitemap: https:example.com")
	want := []Sitemap{{"https://example.com/a.xml", 1}, {"http://other.example.net/b.xml.gz", 3},
		{"ftp://example.com/f", 10}}
	if diff := cmp.Diff(want, f.Sitemaps); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got, want := codes(f), []string{"SITEMAP_RELATIVE@4", "SITEMAP_RELATIVE@5", "SITEMAP_RELATIVE@6",
		"SITEMAP_MISSING@7", "SITEMAP_INVALID@8", "SITEMAP_RELATIVE@11"}; !slices.Equal(got, want) {
		t.Errorf("issues %v, want %v", got, want)
	}
}

func TestFilesOverTheBound(t *testing.T) {
	t.Parallel()
	head := "User-agent: *\n"
	rule := "Disallow: /x\n"
	exact := head + strings.Repeat("#", MaxBytes-len(head)-len(rule)-1) + "\n" + rule
	if f := parse(exact); len(exact) != MaxBytes || len(f.Issues) != 0 || len(f.Groups[0].Rules) != 1 {
		t.Errorf("%d bytes: %+v", len(exact), codes(f))
	}
	over := head + strings.Repeat("#", MaxBytes-len(head)-len(rule)) + "\n" + rule
	f := parse(over)
	// What is left of the rule is "Disallow: /x", without its line break: it may be half of a path.
	if got := codes(f); !slices.Equal(got, []string{"TOO_LONG@0", "EMPTY_GROUP@1"}) || len(f.Groups[0].Rules) != 0 {
		t.Errorf("%d bytes: %v, %v", len(over), got, describe(f))
	}
	if f := Parse([]byte("User-agent: *\nDisallow: /a\nDisallow: /b"), true); len(f.Groups[0].Rules) != 1 {
		t.Errorf("half a line: %v", describe(f))
	}
	if f := Parse([]byte("User-agent"), true); len(f.Groups) != 0 || len(f.Issues) != 1 {
		t.Errorf("half of the only line: %+v", f)
	}
}

func TestIssuesAreBounded(t *testing.T) {
	t.Parallel()
	for count, want := range map[int]int{maxIssues - 1: maxIssues - 1, maxIssues: maxIssues, maxIssues + 1: maxIssues + 1,
		5000: maxIssues + 1} {
		f := parse(strings.Repeat("x\n", count))
		if len(f.Issues) != want {
			t.Errorf("%d bad lines: %d issues, want %d", count, len(f.Issues), want)
		}
		if last := f.Issues[len(f.Issues)-1]; (last.Code == CodeMoreIssues) != (count > maxIssues) {
			t.Errorf("%d bad lines: the last issue is %+v", count, last)
		}
	}
	if f := parse(strings.Repeat("\u202e", 100) + strings.Repeat("w", 100) +
		"\x1b[31m: x"); f.Issues[0].Args["field"] != strings.Repeat("w", 40)+"…" {
		t.Errorf("%+v", f.Issues[0])
	}
}

// Every crawler has its own and the shared rules: copied out, they are thousands of times the file.
func TestMergedRulesAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&b, "User-agent:a%d\n", i)
	}
	b.WriteString("Allow:/" + strings.Repeat("x", 1000) + "\n")
	for i := range 8000 {
		fmt.Fprintf(&b, "User-agent:a%d\nAllow:/%d\n", i, i)
	}
	f := parse(b.String())
	sum := 0
	for _, g := range f.Groups {
		for _, r := range g.Rules {
			sum += len(r.Path) + ruleCost
		}
	}
	if sum > maxMerged || len(f.Groups) < 7000 || f.Issues[len(f.Issues)-1].Code != CodeTooManyRules {
		t.Errorf("%d octets in %d groups, %v", sum, len(f.Groups), codes(f))
	}
	// The longest file without merging stays whole.
	plain := "User-agent:*\n" + strings.Repeat("Allow:/\n", (MaxBytes-13)/8)
	if f := parse(plain); len(f.Issues) != 0 || len(f.Groups[0].Rules) != (MaxBytes-13)/8 {
		t.Errorf("%v, %d rules", codes(f), len(f.Groups[0].Rules))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "User-agent: *\nDisallow: /\n", "\xef\xbb\xbfuser-agent:a\ruser-agent:b\r\nallow:/*.php$\ncrawl-delay:1e3\nsitemap:https://example.com/\n",
		"<!doctype html>", "a:b:c", "User-agent\x00:*", "user-agent:*\ndisallow:/%e3%8\n", "user-agent:a\nallow:/\nuser-agent:A\ndisallow:/\n",
	} {
		f.Add([]byte(s), false, "/a/b?c=%2f")
		f.Add([]byte(s), true, "x")
	}
	f.Fuzz(func(t *testing.T, body []byte, truncated bool, path string) {
		file := Parse(body, truncated)
		names := map[string]bool{}
		for _, g := range file.Groups {
			if len(g.UserAgents) == 0 || g.Rules == nil {
				t.Fatalf("%+v", g)
			}
			for _, name := range g.UserAgents {
				if key := strings.ToLower(name); names[key] {
					t.Fatalf("%s is in two groups", name)
				} else {
					names[key] = true
				}
			}
		}
		switch allowed, effect := allows(file, path), file.Effect(); {
		case effect == AllowAll && !allowed:
			t.Fatalf("%q is not allowed in a file that allows all", path)
		case effect == DisallowAll && allowed:
			t.Fatalf("%q is allowed in a file that disallows all", path)
		}
		if len(file.Issues) > maxIssues+1 {
			t.Fatalf("%d issues", len(file.Issues))
		}
	})
}

// allows reports whether a crawler without a group of its own may fetch the path: the longest rule that matches
// decides, and allow wins a tie (RFC 9309 section 2.2.2). It asks regular expressions, another way than the sums of
// Effect.
func allows(f File, path string) bool {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	path = strings.ReplaceAll(normal(path), "*", "%2A")
	allowed, longest := true, -1
	for _, g := range f.Groups {
		if !slices.Contains(g.UserAgents, "*") {
			continue
		}
		for _, rule := range g.Rules {
			p := newPattern(rule.Path)
			expression := "(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(p.plain), `\*`, ".*")
			if p.end {
				expression += "$"
			}
			if rule.Path == "" || !p.canMatch() || !regexp.MustCompile(expression).MatchString(path) {
				continue
			}
			if n := p.length(); n > longest || n == longest && rule.Type == Allow {
				allowed, longest = rule.Type == Allow, n
			}
		}
	}
	return allowed
}
