package bound

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Limits are the bounds that the tags of T and of the types inside declare.
type Limits[T any] struct{ enforce enforcer }

var (
	compiledMu sync.Mutex
	compiled   = compiler{}
)

// LimitsOf returns the bounds of T, which are read from the tags once. It panics if a tag is wrong, since tags are
// literals of the program: package tool calls it for each result when the program starts.
func LimitsOf[T any]() Limits[T] {
	compiledMu.Lock()
	defer compiledMu.Unlock()
	return Limits[T]{compiled.compile(reflect.TypeFor[T](), tag{})}
}

// Enforce cuts what is too long in the value and reports whether the value is cut. A field Truncated is set in each
// struct around the cut; one that was set before marks the structs around it as a cut does. Enforcing the bounds again
// changes nothing, and texts and lists that fit are not written to.
func (l Limits[T]) Enforce(v *T) (cut bool) {
	return l.enforce != nil && l.enforce(reflect.ValueOf(v).Elem())
}

// enforcer enforces the bounds of a type on a value of it and reports whether the value is cut. It is nil for a type
// that has none.
type enforcer func(reflect.Value) (cut bool)

// tag is the content of a tag; a bound of 0 is none.
type tag struct {
	text, list, count int
	apart             bool
}

func parseTag(text string) (t tag, err error) {
	for word := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(word, "=")
		var bound *int
		switch key {
		case "text":
			bound = &t.text
		case "list":
			bound = &t.list
		case "count":
			bound = &t.count
		}
		if bound == nil {
			if word != "apart" {
				return tag{}, fmt.Errorf("unknown word %s", word)
			}
			t.apart = true
			continue
		}
		number, isKiB := strings.CutSuffix(value, "k")
		if *bound, err = strconv.Atoi(number); err != nil || *bound <= 0 {
			return tag{}, fmt.Errorf("%s is no positive number", word)
		}
		if isKiB {
			*bound <<= 10
		}
	}
	if t.text != 0 && t.text < len(ellipsis) {
		return tag{}, fmt.Errorf("text=%d has no room for an ellipsis", t.text)
	}
	return t, nil
}

// compiler makes enforcers. It keeps the ones for structs, since a type may hold itself.
type compiler map[reflect.Type]*structLimits

func (c compiler) compile(t reflect.Type, of tag) enforcer {
	isText := t.Kind() == reflect.String
	isTexts := t == reflect.TypeFor[[]string]()
	isPointer := t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.String
	switch {
	case of.text != 0 && !isText && !isPointer && !isTexts:
		panic(fmt.Sprintf("bound: text= is for texts, not for %v", t))
	case of.list+of.count != 0 && t.Kind() != reflect.Slice:
		panic(fmt.Sprintf("bound: list= and count= are for lists, not for %v", t))
	case isTexts && of.text != 0 && of.list == 0:
		panic("bound: a list of texts with text= has no list=")
	case isText, isPointer:
		return compileText(isPointer, of.text)
	case t.Kind() == reflect.Slice:
		return c.compileList(t, of)
	case !declares(t, map[reflect.Type]bool{}):
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		inside := c.compile(t.Elem(), tag{})
		return func(v reflect.Value) bool { return !v.IsNil() && inside(v.Elem()) }
	case reflect.Struct:
		return c.compileStruct(t)
	}
	panic(fmt.Sprintf("bound: the tags inside %v are not enforced", t))
}

func compileText(isPointer bool, most int) enforcer {
	switch {
	case most == 0:
		return nil
	case isPointer:
		return func(v reflect.Value) (cut bool) {
			if v.IsNil() {
				return false
			}
			if s := Text(v.Elem().String(), most, &cut); cut {
				v.Set(reflect.New(v.Type().Elem())) // others may have the pointer
				v.Elem().SetString(s)
			}
			return cut
		}
	}
	return func(v reflect.Value) (cut bool) {
		if s := Text(v.String(), most, &cut); cut {
			v.SetString(s)
		}
		return cut
	}
}

