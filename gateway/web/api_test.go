package web_test

import (
	"strings"
	"testing"

	"diagnostics/gateway/web"
)

// Every tool has a fold by its slug, in the groups and the order of the front page.
func TestAPIPage(t *testing.T) {
	t.Parallel()
	root := document(t, wholeSite(t), "/api")
	folds := all(one(t, root, "main", nil), "details", header{"class": "fold", "id": "*"})
	var ids []string
	for _, fold := range folds {
		id, _ := attribute(fold, "id")
		ids = append(ids, id)
	}
	want := []string{"statuses", "headers"}
	for _, d := range web.Descriptors() {
		want = append(want, d.Slug)
	}
	if got := strings.Join(ids, " "); got != strings.Join(want, " ") {
		t.Errorf("the folds are %s", got)
	}
	fold := one(t, root, "details", header{"id": "dns-lookup"})
	for _, part := range []string{
		"DNS lookup", "Sum up dns-lookup", "Then it answers.", "options.kind", "the other kind", "list[].one",
	} {
		if !strings.Contains(content(fold), part) {
			t.Errorf("the fold does not say %q", part)
		}
	}
	if text := one(t, fold, "div", header{"class": "prose"}); content(all(text, "code", nil)[0]) != "dns-lookup" ||
		strings.Contains(content(text), "`") {
		t.Errorf("what stands in backticks is no code: %s", content(text))
	}
	command := content(one(t, fold, "pre", header{"data-request": "*"}))
	if !strings.Contains(command, `-d '{"input":"it'\''s dns-lookup"}' \`) {
		t.Errorf("the command is %s", command)
	}
	one(t, root, "a", header{"href": "/api", "aria-current": "page"})
	one(t, root, "a", header{"href": "/api/openapi.yaml"})
}

// The commands ask the service itself where it knows its address; else the page's script puts it in, and without
// JavaScript the page says what to do.
func TestAPIPageNamesItsService(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{"", "https://diagnostics.example.org"} {
		config := everything()
		config.PublicOrigin = origin
		root := document(t, newSite(t, config), "/api")
		commands := all(root, "pre", header{"data-request": "*"})
		if len(commands) != len(slugs) {
			t.Fatalf("%d commands", len(commands))
		}
		host := origin
		if origin == "" {
			host = "https://tools.example.com"
		}
		for _, command := range commands {
			if !strings.Contains(content(command), " "+host+"/api/tools/") {
				t.Errorf("origin %q: %s", origin, content(command))
			}
		}
		if replaced := len(all(root, "span", header{"data-origin": "*"})); (replaced > len(slugs)) != (origin == "") {
			t.Errorf("origin %q: the script puts in %d", origin, replaced)
		}
		if notes := len(all(root, "noscript", nil)); (notes == 1) != (origin == "") {
			t.Errorf("origin %q: %d notes", origin, notes)
		}
	}
}

func TestAPIPageSaysWhatIsOff(t *testing.T) {
	t.Parallel()
	config := everything()
	config.Disabled = []string{"uptime"}
	root := document(t, newSite(t, config), "/api")
	for slug, off := range map[string]bool{"uptime": true, "dns-lookup": false} {
		fold := one(t, root, "details", header{"id": slug})
		for _, words := range []string{"switched off here", "unavailable"} {
			if strings.Contains(content(fold), words) != off {
				t.Errorf("%s: it says %q: %t", slug, words, !off)
			}
		}
	}
}
