package web_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"diagnostics/gateway/web"

	"golang.org/x/net/html"
)

func everything() web.Config {
	return web.Config{Tools: registry(), WorkerEnabled: true, API: described()}
}

// accepting makes every tool accept URLs and names that are in the canonical form.
func accepting(c web.Config) web.Config {
	accepted := regexp.MustCompile(`^(?:https://)?([a-z0-9.-]+\.[a-z]+)(?:/\S*)?$`)
	for i := range c.Tools {
		c.Tools[i].Parse = func(input string, _ map[string]json.RawMessage) (web.Target, bool) {
			found := accepted.FindStringSubmatch(input)
			if found == nil {
				return web.Target{}, false
			}
			return web.Target{Text: input, Host: found[1]}, true
		}
	}
	return c
}

// described is a description of all tools that have a folder.
func described() web.API {
	api := web.API{
		Tools:    map[string]web.APITool{},
		Others:   []web.APIRoute{{Method: "GET", Path: "/healthz", Summary: "Whether it lives", Statuses: []string{"200"}}},
		Statuses: []web.APIField{{Name: "200", Type: "OK", Text: "The result."}},
		Headers:  []web.APIField{{Name: "Retry-After", Text: "Whole seconds."}},
	}
	inside := []web.APIField{{Name: "list[].one", Type: "string"}}
	for _, slug := range slugs {
		api.Tools[slug] = web.APITool{
			Summary: "Sum up " + slug, Text: "It asks `" + slug + "`.\n\nThen it answers.", Input: "A name.",
			Options:  []web.APIField{{Name: "kind", Type: "string", Values: []string{"a", "b"}, Default: "a"}},
			Request:  `{"input":"it's ` + slug + `"}`,
			Others:   []web.APIExample{{Text: "the other kind", Request: `{"input":"x","options":{"kind":"b"}}`}},
			Result:   []web.APIField{{Name: "list", Type: "array of objects", Fields: inside}},
			Steps:    []web.APIStep{{Kind: "stage", Text: "What it does.", Fields: []string{"stage"}}},
			Statuses: []string{"200"},
		}
	}
	return api
}

// slugs are the tools that have a folder.
var slugs = func() []string {
	folders, err := os.ReadDir("assets/tools")
	if err != nil {
		panic(err)
	}
	var all []string
	for _, folder := range folders {
		all = append(all, folder.Name())
	}
	return all
}()

// registered are the tools of all pages, by slug.
var registered = func() map[string]web.Registered {
	all := map[string]web.Registered{}
	for _, d := range web.Descriptors() {
		all[d.Slug] = web.RegisteredOf(d)
	}
	return all
}()

// registry is a registry of all tools that have a folder, the named ones with a need of the worker.
func registry(worker ...string) []web.Registered {
	var all []web.Registered
	for _, slug := range slugs {
		r := registered[slug]
		r.NeedsWorker = slices.Contains(worker, slug)
		all = append(all, r)
	}
	return all
}

func newSite(t *testing.T, c web.Config) http.Handler {
	t.Helper()
	s, err := web.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return handler(s)
}

// whole is one site with everything, for all tests that only look at it: making one compresses every asset.
var whole = sync.OnceValues(func() (*web.Site, error) { return web.New(everything()) })

func wholeSite(t *testing.T) http.Handler {
	t.Helper()
	s, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	return handler(s)
}

func handler(s *web.Site) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _ = s.Serve(w, r) })
}

type header map[string]string

func get(t *testing.T, h http.Handler, target string, headers ...header) *http.Response {
	t.Helper()
	return do(t, h, http.MethodGet, target, headers...)
}

