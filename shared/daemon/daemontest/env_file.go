package daemontest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"diagnostics/daemon/settings"
)

// EnvFile compares an environment file with a service's settings, or writes it where update is set. A header stands
// first.
func EnvFile(t *testing.T, path, header string, all []settings.Setting, update bool) {
	t.Helper()
	want := envFile(header, all)
	got, err := os.ReadFile(path)
	if err == nil && string(got) == want {
		return
	}
	if !update {
		t.Fatalf("%s is stale or missing: run make generate", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// envFileWidth is where the comments of an environment file break.
const envFileWidth = 100

// envFile has a line NAME=value for each setting, below what it means and takes. All lines are comments, with the
// defaults, so that the file changes nothing until it is edited; a setting without a default is shown empty.
func envFile(header string, all []settings.Setting) string {
	var b strings.Builder
	writeComment(&b, header)
	for _, s := range all {
		if s.Hidden {
			continue
		}
		b.WriteString("\n")
		writeComment(&b, s.Doc)
		writeComment(&b, "Takes: "+s.Takes)
		fmt.Fprintf(&b, "#%s=%s\n", s.Name, s.Default)
		if s.FromFile {
			fmt.Fprintf(&b, "#%s_FILE=\n", s.Name)
		}
	}
	return b.String()
}

// writeComment writes each line of a text as comments of at most envFileWidth octets.
func writeComment(b *strings.Builder, text string) {
	for paragraph := range strings.Lines(text) {
		line := "#"
		for _, word := range strings.Fields(paragraph) {
			if line != "#" && len(line)+1+len(word) > envFileWidth {
				b.WriteString(line + "\n")
				line = "#"
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
}
