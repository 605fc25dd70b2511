package web

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// The files in the folder of a tool that have a meaning of their own. Besides them it may hold modules.
const (
	pageFile  = "page.json"
	iconFile  = "icon.svg"
	factsFile = "facts.js"
	viewFile  = "view.js"
	styleFile = "view.css"
	watchFile = "watch.js"
)

// needed are the files that every tool's page is made of, with what each is.
var needed = []struct{ name, what string }{
	{pageFile, "what the page says of the tool"},
	{iconFile, "its icon, 24 by 24"},
	{factsFile, "what of an answer is compared with an earlier one"},
	{viewFile, "the answer as its page draws it"},
}

const (
	cataloguePlace = "gateway/web/catalogue.go"
	registryPlace  = "gateway/internal/tools/all.go"
)

func toolFile(slug, name string) string { return "tools/" + slug + "/" + name }

// agree holds the registry, the catalogue and the folders against each other: none may know a tool that another does
// not, and no folder may lack a file. Every gap is listed at once, each by the file that closes it.
func agree(registry []Registered, catalogue []group, files fs.FS) error {
	var registered []string
	for _, r := range registry {
		registered = append(registered, r.Slug)
	}
	gaps := unlisted(registered, catalogue)
	for _, slug := range registered {
		gaps = append(gaps, missingFiles(files, slug)...)
	}
	folders, err := fs.ReadDir(files, "tools")
	gaps = append(gaps, err)
	for _, folder := range folders {
		slug := folder.Name()
		if slices.Contains(registered, slug) {
			gaps = append(gaps, strayFiles(files, slug)...)
			continue
		}
		gaps = append(gaps, fmt.Errorf("%s is the page of no tool: %s has no line for it",
			sourceName("tools/"+slug), registryPlace))
	}
	return errors.Join(gaps...)
}

// unlisted finds where the catalogue is not the registry in another order.
func unlisted(registered []string, catalogue []group) (gaps []error) {
	var listed []string
	for _, g := range catalogue {
		for _, slug := range g.slugs {
			if slices.Contains(listed, slug) {
				gaps = append(gaps, fmt.Errorf("%s lists %s twice", cataloguePlace, slug))
			}
			if !slices.Contains(registered, slug) {
				gaps = append(gaps, fmt.Errorf("%s lists %s, which is no tool: %s has no line for it",
					cataloguePlace, slug, registryPlace))
			}
			listed = append(listed, slug)
		}
	}
	for _, slug := range registered {
		if !slices.Contains(listed, slug) {
			gaps = append(gaps, fmt.Errorf("%s has no line for the tool %s", cataloguePlace, slug))
		}
	}
	return gaps
}

// watchable fails where a tool's page offers to watch and nothing says what is kept of an answer, or the other way
// round.
func watchable(files fs.FS, d Descriptor) error {
	name := toolFile(d.Slug, watchFile)
	switch has := exists(files, name); {
	case d.Watch > 0 && !has:
		return fmt.Errorf("%s is missing: what is kept of an answer while its page watches", sourceName(name))
	case d.Watch == 0 && has:
		return fmt.Errorf("%s is read by nothing: its %s has no \"watch\"", sourceName(name), pageFile)
	}
	return nil
}

func exists(files fs.FS, name string) bool {
	_, err := fs.Stat(files, name)
	return err == nil
}

func missingFiles(files fs.FS, slug string) (gaps []error) {
	for _, n := range needed {
		if name := toolFile(slug, n.name); !exists(files, name) {
			gaps = append(gaps, fmt.Errorf("%s is missing: %s", sourceName(name), n.what))
		}
	}
	return gaps
}

// strayFiles finds what nothing would ever read: a file by another name than it should have.
func strayFiles(files fs.FS, slug string) (gaps []error) {
	known := []string{pageFile, iconFile, styleFile}
	entries, err := fs.ReadDir(files, "tools/"+slug)
	if err != nil {
		return []error{err}
	}
	for _, entry := range entries {
		if name := entry.Name(); entry.IsDir() || path.Ext(name) != ".js" && !slices.Contains(known, name) {
			gaps = append(gaps, fmt.Errorf("%s is read by nothing: the folder of a tool holds %v and modules",
				sourceName(toolFile(slug, name)), known))
		}
	}
	return gaps
}
