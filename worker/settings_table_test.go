package main

import (
	"flag"
	"testing"

	"diagnostics/daemon/daemontest"
	"diagnostics/daemon/settings"
)

var update = flag.Bool("update", false, "rewrite the generated tables of the docs")

// TestSettingsTable keeps the table of settings in docs/settings.md equal to the code.
func TestSettingsTable(t *testing.T) {
	t.Parallel()
	daemontest.Section(t, "../docs/settings.md", "<!-- settings:worker -->", "<!-- /settings -->",
		settings.Table[Config](), *update)
}

// Every setting tells what it means and what it takes.
func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()
	for _, s := range settings.Of[Config]() {
		if s.Name == "" || s.Doc == "" || s.Takes == "" {
			t.Errorf("%+v", s)
		}
	}
}
