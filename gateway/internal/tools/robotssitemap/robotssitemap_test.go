package robotssitemap

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"diagnostics/gateway/internal/analyze/robotstxt"
	"diagnostics/gateway/internal/analyze/sitemap"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/google/go-cmp/cmp"
)

func mustRun(t *testing.T, n *egresstest.Network, url string, opts ...egress.Option) Result {
	t.Helper()
	return toolstest.MustRun[Result](t, New(n.Client(nil, opts...)), toolstest.URLInput(url))
}

// file is what a path of a site answers.
type file struct {
	status   int // 200 where it is 0
	kind     string
	location string
	body     string
}

type files map[string]file

func (f files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, ok := f[r.URL.RequestURI()]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if answer.kind == "" {
		answer.kind = "text/plain; charset=utf-8"
	}
	w.Header().Set("Content-Type", answer.kind)
	if answer.location != "" {
		w.Header().Set("Location", answer.location)
	}
	if answer.status != 0 {
		w.WriteHeader(answer.status)
	}
	_, _ = io.WriteString(w, answer.body)
}

func fileCodes(issues []fileIssue) string {
	var out []string
	for _, i := range issues {
		code := i.Code
		if i.Line != nil {
			code += fmt.Sprintf("@%d", *i.Line)
		}
		out = append(out, code)
	}
	return strings.Join(out, " ")
}

const urlset = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://example.com/</loc><lastmod>2024-05-06</lastmod></url></urlset>`

