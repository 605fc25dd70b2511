package openapi

import (
	"fmt"
	"strings"
)

// entry is one key of a YAML block mapping with its value.
type entry struct {
	key   string
	value string // what stands on the key's own line
	body  string // the lines below it, one level less indented
}

const level = "  "

// cut splits a block mapping whose keys stand in the first column, and leaves out the comments in that column. A key
// that stands twice is an error, and so is a line that is neither a key nor indented below one.
func cut(text string) ([]entry, error) {
	var entries []entry
	var body strings.Builder // of the last of them
	end := func() {
		if entries != nil {
			entries[len(entries)-1].body = body.String()
			body.Reset()
		}
	}
	for line := range strings.Lines(text) {
		below, indented := strings.CutPrefix(line, level)
		blank := strings.TrimSpace(line) == ""
		switch {
		case strings.HasPrefix(line, "#"), blank && entries == nil:
		case blank:
			body.WriteString("\n")
		case indented && entries != nil:
			body.WriteString(below)
		default:
			e, err := keyOf(line)
			if err != nil {
				return nil, err
			}
			if _, seen := find(entries, e.key); seen {
				return nil, fmt.Errorf("the key %s stands twice", e.key)
			}
			end()
			entries = append(entries, e)
		}
	}
	end()
	return entries, nil
}

func keyOf(line string) (entry, error) {
	key, value, found := strings.Cut(strings.TrimRight(line, " \n"), ":")
	if !found || key == "" || strings.ContainsAny(key, " \t") || value != "" && value[0] != ' ' {
		return entry{}, fmt.Errorf("a line is neither a key nor indented by two spaces below one: %q", line)
	}
	return entry{key: key, value: strings.TrimSpace(value)}, nil
}

// isEmpty reports whether the key has no value.
func (e entry) isEmpty() bool { return e.value == "" && strings.TrimSpace(e.body) == "" }

// String is the entry as it stood, without the empty lines at its end.
func (e entry) String() string { return join([]entry{e}) }

func join(entries []entry) string {
	var b strings.Builder
	size := 0
	for _, e := range entries {
		size += len(e.key) + len(": \n") + len(e.value) + sizeOf(e.body, level)
	}
	b.Grow(size)
	for _, e := range entries {
		b.WriteString(e.key + ":")
		if e.value != "" {
			b.WriteString(" " + e.value)
		}
		b.WriteString("\n")
		indent(&b, strings.TrimRight(e.body, "\n"), level)
	}
	return b.String()
}

// indent puts every line that is not empty further to the right, and ends the last one.
func indent(b *strings.Builder, text, by string) {
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString(by)
		}
		b.WriteString(line)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteString("\n")
	}
}

// sizeOf is how long an indented text is at most.
func sizeOf(text, by string) int { return len(text) + (strings.Count(text, "\n")+1)*len(by) + 1 }
