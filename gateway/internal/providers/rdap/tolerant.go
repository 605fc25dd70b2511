package rdap

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"unicode"

	"diagnostics/shared/ascii"
)

// The types below read JSON as it comes: what is not of their type is as if it were not there, so that one wrong member
// does not hide all the right ones. None of their UnmarshalJSON gives an error.

const (
	// maxDepth is deeper than any answer that says something: an address of an entity of an entity of a domain is at 10.
	maxDepth = 32
	// maxElements bounds every list. One more is read, so that it is known that there are more.
	maxElements = 256
	// maxText bounds every text, in characters.
	maxText = 256
)

var (
	errNotJSON = errors.New("rdap: not JSON")
	errTooDeep = errors.New("rdap: JSON nested too deeply")
)

// decode reads a body into an object after its shape was checked: nothing is decoded, and no recursion begun, that is
// not JSON or too deep.
func decode(body []byte) (object, error) {
	if tooDeep(body) {
		return object{}, errTooDeep
	}
	if !json.Valid(body) {
		return object{}, errNotJSON
	}
	var o object
	if err := json.Unmarshal(body, &o); err != nil {
		return object{}, errNotObject
	}
	return o, nil
}

// tooDeep reports whether JSON is nested too deep. It counts brackets outside of strings. Of what is no JSON it gives
// any answer.
func tooDeep(body []byte) bool {
	depth, inString, escaped := 0, false, false
	for _, c := range body {
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth > maxDepth {
			return true
		}
	}
	return false
}

// text is a string, or the digits of a number that stands in the place of one, or the first of these in a list.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	*t = ""
	switch {
	case raw[0] == '"':
		*t = text(long(raw, maxText))
	case raw[0] == '-' || ascii.IsDigit(raw[0]):
		*t = text(clean(string(raw), maxText))
	case raw[0] == '[':
		var several list[text]
		_ = several.UnmarshalJSON(raw)
		*t = cmp.Or(several...)
	}
	return nil
}

// pointer gives nil for what was not reported.
func (t text) pointer() *string {
	if t == "" {
		return nil
	}
	return new(string(t))
}

// list is an array without its nulls and its elements of other types; a lone element counts as an array of one.
type list[T any] []T

func (l *list[T]) UnmarshalJSON(raw []byte) error {
	*l = nil
	if raw[0] != '[' {
		l.add(raw)
		return nil
	}
	elements := json.NewDecoder(bytes.NewReader(raw))
	_, _ = elements.Token()
	for elements.More() && len(*l) <= maxElements {
		var element json.RawMessage
		if elements.Decode(&element) != nil {
			return nil //nolint:nilerr // the elements before a broken one are kept
		}
		l.add(element)
	}
	return nil
}

func (l *list[T]) add(raw json.RawMessage) {
	var element T
	if string(raw) == "null" || json.Unmarshal(raw, &element) != nil {
		return
	}
	*l = append(*l, element)
}

// part is an object, or nothing.
type part[T any] struct{ value *T }

func (p *part[T]) UnmarshalJSON(raw []byte) error {
	p.value = nil
	var value T
	if raw[0] == '{' && json.Unmarshal(raw, &value) == nil {
		p.value = &value
	}
	return nil
}

// truth is a boolean, also one that was written as a string.
type truth struct{ known, set bool }

func (f *truth) UnmarshalJSON(raw []byte) error {
	said := strings.ToLower(strings.Trim(string(raw), `"`))
	*f = truth{known: said == "true" || said == "false", set: said == "true"}
	return nil
}

// clean makes one line of printable text of at most limit characters: no control character, no mark that turns the
// direction of what stands beside it, no run of spaces.
func clean(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > limit {
		return strings.TrimSpace(string(runes[:limit-1])) + "…"
	}
	return s
}
