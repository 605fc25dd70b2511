package site

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// file answers a path with a text of a type.
type file struct{ kind, text string }

// files serves files by path and nothing else.
func files(all map[string]file) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := all[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", f.kind)
		if strings.HasSuffix(r.URL.Path, ".gz") {
			w.Header().Set("Content-Type", "application/gzip")
			zip := gzip.NewWriter(w)
			defer zip.Close()
			_, _ = io.WriteString(zip, f.text)
			return
		}
		_, _ = io.WriteString(w, f.text)
	})
}

func plain(text string) file { return file{"text/plain; charset=utf-8", text} }

func markup(text string) file { return file{"application/xml", text} }

const robotsOfMany = `# A comment, and rules of every kind.
User-agent: *
Disallow: /private/
Allow: /private/open$
Crawl-delay: 2.5

User-agent: Labbot
User-agent: Otherbot
Disallow: /

Sitemap: https://robots.lab-site.com/sitemap.xml
Sitemap: https://robots.lab-site.com/index.xml
Sitemap: https://robots.lab-site.com/packed.xml.gz
Sitemap: https://robots.lab-site.com/list.txt
Sitemap: https://robots.lab-site.com/gone.xml
Sitemap: https://robots.lab-site.com/sixth.xml
Sitemap: /relative.xml
`

const robotsWithMarkup = "Disallow: /before-any-agent\r\nUser-agent: *\r\nDisallow: /<script>alert(1)</script>\r\n" +
	"Disalow: /misspelt\r\nno colon here\r\nX-Note: \x1b[31m<img src=x onerror=alert(1)>\r\n" +
	"Sitemap: https://10.0.0.1/sitemap.xml\r\nSitemap: http://private.lab-site.com/sitemap.xml\r\nSitemap: " +
	"https://robots-broken.lab-site.com/sitemap.xml\r\n"

// urls is a sitemap of n pages of a host; later ones are newer.
func urls(host string, n int) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for i := range n {
		fmt.Fprintf(&b, "<url><loc>https://%s/page/%d</loc><lastmod>2026-01-%02d</lastmod></url>\n", host, i, i%28+1)
	}
	b.WriteString("</urlset>\n")
	return b.String()
}

const indexOfTwo = `<?xml version="1.0" encoding="UTF-8"?>
<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>https://robots.lab-site.com/sitemap.xml</loc><lastmod>2026-02-03T04:05:06+00:00</lastmod></sitemap>
<sitemap><loc>https://robots.lab-site.com/packed.xml.gz</loc></sitemap>
</sitemapindex>`

func addCrawled(add adder) {
	add("robots", "robots.txt with groups, sitemaps of every kind", web(files(map[string]file{
		"/robots.txt":    plain(robotsOfMany),
		"/sitemap.xml":   markup(urls("robots."+Zone, 3)),
		"/index.xml":     markup(indexOfTwo),
		"/packed.xml.gz": markup(urls("robots."+Zone, 28)),
		"/list.txt":      plain("https://robots.lab-site.com/a\nhttps://robots.lab-site.com/b\n"),
	})))
	add("robots-closed", "robots.txt that forbids everything",
		web(files(map[string]file{"/robots.txt": plain("User-agent: *\nDisallow: /\n")})))
	add("robots-empty", "an empty robots.txt", web(files(map[string]file{"/robots.txt": plain(""),
		"/sitemap.xml": markup("")})))
	add("robots-hostile", "robots.txt with mistakes and markup", web(files(map[string]file{
		"/robots.txt": plain(robotsWithMarkup), "/sitemap.xml": markup("<urlset><url><loc>javascript:alert(1)</loc>"),
	})))
	add("robots-broken", "answers 503 to crawlers", web(status(http.StatusServiceUnavailable)))
	add("robots-huge", "a robots.txt of 600 KiB, and a sitemap that is a bomb", web(huge()))
	add("robots-crumbs", "sitemaps of millions of lines, tags and entities that are as short as can be", web(crumbs()))
	add("robots-moved", "robots.txt behind five redirects, the sitemap behind six", web(moved()))
	add("robots-astray", "robots.txt and sitemap lead to a private address",
		web(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			send(w, http.StatusFound, "http://10.0.0.1"+r.URL.Path)
		})))
}

func moved() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusMovedPermanently, "/on/4")
	})
	mux.HandleFunc("/sitemap.xml", func(w http.ResponseWriter, _ *http.Request) { send(w, http.StatusFound, "/on/5") })
	mux.HandleFunc("/on/{n}", func(w http.ResponseWriter, r *http.Request) {
		n := r.PathValue("n")
		if n == "0" {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /moved/\n")
			return
		}
		send(w, http.StatusMovedPermanently, fmt.Sprintf("/on/%c", n[0]-1))
	})
	return mux
}

// huge sends a long robots.txt, and a sitemap of 200 MiB that is 200 KiB on the wire.
func huge() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /first/\n"+strings.Repeat("# a line of thirty-two bytes....\n",
			600<<5))
	})
	mux.HandleFunc("/sitemap.xml", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		zip := gzip.NewWriter(w)
		defer zip.Close()
		_, _ = io.WriteString(zip, strings.TrimSuffix(urls("robots-huge."+Zone, 2), "</urlset>\n"))
		writeOften(zip, "<!--"+strings.Repeat(" ", 1017)+"-->", 200)
	})
	return mux
}

// writeOften writes a piece again and again, as many MiB as that.
func writeOften(w io.Writer, piece string, mebibytes int) {
	pieces := strings.Repeat(piece, 1<<20/len(piece))
	for range mebibytes {
		if _, err := io.WriteString(w, pieces); err != nil {
			return
		}
	}
}

// crumbs sends sitemaps that take far longer to read than their bytes.
func crumbs() http.Handler {
	const host = "https://robots-crumbs." + Zone
	mux := http.NewServeMux()
	mux.Handle("/robots.txt", files(map[string]file{
		"/robots.txt": plain("Sitemap: " + host + "/tags.xml\nSitemap: " + host + "/entities.xml\n"),
	}))
	for path, text := range map[string][2]string{
		"/sitemap.xml":  {host + "/\n", "a\n"},
		"/tags.xml":     {sitemapHead, "<url/>"},
		"/entities.xml": {sitemapHead + "<url><loc>", "&lt;"},
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			zip := gzip.NewWriter(w)
			defer zip.Close()
			_, _ = io.WriteString(zip, text[0])
			writeOften(zip, text[1], 20)
		})
	}
	return mux
}

const sitemapHead = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
