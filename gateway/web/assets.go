package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
	"github.com/tdewolff/parse/v2/js"
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
	own := map[string][]byte{}
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isServed(name) {
			return err
		}
		body, err := fs.ReadFile(files, name)
		switch ext := path.Ext(name); {
		case err != nil || strings.HasPrefix(name, "vendor/"):
		case ext == ".css":
			body = stylesWithoutComments(body)
		case ext == ".js":
			if own[name], err = withoutComments(body); err != nil {
				err = fmt.Errorf("%s: %w", sourceName(name), err)
			}
			return err
		}
		bodies[name] = body
		return err
	})
	if err != nil {
		return nil, err
	}
	served, err := join(own)
	if err != nil {
		return nil, err
	}
	maps.Copy(bodies, served)
	return newAssets(bodies)
}

// withoutComments removes the comments of a module, JSDoc's types included, which are a third of it, and most blanks.
// Only the lexer of tdewolff/minify is used: the minifier itself imports os/exec, which the gateway must not.
func withoutComments(source []byte) ([]byte, error) {
	lexer := js.NewLexer(parse.NewInputBytes(source))
	var out bytes.Buffer
	gap, last := "", js.ErrorToken
	for {
		kind, text := lexer.Next()
		if (kind == js.DivToken || kind == js.DivEqToken) && !endsValue(last) {
			kind, text = lexer.RegExp()
		}
		switch kind {
		case js.ErrorToken:
			if err := lexer.Err(); !errors.Is(err, io.EOF) {
				return nil, err
			}
			return out.Bytes(), nil
		case js.WhitespaceToken, js.CommentToken:
			gap = cmp.Or(gap, " ")
			continue
		case js.LineTerminatorToken, js.CommentLineTerminatorToken:
			gap = "\n"
			continue
		}
		if out.Len() > 0 && !dense(last, kind) {
			out.WriteString(gap)
		}
		out.Write(text)
		gap, last = "", kind
	}
}

// dense reports whether no blank and no line's end matters between two tokens.
func dense(last, next js.TokenType) bool {
	return slices.Contains(opening, last) || slices.Contains(closing, next) ||
		slices.Contains(binary, last) || slices.Contains(binary, next)
}

var (
	opening = []js.TokenType{js.OpenParenToken, js.OpenBracketToken, js.OpenBraceToken, js.CommaToken}
	closing = []js.TokenType{js.CloseParenToken, js.CloseBracketToken, js.CloseBraceToken}
	// These never merge with what stands beside them, as + and / would.
	binary = []js.TokenType{
		js.EqToken, js.EqEqToken, js.EqEqEqToken, js.NotEqToken, js.NotEqEqToken, js.ArrowToken, js.ColonToken,
		js.QuestionToken, js.AndToken, js.OrToken, js.NullishToken, js.LtEqToken, js.GtEqToken, js.AddEqToken, js.SubEqToken,
	}
)

// endsValue reports whether a slash after such a token divides. After any other token a regular expression begins.
func endsValue(kind js.TokenType) bool {
	return js.IsIdentifier(kind) || js.IsNumeric(kind) || slices.Contains([]js.TokenType{
		js.StringToken, js.TemplateToken, js.TemplateEndToken, js.RegExpToken, js.PrivateIdentifierToken,
		js.CloseParenToken, js.CloseBracketToken, js.CloseBraceToken, js.ThisToken, js.NullToken, js.TrueToken,
		js.FalseToken, js.IncrToken, js.DecrToken,
	}, kind)
}

// stylesWithoutComments removes the comments of a style sheet, its indents and empty lines.
func stylesWithoutComments(source []byte) []byte {
	lexer := css.NewLexer(parse.NewInputBytes(source))
	var out []byte
	for {
		switch kind, text := lexer.Next(); {
		case kind == css.ErrorToken:
			return out
		case kind == css.CommentToken:
		case kind == css.WhitespaceToken && bytes.ContainsRune(text, '\n'):
			out = append(bytes.TrimRight(out, " \n"), '\n')
		default:
			out = append(out, text...)
		}
	}
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
		a.byName[name] = content{kind: kind, cache: immutable, body: body, tag: etag(body), zipped: compressOnce(body)}
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
// another: today's file under that name is better than none, but no one may keep it as the other's.
func (s *Site) asset(w http.ResponseWriter, r *http.Request) error {
	hash, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, assetPrefix), "/")
	c, ok := s.assets.byName[name]
	if !ok || !isHash(hash) {
		return s.notFound(w, r)
	}
	if hash != s.assets.hash {
		c.cache = "no-store"
	}
	if ext := path.Ext(name); ext == ".js" || ext == ".css" {
		for _, h := range documentHeaders { // they are larger than most modules
			w.Header().Del(h)
		}
	}
	serve(w, r, c)
	return nil
}

// isHash reports whether some version may have had this hash.
func isHash(s string) bool {
	octets, err := hex.DecodeString(s)
	return err == nil && len(octets) == hashOctets && s == strings.ToLower(s)
}

// imported is the line of a static import; ours are one a line.
var imported = regexp.MustCompile(`^(?:import|export) [^"]*"(\.[^"]+)";$`)

// importsOf gives the assets that a module imports.
func importsOf(module string, body []byte) []string {
	var names []string
	for line := range bytes.Lines(body) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		// Few lines end like this: to match them all would be a tenth of the service's start.
		if !bytes.HasSuffix(line, []byte(`";`)) {
			continue
		}
		if m := imported.FindSubmatch(line); m != nil {
			names = append(names, path.Join(path.Dir(module), string(m[1])))
		}
	}
	return names
}

// preload gives the addresses of the modules that a page loads later (a tool's view) and of all that these and its
// entry modules import, so that a browser can fetch them at once instead of finding them one level after the other.
func (a *assets) preload(entries, later []string) ([]string, error) {
	modules := slices.Concat(entries, later)
	for i := 0; i < len(modules); i++ {
		for _, name := range a.imports[modules[i]] {
			if !slices.Contains(modules, name) {
				modules = append(modules, name)
			}
		}
	}
	var urls []string
	for _, name := range modules[len(entries):] {
		url, err := a.url(name)
		if err != nil {
			return nil, err
		}
		urls = append(urls, url)
	}
	return urls, nil
}
