package web

import (
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

// parts are what a service is started with.
type parts struct {
	registry  []Registered
	catalogue []group
	files     fstest.MapFS
}

const circle = `<circle cx="12" cy="12" r="7.5"/>`

// withTool is the real pages and one more tool, called foo, that is whole.
func withTool(t *testing.T) parts {
	t.Helper()
	p := parts{files: fstest.MapFS{}}
	for _, d := range Descriptors() {
		p.registry = append(p.registry, RegisteredOf(d))
	}
	real, err := fs.Sub(embedded, "assets")
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(real, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(real, name)
		p.files[name] = &fstest.MapFile{Data: body}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p.registry = append(p.registry, Registered{Slug: "foo", Options: []RegisteredOption{{Name: "size",
		Values: []string{"1"}}}})
	p.catalogue = append(p.catalogue, catalogue...)
	p.catalogue = append(p.catalogue, group{"Toys", []string{"foo"}})
	p.write("page.json", `{"title": "Foo", "promise": "See a foo.", "kind": "host", "label": "Host",
		"placeholder": "example.com", "examples": ["example.com"], "suits": "domain:10",
		"options": [{"name": "size", "label": "Size"}], "about": ["A foo is a foo."]}`)
	p.write("icon.svg", `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">`+circle+`</svg>`)
	p.write("facts.js", "export default {};\n")
	p.write("view.js", "export default {};\n")
	return p
}

// write sets the text of a file in the folder of foo.
func (p parts) write(name, text string) {
	p.files["tools/foo/"+name] = &fstest.MapFile{Data: []byte(text)}
}

// replace changes the text of a file in the folder of foo.
func (p parts) replace(t *testing.T, name, old, by string) {
	t.Helper()
	before := string(p.files["tools/foo/"+name].Data)
	if !strings.Contains(before, old) {
		t.Fatalf("%s has no %s", name, old)
	}
	p.write(name, strings.Replace(before, old, by, 1))
}

func (p parts) start() (*Site, error) {
	return newSite(Config{Tools: p.registry}, p.catalogue, p.files, func() (*assets, error) { return loadAssets(p.files) })
}

func TestAWholeToolStarts(t *testing.T) {
	t.Parallel()
	p := withTool(t)
	p.write("view.css", ".foo { color: red; }")
	p.write("helper.js", "export const one = 1;\n")
	s, err := p.start()
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	if err := s.Serve(w, httptest.NewRequest(http.MethodGet, "/tools/foo?input=example.com", nil)); err != nil {
		t.Error(err)
	}
	body := w.Body.String()
	for _, want := range []string{
		"<h1>", `data-title="Foo"`, "See a foo.", `name="size"`,
		"/icons/foo.svg", "/icons.svg#foo", "/tools/foo/view.css", "/tools/foo/view.js",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	symbol := `<symbol id="foo" viewBox="0 0 24 24">` + circle + `</symbol>`
	if !strings.Contains(string(s.assets.byName["icons.svg"].body), symbol) {
		t.Error("the sprite has no symbol for it")
	}
	if strings.Count(string(s.assets.byName["icons/foo.svg"].body), circle) != 1 {
		t.Error("the picture for the tab does not show it")
	}
	for _, private := range []string{"tools/foo/page.json", "tools/foo/icon.svg", "glyphs/site.svg"} {
		if _, served := s.assets.byName[private]; served {
			t.Errorf("%s is served", private)
		}
	}
}

// The start fails for each thing that a new tool may lack, or be left with when it goes, and says which file is to be
// written.
func TestTheStartNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	const folder = "gateway/web/assets/tools/foo"
	without := func(file string) func(*parts) { return func(p *parts) { delete(p.files, "tools/foo/"+file) } }
	for name, c := range map[string]struct {
		change func(*parts)
		want   []string
	}{
		"the descriptor": {without("page.json"), []string{folder + "/page.json is missing: "}},
		"the icon":       {without("icon.svg"), []string{folder + "/icon.svg is missing: "}},
		"the facts":      {without("facts.js"), []string{folder + "/facts.js is missing: "}},
		"the view":       {without("view.js"), []string{folder + "/view.js is missing: "}},
		"the folder": {
			func(p *parts) {
				maps.DeleteFunc(p.files, func(name string, _ *fstest.MapFile) bool { return strings.HasPrefix(name, "tools/foo/") })
			},
			[]string{
				folder + "/page.json is missing: ", folder + "/icon.svg is missing: ",
				folder + "/facts.js is missing: ", folder + "/view.js is missing: ",
			},
		},
		"what a watch keeps": {
			func(p *parts) {
				p.write("page.json", strings.Replace(string(p.files["tools/foo/page.json"].Data), `"about"`, `"watch": 10, "about"`, 1))
			},
			[]string{folder + "/watch.js is missing: "},
		},
		"the word that it can be watched": {
			func(p *parts) { p.write("watch.js", "export default {};\n") },
			[]string{folder + "/watch.js is read by nothing: "},
		},
		"the catalogue's line": {
			func(p *parts) { p.catalogue = catalogue },
			[]string{"gateway/web/catalogue.go has no line for the tool foo"},
		},
		"the registry's line": {
			func(p *parts) { p.registry = p.registry[:len(p.registry)-1] },
			[]string{
				"gateway/web/catalogue.go lists foo, which is no tool: gateway/internal/tools/all.go has no line for it",
				folder + " is the page of no tool: gateway/internal/tools/all.go has no line for it",
			},
		},
		"a line that is not there yet": {
			func(p *parts) { p.catalogue = append(p.catalogue, group{"Again", []string{"foo"}}) },
			[]string{"gateway/web/catalogue.go lists foo twice"},
		},
		"the name of a style": {
			func(p *parts) { p.write("style.css", "") },
			[]string{folder + "/style.css is read by nothing: "},
		},
		"an icon's name for itself": {
			func(p *parts) { p.files["glyphs/foo.svg"] = p.files["tools/foo/icon.svg"] },
			[]string{"there is another icon called foo"},
		},
		"a module that it imports": {
			func(p *parts) { p.write("view.js", `import { a } from "../../lib/nothing.js";`+"\n") },
			[]string{`page "/tools/foo": `},
		},
		"a content type": {
			func(p *parts) { p.files["lib/font.woff"] = &fstest.MapFile{} },
			[]string{"gateway/web/assets/lib/font.woff has no content type"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := withTool(t)
			c.change(&p)
			_, err := p.start()
			if err == nil {
				t.Fatal("it starts")
			}
			gaps := strings.Split(err.Error(), "\n")
			if len(gaps) != len(c.want) {
				t.Errorf("%d errors, want %d:\n%v", len(gaps), len(c.want), err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("it does not say %q:\n%v", want, err)
				}
			}
		})
	}
}

func TestIconsAreSquareDrawings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, by, want string }{
		"another size":    {"0 0 24 24", "0 0 32 32", `the viewBox is "0 0 32 32"`},
		"no SVG":          {"http://www.w3.org/2000/svg", "http://example.com/", "svg"},
		"not well-formed": {"</svg>", "</g>", "XML syntax error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := withTool(t)
			p.replace(t, "icon.svg", c.old, c.by)
			_, err := p.start()
			holdError(t, err, "gateway/web/assets/tools/foo/icon.svg: ", c.want)
		})
	}
}