func (c compiler) compileList(t reflect.Type, of tag) enforcer {
	elements := c.compile(t.Elem(), tag{})
	if elements == nil && of.list+of.count == 0 {
		return nil
	}
	return func(v reflect.Value) (cut bool) {
		shorten := func(n int) {
			if n < v.Len() {
				cut = true
				whole := v.Slice(0, n)
				v.Set(reflect.MakeSlice(t, n, n)) // what is cut off does not stay in memory
				reflect.Copy(v, whole)
			}
		}
		if of.count != 0 {
			shorten(of.count)
		}
		if elements != nil {
			for i := range v.Len() {
				if elements(v.Index(i)) {
					cut = true
				}
			}
		}
		if of.list == 0 {
			return cut
		}
		texts, isTexts := v.Interface().([]string)
		switch {
		case isTexts && of.text != 0:
			var shorter bool
			if list := Texts(texts, of.text, of.list, &shorter); shorter || texts == nil {
				v.Set(reflect.ValueOf(list))
			}
			cut = cut || shorter
		case isTexts && short(texts, of.list):
		default:
			shorten(fitting(v.Len(), of.list, func(i int) any { return v.Index(i).Interface() }))
		}
		return cut
	}
}

// structLimits are the bounds of the fields of a struct and of its embedded structs.
type structLimits struct {
	fields []fieldLimits
	mark   []int // the field Truncated; nil if there is none
	apart  bool  // the mark, as it was before, is not passed on
}

type fieldLimits struct {
	index   []int
	enforce enforcer
	apart   bool
}

func (c compiler) compileStruct(t reflect.Type) enforcer {
	s := c[t]
	if s == nil {
		s = &structLimits{}
		c[t] = s
		for _, field := range reflect.VisibleFields(t) {
			c.addField(s, t, field)
		}
	}
	return s.enforce
}

func (c compiler) addField(s *structLimits, t reflect.Type, field reflect.StructField) {
	of, err := parseTag(field.Tag.Get("bound"))
	switch {
	case err != nil:
		panic(fmt.Sprintf("bound: the tag of %v.%s: %v", t, field.Name, err))
	case field.Anonymous && field.Type.Kind() == reflect.Struct && of == tag{}:
		return // its fields are visible too
	case field.Anonymous && field.Type.Kind() == reflect.Pointer && declares(field.Type, map[reflect.Type]bool{}):
		panic(fmt.Sprintf("bound: %v.%s is embedded as a pointer", t, field.Name))
	case !field.IsExported() && of != tag{}:
		panic(fmt.Sprintf("bound: %v.%s has a tag and is not exported", t, field.Name))
	case !field.IsExported():
		return
	case field.Name == "Truncated" && field.Type.Kind() == reflect.Bool && of == tag{apart: of.apart}:
		s.mark, s.apart = field.Index, of.apart
		return
	}
	if enforce := c.compile(field.Type, of); enforce != nil {
		s.fields = append(s.fields, fieldLimits{field.Index, enforce, of.apart})
	} else if of.apart {
		panic(fmt.Sprintf("bound: nothing inside %v.%s has a bound", t, field.Name))
	}
}

func (s *structLimits) enforce(v reflect.Value) (cut bool) {
	marked := false
	for i := range s.fields {
		field := &s.fields[i]
		if field.enforce(v.FieldByIndex(field.index)) {
			cut = true
			marked = marked || !field.apart
		}
	}
	if s.mark == nil {
		return cut
	}
	mark := v.FieldByIndex(s.mark)
	if mark.Bool() {
		return cut || !s.apart
	}
	if marked {
		mark.SetBool(true)
	}
	return cut
}

// declares reports whether a tag stands in a type or in one inside it.
func declares(t reflect.Type, seen map[reflect.Type]bool) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return declares(t.Elem(), seen)
	case reflect.Struct:
		if seen[t] {
			return false
		}
		seen[t] = true
		for field := range t.Fields() {
			if field.Tag.Get("bound") != "" || (field.IsExported() || field.Anonymous) && declares(field.Type, seen) {
				return true
			}
		}
	}
	return false
}
