package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/web"

	"github.com/getkin/kin-openapi/openapi3"
)

// described holds the descriptions of shared schemas that the tool's part of the page already has.
type described map[string]bool

// result returns the fields of a result, each with those inside it by their paths.
func result(s *openapi3.Schema) []web.APIField {
	shown := described{}
	members := properties(s)
	fields := make([]web.APIField, 0, len(members))
	for _, p := range members {
		fields = append(fields, field(p, "", s, shown))
	}
	for i, p := range members {
		fields[i].Fields = inside(p.value.Value, p.name, shown, nil)
	}
	return fields
}

// field returns one member of the object around it.
func field(p property, path string, around *openapi3.Schema, shown described) web.APIField {
	k := kindOf(p.value.Value)
	f := web.APIField{
		Name: path + p.name, Type: k.words, Values: k.values, Text: description(p.value, shown),
		Optional: !slices.Contains(around.Required, p.name),
	}
	if p.value.Value.Default != nil {
		f.Default = fmt.Sprint(p.value.Value.Default)
	}
	if k.nullable {
		f.Type += " or null"
	}
	return f
}

// description returns a member's description; that of a shared schema the first time only.
func description(r *openapi3.SchemaRef, shown described) string {
	words := r.Value.Description
	if r.Ref == "" || words == "" {
		return words
	}
	if shown[words] {
		return ""
	}
	shown[words] = true
	return words
}

// inside returns all that an object holds, however deep, by paths. An object that may hold its own kind (a record that
// includes another) appears once: above has the objects that the path leads through, each by its first member.
func inside(s *openapi3.Schema, path string, shown described, above []*openapi3.SchemaRef) []web.APIField {
	found, suffix := object(s)
	if found == nil {
		return nil
	}
	members := properties(found)
	if slices.Contains(above, members[0].value) {
		return nil
	}
	above = append(slices.Clone(above), members[0].value)
	path += suffix + "."
	var fields []web.APIField
	for len(members) > 0 {
		p, same := members[0], alike(members)
		if same > 1 {
			p.name = "*"
		}
		f := field(p, path, found, shown)
		if same > 1 {
			f.Optional, f.Text = false, strings.TrimSpace("For each of "+listed(members[:same])+". "+f.Text)
		}
		fields = append(fields, f)
		fields = append(fields, inside(p.value.Value, path+p.name, shown, above)...)
		members = members[same:]
	}
	return fields
}

// fewAlike is how many members of one kind are still listed one by one.
const fewAlike = 5

// alike returns how many members, from the first on, are of one shared schema: one entry serves all of them.
func alike(members []property) int {
	first := members[0].value
	n := 1
	// Words of its own beside a reference make it a copy.
	for n < len(members) && first.Ref != "" && members[n].value.Ref == first.Ref && members[n].value.Value == first.Value {
		n++
	}
	if n <= fewAlike {
		return 1
	}
	return n
}

func listed(members []property) string {
	return text.ListedUpTo(len(members), members, func(p property) string { return "`" + p.name + "`" })
}

// options returns those of a request. Null is the same as leaving one out, so their types do not name it.
func options(s *openapi3.Schema) []web.APIField {
	var fields []web.APIField
	for _, p := range properties(s) {
		f := field(p, "", s, described{})
		f.Type = strings.TrimSuffix(f.Type, " or null")
		fields = append(fields, f)
	}
	return fields
}

// steps returns the kinds of steps that a stream may have.
func steps(s *openapi3.Schema) []web.APIStep {
	var steps []web.APIStep
	for _, v := range variants(s) {
		step := web.APIStep{Text: v.Description}
		for _, p := range properties(v) {
			if p.name == "kind" {
				step.Kind = fmt.Sprint(p.value.Value.Const)
				continue
			}
			step.Fields = append(step.Fields, p.name)
		}
		steps = append(steps, step)
	}
	return steps
}

// kind is a type in words, with the values where they are listed.
type kind struct {
	words    string
	values   []string
	nullable bool
}

// kindOf returns in words what a schema takes.
func kindOf(s *openapi3.Schema) kind {
	var k kind
	var words []string
	for _, v := range variants(s) {
		k.nullable = k.nullable || v.Type.Includes(openapi3.TypeNull)
		for _, value := range append(slices.Clone(v.Enum), v.Const) {
			if value != nil && value != "" {
				k.values = append(k.values, fmt.Sprint(value))
			}
		}
		if w := baseWords(v); w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	k.words = strings.Join(words, " or ")
	return k
}

// baseWords returns those of a schema without alternatives, and without its null.
func baseWords(s *openapi3.Schema) string {
	types := slices.DeleteFunc(slices.Clone(s.Type.Slice()), func(t string) bool { return t == openapi3.TypeNull })
	if len(types) == 0 {
		return ""
	}
	switch types[0] {
	case openapi3.TypeString:
		return cmp.Or(formats[s.Format], "string")
	case openapi3.TypeInteger, openapi3.TypeNumber:
		return types[0] + bounds(s)
	case openapi3.TypeArray:
		return "array of " + plural(s.Items.Value)
	case openapi3.TypeObject:
		if additional := s.AdditionalProperties.Schema; additional != nil {
			return "object of " + plural(additional.Value)
		}
	}
	return strings.Join(types, " or ")
}

// formats are the strings that have a word of their own.
var formats = map[string]string{"date-time": "time", "date": "date", "uuid": "UUID"}

// bounds returns them where both are given; most numbers are just not negative.
func bounds(s *openapi3.Schema) string {
	if s.Min == nil || s.Max == nil {
		return ""
	}
	return fmt.Sprintf(", %.0f to %.0f", *s.Min, *s.Max)
}

// plural returns what the members of a list are.
func plural(s *openapi3.Schema) string {
	k := kindOf(s)
	word, _, _ := strings.Cut(k.words, ",")
	word = strings.ReplaceAll(word, "array of", "arrays of")
	if !strings.HasSuffix(word, "s") {
		word += "s"
	}
	if k.nullable {
		word += " or nulls"
	}
	return word
}
