package settings

import (
	"fmt"
	"io"
)

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
