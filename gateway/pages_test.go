package main

import (
	"testing"
	"time"

	"diagnostics/gateway/internal/tools"
)

// Every tool of the registry has its page, and no page is another's. The error names the files that are to be written.
func TestEveryToolHasAPage(t *testing.T) {
	t.Parallel()
	if _, err := newPages(Config{}, tools.All(tools.Deps{Now: time.Now}), false); err != nil {
		t.Error(err)
	}
}
