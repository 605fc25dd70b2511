// Package settings reads a service's settings out of an environment into a struct whose tags are their documentation.
//
// The struct is one that envconfig itself could read: the tags envconfig and default are envconfig's, and a field's
// type reads its value by envconfig's Decode (or UnmarshalText). envconfig.Process is not called, since it reads
// nothing but the environment of the process; here the environment is an argument. On top of envconfig:
//
//   - a set-but-empty variable is an absent one
//   - file:"true": the value may come from a file instead, which NAME_FILE names
//   - takes: what the one line says that refuses a value; doc: its row in docs/settings.md; hidden:"true": no row
//   - oneof: the values that are taken, separated by spaces; positive:"true": 0 is refused
//
// No error holds a value: which one is a secret is a matter of luck where a line is pasted wrong.
package settings

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kelseyhightower/envconfig"
)

// Parse reads a struct of settings out of an environment ("NAME=value" each).
func Parse[T any](env []string) (T, error) {
	var filled, none T
	given := nonEmpty(env)
	for _, s := range Of[T]() {
		value, err := s.value(given)
		if err != nil {
			return none, err
		}
		if !s.fill(reflect.ValueOf(&filled).Elem().FieldByIndex(s.index), value) {
			return none, s.refusal(given)
		}
	}
	return filled, nil
}

// nonEmpty gives the variables that are set and not empty.
func nonEmpty(env []string) map[string]string {
	given := make(map[string]string)
	for _, pair := range env {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			given[name] = value
		}
	}
	return given
}

// Setting is one field of a struct of settings, as its tags tell it.
type Setting struct {
	Name, Default              string
	Takes, Doc                 string
	OneOf                      []string
	Positive, FromFile, Hidden bool

	index []int
}

// Of lists the settings of a struct in their order, those of embedded structs included. A field that could never be
// read is a mistake in the program: Of panics.
func Of[T any]() []Setting {
	var all []Setting
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name := f.Tag.Get("envconfig")
		if f.Anonymous && name == "" {
			continue // its fields follow
		}
		if name == "" || !isReadable(f.Type) {
			panic(fmt.Sprintf("settings: the field %s has no envconfig tag, or a type that cannot decode", f.Name))
		}
		all = append(all, Setting{
			Name:     name,
			Default:  f.Tag.Get("default"),
			Takes:    f.Tag.Get("takes"),
			Doc:      f.Tag.Get("doc"),
			OneOf:    strings.Fields(f.Tag.Get("oneof")),
			Positive: f.Tag.Get("positive") == "true",
			FromFile: f.Tag.Get("file") == "true",
			Hidden:   f.Tag.Get("hidden") == "true",
			index:    f.Index,
		})
	}
	return all
}

func isReadable(field reflect.Type) bool {
	pointer := reflect.PointerTo(field)
	return pointer.Implements(reflect.TypeFor[envconfig.Decoder]()) ||
		pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// value gives what is set for a setting, else its default; empty is neither.
func (s Setting) value(given map[string]string) (string, error) {
	value, set := given[s.Name]
	path, inFile := given[s.Name+fileSuffix]
	switch {
	case s.FromFile && inFile && set:
		return "", fmt.Errorf("%s and %s%s are both set: set one of them", s.Name, s.Name, fileSuffix)
	case s.FromFile && inFile:
		return s.readFile(path)
	case set:
		return value, nil
	}
	return s.Default, nil
}

// fill puts a value into its field, and reports whether the setting takes it; an empty one leaves the field as it is.
func (s Setting) fill(field reflect.Value, value string) bool {
	if value == "" {
		return true
	}
	offered := len(s.OneOf) == 0 || slices.Contains(s.OneOf, value)
	return offered && decode(field.Addr().Interface(), value) == nil && (!s.Positive || field.Int() >= 1)
}

// refusal names the variable that the operator has set: the setting's own, or the one that names its file.
func (s Setting) refusal(given map[string]string) error {
	if _, inFile := given[s.Name+fileSuffix]; s.FromFile && inFile {
		return s.refusedFile()
	}
	return &Error{Name: s.Name, Takes: s.Takes}
}

// decode prefers the methods in envconfig's order.
func decode(field any, value string) error {
	if d, ok := field.(envconfig.Decoder); ok {
		return d.Decode(value)
	}
	return field.(encoding.TextUnmarshaler).UnmarshalText([]byte(value))
}

// Error names a setting and what it takes. It never holds the value, which may be a secret.
type Error struct{ Name, Takes string }

// Error is one line for the operator.
func (e *Error) Error() string { return e.Name + " takes " + e.Takes }

// Pair refuses one of two settings without the other.
func Pair(one string, hasOne bool, other string, hasOther bool) error {
	switch {
	case hasOne && !hasOther:
		return fmt.Errorf("%s is set without %s: set both or neither", one, other)
	case hasOther && !hasOne:
		return fmt.Errorf("%s is set without %s: set both or neither", other, one)
	}
	return nil
}
