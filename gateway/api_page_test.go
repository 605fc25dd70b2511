package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"diagnostics/gateway/internal/config"
	"diagnostics/gateway/internal/egress"

	"github.com/oasdiff/yaml"
	"golang.org/x/net/html"
)

// apiPage is the page on the API as a browser reads it.
var apiPage = sync.OnceValues(func() (*html.Node, error) {
	site, err := newPages(config.Config{}, registry(), true, nil)
	if err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	if err := site.Serve(w, httptest.NewRequest(http.MethodGet, "/api", nil)); err != nil {
		return nil, err
	}
	return html.Parse(w.Body)
})

// fold is what the page has of one tool.
func fold(t *testing.T, slug string) *html.Node {
	t.Helper()
	page, err := apiPage()
	if err != nil {
		t.Fatal(err)
	}
	for n := range page.Descendants() {
		if n.Data == "details" && slices.Contains(n.Attr, html.Attribute{Key: "id", Val: slug}) {
			return n
		}
	}
	t.Fatalf("the page has no fold %s", slug)
	return nil
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// codes are all that the node shows as code.
func codes(n *html.Node) (all []string) {
	for d := range n.Descendants() {
		if d.Data == "code" {
			all = append(all, textOf(d))
		}
	}
	return all
}

// node is a part of the description, read in another way than the page reads it.
type node map[string]any

func (n node) at(t *testing.T, keys ...string) node {
	t.Helper()
	for i, key := range keys {
		next, ok := n[key].(map[string]any)
		if !ok {
			t.Fatalf("the description has no %v", keys[:i+1])
		}
		n = next
	}
	return n
}

// follow leads to the schema that a reference names.
func (n node) follow(t *testing.T, document node) node {
	t.Helper()
	if ref, ok := n["$ref"].(string); ok {
		return document.at(t, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	return n
}

func descriptionTree(t *testing.T) node {
	t.Helper()
	text, err := document()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var tree node
	if err := json.Unmarshal(plain, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// Whatever the description says of a tool is in its fold: each option with its values, each status, each field of the
// result. A tool that is added needs no line here.
func TestAPIPageHoldsTheDescription(t *testing.T) {
	t.Parallel()
	tree := descriptionTree(t)
	var options, fields, statuses int
	for _, one := range registry() {
		shown := codes(fold(t, one.Slug()))
		holds := func(what, text string) {
			if !slices.Contains(shown, text) {
				t.Errorf("%s: the page does not show the %s %s", one.Slug(), what, text)
			}
		}
		post := tree.at(t, "paths", "/api/tools/"+one.Slug(), "post")
		body := post.at(t, "requestBody", "content", "application/json", "schema", "properties")
		known, _ := body.at(t, "options").follow(t, tree)["properties"].(map[string]any)
		for name, option := range known {
			options++
			holds("option", "options."+name)
			values, _ := option.(map[string]any)["enum"].([]any)
			for _, value := range values {
				if word, isWord := value.(string); isWord {
					holds("value", word)
				}
			}
		}
		for status := range post.at(t, "responses") {
			statuses++
			holds("status", status)
		}
		data := post.at(t, "responses", "200", "content", "application/json", "schema", "properties", "data")
		for name := range data.follow(t, tree).at(t, "properties") {
			fields++
			holds("field", name)
		}
		summary, _ := post["summary"].(string)
		if !strings.Contains(textOf(fold(t, one.Slug())), summary) || summary == "" {
			t.Errorf("%s: the page does not say %q", one.Slug(), summary)
		}
	}
	if tools := len(registry()); options < 7 || fields < 5*tools || statuses < 10*tools {
		t.Errorf("only %d options, %d fields and %d statuses were looked for", options, fields, statuses)
	}
}

// command takes a line apart as a shell would: the address, and the body behind -d.
func command(t *testing.T, line string) (path, body string) {
	t.Helper()
	line = strings.ReplaceAll(line, "\\\n", "")
	_, rest, _ := strings.Cut(line, "-d '")
	body, rest, found := strings.Cut(rest, "' ")
	_, path, leads := strings.Cut(strings.TrimSpace(rest), "https://tools.example.com")
	if !found || !leads || !strings.HasPrefix(line, "curl -s -H 'Content-Type: application/json'") {
		t.Fatalf("not the command that was expected: %s", line)
	}
	return path, strings.ReplaceAll(body, `'\''`, "'")
}

// Each command of the page sends what the description calls typical, and is answered.
func TestAPIPageShowsCommandsThatWork(t *testing.T) {
	t.Parallel()
	n, certs := network(t)
	s := gatewayOn(t, n.Client(nil, egress.WithChecker(certs)), certs, fakeWorker(t), nil)
	d := description(t)
	for _, one := range registry() {
		var lines []string
		for pre := range fold(t, one.Slug()).Descendants() {
			if pre.Data == "pre" {
				lines = append(lines, textOf(pre))
			}
		}
		if len(lines) != 1 {
			t.Errorf("%s: %d commands", one.Slug(), len(lines))
			continue
		}
		path, body := command(t, lines[0])
		if path != "/api/tools/"+one.Slug() || body != typical(t, d, one.Slug()) {
			t.Errorf("%s: the command sends %s to %s", one.Slug(), body, path)
		}
		if status, envelope := ask(t, d, s, "POST", path, path, body); status != http.StatusOK {
			t.Errorf("%s: %d %v", one.Slug(), status, envelope)
		}
	}
}
