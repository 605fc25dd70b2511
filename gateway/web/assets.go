package web

import (
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed assets
var assetFiles embed.FS

const assetPrefix = "/assets/"

// A hashed name never changes its content, so it may be kept for a year.
const immutable = "public, max-age=31536000, immutable"

var assetKinds = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8",
}

// assets are the embedded files under /assets/<hash>/<name>. The one hash covers all files, so that modules can import each
// other by relative names: renaming each by its own content would mean rewriting the imports.
type assets struct {
	hash   string
	byName map[string]content
}

func loadAssets() (*assets, error) {
	a := &assets{byName: map[string]content{}}
	digest := sha256.New()
	err := fs.WalkDir(assetFiles, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := assetFiles.ReadFile(name)
		if err != nil {
			return err
		}
		kind, ok := assetKinds[path.Ext(name)]
		if !ok {
			return fmt.Errorf("%s has no content type", name)
		}
		short := strings.TrimPrefix(name, "assets/")
		fmt.Fprintf(digest, "%s %d\n", short, len(body))
		digest.Write(body)
		if path.Ext(name) == ".js" && !strings.HasPrefix(short, "vendor/") {
			body = withoutComments(body)
		}
		a.byName[short] = content{kind: kind, cache: immutable, body: body, zipped: compress(body, gzip.BestCompression)}
		return nil
	})
	a.hash = hex.EncodeToString(digest.Sum(nil)[:8])
	return a, err
}

// url is the hashed address of an asset, for the templates.
func (a *assets) url(name string) (string, error) {
	if _, ok := a.byName[name]; !ok {
		return "", fmt.Errorf("there is no asset %q", name)
	}
	return assetPrefix + a.hash + "/" + name, nil
}

func (a *assets) has(name string) bool {
	_, ok := a.byName[name]
	return ok
}

// glyph is an icon of the sprite, in the colour of the text around it.
func (a *assets) glyph(name string) (template.HTML, error) {
	sprite, err := a.url("icons.svg")
	if err != nil {
		return "", err
	}
	markup := `<svg class="glyph" width="24" height="24" aria-hidden="true"><use href="` + sprite + "#" + template.HTMLEscapeString(name) + `"/></svg>`
	return template.HTML(markup), nil //nolint:gosec // made of our own names, escaped
}

// asset serves one file under the current hash. An old hash is unknown: serving today's file under it would have it kept
// for a year as yesterday's.
func (s *site) asset(w http.ResponseWriter, r *http.Request) {
	hash, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, assetPrefix), "/")
	c, ok := s.assets.byName[name]
	if !ok || hash != s.assets.hash {
		s.notFound(w, r)
		return
	}
	serve(w, r, c)
}