func do(t *testing.T, h http.Handler, method, target string, headers ...header) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for _, set := range headers {
		for name, value := range set {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func document(t *testing.T, h http.Handler, target string) *html.Node {
	t.Helper()
	root, err := html.Parse(get(t, h, target).Body)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// all gives the elements of the tag ("" for any) whose attributes have these values; "*" is any value.
func all(root *html.Node, tag string, attributes header) []*html.Node {
	var found []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && (tag == "" || n.Data == tag) && hasAll(n, attributes) {
			found = append(found, n)
		}
	}
	return found
}

func hasAll(n *html.Node, attributes header) bool {
	for name, want := range attributes {
		if got, ok := attribute(n, name); !ok || want != "*" && got != want {
			return false
		}
	}
	return true
}

func attribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func one(t *testing.T, root *html.Node, tag string, attributes header) *html.Node {
	t.Helper()
	found := all(root, tag, attributes)
	if len(found) != 1 {
		t.Fatalf("%d elements <%s %v>, want one", len(found), tag, attributes)
	}
	return found[0]
}

func content(n *html.Node) string {
	var out strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			out.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(out.String())
}

func TestFrontPageListsTheTools(t *testing.T) {
	t.Parallel()
	root := document(t, wholeSite(t), "/")
	for _, d := range web.Descriptors() {
		link := one(t, root, "a", header{"href": "/tools/" + d.Slug})
		if content(link) != d.Title {
			t.Errorf("%s is called %q", d.Slug, content(link))
		}
	}
	if n := len(all(root, "section", header{"class": "group"})); n < 4 {
		t.Errorf("%d groups", n)
	}
}

func TestToolPages(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	for _, d := range web.Descriptors() {
		t.Run(d.Slug, func(t *testing.T) {
			t.Parallel()
			root := document(t, site, "/tools/"+d.Slug)
			if h1 := content(one(t, root, "h1", nil)); h1 != d.Title {
				t.Errorf("h1 is %q", h1)
			}
			form := one(t, root, "form", header{"id": "tool", "data-slug": d.Slug, "action": "/tools/" + d.Slug})
			inputs := all(form, "input", header{"name": "input"})
			if (d.Kind == web.KindNone) != (len(inputs) == 0) {
				t.Errorf("%d inputs for kind %s", len(inputs), d.Kind)
			}
			if kind, _ := attribute(form, "data-kind"); kind != string(d.Kind) {
				t.Errorf("the form takes %s", kind)
			}
			for _, o := range d.Options {
				if o.Second { // no field
					one(t, root, "form", header{"id": "tool", "data-second": o.Name})
					continue
				}
				one(t, form, "", header{"name": o.Name, "data-option": "*"})
			}
			sampled := len(all(root, "section", header{"id": "connection", "data-probe": d.Samples})) == 1
			if sampled != (d.Samples != "") {
				t.Errorf("samples the connection: %t", sampled)
			}
			if !strings.Contains(content(one(t, root, "noscript", nil)), "needs JavaScript") {
				t.Error("without JavaScript the page does not say what it needs")
			}
			one(t, root, "", header{"id": "status"})
			one(t, root, "link", header{"rel": "icon", "href": assetURL(t, site, "icons/"+d.Slug+".svg")})
			// What draws answers waits for a target: a form is usable the sooner.
			view := header{"rel": "modulepreload", "href": assetURL(t, site, "tools/"+d.Slug+"/view.js")}
			one(t, document(t, site, "/tools/"+d.Slug+"?input=example.com"), "link", view)
			if early := len(all(root, "link", view)); (early == 1) != (d.Kind == web.KindNone) {
				t.Errorf("without a target the view is fetched early: %d", early)
			}
			if content(one(t, root, "title", nil)) != d.Title+" · Network diagnostics" {
				t.Errorf("title %q", content(one(t, root, "title", nil)))
			}
			one(t, root, "meta", header{"name": "description", "content": d.Promise})
		})
	}
}

// Every page: labels for all fields, no id twice, every id that is pointed to is there, nothing inline, nothing
// external.
func TestPagesAreWellMade(t *testing.T) {
	t.Parallel()
	config := everything()
	config.ContactURL = "https://contact.example.org/"
	site := newSite(t, config)
	paths := []string{"/", "/report", "/history", "/api", "/privacy", "/nothing-here", "/report?target=example.com"}
	for _, slug := range slugs {
		paths = append(paths, "/tools/"+slug)
	}
	for _, path := range paths {
		root := document(t, site, path)
		ids := map[string]bool{}
		for _, n := range all(root, "", header{"id": "*"}) {
			id, _ := attribute(n, "id")
			if ids[id] {
				t.Errorf("%s: id %s twice", path, id)
			}
			ids[id] = true
		}
		for n := range root.Descendants() {
			if n.Type == html.ElementNode {
				checkElement(t, path, root, n, ids)
			}
		}
		one(t, root, "html", header{"lang": "en"})
		one(t, root, "h1", nil)
		one(t, root, "main", header{"id": "main"})
		one(t, root, "a", header{"class": "skip", "href": "#main"})
		one(t, root, "p", header{"id": "live", "role": "status"})
		one(t, root, "a", header{"href": config.ContactURL})
	}
}

func checkElement(t *testing.T, path string, root, n *html.Node, ids map[string]bool) {
	t.Helper()
	for _, a := range n.Attr {
		if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
			t.Errorf("%s: inline %s on <%s>", path, a.Key, n.Data)
		}
		if a.Key == "aria-describedby" || a.Key == "aria-labelledby" || a.Key == "for" {
			for id := range strings.FieldsSeq(a.Val) {
				if !ids[id] {
					t.Errorf("%s: %s=%q names an id that is not there", path, a.Key, a.Val)
				}
			}
		}
	}
	switch n.Data {
	case "style":
		t.Errorf("%s: inline style", path)
	case "script":
		src, _ := attribute(n, "src")
		kind, _ := attribute(n, "type")
		// Modules run after the first paint; only the theme must not.
		early := kind == "" && (strings.HasSuffix(src, "/theme.js") || strings.HasSuffix(src, ".iife.min.js"))
		if content(n) != "" || !strings.HasPrefix(src, "/assets/") || kind != "module" && !early {
			t.Errorf("%s: script src=%q type=%q with %q inside", path, src, kind, content(n))
		}
	case "link":
		href, _ := attribute(n, "href")
		rel, _ := attribute(n, "rel")
		awaited := rel == "expect" && ids[strings.TrimPrefix(href, "#")]
		if !strings.HasPrefix(href, "/assets/") && !awaited {
			t.Errorf("%s: link to %q", path, href)
		}
	case "input", "select":
		id, _ := attribute(n, "id")
		if n.Parent.Data != "label" && len(all(root, "label", header{"for": id})) != 1 {
			t.Errorf("%s: <%s id=%q> has no label", path, n.Data, id)
		}
	case "img", "iframe", "object", "embed", "base":
		t.Errorf("%s: <%s>", path, n.Data)
	}
}

func TestLinksFillTheForm(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	root := document(t, site, "/tools/dns-resolver-check?input=example.org&recordType=MX")
	one(t, root, "input", header{"name": "input", "value": "example.org"})
	if v, _ := attribute(one(t, root, "option", header{"selected": ""}), "value"); v != "MX" {
		t.Errorf("selected %s", v)
	}
	root = document(t, site, "/tools/dns-resolver-check?input=example.org&recordType=BOGUS")
	if n := len(all(root, "option", header{"selected": "*"})); n != 0 {
		t.Errorf("%d options selected for a value that is none", n)
	}
	root = document(t, site, "/tools/email-dns-health?input=a&dkimSelector=s1")
	one(t, root, "input", header{"name": "dkimSelector", "value": "s1"})
	root = document(t, site, "/report?target=example.net")
	one(t, root, "input", header{"name": "target", "value": "example.net"})
	for query, want := range map[string]string{"&mtu=true": "true", "&mtu=false": "false", "&mtu=1": "", "": ""} {
		root = document(t, site, "/tools/traceroute?input=a"+query)
		choice := one(t, root, "select", header{"name": "mtu", "data-boolean": "", "aria-describedby": "mtu-hint mtu-error"})
		selected := ""
		for _, o := range all(choice, "option", header{"selected": ""}) {
			selected, _ = attribute(o, "value")
		}
		if n := len(all(choice, "option", header{})); n != 2 || selected != want {
			t.Errorf("%s: %d options, %q selected", query, n, selected)
		}
	}
}

func TestHostileLinksStayText(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	hostile := []string{
		`"><script>alert(1)</script>`, `' onfocus=alert(1) autofocus '`, `</input><img src=x onerror=alert(1)>`, `{{.Title}}`, "\x00\xff\xfe",
		`<!--`, `]]>`, `javascript:alert(1)`, strings.Repeat("A", 20_000), "\u202egnp.exe", "a\r\nSet-Cookie: x=y",
	}
	clean := len(all(document(t, site, "/tools/email-dns-health?input=example.com"), "", nil))
	cleanReport := len(all(document(t, site, "/report?target=example.com"), "", nil))
	cleanForm := len(all(document(t, site, "/report"), "", nil)) // of several words no report begins
	for _, h := range hostile {
		root := document(t, site, "/tools/email-dns-health?"+url.Values{"input": {h}, "dkimSelector": {h}}.Encode())
		if n := len(all(root, "", nil)); n != clean {
			t.Errorf("%.40q makes %d elements out of %d", h, n, clean)
		}
		value, _ := attribute(one(t, root, "input", header{"name": "input"}), "value")
		if utf8.ValidString(h) && !strings.ContainsAny(h, "\x00\r") && value != h {
			t.Errorf("%.40q became %.40q", h, value)
		}
		report := document(t, site, "/report?"+url.Values{"target": {h}}.Encode())
		want := cleanReport
		if len(strings.Fields(h)) > 1 {
			want = cleanForm
		}
		if n := len(all(report, "", nil)); n != want {
			t.Errorf("report: %.40q makes %d elements out of %d", h, n, want)
		}
	}
	for _, path := range []string{
		"/tools/x%22%3E%3Cscript%3E", "/%3Cscript%3Ealert(1)%3C/script%3E", "/tools/../../etc/passwd",
		"/tools/dns-lookup?%zz", "/tools/%00",
	} {
		if body := text(t, get(t, site, path)); strings.Contains(body, "<script>") || strings.Contains(body, "alert(1)") {
			t.Errorf("%s comes back", path)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	asset := assetURL(t, site, "site.css")
	for _, path := range []string{
		"/", "/tools/dns-lookup", "/report", "/history", "/api", "/privacy", "/robots.txt", "/missing",
		assetURL(t, site, "icons.svg"), assetURL(t, site, "missing.js"), asset,
	} {
		r := get(t, site, path)
		want := header{
			"Content-Security-Policy":      "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
			"X-Content-Type-Options":       "nosniff",
			"X-Frame-Options":              "DENY",
			"Referrer-Policy":              "same-origin",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Strict-Transport-Security":    "",
		}
		policy := "geolocation=()"
		if path == asset { // styles and modules are no pages, even where they are opened as such
			for _, name := range []string{
				"Content-Security-Policy", "X-Frame-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy",
			} {
				want[name] = ""
			}
			policy = ""
		}
		for name, value := range want {
			if got := r.Header.Values(name); strings.Join(got, "|") != value {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if got := r.Header.Get("Permissions-Policy"); !strings.Contains(got, policy) || policy == "" && got != "" {
			t.Errorf("%s: Permissions-Policy %q", path, got)
		}
		if got := r.Header.Get("Set-Cookie"); got != "" {
			t.Errorf("%s: a cookie: %s", path, got)
		}
	}
}

func TestHSTSOnlyWhereHTTPSIsKnown(t *testing.T) {
	t.Parallel()
	const name = "Strict-Transport-Security"
	cases := map[string]struct {
		origin string
		tls    bool
		want   bool
	}{
		"nothing known": {"", false, false},
		"http origin":   {"http://tools.example.org", false, false},
		"https origin":  {"https://tools.example.org", false, true},
		"TLS":           {"", true, true},
	}
	for what, c := range cases {
		config := everything()
		config.PublicOrigin = c.origin
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		w := httptest.NewRecorder()
		newSite(t, config).ServeHTTP(w, r)
		if got := w.Header().Get(name); (got != "") != c.want {
			t.Errorf("%s: %q", what, got)
		}
		canonical := strings.Contains(w.Body.String(), `rel="canonical" href="`+c.origin+`/"`)
		if canonical != (c.origin != "") {
			t.Errorf("%s: a canonical link: %t", what, canonical)
		}
	}
}

func TestUnavailableTools(t *testing.T) {
	t.Parallel()
	site := newSite(t, web.Config{Tools: registry("traceroute", "ping"), Disabled: []string{"uptime"}})
	cases := map[string]string{
		"dns-lookup":   "",
		"uptime":       "switched off",
		"http-headers": "",
		"traceroute":   "needs the diagnostics worker",
		"ping":         "needs the diagnostics worker",
	}
	report := document(t, site, "/report")
	for slug, want := range cases {
		root := document(t, site, "/tools/"+slug)
		notices := "" // the one in <noscript> is text to a parser that knows scripts
		for _, n := range all(one(t, root, "main", nil), "div", header{"class": "notice warn"}) {
			notices += content(n)
		}
		if want != "" && !strings.Contains(notices, want) || want == "" && notices != "" {
			t.Errorf("%s says %q, want %q", slug, notices, want)
		}
		if listed := len(all(report, "li", header{"data-slug": slug})) == 1; listed != (want == "") {
			t.Errorf("%s is in the report: %t", slug, listed)
		}
	}
}

// assetURL is the address of an asset under the hash that the pages name.
func assetURL(t *testing.T, site http.Handler, name string) string {
	t.Helper()
	prefix := regexp.MustCompile(`/assets/[0-9a-f]{16}/`).FindString(text(t, get(t, site, "/missing")))
	if prefix == "" {
		t.Fatal("no page links to an asset")
	}
	return prefix + name
}

func TestAssets(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	kinds := map[string]string{
		"site.css": "text/css; charset=utf-8", "icons/site.svg": "image/svg+xml", "icons.svg": "image/svg+xml", "pages/tool.js": "text/javascript; charset=utf-8",
		"vendor/uplot/LICENSE.txt": "text/plain; charset=utf-8", "tools/uptime/view.js": "text/javascript; charset=utf-8",
	}
	for name, kind := range kinds {
		r := get(t, site, assetURL(t, site, name))
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != kind ||
			r.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s: %d, %q, %q", name, r.StatusCode, r.Header.Get("Content-Type"), r.Header.Get("Cache-Control"))
		}
	}
	good := assetURL(t, site, "site.css")
	for _, bad := range []string{
		"/assets/", "/assets/site.css", good + "x", strings.TrimSuffix(good, "site.css"),
		strings.Replace(good, "site.css", "../web.go", 1), strings.Replace(good, "site.css", "..%2fweb.go", 1),
	} {
		r := get(t, site, bad)
		if r.StatusCode != http.StatusNotFound || strings.Contains(r.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, %q", bad, r.StatusCode, r.Header.Get("Cache-Control"))
		}
	}
}

func TestRobots(t *testing.T) {
	t.Parallel()
	r := get(t, wholeSite(t), "/robots.txt")
	body := text(t, r)
	if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%d, %q", r.StatusCode, r.Header.Get("Content-Type"))
	}
	for _, line := range []string{"User-agent: *\n", "Disallow: /*?\n", "Disallow: /report?target\n", "Allow: /\n"} {
		if !strings.Contains(body, line) {
			t.Errorf("no %q in:\n%s", line, body)
		}
	}
	for path, want := range map[string]string{
		"/": "", "/api": "", "/api?x": "noindex, nofollow", "/tools/uptime": "", "/tools/uptime?input=x": "noindex, nofollow", "/report?target=x": "noindex, nofollow",
	} {
		if got := get(t, wholeSite(t), path).Header.Get("X-Robots-Tag"); got != want {
			t.Errorf("%s: X-Robots-Tag %q", path, got)
		}
	}
}

func TestStatusesAndMethods(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	for path, want := range map[string]int{
		"/": 200, "/tools/uptime": 200, "/report": 200, "/history": 200, "/api": 200, "/api/": 404, "/privacy": 200, "/privacy/": 404, "/tools": 404, "/tools/": 404, "/tools/uptime/": 404, "/tools/UPTIME": 404, "/tools/nope": 404,
		"/index.html": 404, "/report/": 404, "/favicon.ico": 404,
	} {
		r := get(t, site, path)
		if r.StatusCode != want || r.Header.Get("Cache-Control") != "no-cache" || !strings.Contains(text(t, r), "<h1>") {
			t.Errorf("%s: %d, %q", path, r.StatusCode, r.Header.Get("Cache-Control"))
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodOptions, http.MethodDelete} {
		r := do(t, site, method, "/")
		if r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d, Allow %q", method, r.StatusCode, r.Header.Get("Allow"))
		}
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	script := assetURL(t, site, "pages/tool.js")
	for _, path := range []string{"/", "/tools/uptime?input=x", "/api", "/missing", "/robots.txt", script} {
		for _, encoding := range []string{"", "gzip"} {
			accept := header{"Accept-Encoding": encoding}
			g, h := get(t, site, path, accept), do(t, site, http.MethodHead, path, accept)
			if body := text(t, h); body != "" || h.StatusCode != g.StatusCode {
				t.Errorf("HEAD %s: %d with %d bytes, GET: %d", path, h.StatusCode, len(body), g.StatusCode)
			}
			for _, name := range []string{"Content-Length", "Content-Type", "ETag", "Cache-Control", "Content-Encoding"} {
				if g.Header.Get(name) != h.Header.Get(name) {
					t.Errorf("%s: %s is %q for GET, %q for HEAD", path, name, g.Header.Get(name), h.Header.Get(name))
				}
			}
		}
	}
}

func TestETag(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	for _, path := range []string{"/", "/api", assetURL(t, site, "site.css"), "/robots.txt"} {
		tag := get(t, site, path).Header.Get("ETag")
		if !strings.HasPrefix(tag, `"`) {
			t.Fatalf("%s: ETag %q", path, tag)
		}
		for given, want := range map[string]int{
			tag: 304, "W/" + tag: 304, `"other", ` + tag: 304, "*": 304, `"other"`: 200, strings.Trim(tag, `"`): 200, "": 200,
		} {
			r := get(t, site, path, header{"If-None-Match": given})
			if r.StatusCode != want || r.Header.Get("ETag") != tag {
				t.Errorf("%s with If-None-Match %s: %d, want %d", path, given, r.StatusCode, want)
			}
			if want == 304 && text(t, r) != "" {
				t.Errorf("%s: a 304 with a body", path)
			}
		}
	}
	a, b := get(t, site, "/tools/uptime?input=a"), get(t, site, "/tools/uptime?input=b")
	if a.Header.Get("ETag") == b.Header.Get("ETag") {
		t.Error("two contents have one ETag")
	}
	if tag := get(t, site, "/missing", header{"If-None-Match": "*"}); tag.StatusCode != 404 {
		t.Errorf("a missing page is %d", tag.StatusCode)
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	for _, path := range []string{"/", "/tools/uptime?input=x", "/report", "/api", assetURL(t, site, "site.css")} {
		plain := get(t, site, path)
		want := text(t, plain)
		vary := "Accept-Encoding"
		if path == "/report" || strings.HasPrefix(path, "/tools/") {
			vary += ", Sec-Fetch-Site"
		}
		for accept, zipped := range map[string]bool{
			"gzip": true, "br, GZIP;q=0.5": true, "deflate,gzip ; q=1.0": true,
			"": false, "br": false, "gzip;q=0": false, "gzip;q=0.0": false, "gzip;q=x": false, "identity": false, "*": false, "gzipped": false,
		} {
			r := get(t, site, path, header{"Accept-Encoding": accept})
			body := text(t, r)
			if (r.Header.Get("Content-Encoding") == "gzip") != zipped || r.Header.Get("Vary") != vary {
				t.Errorf("%s for %q: %q, Vary %q", path, accept, r.Header.Get("Content-Encoding"), r.Header.Get("Vary"))
			}
			if zipped {
				if len(body) >= len(want) {
					t.Errorf("%s: %d bytes compressed, %d plain", path, len(body), len(want))
				}
				body = unzip(t, body)
				if tag := r.Header.Get("ETag"); tag != "" && tag == plain.Header.Get("ETag") {
					t.Errorf("%s: both encodings have the ETag %s", path, tag)
				}
			}
			if body != want {
				t.Errorf("%s for %q has another body", path, accept)
			}
		}
	}
	if r := get(t, site, "/robots.txt", header{"Accept-Encoding": "gzip"}); r.Header.Get("Content-Encoding") != "" {
		t.Error("a few bytes are compressed")
	}
}

// A request for ranges gets the whole answer: thousands of ranges fit into its header, and each would cost a part.
func TestRangesAreIgnored(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	for _, path := range []string{
		"/", "/tools/uptime?input=x", "/report", "/history", "/api", "/privacy", "/robots.txt", "/missing",
		assetURL(t, site, "site.css"), assetURL(t, site, "icons.svg"), assetURL(t, site, "shared-link.png"),
		assetURL(t, site, "pages/tool.js"),
	} {
		for _, accept := range []string{"", "gzip"} {
			whole := get(t, site, path, header{"Accept-Encoding": accept})
			want := text(t, whole)
			for _, asked := range []header{
				{"Range": "bytes=0-3"}, {"Range": "bytes=99999999-"}, {"Range": "bytes=-1,0-0"}, {"Range": manyRanges},
				{"Range": "bytes=0-3", "If-Range": whole.Header.Get("ETag")}, {"Range": "bytes=0-3", "If-Range": `"other"`},
			} {
				asked["Accept-Encoding"] = accept
				r := get(t, site, path, asked)
				if body := text(t, r); r.StatusCode != whole.StatusCode || body != want {
					t.Errorf("%s with %.40q: %d, %d of %d bytes", path, asked, r.StatusCode, len(body), len(want))
				}
				head := do(t, site, http.MethodHead, path, asked)
				for _, r := range []*http.Response{r, head} {
					if r.StatusCode != whole.StatusCode || r.Header.Get("Accept-Ranges") != "" ||
						r.Header.Get("Content-Range") != "" || r.Header.Get("Content-Length") != strconv.Itoa(len(want)) {
						t.Errorf("%s with %.40q: %d %v", path, asked, r.StatusCode, r.Header)
					}
				}
				if body := text(t, head); body != "" {
					t.Errorf("%s: HEAD has %d bytes", path, len(body))
				}
			}
		}
	}
}

// manyRanges is as many ranges as the largest header holds.
var manyRanges = "bytes=" + strings.TrimSuffix(strings.Repeat("0-0,", 7800), ",")

// BenchmarkRanges compares an asset that is asked for in ranges with how net/http serves them.
func BenchmarkRanges(b *testing.B) {
	s, err := whole()
	if err != nil {
		b.Fatal(err)
	}
	w := httptest.NewRecorder()
	_ = s.Serve(w, httptest.NewRequest(http.MethodGet, "/", nil))
	_, rest, _ := strings.Cut(w.Body.String(), `rel="stylesheet" href="`)
	path, _, _ := strings.Cut(rest, `"`)
	w = httptest.NewRecorder()
	_ = s.Serve(w, httptest.NewRequest(http.MethodGet, path, nil))
	body := w.Body.Bytes()
	for name, h := range map[string]http.Handler{
		"ours": handler(s),
		"net/http": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
		}),
	} {
		for kind, ranges := range map[string]string{"none": "", "7800": manyRanges} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				sent := 0
				for b.Loop() {
					r := httptest.NewRequest(http.MethodGet, path, nil)
					if ranges != "" {
						r.Header.Set("Range", ranges)
					}
					w := httptest.NewRecorder()
					h.ServeHTTP(w, r)
					sent = w.Body.Len()
				}
				b.ReportMetric(float64(sent), "sent-B/op")
			})
		}
	}
}

// The page in place of others for a client over its limit is whole, and no cache keeps it.
func TestTheLimitedPage(t *testing.T) {
	t.Parallel()
	s, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		w := httptest.NewRecorder()
		s.ServeLimited(w, httptest.NewRequest(method, "/tools/ping?input=example.com", nil))
		r := w.Result()
		if r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Cache-Control") != "no-store" ||
			!strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") || r.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d %v", method, r.StatusCode, r.Header)
		}
		if body := text(t, r); strings.Contains(body, "<h1>Too many requests</h1>") != (method == http.MethodGet) {
			t.Errorf("%s: %s", method, body)
		}
	}
}

func unzip(t *testing.T, body string) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}
