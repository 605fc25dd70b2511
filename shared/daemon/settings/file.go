package settings

import (
	"io"
	"os"
	"strings"
)

const (
	fileSuffix   = "_FILE"
	maxFileBytes = 64 << 10
)

// readFile gives the content of the file that NAME_FILE names, without the newline at its end.
func (s Setting) readFile(path string) (string, error) {
	refused := &Error{Name: s.Name + fileSuffix, Takes: "the path of a readable file that holds " + s.Takes}
	f, err := os.Open(path) // #nosec G304 -- the operator chose it
	if err != nil {
		return "", refused
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	text := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	// What cannot stand in a variable, a NUL, does not come in by a file either.
	if err != nil || text == "" || len(content) > maxFileBytes || strings.Contains(text, "\x00") {
		return "", refused
	}
	return text, nil
}
