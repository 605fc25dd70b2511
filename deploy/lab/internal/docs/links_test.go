package docs

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// A link or picture of Markdown, [text](path "title"); the text may hold a picture of its own.
	pageLink = regexp.MustCompile(`\]\(([^()\s]+)(?: "[^"]*")?\)`)
	// A page that code cites: docs/contract.md#limits.
	cited = regexp.MustCompile(`\bdocs/[a-zA-Z-]+\.md(?:#[a-z0-9-]+)?`)
	// What code is cited in, beside pages.
	citing = []string{".go", ".js", ".css", ".html", ".yaml", ".yml", ".sh", ".service", "Makefile", "Dockerfile", "run"}

	heading  = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	unlinked = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinksLeadSomewhere: what a page links to, and what code cites of the pages, is there, section and all.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	links := 0
	for _, name := range textsBelow(t, root) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range linksOf(name, string(text)) {
			links++
			if trouble := leads(root, link); trouble != "" {
				t.Errorf("%s: %s", name, trouble)
			}
		}
	}
	if links < 150 {
		t.Errorf("only %d links and citations were found", links)
	}
}

func TestLinksOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"docs/a.md", "[b](b.md#c), [up](../README.md), [web](https://example.com/)", []string{"docs/b.md#c", "README.md"}},
		{"docs/a.md", "![a picture](shots/a.png) and [here](#below)", []string{"docs/shots/a.png", "docs/a.md#below"}},
		{"a/b.go", "// see docs/contract.md#limits.", []string{"docs/contract.md#limits"}},
	} {
		if got := linksOf(tt.name, tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestLeads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	page := "# A page\n\n## Times & sizes\n\n```sh\n# no heading\n```\n\n## `GET /x`\n"
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, want := range map[string]bool{
		"a.md": true, "a.md#a-page": true, "a.md#times--sizes": true, "a.md#get-x": true,
		"b.md": false, "a.md#times-and-sizes": false, "a.md#no-heading": false,
	} {
		if trouble := leads(dir, link); (trouble == "") != want {
			t.Errorf("%s: %q", link, trouble)
		}
	}
}

// linksOf are the files, from the root, that a text leads to.
func linksOf(name, text string) []string {
	if !strings.HasSuffix(name, ".md") {
		// Most texts cite nothing, and to search them all for an expression takes seconds.
		if !strings.Contains(text, "docs/") {
			return nil
		}
		return cited.FindAllString(text, -1)
	}
	var links []string
	for _, m := range pageLink.FindAllStringSubmatch(text, -1) {
		to, err := url.Parse(m[1])
		switch {
		case err != nil:
			links = append(links, m[1])
		case to.Scheme != "":
		case to.Path == "":
			links = append(links, name+"#"+to.Fragment)
		default:
			link := filepath.ToSlash(filepath.Join(filepath.Dir(name), to.Path))
			if to.Fragment != "" {
				link += "#" + to.Fragment
			}
			links = append(links, link)
		}
	}
	return links
}

// leads gives what is wrong with a link, from the root.
func leads(root, link string) string {
	path, section, _ := strings.Cut(link, "#")
	file := filepath.Join(root, path)
	if _, err := os.Stat(file); err != nil {
		return "there is no " + path
	}
	if section == "" {
		return ""
	}
	text, err := os.ReadFile(file)
	if err != nil || !slices.Contains(sectionsOf(string(text)), section) {
		return path + " has no section #" + section
	}
	return ""
}

// sectionsOf are the anchors of a page, as GitHub makes them of its headings. None here stands twice.
func sectionsOf(page string) []string {
	var anchors []string
	for i, part := range strings.Split(page, "```") {
		if i%2 == 1 {
			continue // commands
		}
		for _, m := range heading.FindAllStringSubmatch(part, -1) {
			plain := unlinked.ReplaceAllString(strings.ToLower(m[1]), "")
			anchors = append(anchors, strings.ReplaceAll(plain, " ", "-"))
		}
	}
	return anchors
}

// textsBelow are the pages and the code, from the root. Test data is of others.
func textsBelow(t *testing.T, dir string) []string {
	t.Helper()
	var texts []string
	skipped := []string{".git", ".artifacts", "bin", "testdata", "vendor", "node_modules"}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(skipped, entry.Name()):
			return fs.SkipDir
		case entry.Type().IsRegular() && (strings.HasSuffix(path, ".md") || cites(entry.Name())):
			name, err := filepath.Rel(dir, path)
			texts = append(texts, filepath.ToSlash(name))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func cites(name string) bool {
	return !strings.HasSuffix(name, "links_test.go") &&
		slices.ContainsFunc(citing, func(end string) bool { return strings.HasSuffix(name, end) })
}
