package robotstxt

import (
	"strings"
	"testing"
	"time"
)

// TestPatternsOfGoogle holds the matcher against the table "URL matching based on path values" of Google's robots.txt
// documentation.
func TestPatternsOfGoogle(t *testing.T) {
	t.Parallel()
	fish := []string{"/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html", "/fish.php?id=anything"}
	notFish := []string{"/Fish.asp", "/catfish", "/?id=fish", "/desert/fish"}
	for pattern, test := range map[string]struct{ matches, not []string }{
		"/":       {matches: []string{"/", "/fish", "/a/b?c"}},
		"/*":      {matches: []string{"/", "/fish", "/a/b?c"}},
		"/$":      {matches: []string{"/"}, not: []string{"/fish", "/?"}},
		"/fish":   {matches: fish, not: notFish},
		"/fish*":  {matches: fish, not: notFish},
		"/fish/":  {matches: []string{"/fish/", "/fish/?id=anything", "/fish/salmon.htm"}, not: []string{"/fish", "/fish.html", "/animals/fish/", "/Fish/Salmon.asp"}},
		"/*.php":  {matches: []string{"/index.php", "/filename.php", "/folder/filename.php", "/folder/filename.php?parameters", "/folder/any.php.file.html", "/filename.php/"}, not: []string{"/", "/windows.PHP"}},
		"/*.php$": {matches: []string{"/filename.php", "/folder/filename.php"}, not: []string{"/filename.php?parameters", "/filename.php/", "/filename.php5", "/windows.PHP"}},
		"/fish*.php": {matches: []string{"/fish.php", "/fishheads/catfish.php?parameters"},
			not: []string{"/Fish.PHP"}},
	} {
		for _, path := range test.matches {
			if !newPattern(pattern).matches(newSubject(path)) {
				t.Errorf("%s does not match %s", pattern, path)
			}
		}
		for _, path := range test.not {
			if newPattern(pattern).matches(newSubject(path)) {
				t.Errorf("%s matches %s", pattern, path)
			}
		}
	}
}

// TestPrecedenceOfGoogle holds it against "Order of precedence for rules" of the same.
func TestPrecedenceOfGoogle(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		allow, disallow, path string
		allowed               bool
	}{
		{"/p", "/", "/page", true},
		{"/folder", "/folder", "/folder/page", true},
		{"/page", "/*.htm", "/page.htm", false},
		{"/page", "/*.ph", "/page.php5", true},
		{"/$", "/", "/", true},
		{"/$", "/", "/page.htm", false},
	} {
		for _, file := range []string{
			"User-agent: *\nAllow: " + test.allow + "\nDisallow: " + test.disallow,
			"User-agent: *\nDisallow: " + test.disallow + "\nAllow: " + test.allow,
		} {
			if got := parse(file).MayFetch("anybot", test.path); got.Allowed != test.allowed || got.Rule == nil {
				t.Errorf("allow %s, disallow %s, %s: %+v", test.allow, test.disallow, test.path, got)
			}
		}
	}
}

// TestPathsOfRFC9309 holds it against the two tables of section 2.2.2 and the special characters of section 2.2.3.
func TestPathsOfRFC9309(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, path string
		matches       bool
	}{
		{"/foo/bar?baz=quz", "/foo/bar?baz=quz", true},
		{"/foo/bar?baz=http://foo.bar", "/foo/bar?baz=http%3A%2F%2Ffoo.bar", true},
		{"/foo/bar?baz=http%3A%2F%2Ffoo.bar", "/foo/bar?baz=http://foo.bar", true},
		{"/*baz=http://foo", "/foo/bar?baz=http%3A%2F%2Ffoo.bar", true},
		{"/*%2F", "/x?y=a%2Fb", true},
		{"/foo/bar/ツ", "/foo/bar/%E3%83%84", true},
		{"/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", true},
		{"/foo/bar/%e3%83%84", "/foo/bar/ツ", true},
		{"/foo/bar/%62%61%7A", "/foo/bar/baz", true},
		{"/foo/bar/baz", "/foo/bar/%62%61%7A", true},
		// The escape of a reserved character is another path.
		{"/a%2fb.html", "/a/b.html", false},
		{"/a/b.html", "/a%2Fb.html", false},
		{"/a%2fb.html", "/a%2Fb.html", true},
		{"/%7ejoe/index.html", "/~joe/index.html", true},
		{"/x?a=1%262", "/x?a=1&2", false},
		// $ ends, * is anything, and both are written as escapes where they mean themselves.
		{"/path/file-with-a-%2A.html", "/path/file-with-a-*.html", true},
		{"/path/file-with-a-%2A.html", "/path/file-with-a-x.html", false},
		{"/path/foo-%24", "/path/foo-$", true},
		{"/path/foo-%24", "/path/foo-%24bar", true},
		{"/this/*/exactly", "/this/path/exactly", true},
		{"/this/*/exactly", "/this/exactly", false},
		{"/this/path/exactly$", "/this/path/exactly", true},
		{"/this/path/exactly$", "/this/path/exactly/", false},
		{"/a$b", "/a$b", true},
		{"/a$b", "/a", false},
		{"*", "/", true}, {"*$", "/x", true}, {"*.gif$", "/a/b.gif", true}, {"fish", "/fish", false}, {"**a**b", "/xaxxb", true},
		{"/a*b*c$", "/abcbc", true}, {"/a*b*c$", "/abcb", false}, {"/", "", true}, {"/?x", "?x=1", true},
		{"/100%", "/100%", true}, {"/100%", "/100%zz", true}, {"/%zz", "/%ZZ", false},
	} {
		if got := newPattern(test.pattern).matches(newSubject(test.path)); got != test.matches {
			t.Errorf("%s and %s: %t", test.pattern, test.path, got)
		}
	}
}

