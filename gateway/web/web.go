// Package web is the pages: server-rendered HTML, hand-written modules and styles, all embedded. The pages are the API's
// first user and know no more of the tools than their descriptors say; they must never import tools.
//
// Nothing is inline and nothing comes from elsewhere, so that the Content-Security-Policy can forbid both. What the API
// answers becomes text nodes, never markup.
package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
)

// Config is what the pages need to know of the service.
type Config struct {
	// Tools are all tools that the service has, whether switched on or not. Each has a descriptor here, and a verdict and a
	// view among the assets, and there are no others.
	Tools []Registered
	// Disabled are the slugs that the operator switched off.
	Disabled []string
	// WorkerEnabled tells whether the tools that need the worker may run.
	WorkerEnabled bool
	// ContactURL is linked in the footer where it is set.
	ContactURL string
	// PublicOrigin is the service's own origin, such as "https://tools.example.com", empty where it is not known. An
	// https origin, like a request over TLS, makes the answers carry Strict-Transport-Security.
	PublicOrigin string
}

// Registered is what the pages take from the registry of tools.
type Registered struct {
	Slug string
	// NeedsWorker marks a tool that only runs where the worker is enabled.
	NeedsWorker bool
}

//go:embed templates/*.html
var templateFiles embed.FS

// site serves the pages.
type site struct {
	config    Config
	templates *template.Template
	assets    *assets
	groups    []groupView
	tools     map[string]toolView
}

// New makes the handler of all that is not the API: /, /tools/{slug}, /report, /robots.txt, /assets/ and the page for
// everything unknown. It answers GET and HEAD.
func New(c Config) (http.Handler, error) {
	assets, err := loadAssets()
	if err != nil {
		return nil, fmt.Errorf("web: assets: %w", err)
	}
	s := &site{config: c, assets: assets, tools: map[string]toolView{}}
	functions := template.FuncMap{"asset": assets.url, "preload": assets.preload, "glyph": assets.glyph}
	s.templates, err = template.New("").Funcs(functions).ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("web: templates: %w", err)
	}
	if err := s.describe(); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return s, nil
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
	// modules are its verdict and its view.
	modules []string
	styles  []string
}

// describe joins the registry, the descriptors and the views; none of them may know a tool that another does not.
func (s *site) describe() error {
	registered := map[string]Registered{}
	for _, r := range s.config.Tools {
		registered[r.Slug] = r
	}
	for _, g := range groups {
		view := groupView{Name: g.Name}
		for _, d := range g.Tools {
			r, ok := registered[d.Slug]
			if !ok {
				return fmt.Errorf("%s has a descriptor and is no tool", d.Slug)
			}
			t, err := s.toolView(g.Name, d, r)
			if err != nil {
				return err
			}
			s.tools[d.Slug] = t
			view.Tools = append(view.Tools, t)
		}
		s.groups = append(s.groups, view)
	}
	for slug := range registered {
		if _, ok := s.tools[slug]; !ok {
			return fmt.Errorf("the tool %s has no descriptor", slug)
		}
	}
	return nil
}

func (s *site) toolView(group string, d Descriptor, r Registered) (toolView, error) {
	t := toolView{
		Descriptor: d, Unavailable: s.unavailable(r), group: group,
		modules: []string{toolFile(d.Slug, "verdict.js"), toolFile(d.Slug, "view.js")}, styles: []string{"site.css"},
	}
	for _, module := range t.modules {
		if !s.assets.has(module) {
			return t, fmt.Errorf("the tool %s has no %s", d.Slug, module)
		}
	}
	if d.Samples != "" {
		t.styles = append(t.styles, "vendor/uplot/uPlot.min.css", "connection.css")
	}
	if style := toolFile(d.Slug, "view.css"); s.assets.has(style) {
		t.styles = append(t.styles, style)
	}
	return t, nil
}

// toolFile is the name of one of a tool's own files among the assets.
func toolFile(slug, name string) string { return "tools/" + slug + "/" + name }

func (s *site) unavailable(r Registered) string {
	switch {
	case slices.Contains(s.config.Disabled, r.Slug):
		return "This tool is switched off here."
	case r.NeedsWorker && !s.config.WorkerEnabled:
		return "This tool needs the diagnostics worker, which is not enabled here."
	}
	return ""
}

