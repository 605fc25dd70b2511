package robotssitemap

import (
	"io"
	"net/http"
	"slices"
	"testing"

	"diagnostics/gateway/internal/egress/http1"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// gzipSite serves both files, with a Content-Encoding where the sitemap is not itself a compressed file.
func gzipSite(robots, sitemap string, sitemapEncoded bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := sitemap
		w.Header().Set("Content-Type", "application/xml")
		if r.URL.Path == "/robots.txt" {
			body = robots
			w.Header().Set("Content-Type", "text/plain")
		}
		if r.URL.Path == "/robots.txt" || sitemapEncoded {
			w.Header().Set("Content-Encoding", "gzip")
		}
		_, _ = io.WriteString(w, body)
	})
}

// Bytes behind the compressed file, as caches add them, are a warning and spoil nothing.
func TestTrailingBytes(t *testing.T) {
	t.Parallel()
	const rules = "User-agent: *\nDisallow: /x\n"
	for name, encoded := range map[string]bool{"file": false, "Content-Encoding": true} {
		for trailer, want := range map[string]string{"": "", "<!-- cached -->": "TRAILING_BYTES"} {
			n := toolstest.WebNetwork(t)
			n.Serve(toolstest.WebV4Port80, gzipSite(gzipOf(t, rules)+trailer, gzipOf(t, urlset)+trailer, encoded))
			got := mustRun(t, n, "http://example.com/")
			if got.Robots.Status != "found" || got.Robots.Effect != "rules" || fileCodes(got.Robots.Issues) != want ||
				got.Robots.Truncated {
				t.Errorf("robots.txt, %s %q: %+v", name, trailer, got.Robots)
			}
			if got.Sitemap.Status != "found" || got.Sitemap.URLCount == nil || fileCodes(got.Sitemap.Issues) != want {
				t.Errorf("sitemap, %s %q: %+v", name, trailer, got.Sitemap)
			}
			noted := func(notes []webview.Note) bool {
				return slices.ContainsFunc(notes, func(n webview.Note) bool { return n.Code == http1.TrailingBytes })
			}
			if noted(got.Robots.Notes) != (want != "") || noted(got.Sitemap.Notes) != (encoded && want != "") {
				t.Errorf("%s %q: notes %v and %v", name, trailer, got.Robots.Notes, got.Sitemap.Notes)
			}
			for _, i := range slices.Concat(got.Robots.Issues, got.Sitemap.Issues) {
				if i.Severity != string(finding.Warn) {
					t.Errorf("%s: %+v", name, i)
				}
			}
		}
	}
}

// What came before a compressed body turned out to be corrupt, or before the connection broke off, is kept.
func TestBodiesThatFailLate(t *testing.T) {
	t.Parallel()
	const rules = "User-agent: *\nDisallow: /x\nSitemap: http://example.com/declared.xml\n"
	spoilt := func(zip string) string { return zip[:len(zip)-5] + "\xff" + zip[len(zip)-4:] }
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4Port80, gzipSite(spoilt(gzipOf(t, rules)), spoilt(gzipOf(t, urlset)), true))
	got := mustRun(t, n, "http://example.com/")
	if got.Robots.Status != "found" || got.Robots.Effect != "rules" || len(got.Robots.Groups) != 1 ||
		!got.Robots.Truncated || fileCodes(got.Robots.Issues) != "INCOMPLETE" || len(got.DeclaredSitemaps) != 1 {
		t.Errorf("%+v", got.Robots)
	}
	if got.Sitemap.Kind == nil || got.Sitemap.URLCount == nil || *got.Sitemap.URLCount == 0 ||
		fileCodes(got.Sitemap.Issues) != "INCOMPLETE" {
		t.Errorf("%+v", got.Sitemap)
	}
	cut := toolstest.WebNetwork(t)
	cut.Serve(toolstest.WebV4Port80, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, rules)
	}))
	robots := mustRun(t, cut, "http://example.com/").Robots
	if robots.Status != "unreachable" || robots.Effect != "disallowAll" || len(robots.Groups) != 1 ||
		robots.Bytes != len(rules) || robots.Preview != rules {
		t.Errorf("%+v", robots)
	}
}
