package web_test

import (
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/web"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
	"golang.org/x/net/html"
)

// sources are our own modules as they stand in the repository, by their names among the assets.
func sources(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir("assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".js" || strings.Contains(name, "/vendor/") {
			return err
		}
		body, err := os.ReadFile(name)
		all[strings.TrimPrefix(filepath.ToSlash(name), "assets/")] = string(body)
		return err
	})
	if err != nil || len(all) < 30 {
		t.Fatalf("%d modules: %v", len(all), err)
	}
	return all
}

// None of the modules can turn a string into markup or code, and all are checked by tsc.
func TestModulesAreCareful(t *testing.T) {
	t.Parallel()
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|` +
		`createContextualFragment|setHTML|srcdoc|\.style\b|https?://[a-z]`)
	for name, source := range sources(t) {
		if !strings.HasPrefix(source, "// @ts-check\n") {
			t.Errorf("%s does not begin with // @ts-check", name)
		}
		// The name of SVG is no address: nothing is fetched from it.
		if bad := forbidden.FindString(strings.ReplaceAll(source, `"http://www.w3.org/2000/svg"`, "")); bad != "" {
			t.Errorf("%s uses %s", name, bad)
		}
	}
}

var (
	staticImport = regexp.MustCompile(`(?m)^(?:import|export) [^\n]*from "(.*)";$`)
	laterImport  = regexp.MustCompile(`\bimport\("(.*?)"\)`)
	anyImport    = regexp.MustCompile(`(?m)^\s*(?:import|export)\b.*\bfrom\b|^import "`)
)

// Modules import each other by names that are there, on one line each (which is what preloading reads), and nothing
// from elsewhere; nothing is there that no page uses.
func TestModulesAreAllUsed(t *testing.T) {
	t.Parallel()
	modules := sources(t)
	used := []string{
		"theme.js", "pages/site.js", "pages/tool.js", "pages/connection.js", "pages/home.js", "pages/report.js",
		"pages/history.js", "pages/api.js",
	}
	for _, slug := range slugs {
		used = append(used, "tools/"+slug+"/view.js")
		if watch := "tools/" + slug + "/watch.js"; modules[watch] != "" {
			used = append(used, watch)
		}
	}
	for i := 0; i < len(used); i++ {
		source, ok := modules[used[i]]
		if !ok {
			t.Errorf("%s is not there", used[i])
		}
		imports := staticImport.FindAllStringSubmatch(source, -1)
		if n := len(anyImport.FindAllString(source, -1)); n != len(imports) {
			t.Errorf("%s: %d of %d imports are of another form", used[i], n-len(imports), n)
		}
		for _, m := range append(imports, laterImport.FindAllStringSubmatch(source, -1)...) {
			if m[1] == "api" {
				continue // the types of the API's answers, in comments only
			}
			name := path.Join(path.Dir(used[i]), m[1])
			if !strings.HasPrefix(m[1], ".") || !slices.Contains(used, name) {
				used = append(used, name)
			}
		}
	}
	for name := range modules {
		if !slices.Contains(used, name) {
			t.Errorf("no page uses %s", name)
		}
	}
}

// Modules do not import each other in a circle, later imports included: what one of them needs must not lead back to
// it.
func TestImportsHaveNoCircle(t *testing.T) {
	t.Parallel()
	imports := map[string][]string{}
	for name, source := range bare(t) { // what comments import are types
		for _, m := range append(staticImport.FindAllStringSubmatch(string(source), -1),
			laterImport.FindAllStringSubmatch(string(source), -1)...) {
			imports[name] = append(imports[name], path.Join(path.Dir(name), m[1]))
		}
	}
	if circle := circleIn(imports); circle != nil {
		t.Errorf("modules import each other in a circle: %s", strings.Join(circle, " -> "))
	}
	if circleIn(map[string][]string{"a": {"b", "c"}, "b": {"c"}, "c": {"a"}}) == nil {
		t.Error("a circle of three is not found")
	}
	if circle := circleIn(map[string][]string{"a": {"b", "c"}, "b": {"c"}}); circle != nil {
		t.Errorf("%v is no circle", circle)
	}
}

