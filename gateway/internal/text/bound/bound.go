// Package bound limits how much of an answer foreign text fills: "data" is at most MaxData as JSON. Each list or text
// that came from outside has a share of that, and the object that holds it is marked where it was cut. Sizes are those
// of the encoded JSON, since escapes make six bytes of one: a bound on what was read bounds no answer.
//
// Judge first and cut last, so that a verdict covers all that came.
//
// The shares of a result stand in the tags of its type, and package tool enforces them (Limits):
//
//	text=4k        bytes of JSON of a text, or of each text of a list (Text, Texts)
//	list=64k       bytes of JSON of a list (List)
//	count=16       elements of a list (First)
//	apart          what is cut inside does not mark the struct that has this field
package bound

import (
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// MaxData is the most that "data" takes as JSON (docs/contract.md#times-and-sizes). The shares of a tool add up to
// less.
const MaxData = 1 << 20

// ellipsis ends a text that was cut.
const ellipsis = "…"

// List returns the longest beginning of a list whose elements take at most so many bytes as JSON; it sets the marks
// where that is not all of it. It is never nil where the list is not, and does not keep what was cut off in memory.
func List[T any](list []T, most int, marks ...*bool) []T {
	if texts, ok := any(list).([]string); ok && short(texts, most) {
		return list
	}
	return First(list, fitting(len(list), most, func(i int) any { return list[i] }), marks...)
}

// fitting returns how many of n elements take at most so many bytes as JSON, a comma after each.
func fitting(n, most int, element func(int) any) int {
	for i := range n {
		if most -= Size(element(i)) + len(","); most < 0 {
			return i
		}
	}
	return n
}

// short reports whether texts take at most so many bytes as JSON whatever is in them: no byte of one takes more than
// six.
func short(texts []string, most int) bool {
	for _, s := range texts {
		most -= 6*len(s) + len(`"",`)
	}
	return most >= 0
}

// First is List by the number of elements.
func First[T any](list []T, most int, marks ...*bool) []T {
	if len(list) <= most {
		return list
	}
	set(marks)
	return slices.Clone(list[:most])
}

// Text returns a text of at most so many bytes as JSON, its quotes left out of account. A longer one is cut between two
// characters and ends in an ellipsis, and the marks are set.
func Text(s string, most int, marks ...*bool) string {
	// No byte takes more than six, and most texts are short.
	if len(s) <= most/6 {
		return s
	}
	end, size := 0, 0
	for i := 0; i < len(s); {
		r, width := utf8.DecodeRuneInString(s[i:])
		if size += encoded(r, width); size > most {
			set(marks)
			return s[:end] + ellipsis
		}
		if i += width; size <= most-len(ellipsis) {
			end = i
		}
	}
	return s
}

// Pointer is Text for a text that may be absent. Its argument is not changed.
func Pointer(s *string, most int, marks ...*bool) *string {
	if s == nil {
		return nil
	}
	cut := Text(*s, most, marks...)
	return &cut
}

// Texts is List for texts of which each has a bound of its own. Of those that are equal once they were cut one is kept.
// Its argument is not changed.
func Texts(list []string, each, most int, marks ...*bool) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		var cut bool
		if s = Text(s, each, &cut); cut {
			set(marks)
		}
		if !cut || !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return List(out, most, marks...)
}

// Size is what a value takes as JSON.
func Size(v any) int {
	// What cannot be encoded has no size: the edge fails with it.
	text, _ := json.Marshal(v)
	return len(text)
}

func set(marks []*bool) {
	for _, mark := range marks {
		*mark = true
	}
}

// encoded is what encoding/json makes of a character of so many bytes in a string, markup escaped.
func encoded(r rune, width int) int {
	switch r {
	case '"', '\\', '\b', '\f', '\n', '\r', '\t':
		return len(`\n`)
	case '<', '>', '&', '\u2028', '\u2029':
		return len(`\u2028`)
	}
	if r < ' ' || r == utf8.RuneError && width == 1 {
		return len(`\u0000`)
	}
	return width
}
