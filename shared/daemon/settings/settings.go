// Package settings reads a service's settings out of an environment into a struct, by envconfig.Process. The tags
// envconfig and default are envconfig's, and a field's type decodes its value. On top of envconfig:
//
//   - a set-but-empty variable is an absent one
//   - file:"true": the value may come from a file instead, which NAME_FILE names
//   - takes: the accepted values, for the error; doc: the row in docs/settings.md; hidden:"true": no row
//   - oneof: the accepted values, separated by spaces; positive:"true": 0 is rejected
//
// No error holds a value, which may be a secret: envconfig's own errors do, so they are replaced.
package settings

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/kelseyhightower/envconfig"
)

const (
	fileSuffix   = "_FILE"
	maxFileBytes = 64 << 10
)

// environment guards the variables of the process while envconfig reads them.
var environment sync.Mutex

// Parse reads a struct of settings out of an environment ("NAME=value" each). envconfig reads nothing but the
// environment of the process, so Parse sets the settings' variables there to what env says.
func Parse[T any](env []string) (T, error) {
	environment.Lock()
	defer environment.Unlock()
	var filled, none T
	given, all := nonEmpty(env), Of[T]()
	for _, s := range all {
		value, err := s.value(given)
		if err != nil {
			return none, err
		}
		if os.Setenv(s.Name, value) != nil {
			return none, s.malformed(given)
		}
		if value == "" {
			_ = os.Unsetenv(s.Name)
		}
	}
	err := envconfig.Process("", &filled)
	for _, s := range all {
		if given[s.Name] == "" {
			_ = os.Unsetenv(s.Name) // a secret of a file stays out of the environment
		}
		malformed, is := errors.AsType[*envconfig.ParseError](err)
		if is && malformed.KeyName == s.Name || err == nil && !s.accepts(reflect.ValueOf(filled).FieldByIndex(s.index)) {
			return none, s.malformed(given)
		}
	}
	if err != nil {
		return none, errors.New("the settings cannot be read") // envconfig's own error may hold a value
	}
	return filled, nil
}

// nonEmpty returns the variables that are set and not empty.
func nonEmpty(env []string) map[string]string {
	given := make(map[string]string)
	for _, pair := range env {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			given[name] = value
		}
	}
	return given
}

// Setting describes one field of a struct of settings by its tags.
type Setting struct {
	Name, Default              string
	Takes, Doc                 string
	OneOf                      []string
	Positive, FromFile, Hidden bool

	index []int
}

// Of lists the settings of a struct in their order, those of embedded structs included. It panics on a field without an
// envconfig tag or without a decoder, which is a mistake in the program.
func Of[T any]() []Setting {
	var all []Setting
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name := f.Tag.Get("envconfig")
		if f.Anonymous && name == "" {
			continue // its fields follow
		}
		pointer := reflect.PointerTo(f.Type)
		decodes := pointer.Implements(reflect.TypeFor[envconfig.Decoder]()) ||
			pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
		if name == "" || !decodes {
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

// value returns what is set for a setting, "" where nothing is.
func (s Setting) value(given map[string]string) (string, error) {
	path := given[s.Name+fileSuffix]
	switch {
	case !s.FromFile || path == "":
		return given[s.Name], nil
	case given[s.Name] != "":
		return "", fmt.Errorf("%s and %s%s are both set: set one of them", s.Name, s.Name, fileSuffix)
	}
	f, err := os.Open(path) // #nosec G304 -- the operator chose it
	if err != nil {
		return "", s.malformed(given)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	text, malformed := FileValue(content)
	if err != nil || malformed != nil {
		return "", s.malformed(given)
	}
	return text, nil
}

// accepts reports whether the tags allow a value that its type has decoded.
func (s Setting) accepts(field reflect.Value) bool {
	offered := len(s.OneOf) == 0 || field.String() == "" || slices.Contains(s.OneOf, field.String())
	return offered && (!s.Positive || field.Int() >= 1)
}

// malformed names the variable that the operator has set: the setting's own, or the one that names its file.
func (s Setting) malformed(given map[string]string) error {
	if s.FromFile && given[s.Name+fileSuffix] != "" {
		return &Error{Name: s.Name + fileSuffix, Takes: "the path of a readable file that holds " + s.Takes}
	}
	return &Error{Name: s.Name, Takes: s.Takes}
}

// FileValue returns the value that a file gives its setting: all of it but one newline at the end.
func FileValue(content []byte) (string, error) {
	text := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	// A variable cannot hold a NUL either.
	if text == "" || len(content) > maxFileBytes || strings.Contains(text, "\x00") {
		return "", ErrMalformed
	}
	return text, nil
}

// FileOf returns the path of the file that a setting comes from in an environment, "" where it comes from none.
func FileOf(env []string, name string) string { return nonEmpty(env)[name+fileSuffix] }

// WithoutFiles returns an environment without the variables that name files of settings. A health check needs no
// secret, and must not fail while one is being replaced.
func WithoutFiles(all []Setting, env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.ContainsFunc(all, func(s Setting) bool { return s.FromFile && s.Name+fileSuffix == name })
	})
}

// Error names a setting and what it takes. It never holds the value, which may be a secret.
type Error struct{ Name, Takes string }

// Error returns one line.
func (e *Error) Error() string { return e.Name + " takes " + e.Takes }

// Pair rejects one of two settings without the other.
func Pair(one string, hasOne bool, other string, hasOther bool) error {
	switch {
	case hasOne && !hasOther:
		return fmt.Errorf("%s is set without %s: set both or neither", one, other)
	case hasOther && !hasOne:
		return fmt.Errorf("%s is set without %s: set both or neither", other, one)
	}
	return nil
}