// circleIn returns the names of one circle, the first one again at its end; nil where there is none.
func circleIn(imports map[string][]string) []string {
	done := map[string]bool{}
	var visit func(way []string) []string
	visit = func(way []string) []string {
		name := way[len(way)-1]
		if i := slices.Index(way, name); i < len(way)-1 {
			return way[i:]
		}
		if done[name] {
			return nil
		}
		for _, next := range imports[name] {
			if circle := visit(append(slices.Clone(way), next)); circle != nil {
				return circle
			}
		}
		done[name] = true
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		if circle := visit([]string{name}); circle != nil {
			return circle
		}
	}
	return nil
}

var (
	exported   = regexp.MustCompile(`(?m)^export (?:async )?(?:function|const|let|class) (\w+)`)
	importList = regexp.MustCompile(`(?:import|export|const) \{([^}]*)\} (?:from|= await import\()`)
	laterNames = regexp.MustCompile(`(?m)^\s*const \[(.*)\] = modules;$`)
)

// What a module exports another one imports, or a test of its own does.
func TestExportsAreAllUsed(t *testing.T) {
	t.Parallel()
	imported := map[string]bool{}
	modules := sources(t)
	tests, err := filepath.Glob("jstest/*.js")
	if err != nil || len(tests) == 0 {
		t.Fatalf("%d tests: %v", len(tests), err)
	}
	texts := slices.Collect(maps.Values(modules))
	for _, name := range tests {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for _, text := range texts {
		for _, m := range append(importList.FindAllStringSubmatch(text, -1), laterNames.FindAllStringSubmatch(text, -1)...) {
			for name := range strings.FieldsFuncSeq(m[1], func(r rune) bool { return strings.ContainsRune(" ,{}", r) }) {
				imported[name] = true
			}
		}
	}
	for module, text := range modules {
		for _, m := range exported.FindAllStringSubmatch(text, -1) {
			if !imported[m[1]] {
				t.Errorf("%s exports %s, which nothing imports", module, m[1])
			}
		}
	}
}

// bare are our own modules without comments.
func bare(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for name, source := range sources(t) {
		body, err := web.WithoutComments([]byte(source))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = body
	}
	return all
}

var styleComment = regexp.MustCompile(`(?s)/\*.*?\*/`)

// On the wire modules and styles have no comments and few blanks, and lose nothing else: what is left of a module
// parses to the same syntax tree. Vendored files are served as they are.
func TestModulesAreServedWithoutComments(t *testing.T) {
	t.Parallel()
	for name, source := range sources(t) {
		left, err := web.WithoutComments([]byte(source))
		if err != nil || len(left) >= len(source) || strings.Contains(string(left), "@type") ||
			strings.Contains(string(left), "// ") {
			t.Errorf("%s is served with comments: %v", name, err)
		}
		if parsed(t, name, source).String() != parsed(t, name, string(left)).String() {
			t.Errorf("%s lost more than comments", name)
		}
	}
	site := wholeSite(t)
	styles, err := filepath.Glob("assets/*.css")
	if err != nil || styles == nil {
		t.Fatalf("no styles: %v", err)
	}
	for _, name := range styles {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		left := text(t, get(t, site, assetURL(t, site, path.Base(name))))
		if !slices.Equal(strings.Fields(styleComment.ReplaceAllString(string(source), "")), strings.Fields(left)) {
			t.Errorf("%s lost more than comments", name)
		}
	}
	vendored, err := os.ReadFile("assets/vendor/uplot/uPlot.iife.min.js")
	if err != nil {
		t.Fatal(err)
	}
	if text(t, get(t, site, assetURL(t, site, "vendor/uplot/uPlot.iife.min.js"))) != string(vendored) {
		t.Error("a vendored file was changed")
	}
}

func parsed(t *testing.T, name, source string) *js.AST {
	t.Helper()
	module, err := js.Parse(parse.NewInputString(source), js.Options{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return module
}

const (
	mostScript = 65 << 10
	mostStyle  = 20 << 10
	// mostWatch is what Watch may add once someone asks for it, mostPicture what its picture adds while the first round
	// runs, and mostOpened what a card of the report that is opened.
	mostWatch, mostPicture, mostOpened = 16 << 10, 6 << 10, 20 << 10
)

// Every page, with all that it may load later: at most 65 KiB of JavaScript and 20 KiB of CSS, compressed.
func TestPagesAreSmall(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	paths := []string{"/", "/report?target=example.com", "/history", "/api", "/privacy", "/missing"}
	for _, slug := range slugs {
		paths = append(paths, "/tools/"+slug+"?input=example.com")
	}
	for _, p := range paths {
		script, style := map[string]int{}, map[string]int{}
		root := document(t, site, p)
		for _, n := range append(all(root, "script", header{"src": "*"}), all(root, "link", header{"href": "*"})...) {
			weigh(t, site, n, script, style)
		}
		if strings.HasPrefix(p, "/report?") {
			weighModule(t, site, "lib/judges.js", script)
		}
		js, css := sum(script), sum(style)
		t.Logf("%s: %d bytes of JavaScript in %d files, %d bytes of CSS", p, js, len(script), css)
		if js > mostScript || css > mostStyle {
			t.Errorf("%s has %d bytes of JavaScript (at most %d), %d of CSS (at most %d)", p, js, mostScript, css, mostStyle)
		}
	}
}

// What a page that can watch loads once someone does so: at most 16 KiB of JavaScript more, compressed.
func TestWatchIsSmall(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	modules := sources(t)
	for _, slug := range slugs {
		watch := "tools/" + slug + "/watch.js"
		if modules[watch] == "" {
			continue
		}
		script, style := map[string]int{}, map[string]int{}
		root := document(t, site, "/tools/"+slug+"?input=example.com")
		for _, n := range append(all(root, "script", header{"src": "*"}), all(root, "link", header{"href": "*"})...) {
			weigh(t, site, n, script, style)
		}
		before := sum(script)
		weighModule(t, site, "lib/watch.js", script)
		weighModule(t, site, watch, script)
		more := sum(script) - before
		t.Logf("/tools/%s: %d bytes of JavaScript more", slug, more)
		if more > mostWatch {
			t.Errorf("Watch adds %d bytes of JavaScript to /tools/%s, at most %d", more, slug, mostWatch)
		}
		weighModule(t, site, "lib/watch-picture.js", script)
		if drawn := sum(script) - before - more; drawn > mostPicture {
			t.Errorf("its picture adds %d bytes of JavaScript, at most %d", drawn, mostPicture)
		}
	}
}

// What a card of the report loads when it is opened, and no one before: at most 20 KiB of JavaScript more, compressed.
func TestOpenedCardsAreSmall(t *testing.T) {
	t.Parallel()
	site := wholeSite(t)
	script, style := map[string]int{}, map[string]int{}
	root := document(t, site, "/report?target=example.com")
	for _, n := range all(root, "script", header{"src": "*"}) {
		weigh(t, site, n, script, style)
	}
	for _, n := range all(root, "link", header{"href": "*"}) {
		weigh(t, site, n, script, style)
	}
	for _, n := range all(root, "li", header{"data-slug": "*"}) {
		slug, _ := attribute(n, "data-slug")
		opened := maps.Clone(script)
		before := sum(opened)
		weighModule(t, site, "lib/card-open.js", opened)
		weighModule(t, site, "tools/"+slug+"/view.js", opened)
		more := sum(opened) - before
		t.Logf("%s: %d bytes of JavaScript more", slug, more)
		if more > mostOpened {
			t.Errorf("the card of %s loads %d bytes of JavaScript more, at most %d", slug, more, mostOpened)
		}
	}
}

func sum(sizes map[string]int) (total int) {
	for _, n := range sizes {
		total += n
	}
	return total
}

func weigh(t *testing.T, site http.Handler, n *html.Node, script, style map[string]int) {
	t.Helper()
	address, _ := attribute(n, "src")
	if address == "" {
		address, _ = attribute(n, "href")
	}
	switch path.Ext(address) {
	case ".css":
		style[address] = zipped(t, site, address)
	case ".js":
		script[address] = zipped(t, site, address)
	}
}

// weighModule adds a module and what it imports.
func weighModule(t *testing.T, site http.Handler, name string, script map[string]int) {
	t.Helper()
	address := assetURL(t, site, name)
	if _, ok := script[address]; ok {
		return
	}
	script[address] = zipped(t, site, address)
	body := text(t, get(t, site, address))
	for _, m := range staticImport.FindAllStringSubmatch(body, -1) {
		weighModule(t, site, path.Join(path.Dir(name), m[1]), script)
	}
}

// zipped is how many bytes travel to a browser.
func zipped(t *testing.T, site http.Handler, address string) int {
	t.Helper()
	r := get(t, site, address, header{"Accept-Encoding": "gzip"})
	body := text(t, r)
	if r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d", address, r.StatusCode)
	}
	return len(body)
}
