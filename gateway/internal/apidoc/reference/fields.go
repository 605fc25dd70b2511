package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/web"
)

// described are the references whose description has been given: what many objects share is said once a tool.
type described map[string]bool

// result is the fields of a result, each with those inside it by their paths.
func (d *document) result(s *schema) []web.APIField {
	s = d.resolve(s)
	said := described{}
	fields := make([]web.APIField, 0, len(s.Properties))
	for _, p := range s.Properties {
		fields = append(fields, d.field(p, "", s, said))
	}
	for i, p := range s.Properties {
		fields[i].Fields = d.inside(&p.schema, p.name, said, nil)
	}
	return fields
}

// field is one member of the object around it.
func (d *document) field(p property, path string, around *schema, said described) web.APIField {
	k := d.kindOf(&p.schema)
	f := web.APIField{
		Name: path + p.name, Type: k.words, Values: k.values, Default: p.Default, Text: d.text(p.schema, said),
		Optional: !slices.Contains(around.Required, p.name),
	}
	if k.nullable {
		f.Type += " or null"
	}
	return f
}

// text is the description of a member: its own, or once that of the schema that it refers to.
func (d *document) text(s schema, said described) string {
	if s.Description != "" || s.Ref == "" {
		return s.Description
	}
	if said[s.Ref] {
		return ""
	}
	said[s.Ref] = true
	return d.resolve(&s).Description
}

// inside is all that an object holds, however deep, by paths. An object that may hold its own kind (a record that
// includes another) is told once: above are those that the path leads through, each by its first member.
func (d *document) inside(s *schema, path string, said described, above []*property) []web.APIField {
	object, suffix := d.object(s)
	if object == nil || slices.Contains(above, &object.Properties[0]) {
		return nil
	}
	above = append(slices.Clone(above), &object.Properties[0])
	path += suffix + "."
	var fields []web.APIField
	for members := object.Properties; len(members) > 0; {
		p, same := members[0], alike(members)
		if same > 1 {
			each := p
			each.name = "*"
			f := d.field(each, path, object, said)
			f.Optional, f.Text = false, strings.TrimSpace("For each of "+listed(members[:same])+". "+f.Text)
			fields = append(fields, f)
			p.name = "*"
		} else {
			fields = append(fields, d.field(p, path, object, said))
		}
		fields = append(fields, d.inside(&p.schema, path+p.name, said, above)...)
		members = members[same:]
	}
	return fields
}

// fewAlike is how many members of one kind are still listed one by one.
const fewAlike = 5

// alike is how many members, from the first on, are of one and the same shared schema: one entry serves all of them.
func alike(members properties) int {
	n := 1
	for n < len(members) && members[n].Ref != "" && members[n].Ref == members[0].Ref && members[n].Description == "" {
		n++
	}
	if n <= fewAlike {
		return 1
	}
	return n
}

func listed(members properties) string {
	return text.ListedUpTo(len(members), members, func(p property) string { return "`" + p.name + "`" })
}

// options are those of a request. Null is the same as leaving one out, and so is not told of each.
func (d *document) options(s *schema) []web.APIField {
	s = d.resolve(s)
	var fields []web.APIField
	for _, p := range s.Properties {
		f := d.field(p, "", s, described{})
		f.Type = strings.TrimSuffix(f.Type, " or null")
		fields = append(fields, f)
	}
	return fields
}

// steps are the kinds of steps that a stream may have.
func (d *document) steps(s *schema) []web.APIStep {
	var steps []web.APIStep
	for _, v := range d.variants(d.resolve(s)) {
		step := web.APIStep{Text: v.Description}
		for _, p := range v.Properties {
			if p.name == "kind" {
				step.Kind = strings.Join(p.Const, "")
				continue
			}
			step.Fields = append(step.Fields, p.name)
		}
		steps = append(steps, step)
	}
	return steps
}

const null = "null"

// kind is a type in words, with the values where they are listed.
type kind struct {
	words    string
	values   []string
	nullable bool
}

// kindOf says in words what a schema takes.
func (d *document) kindOf(s *schema) kind {
	var k kind
	var words []string
	for _, v := range d.variants(d.resolve(s)) {
		k.nullable = k.nullable || slices.Contains(v.Type, null)
		for _, value := range slices.Concat(v.Enum, v.Const) {
			if value != null && value != "" {
				k.values = append(k.values, value)
			}
		}
		if w := d.baseWords(v); w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	k.words = strings.Join(words, " or ")
	return k
}

// baseWords are those of a schema without alternatives, and without its null.
func (d *document) baseWords(s *schema) string {
	types := slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == null })
	if len(types) == 0 {
		return ""
	}
	switch types[0] {
	case "string":
		return cmp.Or(formats[s.Format], "string")
	case "integer", "number":
		return types[0] + bounds(s)
	case "array":
		return "array of " + d.plural(s.Items)
	case "object":
		if s.Additional != nil && s.Additional.of != nil {
			return "object of " + d.plural(s.Additional.of)
		}
	}
	return strings.Join(types, " or ")
}

// formats are the strings that have a word of their own.
var formats = map[string]string{"date-time": "time", "date": "date", "uuid": "UUID"}

// bounds are told where both are; most numbers are just not negative.
func bounds(s *schema) string {
	if s.Minimum == nil || s.Maximum == nil {
		return ""
	}
	return fmt.Sprintf(", %d to %d", *s.Minimum, *s.Maximum)
}

// plural is what the members of a list are.
func (d *document) plural(s *schema) string {
	k := d.kindOf(s)
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
