package web

import (
	"io/fs"
	"maps"
	"slices"
)

// WithoutComments and Join are what modules go through before they are served.
var WithoutComments, Join = withoutComments, join

// RegisteredOf is the tool of a descriptor, with options that accept what its page offers.
func RegisteredOf(d Descriptor) Registered {
	r := Registered{Slug: d.Slug}
	for _, o := range d.Options {
		accepted := RegisteredOption{Name: o.Name, Values: slices.Sorted(maps.Keys(o.Labels)), Boolean: o.Second}
		if o.Name == "recordType" { // whose values need no labels
			accepted.Values = []string{"A", "AAAA", "CNAME", "MX", "NS", "TXT", "CAA"}
		}
		if _, boolean := o.Labels["true"]; boolean {
			accepted.Values, accepted.Boolean = nil, true
		}
		r.Options = append(r.Options, accepted)
	}
	return r
}

// Descriptors is every tool that has a page, in the order of the front page.
func Descriptors() []Descriptor {
	files, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic(err)
	}
	var all []Descriptor
	for _, g := range catalogue {
		for _, slug := range g.slugs {
			d, err := readDescriptor(files, slug)
			if err != nil {
				panic(err)
			}
			all = append(all, d)
		}
	}
	return all
}

// HasQuorum reports whether a tool has sentences of its own for the results of several places.
func HasQuorum(slug string) bool { return quorums[slug] != nil }