func gzipOf(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRobotsAndSitemaps(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Records("cdn.example.net. 300 IN A 93.184.216.35")
	n.Serve(toolstest.WebV4Port80, files{
		"/robots.txt": {body: "User-agent: *\r\nDisallow: /private\r\nAllow: /private/open\r\n\r\nUser-agent: a\r\nUser-agent: b\r\nCrawl-delay: 2.5\r\nDisallow: /\r\n" +
			"Sitemap: http://example.com/sitemap.xml\r\nSitemap: http://cdn.example.net/index.xml.gz\r\nSitemap: /relative.xml\r\nSitemap: http://example.com/urls.txt\r\nSitemap: http://example.com/urls.txt\r\n"},
		"/sitemap.xml": {kind: "application/xml", body: urlset},
		"/urls.txt":    {body: "http://example.com/a\nhttp://example.com/b\n"},
	})
	n.Serve("93.184.216.35:80", files{"/index.xml.gz": {kind: "application/x-gzip",
		body: gzipOf(
			t, `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>http://cdn.example.net/1.xml</loc></sitemap></sitemapindex>`)}})
	got := mustRun(t, n, "http://example.com/some/page?q#f")
	if got.URL != "http://example.com/some/page?q" || got.Robots.URL != "http://example.com/robots.txt" ||
		got.Robots.Status != "found" || got.Robots.Effect != "rules" || toolstest.Number(got.Robots.HTTPStatus) != 200 {
		t.Errorf("%+v", got.Robots)
	}
	delay := 2.5
	groups := []robotsGroup{
		{UserAgents: []string{"*"}, Rules: []robotsRule{{"disallow", "/private", 2}, {"allow", "/private/open", 3}}},
		{UserAgents: []string{"a", "b"}, Rules: []robotsRule{{"disallow", "/", 8}}, CrawlDelay: &delay},
	}
	if diff := cmp.Diff(groups, got.Robots.Groups); diff != "" {
		t.Errorf("groups: -want +got\n%s", diff)
	}
	declared := []string{"http://example.com/sitemap.xml", "http://cdn.example.net/index.xml.gz",
		"http://example.com/urls.txt"}
	if diff := cmp.Diff(declared, got.DeclaredSitemaps); diff != "" {
		t.Errorf("declared: -want +got\n%s", diff)
	}
	if codes := fileCodes(got.Robots.Issues); codes != "SITEMAP_RELATIVE@11" {
		t.Errorf("issues %s", codes)
	}
	describe := func(f sitemapFile) string {
		return fmt.Sprintf("%s %s %s %d %s", f.URL, f.Status, toolstest.Text(f.Kind), toolstest.Number(f.URLCount),
			toolstest.Text(f.LastModified))
	}
	if got := describe(got.Sitemap); got != "http://example.com/sitemap.xml found urlset 1 2024-05-06T00:00:00Z" {
		t.Error(got)
	}
	want := []string{"http://example.com/sitemap.xml found urlset 1 2024-05-06T00:00:00Z",
		"http://cdn.example.net/index.xml.gz found sitemapindex 1 <null>", "http://example.com/urls.txt found text 2 <null>"}
	for i, f := range got.Sitemaps {
		if describe(f) != want[i] || len(f.Issues) != 0 {
			t.Errorf("%s, %+v", describe(f), f.Issues)
		}
	}
	// The sitemap that is declared and at the usual place is fetched once, and what an index lists is not fetched.
	if dials := n.Dials(); len(dials) != 4 {
		t.Errorf("dials %v", dials)
	}
	if out, err := json.MarshalIndent(got, "", " "); err == nil {
		t.Logf("%s", out)
	}
}

// TestRobotsStates makes each state and effect, as RFC 9309 section 2.3.1 says.
func TestRobotsWithABrokenHeader(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	toolstest.ServeRaw(n, toolstest.WebV4Port80,
		"HTTP/1.1 200 OK\r\nno colon\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /x\n")
	r := mustRun(t, n, "http://example.com/")
	if r.Robots.Effect != robotstxt.SomeRules || len(r.Robots.Notes) != 1 || len(r.Sitemap.Notes) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestRobotsStates(t *testing.T) {
	t.Parallel()
	moved := files{}
	for i := range 6 {
		moved[fmt.Sprintf("/%d", i)] = file{status: 302, location: fmt.Sprintf("/%d", i+1)}
	}
	moved["/6"] = file{body: "User-agent: *\nDisallow: /"}
	redirect := func(to string) file { return file{status: 301, location: to} }
	for name, test := range map[string]struct {
		file    file
		status  string
		http    int
		effect  robotstxt.Effect
		issues  string
		preview string
	}{
		"rules":             {file{body: "User-agent: *\nDisallow: /a\n"}, "found", 200, "rules", "", "User-agent"},
		"nothing allowed":   {file{body: "User-agent: *\nDisallow: /\n"}, "found", 200, "disallowAll", "", "User-agent"},
		"others' rules":     {file{body: "User-agent: x\nDisallow: /\n"}, "found", 200, "allowAll", "", "User-agent"},
		"empty":             {file{}, "found", 200, "allowAll", "", ""},
		"empty, no content": {file{status: 204}, "found", 204, "allowAll", "", ""},
		"comments as HTML":  {file{kind: "text/html", body: "# nothing here\n"}, "found", 200, "allowAll", "CONTENT_TYPE", "# nothing"},
		"rules as HTML":     {file{kind: "text/html", body: "User-agent: *\nDisallow: /a\n"}, "found", 200, "rules", "CONTENT_TYPE", "User-agent"},
		"bad lines":         {file{body: "User-agent: *\nDisallow /a\n"}, "found", 200, "allowAll", "NO_COLON@2 EMPTY_GROUP@1", "User-agent"},
		"missing":           {file{status: 404, body: "<html>"}, "missing", 404, "allowAll", "", ""},
		"gone":              {file{status: 410}, "missing", 410, "allowAll", "", ""},
		"forbidden":         {file{status: 403}, "missing", 403, "allowAll", "ACCESS_REFUSED", ""},
		"login":             {file{status: 401}, "missing", 401, "allowAll", "ACCESS_REFUSED", ""},
		"limited":           {file{status: 429}, "missing", 429, "allowAll", "RATE_LIMITED", ""},
		"another of 4xx":    {file{status: 402}, "missing", 402, "allowAll", "HTTP_STATUS", ""},
		"not modified":      {file{status: 304}, "missing", 304, "allowAll", "HTTP_STATUS", ""},
		"broken":            {file{status: 500, body: "User-agent: *\nAllow: /"}, "unreachable", 500, "disallowAll", "SERVER_ERROR", ""},
		"overloaded":        {file{status: 503}, "unreachable", 503, "disallowAll", "SERVER_ERROR", ""},
		"page":              {file{kind: "text/html", body: "\n<!DOCTYPE html><title>Hello</title>"}, "invalid", 200, "allowAll", "HTML", "\n<!DOCTYPE html>"},
		"page as text":      {file{body: "<html><body>User-agent: *\nDisallow: /\n"}, "invalid", 200, "allowAll", "HTML", "<html>"},
		"prose as HTML":     {file{kind: "text/html; charset=utf-8", body: "Not here"}, "invalid", 200, "allowAll", "HTML", "Not here"},
		"comment of HTML":   {file{body: "<!-- x -->\nUser-agent: *\nDisallow: /"}, "found", 200, "disallowAll", "NO_COLON@1", "<!-- x"},
		"image":             {file{kind: "image/png", body: "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"}, "invalid", 200, "allowAll", "NOT_TEXT", "\uFFFDPNG"},
		"five redirects":    {redirect("/2"), "found", 200, "disallowAll", "", "User-agent"},
		"six redirects":     {redirect("/1"), "missing", 302, "allowAll", "TOO_MANY_REDIRECTS", ""},
		"loop":              {redirect("/robots.txt"), "missing", 301, "allowAll", "TOO_MANY_REDIRECTS", ""},
		"across hosts":      {redirect("http://other.example.net/6"), "found", 200, "disallowAll", "", "User-agent"},
		"to nothing":        {redirect("http:foo"), "missing", 301, "allowAll", "BAD_REDIRECT", ""},
		"to another scheme": {redirect("ftp://example.com/robots.txt"), "missing", 301, "allowAll", "BAD_REDIRECT", ""},
		"without a place":   {file{status: 302}, "missing", 302, "allowAll", "BAD_REDIRECT", ""},
		"to the inside":     {redirect("http://10.0.0.1/"), "unreachable", 301, "disallowAll", "NOT_PUBLIC", ""},
		"to a rebound name": {redirect("http://inside.example.com/"), "unreachable", -1, "disallowAll", "NOT_PUBLIC", ""},
		"to a dead host":    {redirect("http://example.com:81/"), "unreachable", -1, "disallowAll", "UNREACHABLE", ""},
		"to a lost name":    {redirect("http://nowhere.example.com/"), "unreachable", -1, "disallowAll", "UNREACHABLE", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := toolstest.WebNetwork(t)
			n.Records("other.example.net. 300 IN A "+toolstest.WebV4, "inside.example.com. 300 IN A 10.0.0.1")
			site := files{"/robots.txt": test.file}
			for path, f := range moved {
				site[path] = f
			}
			n.Serve(toolstest.WebV4Port80, site)
			result := mustRun(t, n, "http://example.com/")
			got := result.Robots
			if got.Status != fileFound && !slices.Equal(result.Crawlers, allCrawlers(test.effect)) {
				t.Errorf("crawlers %+v, want all %s", result.Crawlers, test.effect)
			}
			if got.Status != test.status || toolstest.Number(got.HTTPStatus) != test.http || got.Effect != test.effect ||
				got.Groups == nil {
				t.Errorf("%+v", got)
			}
			if codes := fileCodes(got.Issues); codes != test.issues {
				t.Errorf("issues %s, want %s", codes, test.issues)
			}
			if !strings.HasPrefix(got.Preview, test.preview) || test.preview == "" && got.Preview != "" {
				t.Errorf("preview %q", got.Preview)
			}
			toolstest.WantDials(t, n, toolstest.WebV4+":80", toolstest.WebV4+":81")
			for _, i := range got.Issues {
				if strings.Contains(i.Message, "10.0.0.1") || i.Message == "" {
					t.Errorf("%+v", i)
				}
			}
		})
	}
}

func TestRobotsUnreachable(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	got := mustRun(t, n, "http://example.com/")
	if got.Robots.Status != "unreachable" || got.Robots.Effect != "disallowAll" || got.Robots.HTTPStatus != nil ||
		got.Robots.ContentType != nil ||
		fileCodes(got.Robots.Issues) != "UNREACHABLE" || got.Sitemap.Status != "unreachable" ||
		fileCodes(got.Sitemap.Issues) != "UNREACHABLE" {
		t.Errorf("%+v", got)
	}
	if got.DeclaredSitemaps == nil || got.Sitemaps == nil {
		t.Errorf("null lists: %+v", got)
	}
}

func TestRobotsFirstTarget(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Records("inside.example.com. 300 IN A 10.0.0.1", "six.example.com. 300 IN AAAA "+toolstest.WebV6)
	run := func(url string, opts ...egress.Option) error {
		_, err := toolstest.Run(t.Context(), New(n.Client(nil, opts...)), toolstest.URLInput(url))
		return err
	}
	for url, kind := range map[string]fault.Kind{
		"http://10.0.0.1/": fault.Refused, "http://inside.example.com/x": fault.Refused, "http://nowhere.example.com/": fault.NoAddress, "example.com": fault.Invalid,
	} {
		if err := run(url); !fault.Is(err, kind) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if err := run("http://six.example.com/", egress.WithFamilies(egress.Families{V4: true})); !fault.Is(err,
		fault.Upstream) || !strings.Contains(err.Error(), "IPv6") {
		t.Errorf("a family that is missing: %v", err)
	}
	toolstest.WantDials(t, n)
	n.Fail(toolstest.WebV4+":8080", toolstest.OurFault)
	if err := run("http://example.com:8080/"); !errors.Is(err, toolstest.OurFault) {
		t.Errorf("a fault of ours: %v", err)
	}
}

func TestRobotsLength(t *testing.T) {
	t.Parallel()
	rule := "User-agent: *\nDisallow: /\n"
	for size, truncated := range map[int]bool{robotstxt.MaxBytes: false, robotstxt.MaxBytes + 1: true, 2 << 20: true} {
		body := rule + strings.Repeat("#", size-len(rule))
		n := toolstest.WebNetwork(t)
		n.Serve(toolstest.WebV4Port80, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, gzipOf(t, body))
		}))
		got := mustRun(t, n, "http://example.com/").Robots
		if got.Truncated != truncated || got.Bytes != robotstxt.MaxBytes || got.Effect != "disallowAll" ||
			len(got.Preview) != maxPreview || (fileCodes(got.Issues) == "TOO_LONG") != truncated {
			t.Errorf("%d bytes: %d read, truncated %t, %s, preview of %d", size, got.Bytes, got.Truncated,
				fileCodes(got.Issues), len(got.Preview))
		}
	}
}

