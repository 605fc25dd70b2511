package web

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// page is what every template gets.
type page struct {
	template    string
	Title       string
	Description string
	Path        string
	Icon        string
	Styles      []string
	// Modules are the page's own; Later are those that it loads by itself.
	Modules   []string
	Later     []string
	Canonical string
	// Picture is the address of the picture that other sites show beside a link, which must be whole; empty where this
	// service does not know its own.
	Picture    string
	ContactURL string
	Groups     []groupView
	Group      string
	Tool       *toolView
	// Nearest is the tool that an unknown path may mean, nil for none.
	Nearest *toolView
	Fields  []field
	Input   string
	// Waits reports that the page came by another site's link and asks for a click before it runs anything.
	Waits bool
	// Starts reports that a link with "watch" may start the watch by itself.
	Starts bool
	// Asked reports that the page has a target and runs at once: its form is one line.
	Asked bool
	// Heading names the target of a page that is asked, nil if no tool accepts it.
	Heading *heading
	// Second is the option of the second request; empty for none, as on a page that another site's link opened.
	Second string
	// Sampling reports that the link is about the browser's own samples, not about the host field.
	Sampling bool
	// Refused reports that the tool does not accept the link's target with its options. The options are in view then,
	// before the answer says which.
	Refused bool
	// Curl is the request of the link, nil where there is none.
	Curl *curlView
	// Places is the choice of a place, nil where there is but one.
	Places *placesView
	// vary is the request header that the page depends on, empty for none.
	vary string
	// Privacy is nil but on the page on privacy, API but on the page on the API.
	Privacy *privacyView
	API     *apiView
}

// field is an option with the value that the link gave.
type field struct {
	Option
	Value string
}

// chosen is the value of an option that the link sets, as the form has it; empty for the usual one.
func (f field) chosen() string {
	if len(f.Values) == 0 {
		return strings.TrimSpace(f.Value)
	}
	for _, c := range f.Values[1:] {
		if c.Value == f.Value {
			return c.Label
		}
	}
	return ""
}

// Set are the options that the link sets, in words: those of a page that is asked are folded away.
func (p page) Set() string {
	var set []string
	for _, f := range p.Fields {
		if chosen := f.chosen(); chosen != "" {
			set = append(set, f.Label+" "+chosen)
		}
	}
	if p.Places != nil && p.Places.Label() != "" {
		set = append(set, p.Places.Label())
	}
	return strings.Join(set, ", ")
}

// judges is the module of what each tool's answer is compared by.
const judges = "lib/judges.js"

func (s *Site) home() page {
	return page{
		template: "index.html", Path: "/", Icon: tabIconName("site"), Groups: s.groups,
		Description: "Check a domain, a website, an address or a connection: DNS, TLS, mail, headers, ports, routes and " +
			"more, each in one request.",
		Styles: []string{"site.css", "home.css"}, Modules: []string{"pages/site.js", "pages/home.js"},
	}
}

func (s *Site) report(query url.Values, foreign bool) page {
	p := page{
		template: "report.html", Path: "/report", Icon: tabIconName("report"), Groups: s.groups, Title: "Report",
		Description: "Run every check that applies to a domain, a website or an address, and see what needs attention first.",
		Styles:      []string{"site.css", "cards.css", "report.css"}, Modules: []string{"pages/site.js", "pages/report.js"},
		Input: query.Get("target"), Waits: foreign && query.Get("target") != "", vary: headerFetchSite,
		Places: s.placesFor("", query),
	}
	if p.Places != nil {
		p.Styles = append(p.Styles, "places.css")
	}
	target, accepted := s.reportTarget(p.Input)
	// A sentence is no target: the page of a report would give way to the form once the script finds none in it.
	p.Asked = (accepted || len(strings.Fields(p.Input)) == 1) && !p.Waits
	if p.Asked {
		p.Later = []string{"lib/report-parts.js", judges}
		p.name(target, accepted)
	}
	return p
}

// reportTarget returns the target of a report: as a tool reads it, but with no port that the visitor has not typed.
func (s *Site) reportTarget(input string) (Target, bool) {
	for _, g := range s.groups {
		for _, t := range g.Tools {
			if t.Kind == KindTLSHost {
				continue
			}
			if target, accepted := t.parse(input, nil); accepted && target.Text != "" {
				return target, true
			}
		}
	}
	return Target{}, false
}

func (s *Site) tool(t toolView, query url.Values, foreign bool) page {
	p := page{
		template: "tool.html", Path: "/tools/" + t.Slug, Icon: tabIconName(t.Slug), Title: t.Title, Description: t.Promise,
		Groups: s.groups, Group: t.group, Tool: &t, Input: query.Get("input"),
		Styles: t.styles, Modules: []string{"pages/site.js", "pages/tool.js"},
		Later: append([]string{"lib/answer.js"}, t.modules...),
	}
	if t.Kind != KindNone {
		p.Places = s.placesFor(t.Slug, query)
	}
	all := p.Places != nil && p.Places.All()
	p.Starts = t.Watch > 0 && query.Has("watch")
	if t.probes || all || p.Starts {
		p.Waits, p.vary = foreign && p.Input != "" && t.Unavailable == "", headerFetchSite
	}
	if p.Places != nil {
		p.Styles = append(slices.Clone(p.Styles), "cards.css", "places.css")
	}
	if all {
		p.Later = []string{"lib/places.js", judges}
	}
	p.Asked = strings.TrimSpace(p.Input) != "" && t.Label != "" && !p.Waits
	if p.Asked {
		target, accepted := t.parse(p.Input, nil)
		if t.Kind == KindTLSHost {
			target.Text = strings.TrimSuffix(target.Text, ":443")
		}
		p.name(target, accepted)
	}
	if t.Samples != "" {
		p.Modules = append(p.Modules, "pages/connection.js")
		p.Sampling = p.Input == "" && t.Unavailable == "" && (query.Has("rate") || query.Has("seconds"))
	}
	if !p.Asked && t.Label != "" {
		p.Later = nil // a form is usable the sooner, and what draws answers is fetched while it is filled in
	}
	for _, o := range t.Options {
		if o.Second {
			p.vary = headerFetchSite
			if !foreign { // another site's link does not make a page send more than its own request
				p.Second = o.Name
			}
			continue
		}
		p.Fields = append(p.Fields, field{Option: o, Value: query.Get(o.Name)})
	}
	if t.Unavailable == "" {
		p.Curl = s.curl(t, p)
	}
	input, given := p.request()
	if p.Asked && len(given) > 0 {
		_, accepted := t.parse(input, given)
		p.Refused = !accepted
	}
	return p
}

