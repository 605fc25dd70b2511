package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

//go:embed skeleton
var skeleton embed.FS

// The files that name every tool.
const (
	registryFile  = "gateway/internal/tools/all.go"
	catalogueFile = "gateway/web/catalogue.go"
	boundsFile    = "gateway/bounds_test.go"
)

// file is one that is to be written; existed tells that it was there and gets a line more.
type file struct {
	name    string // slash-separated, from the checkout's root
	content []byte
	existed bool
}

// names are what the skeleton calls the tool.
type names struct {
	Slug    string // cname-chain
	Package string // cnamechain
	Schema  string // CnameChain
	Title   string // Cname chain
}

var kebab = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

func namesOf(slug string) (names, error) {
	n := names{Slug: slug, Package: strings.ReplaceAll(slug, "-", "")}
	if !kebab.MatchString(slug) || token.IsKeyword(n.Package) {
		return n, fmt.Errorf("SLUG is %q, and must be a name in kebab-case, such as cname-chain", slug)
	}
	words := strings.Split(slug, "-")
	for _, word := range words {
		n.Schema += strings.ToUpper(word[:1]) + word[1:]
	}
	title := strings.Join(words, " ")
	n.Title = strings.ToUpper(title[:1]) + title[1:]
	return n, nil
}

// plan gives all that makes the tool, and touches nothing.
func plan(checkout fs.FS, slug string) ([]file, error) {
	n, err := namesOf(slug)
	if err != nil {
		return nil, err
	}
	made, err := n.files(checkout)
	if err != nil {
		return nil, err
	}
	if err := n.clash(checkout); err != nil {
		return nil, err
	}
	imported := "\t\"diagnostics/gateway/internal/tools/" + n.Package + "\"\n"
	lines := []struct{ name, before, line string }{
		{registryFile, "\t\"diagnostics/gateway/internal/workerclient\"\n", imported},
		{registryFile, "\t}\n}\n", "\t\t" + n.Package + ".New(d.Egress),\n"},
		{catalogueFile, "\t}},\n}\n", "\t\t\"" + n.Slug + "\",\n"},
		{boundsFile, "}\n\n// Every tool keeps to the bound",
			"\t\"" + n.Slug + "\": {`{\"input\":\"worst-site.com\"}`, nil},\n"},
	}
	texts := map[string][]byte{}
	for _, l := range lines {
		if texts[l.name] == nil {
			if texts[l.name], err = fs.ReadFile(checkout, l.name); err != nil {
				return nil, err
			}
		}
		if texts[l.name], err = insertBefore(texts[l.name], l.before, l.line); err != nil {
			return nil, fmt.Errorf("%s: %w", l.name, err)
		}
	}
	for _, name := range []string{registryFile, catalogueFile, boundsFile} {
		// gofmt puts the import in its place.
		formatted, err := format.Source(texts[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		made = append(made, file{name: name, content: formatted, existed: true})
	}
	return made, nil
}

// clash refuses a name that the list of tools has in another meaning, or that no package can be imported by.
func (n names) clash(checkout fs.FS) error {
	text, err := fs.ReadFile(checkout, registryFile)
	if err != nil {
		return err
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), registryFile, text, parser.ImportsOnly)
	if err != nil {
		return err
	}
	taken := []string{"d", "internal", "main", "testdata", "tools", "vendor"}
	for _, spec := range parsed.Imports {
		taken = append(taken, path.Base(strings.Trim(spec.Path.Value, `"`)))
	}
	if slices.Contains(taken, n.Package) {
		return fmt.Errorf("SLUG is %q, and %s has another use for the name %s", n.Slug, registryFile, n.Package)
	}
	return nil
}

// insertBefore puts a line before the last place where the text has the mark.
func insertBefore(text []byte, mark, line string) ([]byte, error) {
	at := bytes.LastIndex(text, []byte(mark))
	if at < 0 {
		return nil, fmt.Errorf("there is no %q to put %q before", mark, strings.TrimSpace(line))
	}
	return []byte(string(text[:at]) + line + string(text[at:])), nil
}

// files fills the skeleton in. Its folders tool and page become the tool's two.
func (n names) files(checkout fs.FS) ([]file, error) {
	folders := map[string]string{
		"tool": "gateway/internal/tools/" + n.Package,
		"page": "gateway/web/assets/tools/" + n.Slug,
	}
	for _, folder := range folders {
		if _, err := fs.Stat(checkout, folder); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is there already", folder)
		}
	}
	var made []file
	err := fs.WalkDir(skeleton, "skeleton", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := n.fill(name)
		if err != nil {
			return err
		}
		base := strings.TrimSuffix(path.Base(name), ".tmpl")
		if rest, ok := strings.CutPrefix(base, "tool"); ok {
			base = n.Package + rest
		}
		made = append(made, file{name: path.Join(folders[path.Base(path.Dir(name))], base), content: content})
		return nil
	})
	return made, err
}

// fill writes the tool's names into a template. Its marks are none of Go's, YAML's, JSON's or JavaScript's.
func (n names) fill(name string) ([]byte, error) {
	text, err := skeleton.ReadFile(name)
	if err != nil {
		return nil, err
	}
	t, err := template.New(name).Delims("[[", "]]").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, n)
	return b.Bytes(), err
}

func write(root string, made []file) error {
	for _, f := range made {
		name := filepath.Join(root, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
