package web_test

import (
	"net/http"
	"strings"
	"testing"
)

// What other sites show beside a link names the page, and has a picture of our own where the service knows its address.
func TestSharedLinks(t *testing.T) {
	t.Parallel()
	config := accepting(everything())
	for _, origin := range []string{"", "https://tools.example.com"} {
		config.PublicOrigin = origin
		site := newSite(t, config)
		for path, title := range map[string]string{
			"/": "Network diagnostics", "/history": "History", "/api": "API", "/tools/dns-lookup": "DNS lookup",
			"/tools/dns-lookup?input=example.com":                         "example.com · DNS lookup",
			"/report?target=example.com":                                  "example.com · Report",
			"/tools/uptime?input=https://example.com/call-1-800-555-0100": "example.com · Uptime check",
			"/tools/dns-lookup?input=Your+bank+was+hacked":                "DNS lookup",
			"/report?target=Your+bank+was+hacked":                         "Report",
		} {
			root := document(t, site, path)
			if got, _ := attribute(one(t, root, "meta", header{"property": "og:title"}), "content"); got != title {
				t.Errorf("%s: og:title is %q, want %q", path, got, title)
			}
			one(t, root, "meta", header{"property": "og:description", "content": "*"})
			pictures := all(root, "meta", header{"property": "og:image"})
			if len(pictures) == 1 != (origin != "") {
				t.Fatalf("%s of %q: %d pictures", path, origin, len(pictures))
			}
			if origin == "" {
				continue
			}
			address, _ := attribute(pictures[0], "content")
			where, ours := strings.CutPrefix(address, origin)
			resp := get(t, site, where)
			kind, size := resp.Header.Get("Content-Type"), len(text(t, resp))
			if !ours || resp.StatusCode != http.StatusOK || kind != "image/png" || size > 60<<10 {
				t.Errorf("%s: the picture %q: %d, %s, %d bytes", path, address, resp.StatusCode, kind, size)
			}
		}
	}
}
