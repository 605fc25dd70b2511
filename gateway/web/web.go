// Package web is the pages: server-rendered HTML, hand-written modules and styles, all embedded. The pages are the
// API's first user and know no more of the tools than their descriptors say; they must never import tools.
//
// Nothing is inline and nothing comes from elsewhere, so that the Content-Security-Policy can forbid both. What the API
// answers becomes text nodes, never markup.
package web

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"slices"
	"strings"
)

// Config is what the pages need to know of the service.
type Config struct {
	// Tools are all tools that the service has, whether switched on or not. Each has a line in the catalogue and a folder
	// among the assets, and there are no others.
	Tools []Registered
	// Disabled are the slugs that the operator switched off.
	Disabled []string
	// WorkerEnabled reports whether the tools that need the worker may run.
	WorkerEnabled bool
	// ContactURL is linked in the footer where it is set.
	ContactURL string
	// PublicOrigin is the service's own origin, such as "https://tools.example.com", empty where it is not known. An
	// https origin, like a request over TLS, makes the answers carry Strict-Transport-Security.
	PublicOrigin string
	Privacy      Privacy
	// API is what the page on the API shows.
	API API
	// Places are asked for each page, since they change while the service runs; nil for none.
	Places func() Places
}

// Registered is what the pages take from the registry of tools.
type Registered struct {
	Slug string
	// NeedsWorker marks a tool that only runs where the worker is enabled.
	NeedsWorker bool
	Options     []RegisteredOption
	// Parse returns the target of an input with options, and false if the tool does not accept them; nil accepts nothing.
	Parse func(input string, options map[string]json.RawMessage) (Target, bool)
}

// Target is an input that a tool accepts, in its canonical form.
type Target struct {
	// Text is the whole target: a URL, a host with a port, a name, an address or an AS number.
	Text string
	// Host is the target without scheme, port, path and query.
	Host string
}

// RegisteredOption is one option of a tool: its choices, the default first, a whole number, a boolean, or text.
type RegisteredOption struct {
	Name    string
	Values  []string
	Number  bool
	Boolean bool
}

// values are the choices that a form has; false is the usual one of a boolean.
func (o RegisteredOption) values() []string {
	if o.Boolean {
		return []string{"false", "true"}
	}
	return o.Values
}

//go:embed templates/*.html
var templateFiles embed.FS

// What an answer of Serve may have been other than a page.
var (
	// ErrNotFound is a path with nothing at it. It was answered with a page that says so.
	ErrNotFound = errors.New("there is no such page")
	// ErrMethod is a method other than GET and HEAD.
	ErrMethod = errors.New("pages are read with GET and HEAD alone")
)

// Site is all that is not the API: /, /tools/{slug}, /report, /history, /api, /privacy, /robots.txt, /assets/
// and the page for everything unknown.
type Site struct {
	config    Config
	templates *template.Template
	assets    *assets
	groups    []groupView
	tools     map[string]toolView
	// reference is the page on the API.
	reference content
	// limited is the page in place of any other for a client over its limit.
	limited content
}

// New makes the pages. It fails where registry, catalogue and folders do not hold the same tools, or a page cannot be
// made.
func New(c Config) (*Site, error) {
	files, err := ownFiles()
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	s, err := newSite(c, catalogue, files, ownAssets)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return s, nil
}

func newSite(c Config, catalogue []group, files fs.FS, served func() (*assets, error)) (*Site, error) {
	if err := agree(c.Tools, catalogue, files); err != nil {
		return nil, err
	}
	s := &Site{config: c, tools: map[string]toolView{}}
	if err := s.describe(catalogue, files); err != nil {
		return nil, err
	}
	var err error
	if s.assets, err = served(); err != nil {
		return nil, err
	}
	functions := template.FuncMap{
		"asset": s.assets.url, "preload": s.assets.preload, "glyph": s.assets.glyph,
		"paragraphs": paragraphs, "spans": spans, "quoted": quoted,
	}
	s.templates, err = template.New("").Funcs(functions).ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	return s, s.rehearse()
}

// groupView and toolView are descriptors with what this instance makes of them.
type groupView struct {
	Name  string
	Tools []toolView
}

type toolView struct {
	Descriptor
	// Unavailable says why the tool cannot run here, empty where it can.
	Unavailable string
	group       string
	// probes reports whether the worker runs a tool.
	probes bool
	// parse is Registered.Parse, never nil.
	parse func(string, map[string]json.RawMessage) (Target, bool)
	// modules are its verdict and its view.
	modules []string
	styles  []string
}

// Sheet is the stylesheet of the tool's view, empty where it has none: the report loads it as a card is opened.
func (t toolView) Sheet() string {
	if sheet := toolFile(t.Slug, styleFile); slices.Contains(t.styles, sheet) {
		return sheet
	}
	return ""
}

