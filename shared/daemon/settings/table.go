package settings

import (
	"fmt"
	"io"
	"strings"
)

// Table is the table of docs/settings.md for the settings of a struct, in Markdown.
func Table[T any]() string {
	var b strings.Builder
	b.WriteString("| name | default | meaning |\n|---|---|---|\n")
	for _, s := range Of[T]() {
		if s.Hidden {
			continue
		}
		name, fallback := "`"+s.Name+"`", "empty"
		if s.FromFile {
			name += " (or `" + s.Name + fileSuffix + "`)"
		}
		if s.Default != "" {
			fallback = "`" + s.Default + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, fallback, s.Doc)
	}
	return b.String()
}

// WriteHelp lists settings for a terminal: a line with the name and the default, and below it what the setting means.
func WriteHelp(w io.Writer, all []Setting) {
	for _, s := range all {
		if s.Hidden {
			continue
		}
		name := s.Name
		if s.FromFile {
			name += ", or " + s.Name + fileSuffix
		}
		if s.Default != "" {
			name += " (default " + s.Default + ")"
		}
		fmt.Fprintf(w, "  %s\n    \t%s\n", name, s.Doc)
	}
}