// TestExamplesOfRFC9309 are sections 5.1 and 5.2.
func TestExamplesOfRFC9309(t *testing.T) {
	t.Parallel()
	simple := parse(`User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
`)
	longest := parse("User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n")
	for _, test := range []struct {
		file    File
		crawler string
		path    string
		allowed bool
	}{
		{simple, "anybot", "/a.gif", false},
		{simple, "anybot", "/a.gif?x", true},
		{simple, "anybot", "/example/x", false},
		{simple, "anybot", "/publications/x", true},
		{simple, "anybot", "/publications/x.gif", true},
		{simple, "foobot", "/", false},
		{simple, "FooBot/2.1", "/x", false},
		{simple, "foobot", "/example/page.html", true},
		{simple, "foobot", "/example/allowed.gif", true},
		{simple, "foobot", "/robots.txt", true},
		{simple, "barbot", "/example/page.html", false},
		{simple, "BAZBOT", "/example/page.html", false},
		{simple, "bazbot", "/example/", true},
		{simple, "quxbot", "/example/x", true},
		{simple, "foo", "/example/x", false},
		{longest, "foobot", "/example/page/disallowed.gif", false},
		{longest, "foobot", "/example/page/x", true},
		{longest, "anybot", "/example/page/disallowed.gif", true},
	} {
		if got := test.file.MayFetch(test.crawler, test.path); got.Allowed != test.allowed {
			t.Errorf("%s, %s: %+v", test.crawler, test.path, got)
		}
	}
}

func TestEffect(t *testing.T) {
	t.Parallel()
	for rules, want := range map[string]Effect{
		"":                                AllowAll,
		"Disallow:":                       AllowAll,
		"Allow: /":                        AllowAll,
		"Allow: /x":                       AllowAll,
		"Disallow: nothing":               AllowAll,
		"Disallow: /\nAllow: /":           AllowAll,
		"Disallow: /\nAllow: /*":          AllowAll,
		"Disallow: /a\nAllow: /*":         AllowAll,
		"Disallow: /ab\nAllow: /*":        SomeRules,
		"Disallow: /a":                    SomeRules,
		"Disallow: /$":                    SomeRules,
		"Disallow: /\nAllow: /a":          SomeRules,
		"Disallow: /\nAllow: /$":          SomeRules,
		"Disallow: /*\nAllow: /a":         SomeRules,
		"Disallow: /**\nAllow: /a":        DisallowAll,
		"Disallow: /":                     DisallowAll,
		"Disallow: *":                     DisallowAll,
		"Disallow: /*":                    DisallowAll,
		"Disallow: /*$":                   DisallowAll,
		"Disallow: */":                    DisallowAll,
		"Disallow: /\nDisallow: /a":       DisallowAll,
		"Disallow: /\nAllow: nothing":     DisallowAll,
		"Disallow: /\nAllow:":             DisallowAll,
		"Disallow: /*\nAllow: /":          DisallowAll,
		"Disallow: //":                    SomeRules,
		"Allow: /\nDisallow: /private/x$": SomeRules,
	} {
		if got := parse("User-agent: *\n" + rules).Effect(); got != want {
			t.Errorf("%q: %s, want %s", rules, got, want)
		}
		// A group of somebody's own is none of the others' business.
		if got := parse("User-agent: a\n" + rules + "\nDisallow: /").Effect(); got != AllowAll {
			t.Errorf("%q for somebody else: %s", rules, got)
		}
	}
}

// A pattern of many stars must not take longer than the product of the lengths.
func TestWildcardsAreNotExponential(t *testing.T) {
	t.Parallel()
	began := time.Now()
	if newPattern("/" + strings.Repeat("*a", 500) + "b$").matches(newSubject("/" + strings.Repeat("a", 2000))) {
		t.Error("matches")
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %v", took)
	}
}