// describe makes the views of all tools, in the order of the catalogue.
func (s *Site) describe(catalogue []group, files fs.FS) error {
	registered := map[string]Registered{}
	for _, r := range s.config.Tools {
		registered[r.Slug] = r
	}
	for _, g := range catalogue {
		view := groupView{Name: g.name}
		for _, slug := range g.slugs {
			d, err := readDescriptor(files, slug)
			if err != nil {
				return err
			}
			if err := watchable(files, d); err != nil {
				return err
			}
			if err := d.accept(registered[slug].Options); err != nil {
				return err
			}
			s.tools[slug] = s.toolView(g.name, d, registered[slug], files)
			view.Tools = append(view.Tools, s.tools[slug])
		}
		s.groups = append(s.groups, view)
	}
	return nil
}

func (s *Site) toolView(group string, d Descriptor, r Registered, files fs.FS) toolView {
	t := toolView{
		Descriptor: d, Unavailable: s.unavailable(r), group: group, probes: r.NeedsWorker, parse: r.Parse,
		modules: []string{judges, toolFile(d.Slug, viewFile)}, styles: []string{"site.css"},
	}
	if t.parse == nil {
		t.parse = func(string, map[string]json.RawMessage) (Target, bool) { return Target{}, false }
	}
	if d.Samples != "" {
		t.styles = append(t.styles, "vendor/uplot/uPlot.min.css", "connection.css")
	}
	if d.Watch > 0 {
		t.styles = append(t.styles, "watch.css")
	}
	if style := toolFile(d.Slug, styleFile); exists(files, style) {
		t.styles = append(t.styles, style)
	}
	return t
}

func (s *Site) unavailable(r Registered) string {
	switch {
	case slices.Contains(s.config.Disabled, r.Slug):
		return "This tool is switched off here."
	case r.NeedsWorker && !s.config.WorkerEnabled:
		return "This tool needs the diagnostics worker, which is not enabled here."
	}
	return ""
}

// Serve answers one request, whatever comes of it. The error is for the log: ErrNotFound, ErrMethod, or why a page
// could not be made, which was answered with 500.
func (s *Site) Serve(w http.ResponseWriter, r *http.Request) error {
	s.setHeaders(w.Header(), r)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "Only GET and HEAD are allowed here.", http.StatusMethodNotAllowed)
		return ErrMethod
	}
	path := r.URL.Path
	switch {
	case path == "/":
		return s.render(w, r, http.StatusOK, s.home())
	case path == "/report":
		return s.render(w, r, http.StatusOK, s.report(r.URL.Query(), isForeign(r)))
	case path == "/history":
		return s.render(w, r, http.StatusOK, s.history())
	case path == "/api":
		keepOutOfIndexes(w, r)
		serve(w, r, s.reference)
		return nil
	case path == "/privacy":
		return s.render(w, r, http.StatusOK, s.privacy())
	case path == "/robots.txt":
		serve(w, r, content{kind: "text/plain; charset=utf-8", cache: "public, max-age=3600", body: []byte(robots)})
		return nil
	case strings.HasPrefix(path, assetPrefix):
		return s.asset(w, r)
	default:
		return s.toolOrNothing(w, r)
	}
}

// ServeLimited answers with 429 and a page that says why. The page is made once, so it costs less than the one that it
// replaces.
func (s *Site) ServeLimited(w http.ResponseWriter, r *http.Request) {
	s.setHeaders(w.Header(), r)
	keepOutOfIndexes(w, r)
	serve(w, r, s.limited)
}

// toolOrNothing answers a path that is a tool's, or nothing at all.
func (s *Site) toolOrNothing(w http.ResponseWriter, r *http.Request) error {
	slug, under := strings.CutPrefix(r.URL.Path, "/tools/")
	t, known := s.tools[slug]
	if !under || !known {
		return s.notFound(w, r)
	}
	p := s.tool(t, r.URL.Query(), isForeign(r))
	p.Starts = p.Starts && isOwn(r)
	return s.render(w, r, http.StatusOK, p)
}

const headerFetchSite = "Sec-Fetch-Site"

// isForeign reports whether another site's link or script opened a page. Such a page must not send packets, or a dozen
// requests, to a host of that site's choice in the visitor's name: it waits for a click. Browsers that do not say where
// a request comes from run it as ever.
func isForeign(r *http.Request) bool {
	return slices.Contains(r.Header.Values(headerFetchSite), "cross-site")
}

// isOwn reports whether the browser says that no other site opened a page. A watch starts by itself there alone: where
// the header is missing it waits for a click, too.
func isOwn(r *http.Request) bool {
	from := r.Header.Values(headerFetchSite)
	return len(from) == 1 && slices.Contains([]string{"none", "same-origin", "same-site"}, from[0])
}

// Filled-in links run a tool: a crawler that followed them would spend our visitors' limits and other people's servers.
const robots = `User-agent: *
Disallow: /*?
Disallow: /report?target
Allow: /
`
