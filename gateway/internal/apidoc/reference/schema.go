package reference

import (
	"cmp"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// entry is one key of a map of the document.
type entry[T any] struct {
	name  string
	value T
}

// inOrder returns the entries of a map in the document's order, in which they should be read.
func inOrder[T any](m map[string]T, origin func(T) *openapi3.Origin) []entry[T] {
	entries := make([]entry[T], 0, len(m))
	for name, value := range m {
		entries = append(entries, entry[T]{name, value})
	}
	slices.SortFunc(entries, func(a, b entry[T]) int {
		x, y := origin(a.value).Key, origin(b.value).Key
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column))
	})
	return entries
}

type property = entry[*openapi3.SchemaRef]

func properties(s *openapi3.Schema) []property {
	return inOrder(s.Properties, func(r *openapi3.SchemaRef) *openapi3.Origin { return r.Origin })
}

// member is the schema of one property; an empty one where there is no such property.
func member(s *openapi3.Schema, name string) *openapi3.Schema {
	if p := s.Properties[name]; p != nil {
		return p.Value
	}
	return &openapi3.Schema{}
}

// variants returns the alternatives of a schema, null among them.
func variants(s *openapi3.Schema) []*openapi3.Schema {
	var all []*openapi3.Schema
	for _, v := range slices.Concat(s.OneOf, s.AnyOf) {
		all = append(all, variants(v.Value)...)
	}
	if all == nil {
		all = []*openapi3.Schema{s}
	}
	return all
}

// object is the object that a schema describes: itself, its alternative to null, or what a list of it holds. suffix is
// what its path has more, as jq writes it.
func object(s *openapi3.Schema) (found *openapi3.Schema, suffix string) {
	for _, v := range variants(s) {
		switch additional := v.AdditionalProperties.Schema; {
		case len(v.Properties) > 0:
			return v, ""
		case v.Items != nil:
			found, suffix = object(v.Items.Value)
			return found, "[]" + suffix
		case additional != nil:
			found, suffix = object(additional.Value)
			return found, ".*" + suffix
		}
	}
	return nil, ""
}
