package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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