// What a robots.txt takes counts for the run while its sitemaps stall, and no honest run comes near its client's share.
func TestRobotsAreCounted(t *testing.T) {
	t.Parallel()
	body := "User-agent: *\n" + strings.Repeat("Allow: /\n", 600<<10/9)
	read := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(read) })
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4Port80, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			_, _ = io.WriteString(w, body)
			return
		}
		<-read
	}))
	var counted atomic.Int64
	const want = robotstxt.MaxBytes * 3 / 2
	ctx := memory.WithCounter(t.Context(), func(bytes int) {
		if counted.Add(int64(bytes)) >= want {
			goOn()
		}
	})
	_, err := toolstest.Run(ctx, New(n.Client(nil)), toolstest.URLInput("http://example.com/"))
	// The lookup of the name counts too.
	if got := counted.Load(); err != nil || got < want || got > want+1000 {
		t.Errorf("%d bytes were counted, want %d: %v", got, want, err)
	}
}

func TestRobotsPreview(t *testing.T) {
	t.Parallel()
	pad := strings.Repeat("x", maxPreview)
	for in, want := range map[string]string{
		"":                       "",
		"\xef\xbb\xbfUser":       "User",
		"a\r\n\tb\x00\x1b[31m":   "a\r\n\tb\uFFFD\uFFFD[31m",
		"caf\xe9":                "caf\uFFFD",
		pad:                      pad,
		pad + "y":                pad,
		pad[1:] + "é":            pad[1:],
		pad[2:] + "éz":           pad[2:] + "é",
		pad[3:] + "😀":            pad[3:],
		pad[4:] + "😀z":           pad[4:] + "😀",
		pad[1:] + "\xff\xff\xff": pad[1:] + "\uFFFD",
	} {
		if got := preview([]byte(in)); got != want || !utf8.ValidString(got) {
			t.Errorf("%.20q of %d bytes: %.20q of %d, want %d", in, len(in), got, len(got), len(want))
		}
	}
}

