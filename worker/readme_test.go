package main

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated parts of the README")

const (
	readmePath  = "../README.md"
	tableStarts = "<!-- settings:worker -->\n"
	tableEnds   = "<!-- /settings -->"
)

// TestREADMESettings keeps the README's table of settings equal to the code.
func TestREADMESettings(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(readmePath)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, starts := strings.Cut(string(content), tableStarts)
	table, after, ends := strings.Cut(rest, tableEnds)
	if !starts || !ends {
		t.Fatalf("the README lacks %q … %q", strings.TrimSpace(tableStarts), tableEnds)
	}
	if table == settingsTable() {
		return
	}
	if !*update {
		t.Fatalf("the README's table of settings is out of date: run this test with -update\n%s", settingsTable())
	}
	if err := os.WriteFile(readmePath, []byte(before+tableStarts+settingsTable()+tableEnds+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Every setting tells what it means and what it takes.
func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		if s.name == "" || s.doc == "" || s.takes == "" {
			t.Errorf("%+v", s)
		}
	}
}
