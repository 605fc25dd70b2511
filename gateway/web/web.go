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
	s.templates, err = template.New("").Funcs(template.FuncMap{"asset": assets.url}).ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("web: templates: %w", err)
	}
	s.describe()
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
}

func (s *site) describe() {
	for _, g := range groups {
		view := groupView{Name: g.Name}
		for _, d := range g.Tools {
			t := toolView{Descriptor: d, Unavailable: s.unavailable(d)}
			s.tools[d.Slug] = t
			view.Tools = append(view.Tools, t)
		}
		s.groups = append(s.groups, view)
	}
}

func (s *site) unavailable(d Descriptor) string {
	switch {
	case slices.Contains(s.config.Disabled, d.Slug):
		return "This tool is switched off here."
	case d.Worker && !s.config.WorkerEnabled:
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
		s.render(w, r, http.StatusOK, "index.html", page{Path: "/", Groups: s.groups})
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
	Canonical   string
	ContactURL  string
	Groups      []groupView
	Tool        *toolView
	Fields      []field
	Input       string
}

// field is an option with the value that the link gave.
type field struct {
	Option
	Value string
}

func (s *site) tool(w http.ResponseWriter, r *http.Request, slug string) {
	t, ok := s.tools[slug]
	if !ok {
		s.notFound(w, r)
		return
	}
	query := r.URL.Query()
	p := page{Title: t.Title, Description: t.Promise, Path: "/tools/" + slug, Tool: &t, Input: query.Get("input")}
	for _, o := range t.Options {
		p.Fields = append(p.Fields, field{Option: o, Value: query.Get(o.Name)})
	}
	s.render(w, r, http.StatusOK, "tool.html", p)
}

func (s *site) report(w http.ResponseWriter, r *http.Request) {
	s.render(w, r, http.StatusOK, "report.html", page{
		Title: "Report", Description: "Run every tool that fits a target, one after another.",
		Path: "/report", Groups: s.groups, Input: r.URL.Query().Get("target"),
	})
}

func (s *site) notFound(w http.ResponseWriter, r *http.Request) {
	s.render(w, r, http.StatusNotFound, "notfound.html", page{Title: "Page not found"})
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
