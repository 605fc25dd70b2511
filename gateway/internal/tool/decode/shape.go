package decode

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

type kind int

const (
	kindString kind = iota
	kindBool
	kindInt
	kindUint
	kindFloat
	kindTime
	kindText // json.RawMessage, whatever it holds
	kindPointer
	kindStruct
	kindMap
	kindList
)

// shape is what a Go type and the tags of a field say about a JSON value.
type shape struct {
	kind    kind
	goType  reflect.Type
	null    bool
	omitted bool // when it is the zero value
	of      *shape

	values   []string // of a string or a whole number; nil is any
	min, max float64  // of a number

	least, most int      // elements of a list
	keys        []string // of a map; nil is any

	members  []member // of a struct
	names    map[string]int
	required uint64
}

type member struct {
	name  string
	index []int
	shape *shape
}

func (s *shape) lists(value string) bool { return s.values == nil || slices.Contains(s.values, value) }

var (
	shapesMu sync.Mutex
	shapes   = map[reflect.Type]*shape{}
)

// shapeOf returns the shape of a type. It is made once: most instances never read an answer of another.
func shapeOf(t reflect.Type) (*shape, error) {
	shapesMu.Lock()
	defer shapesMu.Unlock()
	if s := shapes[t]; s != nil {
		return s, nil
	}
	c := compiler{made: map[reflect.Type]*shape{}}
	s, err := c.of(t)
	if err == nil {
		shapes[t] = s
	}
	return s, err
}

// compiler makes shapes. Those of structs are made once, since a type may hold itself.
type compiler struct{ made map[reflect.Type]*shape }

var (
	timeType = reflect.TypeFor[time.Time]()
	textType = reflect.TypeFor[json.RawMessage]()
)

func (c compiler) of(t reflect.Type) (*shape, error) {
	s := &shape{goType: t, max: math.Inf(1), most: math.MaxInt}
	switch t {
	case timeType:
		s.kind = kindTime
		return s, nil
	case textType:
		s.kind = kindText
		return s, nil
	}
	var err error
	switch t.Kind() {
	case reflect.String:
		s.kind = kindString
	case reflect.Bool:
		s.kind = kindBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		s.kind = kindInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		s.kind = kindUint
	case reflect.Float64:
		s.kind = kindFloat
	case reflect.Pointer:
		s.kind, s.null = kindPointer, true
		s.of, err = c.of(t.Elem())
	case reflect.Map:
		s.kind = kindMap
		s.of, err = c.of(t.Elem())
	case reflect.Slice:
		s.kind = kindList
		s.of, err = c.of(t.Elem())
	case reflect.Struct:
		return c.ofStruct(t)
	default:
		err = fmt.Errorf("no JSON value is read into %v", t)
	}
	return s, err
}

// Enumerated is a struct whose tags would be too long: Enums are the values of its members, by their names.
type Enumerated interface{ Enums() map[string][]string }

func (c compiler) ofStruct(t reflect.Type) (*shape, error) {
	if s := c.made[t]; s != nil {
		return s, nil
	}
	s := &shape{kind: kindStruct, goType: t, names: map[string]int{}}
	c.made[t] = s
	if err := c.addFields(s, t, nil); err != nil {
		return nil, fmt.Errorf("%v: %w", t, err)
	}
	if e, is := reflect.Zero(t).Interface().(Enumerated); is {
		for name, values := range e.Enums() {
			m := &s.members[s.names[name]]
			if m.name != name {
				return nil, fmt.Errorf("%v has no member %s", t, name)
			}
			m.shape = m.shape.limitedTo(values)
		}
	}
	if len(s.members) > 64 {
		return nil, fmt.Errorf("%v has more members than a word has bits", t)
	}
	return s, nil
}

// addFields adds the fields of a struct, and as encoding/json does those of structs that are embedded without a name.
func (c compiler) addFields(s *shape, t reflect.Type, path []int) error {
	for field := range t.Fields() {
		index := append(slices.Clone(path), field.Index...)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			if err := c.addFields(s, field.Type, index); err != nil {
				return err
			}
			continue
		}
		if !field.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = field.Name
		}
		of, err := c.of(field.Type)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		omitted := strings.Contains(options, "omit")
		wire, optional := strings.CutPrefix(field.Tag.Get("wire"), "optional")
		if of, err = of.with(wire, omitted); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, twice := s.names[name]; twice {
			return fmt.Errorf("%s stands twice", name)
		}
		if !omitted && !optional {
			s.required |= 1 << len(s.members)
		}
		s.names[name] = len(s.members)
		s.members = append(s.members, member{name, index, of})
	}
	return nil
}

// limitedTo returns the shape with only these values, of what a list or a map holds.
func (s *shape) limitedTo(values []string) *shape {
	changed := *s
	if s.of != nil {
		changed.of = s.of.limitedTo(values)
	} else {
		changed.values = values
	}
	return &changed
}

// with returns the shape with what the tags of a field say.
func (s *shape) with(wire string, omitted bool) (*shape, error) {
	if wire == "" && !omitted {
		return s, nil
	}
	changed := *s
	changed.omitted = omitted
	if omitted {
		changed.null = false
	}
	for word := range strings.FieldsSeq(wire) {
		if err := changed.apply(word); err != nil {
			return nil, fmt.Errorf("the tag %q: %w", word, err)
		}
	}
	return &changed, nil
}

func (s *shape) apply(word string) (err error) {
	key, value, _ := strings.Cut(word, "=")
	switch key {
	case "null":
		s.null = true
	case "keys":
		s.keys = strings.Split(value, "|")
	case "len":
		least, most, found := strings.Cut(value, "..")
		if s.least, err = strconv.Atoi(least); err != nil {
			return err
		}
		if !found {
			s.most = s.least
		} else if most != "" {
			s.most, err = strconv.Atoi(most)
		}
	default:
		if s.kind == kindPointer && key == "notnull" {
			s.null = false
			return nil
		}
		if s.of != nil { // it is about what this holds
			inner := *s.of
			s.of = &inner
			return inner.apply(word)
		}
		switch key {
		case "enum":
			s.values = strings.Split(value, "|")
		case "signed":
			s.min = math.Inf(-1)
		case "min":
			s.min, err = strconv.ParseFloat(value, 64)
		case "max":
			s.max, err = strconv.ParseFloat(value, 64)
		default:
			return fmt.Errorf("unknown")
		}
	}
	return err
}
