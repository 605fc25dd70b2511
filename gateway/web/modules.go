package web

import (
	"bytes"
	"path"
	"regexp"
	"slices"
)

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