// heading is a target as a heading shows it: assets/lib/heading.js makes the same of one that is typed in later.
type heading struct {
	// Text is the target up to its path.
	Text string
	// Path is the path and query of a URL, shortened; empty for "/".
	Path string
}

// longestPath is how many characters of a path and query a heading has at most.
const longestPath = 32

// name makes an accepted target the heading, and its host the title, which distinguishes tabs. A text that a tool does
// not accept is neither: a stranger's link would put its words at the head of a page of ours.
func (p *page) name(target Target, accepted bool) {
	if !accepted {
		return
	}
	p.Title = target.Host + " · " + p.Title
	p.Heading = &heading{Text: target.Text}
	scheme, rest, isURL := strings.Cut(target.Text, "://")
	if !isURL {
		return
	}
	authority, path, _ := strings.Cut(rest, "/")
	p.Heading.Text = scheme + "://" + authority
	if path != "" {
		p.Heading.Path = "/" + path
	}
	if len(p.Heading.Path) > longestPath {
		p.Heading.Path = p.Heading.Path[:longestPath] + "…"
	}
}

func (s *Site) history() page {
	return page{
		template: "history.html", Path: "/history", Icon: tabIconName("site"), Groups: s.groups, Title: "History",
		Description: "Checks you ran in this browser, with what changed. Nothing here leaves your browser.",
		Styles:      []string{"site.css", "history.css"}, Modules: []string{"pages/site.js", "pages/history.js"},
	}
}

// missing is the page for a path with nothing at it: the front page's field and tools, and the tool that is nearest.
func (s *Site) missing(path string) page {
	p := s.home()
	p.template, p.Path, p.Title, p.Nearest = "notfound.html", "", "Page not found", s.nearest(path)
	return p
}

// rehearse makes every page once, those with a target too, so that a module that is not there stops the start and not a
// visitor.
func (s *Site) rehearse() error {
	all := []page{
		s.home(), s.report(nil, true), s.report(url.Values{"target": {"example.com"}}, false), s.history(), s.privacy(),
		s.missing("/pin"),
	}
	for _, t := range s.tools {
		all = append(all, s.tool(t, nil, true), s.tool(t, url.Values{"input": {"example.com"}}, false))
	}
	placed := *s // what pages with places are made of must be there before there are any
	placed.config.Places = func() Places { return Places{Place{"a", "A"}, []Place{{"b", "B"}}} }
	all = append(all, placed.report(nil, true),
		placed.tool(s.groups[0].Tools[0], url.Values{"input": {"example.com"}, "place": {everywhere}}, false))
	for _, p := range all {
		if _, err := s.markup(p); err != nil {
			return err
		}
	}
	limited, err := s.markup(page{
		template: "limited.html", Icon: tabIconName("site"), Title: "Too many requests",
		Styles: []string{"site.css"}, Modules: []string{"pages/site.js"},
	})
	if err != nil {
		return err
	}
	s.limited = content{status: http.StatusTooManyRequests, kind: htmlKind, cache: "no-store", body: limited,
		zipped: compressOnce(limited)}
	return s.makeReference()
}

// markup gives a page's HTML, whole: a template that fails half-way must not look like a page.
func (s *Site) markup(p page) ([]byte, error) {
	p.ContactURL = s.config.ContactURL
	if s.config.PublicOrigin != "" && p.Path != "" {
		p.Canonical = s.config.PublicOrigin + p.Path
		picture, err := s.assets.url("shared-link.png")
		if err != nil {
			return nil, err
		}
		p.Picture = s.config.PublicOrigin + picture
	}
	var body bytes.Buffer
	if err := s.templates.ExecuteTemplate(&body, p.template, p); err != nil {
		return nil, fmt.Errorf("page %q: %w", p.Path, err)
	}
	return body.Bytes(), nil
}

func (s *Site) notFound(w http.ResponseWriter, r *http.Request) error {
	if err := s.render(w, r, http.StatusNotFound, s.missing(r.URL.Path)); err != nil {
		return err
	}
	return ErrNotFound
}

// render answers with a page.
func (s *Site) render(w http.ResponseWriter, r *http.Request, status int, p page) error {
	body, err := s.markup(p)
	if err != nil {
		http.Error(w, "This page could not be made.", http.StatusInternalServerError)
		return err
	}
	keepOutOfIndexes(w, r)
	serve(w, r, content{status: status, kind: htmlKind, cache: pageCache, body: body, vary: p.vary})
	return nil
}

const (
	htmlKind  = "text/html; charset=utf-8"
	pageCache = "no-cache"
)

// keepOutOfIndexes asks search engines to leave out what has a query.
func keepOutOfIndexes(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawQuery != "" {
		w.Header().Set("X-Robots-Tag", "noindex, nofollow")
	}
}