// TestRobotsBreaksOff: half a file is no file.
func TestRobotsBreaksOff(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.ServeConn(toolstest.WebV4Port80, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\nUser-agent: "+
			"*\nDisallow:\nSitemap: http://example.com/x\n")
	})
	got := mustRun(t, n, "http://example.com/")
	if got.Robots.Status != "unreachable" || got.Robots.Effect != "disallowAll" ||
		fileCodes(got.Robots.Issues) != "INCOMPLETE" || len(got.DeclaredSitemaps) != 0 || got.Robots.Bytes == 0 {
		t.Errorf("%+v", got.Robots)
	}
}

func TestSitemapStates(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file   file
		status string
		http   int
		kind   string
		issues string
	}{
		"found":         {file{body: urlset}, "found", 200, "urlset", ""},
		"missing":       {file{status: 404}, "missing", 404, "<null>", ""},
		"forbidden":     {file{status: 401}, "missing", 401, "<null>", "ACCESS_REFUSED"},
		"limited":       {file{status: 429}, "missing", 429, "<null>", "RATE_LIMITED"},
		"broken":        {file{status: 502}, "unreachable", 502, "<null>", "SERVER_ERROR"},
		"empty":         {file{}, "invalid", 200, "<null>", "EMPTY"},
		"page":          {file{body: "<!doctype html><p>"}, "invalid", 200, "<null>", "HTML"},
		"malformed":     {file{body: urlset[:len(urlset)-4]}, "invalid", 200, "urlset", "MALFORMED_XML@1"},
		"feed":          {file{body: "<rss/>"}, "found", 200, "<null>", "FEED"},
		"loop":          {file{status: 302, location: "/sitemap.xml"}, "unreachable", 302, "<null>", "TOO_MANY_REDIRECTS"},
		"bad redirect":  {file{status: 302, location: "http://%zz/"}, "unreachable", 302, "<null>", "BAD_REDIRECT"},
		"moved":         {file{status: 302, location: "/moved.xml"}, "found", 200, "urlset", ""},
		"no namespace":  {file{body: "<urlset/>"}, "found", 200, "urlset", "NAMESPACE NO_URLS"},
		"to the inside": {file{status: 302, location: "http://127.0.0.1/"}, "unreachable", 302, "<null>", "NOT_PUBLIC"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := toolstest.WebNetwork(t)
			n.Serve(toolstest.WebV4Port80, files{"/sitemap.xml": test.file, "/moved.xml": {body: urlset}})
			got := mustRun(t, n, "http://example.com/").Sitemap
			if got.Status != test.status || toolstest.Number(got.HTTPStatus) != test.http ||
				toolstest.Text(got.Kind) != test.kind || (got.Kind == nil) != (got.URLCount == nil) {
				t.Errorf("%+v", got)
			}
			if codes := fileCodes(got.Issues); codes != test.issues {
				t.Errorf("issues %s, want %s", codes, test.issues)
			}
			toolstest.WantDials(t, n, toolstest.WebV4+":80")
		})
	}
}

