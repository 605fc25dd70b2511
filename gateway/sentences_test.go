package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"testing"
	"time"

	"diagnostics/gateway/internal/tools"
)

// plainVerb is what the pages can fill in of a format (assets/lib/seen-sentences.js).
var plainVerb = regexp.MustCompile(`%(?:\[\d\])?[sd]|%%`)

// The pages word a result that came in a link by the formats of this service's own catalogues, which they have as
// files. A remedy is not among them.
func TestSentencesTable(t *testing.T) {
	for _, tool := range tools.All(tools.Deps{Now: time.Now}) {
		if tool.OnlyHere() { // its answers are about the visitor, and in no link
			continue
		}
		catalogue := tool.Findings()
		conclusions, findings := map[string]string{}, map[string]string{}
		for code, outcome := range catalogue.Conclusions {
			conclusions[code] = outcome.Message
		}
		for code, entry := range catalogue.Findings {
			findings[code] = entry.Message
		}
		for _, formats := range []map[string]string{conclusions, findings} {
			for code, format := range formats {
				if rest := plainVerb.ReplaceAllString(format, ""); bytes.Contains([]byte(rest), []byte("%")) {
					t.Errorf("%s: %s has a verb that the pages do not fill in: %q", tool.Slug(), code, format)
				}
			}
		}
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		err := encoder.Encode(map[string]map[string]string{"conclusions": conclusions, "findings": findings})
		if err != nil {
			t.Fatal(err)
		}
		compareFile(t, "web/assets/tools/"+tool.Slug()+"/sentences.json", want.Bytes())
	}
}

// compareFile holds a generated file against what it should be, and rewrites it with -update.
func compareFile(t *testing.T, name string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the catalogue says (%v): run make generate", name, err)
	}
}
