package robotssitemap

import "diagnostics/gateway/internal/text/bound"

// The shares of an answer, in bytes of JSON. A robots.txt of 500 KiB may be nothing but lines of seven bytes, each of
// which takes forty here.
const (
	maxGroups      = 576 << 10
	maxAgents      = 16 << 10 // of one group
	maxPath        = 8 << 10  // and of a URL
	maxDeclared    = 128 << 10
	maxIssues      = 48 << 10 // of robots.txt
	maxFileIssues  = 8 << 10  // of one sitemap
	maxContentType = 1 << 10
)

// boundRobots cuts what is too long for an answer of robots.txt, and tells so where it is told that the file itself was
// cut: what is missing is missing either way.
func (r *Result) boundRobots() {
	r.Robots.bound(&r.Truncated)
	r.DeclaredSitemaps = bound.Texts(r.DeclaredSitemaps, maxPath, maxDeclared, &r.Truncated)
}

func (r *Result) boundSitemaps() {
	r.Sitemap.bound(&r.Truncated)
	for i := range r.Sitemaps {
		r.Sitemaps[i].bound(&r.Truncated)
	}
}

func (f *robotsFile) bound(cut *bool) {
	f.FinalURL = bound.Pointer(f.FinalURL, maxPath, &f.Truncated, cut)
	f.ContentType = bound.Pointer(f.ContentType, maxContentType, &f.Truncated, cut)
	f.Issues = bound.List(f.Issues, maxIssues, &f.Truncated, cut)
	left := maxGroups
	for i := range f.Groups {
		g := &f.Groups[i]
		g.UserAgents = bound.Texts(g.UserAgents, maxPath, maxAgents, &g.Truncated, &f.Truncated, cut)
		for j := range g.Rules {
			g.Rules[j].Path = bound.Text(g.Rules[j].Path, maxPath, &g.Truncated, &f.Truncated, cut)
		}
		g.Rules = bound.List(g.Rules, left, &g.Truncated, &f.Truncated, cut)
		if left -= bound.Size(g); left < 0 {
			// The last group is shown as far as it goes.
			f.Groups = bound.First(f.Groups, i+1, &f.Truncated, cut)
			return
		}
	}
}

func (f *sitemapFile) bound(cut *bool) {
	f.URL = bound.Text(f.URL, maxPath, &f.Truncated, cut)
	f.FinalURL = bound.Pointer(f.FinalURL, maxPath, &f.Truncated, cut)
	f.Issues = bound.List(f.Issues, maxFileIssues, &f.Truncated, cut)
}