// TestDeclaredSitemapsThatAreRefused: nothing is dialled, whichever way the address is found not to be public.
func TestDeclaredSitemapsThatAreRefused(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Records("inside.example.com. 300 IN A 10.0.0.1")
	n.Serve(toolstest.WebV4Port80, files{"/robots.txt": {body: "Sitemap: http://10.0.0.1/s.xml\nSitemap: " +
		"http://inside.example.com/s.xml\nSitemap: ftp://example.com/s.xml\nSitemap: http://u:p@example.com/s.xml\n" +
		"Sitemap: http://localhost/s.xml\nSitemap: http://example.com/sixth.xml"}})
	got := mustRun(t, n, "http://example.com/")
	var codes []string
	for i, f := range got.Sitemaps {
		if f.Status != "unreachable" || f.URL != got.DeclaredSitemaps[i] || f.HTTPStatus != nil {
			t.Errorf("%+v", f)
		}
		codes = append(codes, fileCodes(f.Issues))
	}
	if want := []string{"NOT_PUBLIC", "NOT_PUBLIC", "UNREACHABLE", "UNREACHABLE", "NOT_PUBLIC"}; !slices.Equal(codes,
		want) {
		t.Errorf("issues %v, want %v", codes, want)
	}
	if len(got.DeclaredSitemaps) != 6 || fileCodes(got.Robots.Issues) != "SITEMAPS_NOT_READ" {
		t.Errorf("%v, %s", got.DeclaredSitemaps, fileCodes(got.Robots.Issues))
	}
	toolstest.WantDials(t, n, toolstest.WebV4+":80")
}

