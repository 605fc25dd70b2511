package settings

import (
	"fmt"
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
