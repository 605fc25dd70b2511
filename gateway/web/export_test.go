package web

import (
	"io/fs"
	"testing"
)

// Descriptors is every tool that has a page, in the order of the front page.
func Descriptors(t *testing.T) []Descriptor {
	t.Helper()
	files, err := fs.Sub(embedded, "assets")
	if err != nil {
		t.Fatal(err)
	}
	var all []Descriptor
	for _, g := range catalogue {
		for _, slug := range g.slugs {
			d, err := readDescriptor(files, slug)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, d)
		}
	}
	return all
}