func TestRobotsInvalidCertificate(t *testing.T) {
	t.Parallel()
	n, ca := toolstest.WebNetwork(t), toolstest.NewAuthority(t)
	n.ServeTLS(toolstest.WebV4+":443", ca.Issue("example.com", time.Now().Add(-time.Hour)),
		files{"/robots.txt": {body: "User-agent: *\nDisallow: /x"}, "/sitemap.xml": {body: urlset}})
	got := mustRun(t, n, "https://example.com/", ca.Option())
	if got.Robots.Status != "found" || fileCodes(got.Robots.Issues) != "CERTIFICATE_INVALID" ||
		!strings.Contains(got.Robots.Issues[0].Message, "it has expired") {
		t.Errorf("%+v", got.Robots)
	}
	if got.Sitemap.Status != "found" || fileCodes(got.Sitemap.Issues) != "CERTIFICATE_INVALID" {
		t.Errorf("%+v", got.Sitemap)
	}
}

// TestRobotsDeadline: the end of the run's time keeps what was seen; a visitor who is gone needs nothing.
func TestRobotsDeadline(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 16) // for a file that never comes
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4Port80, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "Sitemap: http://example.com/slow.xml\n")
		case "/sitemap.xml":
			_, _ = io.WriteString(w, urlset[:len(urlset)-9]) // whose end never comes
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			asked <- struct{}{}
			<-r.Context().Done()
		}
	}))
	tl := New(n.Client(nil))
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	got, err := toolstest.Run(ctx, tl, toolstest.URLInput("http://example.com/"))
	if err != nil {
		t.Fatal(err)
	}
	r := got.(Result)
	if r.Robots.Status != "found" || r.Sitemap.Status != "unreachable" || fileCodes(r.Sitemap.Issues) != "INCOMPLETE" ||
		r.Sitemaps[0].Status != "unreachable" || fileCodes(r.Sitemaps[0].Issues) != "NOT_FINISHED" {
		t.Errorf("%+v", r)
	}
	ctx, leave := context.WithCancel(t.Context())
	for len(asked) > 0 {
		<-asked
	}
	go func() {
		<-asked
		leave()
	}()
	if _, err := toolstest.Run(ctx, tl, toolstest.URLInput("http://example.com/")); !errors.Is(err, context.Canceled) {
		t.Errorf("a visitor who left: %v", err)
	}
}

