package web

import (
	"bytes"
	"path"
	"regexp"
	"slices"
)

// imported finds the static imports of a module; ours are one a line.
var imported = regexp.MustCompile(`(?m)^(?:import|export) [^"\n]*"(\.[^"\n]+)";$`)

// importsOf gives the assets that a module imports.
func importsOf(module string, body []byte) []string {
	var names []string
	for _, m := range imported.FindAllSubmatch(body, -1) {
		names = append(names, path.Join(path.Dir(module), string(m[1])))
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

// Comments and types are for who reads the repository; on the wire they would be a third of every module.
var (
	cast       = regexp.MustCompile(`/\*\* @type \{[^\n]*?\} \*/ ?`)
	wholeLines = regexp.MustCompile(`(?m)^[ \t]*(?://.*|/\*\*(?s:.*?)\*/[ \t]*)\n`)
	emptyLines = regexp.MustCompile(`\n\s*\n`)
	indents    = regexp.MustCompile(`(?m)^[ \t]+`)
)

// withoutComments takes the comments out of one of our modules, those that have lines of their own and JSDoc's casts,
// and the indents of its lines. It knows no strings, so ours hold nothing that looks like one of these at the start of
// a line (a test looks).
func withoutComments(source []byte) []byte {
	source = cast.ReplaceAll(source, nil)
	source = wholeLines.ReplaceAll(source, nil)
	source = emptyLines.ReplaceAll(source, []byte("\n"))
	return bytes.TrimLeft(indents.ReplaceAll(source, nil), "\n")
}