// holdError wants an error that names the file first and then what is wrong in it.
func holdError(t *testing.T, err error, file, part string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), file) || !strings.Contains(err.Error(), part) {
		t.Errorf("%v, want %s… %s", err, file, part)
	}
}

// What a page could not be made of stops the start, with the file and what is wrong in it.
func TestDescriptorsAreHeldStrictly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, by, want string }{
		"an unknown key":              {`"title"`, `"titel"`, `unknown field "titel"`},
		"an unknown key of an option": {`"label": "Size"`, `"label": "Size", "default": "1"`, `unknown field "default"`},
		"the slug":                    {`{"title"`, `{"Slug": "foo", "title"`, `unknown field "Slug"`},
		"another type":                {`"See a foo."`, `7`, "cannot unmarshal number"},
		"no JSON":                     {`{"title"`, `{title`, "invalid character"},
		"something behind":            {`["A foo is a foo."]}`, `["A foo is a foo."]} {}`, "something behind"},
		"no title":                    {`"Foo"`, `""`, `"title" is missing`},
		"half a promise":              {`"See a foo."`, `"See a foo"`, `"promise"`},
		"an unknown kind":             {`"host"`, `"hostname"`, `"kind" is "hostname"`},
		"no label":                    {`"label": "Host",`, ``, `"label"`},
		"no placeholder":              {`"placeholder": "example.com",`, ``, `"placeholder"`},
		"no examples":                 {`["example.com"]`, `[]`, `"examples"`},
		"an empty example":            {`["example.com"]`, `[""]`, `"examples"`},
		"an input of no kind":         {`"host"`, `"none"`, "a tool without input"},
		"a weight of nothing known":   {`domain:10`, `domains:10`, `"suits" has "domains:10"`},
		"a weight without a number":   {`domain:10`, `domain`, `"suits" has "domain"`},
		"unknown samples":             {`"about"`, `"samples": "pong", "about"`, `"samples" is "pong"`},
		"a watch in a hurry":          {`"about"`, `"watch": 9, "about"`, `"watch" is 9, and must be 10 to 120 seconds`},
		"a watch that sleeps":         {`"about"`, `"watch": 121, "about"`, `"watch" is 121, and must be 10 to 120 seconds`},
		"a watch backwards":           {`"about"`, `"watch": -10, "about"`, `"watch" is -10`},
		"an option called watch":      {`"name": "size"`, `"name": "watch"`, "the option's name watch is taken"},
		"nothing about it":            {`["A foo is a foo."]`, `[]`, `"about"`},
		"an empty paragraph":          {`["A foo is a foo."]`, `["A foo.", ""]`, `"about"`},
		"an option's name":            {`"name": "size"`, `"name": "the size"`, `"the size" is no name`},
		"an option called input":      {`"name": "size"`, `"name": "input"`, "the option's name input is taken"},
		"an option twice":             {`{"name": "size", "label": "Size"}`, `{"name": "size", "label": "Size"}, {"name": "size", "label": "Size"}`, "the option's name size is taken"},
		"an option's label":           {`, "label": "Size"`, ``, `the option size has no "label"`},
		"a label of no value":         {`"label": "Size"`, `"label": "Size", "labels": {"2": "Two"}`, "the option size has no value 2"},
		"a choice with a placeholder": {`"label": "Size"`, `"label": "Size", "placeholder": "1"`, `and so no "placeholder"`},
		"an option of the page alone": {`{"name": "size", "label": "Size"}`, `{"name": "size", "label": "Size"}, {"name": "more", "label": "More"}`, "the tool has no option more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := withTool(t)
			p.replace(t, "page.json", c.old, c.by)
			_, err := p.start()
			holdError(t, err, "gateway/web/assets/tools/foo/page.json: ", c.want)
		})
	}
}

// The pages' scripts and the descriptors name the same kinds of input and of text.
func TestKindsAreThoseOfTheScripts(t *testing.T) {
	t.Parallel()
	body, err := embedded.ReadFile("assets/lib/recognise.js")
	if err != nil {
		t.Fatal(err)
	}
	var inputs []string
	for _, k := range kinds {
		if k != KindNone {
			inputs = append(inputs, string(k))
		}
	}
	for name, want := range map[string][]string{"Meaning": meanings, "InputKind": inputs} {
		if line := `@typedef {"` + strings.Join(want, `" | "`) + `"} ` + name; !strings.Contains(string(body), line) {
			t.Errorf("recognise.js does not say: %s", line)
		}
	}
}
