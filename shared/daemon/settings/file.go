package settings

import (
	"io"
	"os"
	"slices"
	"strings"
)

const (
	fileSuffix   = "_FILE"
	maxFileBytes = 64 << 10
)

// readFile gives the content of the file that NAME_FILE names, without the newline at its end.
func (s Setting) readFile(path string) (string, error) {
	refused := s.refusedFile()
	f, err := os.Open(path) // #nosec G304 -- the operator chose it
	if err != nil {
		return "", refused
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return "", refused
	}
	text, err := FileValue(content)
	if err != nil {
		return "", refused
	}
	return text, nil
}

func (s Setting) refusedFile() error {
	return &Error{Name: s.Name + fileSuffix, Takes: "the path of a readable file that holds " + s.Takes}
}

// FileValue is the value that a file gives its setting by what it holds: all of it but one newline at the end.
func FileValue(content []byte) (string, error) {
	text := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	// What cannot stand in a variable, a NUL, does not come in by a file either.
	if text == "" || len(content) > maxFileBytes || strings.Contains(text, "\x00") {
		return "", ErrMalformed
	}
	return text, nil
}

// FileOf is the path of the file that a setting comes from in an environment ("NAME=value" each); "" where it comes
// from none.
func FileOf(env []string, name string) string { return nonEmpty(env)[name+fileSuffix] }

// WithoutFiles is an environment ("NAME=value" each) without the variables that name files of settings. A health check
// needs no secret, and must not fail where one is just being replaced.
func WithoutFiles(all []Setting, env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.ContainsFunc(all, func(s Setting) bool { return s.FromFile && s.Name+fileSuffix == name })
	})
}
