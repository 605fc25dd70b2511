// Package decode reads JSON of another instance of this service into this one's own result types. What the types do not
// name is dropped; what they promise must be there, of its type and within its bounds. So an answer of a newer or an
// older release, or of an instance that was taken over, has no other form here than this release's own.
//
// A member is required unless its json tag has omitempty or omitzero. Pointers may be null. Numbers are not negative,
// and what is omitted when false is never false. A tag wire says what else holds:
//
//	optional            it may be absent, as in an answer of the release before; this word comes first
//	null, notnull       a list or map may be null; a pointer may not
//	signed              a number may be negative
//	min=1, max=30       bounds of a number
//	enum=a|b            values of a string or whole number
//	len=1..4, len=1..   the number of elements of a list
//	keys=a|b            a map has exactly these keys
//
// What is said of numbers and strings holds for the elements of a list or map too.
//
// Reading takes time and memory in proportion to the text, whatever the text is.
package decode

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"
)

// Bounds of what is read. The largest result of a tool has a tenth of them.
const (
	maxDepth  = 32
	maxValues = 1 << 16 // members and elements, also of what is dropped
	maxString = 128 << 10
)

// Cost returns the most memory that decoding a text of this length takes, beside the text.
func Cost(length int) int { return 4*length + 64<<10 }

// Into decodes a JSON text into the variable that to points to. On an error its contents are undefined.
func Into(text []byte, to any) error {
	v := reflect.ValueOf(to).Elem()
	s, err := shapeOf(v.Type())
	if err != nil {
		return err
	}
	if !json.Valid(text) {
		return errors.New("not JSON")
	}
	r := reader{text: text, room: Cost(len(text))}
	r.space()
	return r.value(s, v, 0)
}

var (
	errDepth  = errors.New("nested too deep")
	errValues = fmt.Errorf("more than %d values", maxValues)
	errRoom   = errors.New("it takes more memory than such a text should")
)

// reader reads a text that is valid JSON, so that it needs no check of syntax.
type reader struct {
	text   []byte
	at     int
	values int
	room   int // bytes that may still be allocated
}

func (r *reader) take(bytes int) error {
	if r.room -= bytes; r.room < 0 {
		return errRoom
	}
	return nil
}

func (r *reader) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\r', '\n':
			r.at++
		default:
			return
		}
	}
}

// next skips a comma or the opening of an object or a list, and reports whether a value follows.
func (r *reader) next(closing byte) bool {
	r.space()
	if r.text[r.at] == ',' {
		r.at++
		r.space()
	}
	if r.text[r.at] == closing {
		r.at++
		return false
	}
	return true
}

// literal returns the text of the string, number or word that follows.
func (r *reader) literal() []byte {
	start := r.at
	if r.text[r.at] == '"' {
		for r.at++; r.text[r.at] != '"'; r.at++ {
			if r.text[r.at] == '\\' {
				r.at++
			}
		}
		r.at++
		return r.text[start:r.at]
	}
	for ; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return r.text[start:r.at]
		}
	}
	return r.text[start:]
}

// skip skips a value, whatever it holds, and returns its text.
func (r *reader) skip() ([]byte, error) {
	start := r.at
	for depth := 0; ; {
		if r.values++; r.values > maxValues {
			return nil, errValues
		}
		switch r.text[r.at] {
		case '{', '[':
			depth++
			r.at++
		default:
			r.literal()
		}
		for r.separators(&depth) {
		}
		if depth == 0 {
			return r.text[start:r.at], nil
		}
	}
}

// separators skips one byte between two values of what is skipped, and reports whether there was one.
func (r *reader) separators(depth *int) bool {
	if *depth == 0 {
		return false
	}
	switch r.text[r.at] {
	case '}', ']':
		*depth--
	case ',', ':', ' ', '\t', '\r', '\n':
	default:
		return false
	}
	r.at++
	return true
}

func (r *reader) value(s *shape, v reflect.Value, depth int) error {
	if r.values++; r.values > maxValues {
		return errValues
	}
	if depth > maxDepth {
		return errDepth
	}
	if r.text[r.at] == 'n' {
		if !s.null {
			return errors.New("null")
		}
		r.literal()
		v.SetZero()
		return nil
	}
	switch s.kind {
	case kindPointer:
		if err := r.take(int(s.of.goType.Size())); err != nil {
			return err
		}
		v.Set(reflect.New(s.of.goType))
		r.values-- // it is one value
		return r.value(s.of, v.Elem(), depth)
	case kindStruct:
		return r.object(s, v, depth)
	case kindMap:
		return r.table(s, v, depth)
	case kindList:
		return r.list(s, v, depth)
	case kindText:
		raw, err := r.skip()
		if err == nil {
			v.SetBytes(raw)
		}
		return err
	}
	return r.scalar(s, v)
}