// ServeHTTP routes one request.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.setHeaders(w.Header(), r)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "Only GET and HEAD are allowed here.", http.StatusMethodNotAllowed)
		return
	}
	path := r.URL.Path
	switch {
	case path == "/":
		s.home(w, r)
	case path == "/report":
		s.report(w, r)
	case path == "/robots.txt":
		serve(w, r, content{kind: "text/plain; charset=utf-8", cache: "public, max-age=3600", body: []byte(robots)})
	case strings.HasPrefix(path, assetPrefix):
		s.asset(w, r)
	case strings.HasPrefix(path, "/tools/"):
		s.tool(w, r, strings.TrimPrefix(path, "/tools/"))
	default:
		s.notFound(w, r)
	}
}

// Filled-in links run a tool: a crawler that followed them would spend our visitors' limits and other people's servers.
const robots = `User-agent: *
Disallow: /*?
Disallow: /report?target
Allow: /
`

// page is what every template gets.
type page struct {
	Title       string
	Description string
	Path        string
	Icon        string
	Styles      []string
	// Modules are the page's own; Later are those that it loads by itself.
	Modules    []string
	Later      []string
	Canonical  string
	ContactURL string
	Groups     []groupView
	Group      string
	Tool       *toolView
	Fields     []field
	Input      string
}

// field is an option with the value that the link gave.
type field struct {
	Option
	Value string
}

func (s *site) home(w http.ResponseWriter, r *http.Request) {
	s.render(w, r, http.StatusOK, "index.html", page{
		Description: "Check a domain, a website, an address or a connection: DNS, TLS, mail, headers, ports, routes and more, each in one request.",
		Path:        "/", Icon: "icons/site.svg", Groups: s.groups,
		Styles: []string{"site.css", "home.css"}, Modules: []string{"pages/site.js", "pages/home.js"},
	})
}

func (s *site) tool(w http.ResponseWriter, r *http.Request, slug string) {
	t, ok := s.tools[slug]
	if !ok {
		s.notFound(w, r)
		return
	}
	query := r.URL.Query()
	p := page{
		Title: t.Title, Description: t.Promise, Path: "/tools/" + slug, Icon: "icons/" + slug + ".svg", Group: t.group,
		Tool: &t, Input: query.Get("input"),
		Styles: t.styles, Modules: []string{"pages/site.js", "pages/tool.js"}, Later: t.modules,
	}
	if t.Samples != "" {
		p.Modules = append(p.Modules, "pages/connection.js")
	}
	for _, o := range t.Options {
		p.Fields = append(p.Fields, field{Option: o, Value: query.Get(o.Name)})
	}
	s.render(w, r, http.StatusOK, "tool.html", p)
}

func (s *site) report(w http.ResponseWriter, r *http.Request) {
	s.render(w, r, http.StatusOK, "report.html", page{
		Title: "Report", Description: "Run every check that fits a domain, a website or an address, and see what deserves attention.",
		Path: "/report", Icon: "icons/report.svg", Groups: s.groups, Input: r.URL.Query().Get("target"),
		Styles: []string{"site.css", "report.css"}, Modules: []string{"pages/site.js", "pages/report.js"},
	})
}

func (s *site) notFound(w http.ResponseWriter, r *http.Request) {
	s.render(w, r, http.StatusNotFound, "notfound.html", page{
		Title: "Page not found", Icon: "icons/site.svg", Styles: []string{"site.css"}, Modules: []string{"pages/site.js"},
	})
}

// render writes a page, from a buffer: a template that fails half-way must not look like a page.
func (s *site) render(w http.ResponseWriter, r *http.Request, status int, name string, p page) {
	p.ContactURL = s.config.ContactURL
	if s.config.PublicOrigin != "" && p.Path != "" {
		p.Canonical = s.config.PublicOrigin + p.Path
	}
	var body bytes.Buffer
	if err := s.templates.ExecuteTemplate(&body, name, p); err != nil {
		http.Error(w, "This page could not be made.", http.StatusInternalServerError)
		return
	}
	if r.URL.RawQuery != "" {
		w.Header().Set("X-Robots-Tag", "noindex, nofollow")
	}
	serve(w, r, content{status: status, kind: "text/html; charset=utf-8", cache: "no-cache", body: body.Bytes()})
}