// TestSitemapsShareOneBudget: of two that together are too long, as they come or decompressed, one is cut.
func TestSitemapsShareOneBudget(t *testing.T) {
	t.Parallel()
	const budget = 100_000
	long := strings.TrimSuffix(urlset, "</urlset>") + strings.Repeat(" ", budget*6/10) + "</urlset>"
	for name, test := range map[string]struct {
		body           string
		received, text int64
	}{
		"as they come": {long, budget, maxSitemapsText},
		"decompressed": {gzipOf(t, long), maxSitemapsReceived, budget},
	} {
		n := toolstest.WebNetwork(t)
		n.Serve(toolstest.WebV4Port80, files{"/robots.txt": {body: "Sitemap: http://example.com/2.xml"},
			"/sitemap.xml": {body: test.body}, "/2.xml": {body: test.body}})
		u, err := target.ParseURL("http://example.com/")
		if err != nil {
			t.Fatal(err)
		}
		r := newChecker(n.Client(nil), u)
		r.budget.received.Store(test.received)
		r.budget.text.Store(test.text)
		got, err := r.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !got.Sitemap.Truncated && !got.Sitemaps[0].Truncated {
			t.Errorf("%s: %+v", name, got)
		}
		for _, f := range append(got.Sitemaps, got.Sitemap) {
			want := ""
			if f.Truncated {
				want = "LIMIT_REACHED"
			}
			if f.Status != "found" || fileCodes(f.Issues) != want || toolstest.Number(f.URLCount) != 1 {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
	if b := newSitemapBudget(); b.received.Load() != 4<<20 || b.text.Load() != 8<<20 {
		t.Error("the budget is not 4 MiB as received and 8 MiB decompressed")
	}
}

// TestTinyParts: what is short takes far longer to read than its bytes, and counts by number.
func TestTinyParts(t *testing.T) {
	t.Parallel()
	const open = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
	full := "<url>\n<loc>http://example.com/some/page.html</loc>\n<lastmod>2024-01-01</lastmod>\n" +
		"<changefreq>daily</changefreq>\n<priority>0.5</priority>\n</url>\n"
	for name, test := range map[string]struct {
		body string
		cut  bool
	}{
		"lines":       {"http://example.com/\n" + strings.Repeat("a\n", maxSitemapsParts+2000), true},
		"blank lines": {"http://example.com/\n" + strings.Repeat("\n", maxSitemapsParts+2000), true},
		"tags":        {open + strings.Repeat("<a/>", maxSitemapsParts), true},
		"attributes":  {open + strings.Repeat(`<a`+strings.Repeat(` b=""`, 20)+`/>`, maxSitemapsParts/20), true},
		"entities":    {open + "<url><loc>" + strings.Repeat(strings.Repeat("&lt;", 1000)+"<a/>", maxSitemapsParts/1000), true},
		"latin1 entities": {`<?xml version="1.0" encoding="ISO-8859-1"?>` + open + "<url><loc>" +
			strings.Repeat(strings.Repeat("&lt;", 1000)+"<a/>", maxSitemapsParts/1000), true},
		"a full sitemap": {open + strings.Repeat(full, sitemap.MaxURLs) + "</urlset>", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSitemapBudget()
			got := sitemap.Read(sitemap.Source{Body: strings.NewReader(test.body), Host: "example.com", Spend: b.spend})
			if !got.Valid || got.Truncated != test.cut {
				t.Errorf("%+v, %d parts left", got, b.parts.Load())
			}
		})
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]error{9: nil, 10: nil, 11: sitemap.ErrLimit} {
		var left atomic.Int64
		left.Store(10)
		got, err := io.ReadAll(budgeted{from: strings.NewReader(strings.Repeat("x", size)), left: &left})
		if len(got) != min(size, 10) || !errors.Is(err, want) || left.Load() != int64(10-len(got)) {
			t.Errorf("%d bytes: %d, %v, %d left", size, len(got), err, left.Load())
		}
	}
}
