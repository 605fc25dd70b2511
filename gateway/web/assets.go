package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed assets
var embedded embed.FS

// ownAssets are made once, however many sites a process has: tests have many.
var ownAssets = sync.OnceValues(func() (*assets, error) {
	files, err := ownFiles()
	if err != nil {
		return nil, err
	}
	return loadAssets(files)
})

func ownFiles() (fs.FS, error) { return fs.Sub(embedded, "assets") }

// sourceName is how the repository calls a file among the assets, for messages to who changes it.
func sourceName(name string) string { return "gateway/web/assets/" + name }

const assetPrefix = "/assets/"

// hashOctets is how much of the digest is in an asset's address.
const hashOctets = 8

// A hashed name never changes its content, so it may be kept for a year.
const immutable = "public, max-age=31536000, immutable"

var assetKinds = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".png": "image/png",
	".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8",
}

// assets are what is served under /assets/<hash>/<name>: the files as they travel, and what is made of the icons. The
// one hash covers all, so that modules can import each other by relative names: renaming each by its own content would
// mean rewriting the imports.
type assets struct {
	hash   string
	byName map[string]content
	// imports are what each module imports.
	imports map[string][]string
}

func loadAssets(files fs.FS) (*assets, error) {
	bodies, err := drawIcons(files)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isServed(name) {
			return err
		}
		bodies[name], err = fs.ReadFile(files, name)
		if path.Ext(name) == ".js" && !strings.HasPrefix(name, "vendor/") {
			bodies[name] = withoutComments(bodies[name])
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return newAssets(bodies)
}

// isServed reports whether a file travels as it is: descriptors and icons are only read.
func isServed(name string) bool {
	_, isIcon := iconName(name)
	return !isIcon && path.Base(name) != pageFile
}

func newAssets(bodies map[string][]byte) (*assets, error) {
	a := &assets{byName: map[string]content{}, imports: map[string][]string{}}
	digest := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(bodies)) {
		kind, ok := assetKinds[path.Ext(name)]
		if !ok {
			return nil, fmt.Errorf("%s has no content type", sourceName(name))
		}
		body := bodies[name]
		fmt.Fprintf(digest, "%s %d\n", name, len(body))
		digest.Write(body)
		a.imports[name] = importsOf(name, body)
		a.byName[name] = content{kind: kind, cache: immutable, body: body, zipped: compressOnce(body)}
	}
	a.hash = hex.EncodeToString(digest.Sum(nil)[:hashOctets])
	return a, nil
}

// url is the hashed address of an asset, for the templates.
func (a *assets) url(name string) (string, error) {
	if _, ok := a.byName[name]; !ok {
		return "", fmt.Errorf("there is no asset %q", name)
	}
	return assetPrefix + a.hash + "/" + name, nil
}

// asset serves one file. Behind a balancer a page of another version may ask this one for its files, whose hash is then
// another: today's file under that name is better than none, but nobody may keep it as the other's.
func (s *Site) asset(w http.ResponseWriter, r *http.Request) error {
	hash, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, assetPrefix), "/")
	c, ok := s.assets.byName[name]
	if !ok || !isHash(hash) {
		return s.notFound(w, r)
	}
	if hash != s.assets.hash {
		c.cache = "no-store"
	}
	serve(w, r, c)
	return nil
}

// isHash reports whether some version may have had this hash.
func isHash(s string) bool {
	octets, err := hex.DecodeString(s)
	return err == nil && len(octets) == hashOctets && s == strings.ToLower(s)
}