func (r *reader) object(s *shape, v reflect.Value, depth int) error {
	if r.text[r.at] != '{' {
		return errors.New("not an object")
	}
	r.at++
	var seen uint64
	for r.next('}') {
		name, err := r.name()
		if err != nil {
			return err
		}
		i, known := s.names[string(name)]
		if !known {
			if _, err := r.skip(); err != nil {
				return err
			}
			continue
		}
		if seen&(1<<i) != 0 {
			return fmt.Errorf("%s stands twice", name)
		}
		seen |= 1 << i
		m := s.members[i]
		if err := r.value(m.shape, v.FieldByIndex(m.index), depth+1); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	if missing := s.required &^ seen; missing != 0 {
		for i, m := range s.members {
			if missing&(1<<i) != 0 {
				return fmt.Errorf("%s is missing", m.name)
			}
		}
	}
	return nil
}

// name reads the name of a member, up to its value.
func (r *reader) name() ([]byte, error) {
	literal := r.literal()
	name := literal[1 : len(literal)-1]
	if !isPlain(name) {
		text, err := r.unquote(literal)
		if err != nil {
			return nil, err
		}
		name = []byte(text)
	}
	r.space()
	r.at++ // the colon
	r.space()
	return name, nil
}

func (r *reader) table(s *shape, v reflect.Value, depth int) error {
	if r.text[r.at] != '{' {
		return errors.New("not an object")
	}
	r.at++
	v.Set(reflect.MakeMap(s.goType))
	const overhead = 64 // of an entry
	for r.next('}') {
		literal := r.text[r.at:]
		name, err := r.name()
		if err != nil {
			return err
		}
		key := reflect.ValueOf(string(name))
		if v.MapIndex(key).IsValid() {
			return fmt.Errorf("%.20q stands twice", literal)
		}
		if err := r.take(overhead + len(name) + int(s.of.goType.Size())); err != nil {
			return err
		}
		element := reflect.New(s.of.goType).Elem()
		if err := r.value(s.of, element, depth+1); err != nil {
			return err
		}
		v.SetMapIndex(key, element)
	}
	for _, key := range s.keys {
		if v.Len() != len(s.keys) || !v.MapIndex(reflect.ValueOf(key)).IsValid() {
			return errors.New("other keys")
		}
	}
	return nil
}

func (r *reader) list(s *shape, v reflect.Value, depth int) error {
	if r.text[r.at] != '[' {
		return errors.New("not a list")
	}
	r.at++
	n, size := 0, int(s.of.goType.Size())
	v.Set(reflect.MakeSlice(s.goType, 0, 0))
	for ; r.next(']'); n++ {
		if n == s.most {
			return fmt.Errorf("more than %d elements", n)
		}
		if n == v.Cap() {
			longer := min(max(1, 2*n), s.most)
			if err := r.take((longer - n) * size); err != nil {
				return err
			}
			grown := reflect.MakeSlice(s.goType, n, longer)
			reflect.Copy(grown, v)
			v.Set(grown)
		}
		v.SetLen(n + 1)
		if err := r.value(s.of, v.Index(n), depth+1); err != nil {
			return err
		}
	}
	if n < s.least {
		return fmt.Errorf("%d elements", n)
	}
	return nil
}

func (r *reader) scalar(s *shape, v reflect.Value) error {
	first := r.text[r.at]
	if first == '{' || first == '[' {
		return errors.New("not a scalar")
	}
	literal := r.literal()
	if (first == '"') != (s.kind == kindString || s.kind == kindTime) ||
		(first == 't' || first == 'f') != (s.kind == kindBool) {
		return errors.New("of another type")
	}
	var n float64
	switch s.kind {
	case kindString, kindTime:
		return r.string(s, v, literal)
	case kindBool:
		if first == 'f' && s.omitted {
			return errors.New("false")
		}
		v.SetBool(first == 't')
		return nil
	case kindFloat:
		f, err := strconv.ParseFloat(string(literal), 64)
		if err != nil {
			return errors.New("a number out of range")
		}
		v.SetFloat(f)
		n = f
	case kindInt:
		i, err := strconv.ParseInt(string(literal), 10, 64)
		if err != nil || v.OverflowInt(i) {
			return errors.New("no whole number, or out of range")
		}
		v.SetInt(i)
		n = float64(i)
	case kindUint:
		u, err := strconv.ParseUint(string(literal), 10, 64)
		if err != nil || v.OverflowUint(u) {
			return errors.New("no whole number, or out of range")
		}
		v.SetUint(u)
		n = float64(u)
	}
	if n < s.min || n > s.max || !s.lists(string(literal)) {
		return errors.New("a number out of its bounds")
	}
	return nil
}

func (r *reader) string(s *shape, v reflect.Value, literal []byte) error {
	text, err := r.unquote(literal)
	if err != nil {
		return err
	}
	if !s.lists(text) {
		return fmt.Errorf("%.40q is none of its values", text)
	}
	if s.kind == kindString {
		v.SetString(text)
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return errors.New("not a time")
	}
	v.Set(reflect.ValueOf(at))
	return nil
}

func (r *reader) unquote(literal []byte) (text string, err error) {
	if len(literal) > maxString {
		return "", fmt.Errorf("a string of %d bytes", len(literal))
	}
	if err := r.take(len(literal)); err != nil {
		return "", err
	}
	if inner := literal[1 : len(literal)-1]; isPlain(inner) {
		return string(inner), nil
	}
	err = json.Unmarshal(literal, &text)
	return text, err
}

// isPlain reports whether the inside of a string literal stands for itself.
func isPlain(inner []byte) bool {
	for _, b := range inner {
		if b == '\\' {
			return false
		}
	}
	return utf8.Valid(inner)
}
