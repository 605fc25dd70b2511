//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"diagnostics/lab/internal/browser"
)

// The page on the API is no longer than others are, its commands ask the service that it came from, and a link to a
// tool opens that tool's fold.
func TestAPIPage(t *testing.T) {
	tab := openTab(t, browser.Options{})
	tab.Open("/api")
	for _, s := range screens {
		tab.Look(s.width, false)
		s.holdLength(t, tab)
	}
	tab.Look(1280, false)
	if tab.Count("details[open]") != 0 {
		t.Error("a fold is open")
	}
	tab.Click(".on-page [href='#port-checker']")
	tab.Until(`document.querySelector("#port-checker[open]")`)
	if at := placeOf(tab, "#port-checker pre"); at.Top == at.Bottom {
		t.Error("its command is not shown")
	}
	own := tab.String(`location.origin`)
	if command := tab.Text("#port-checker pre"); !strings.Contains(command, " "+own+"/api/tools/port-checker") {
		t.Errorf("the command is %s", command)
	}
	description, err := described()
	if err != nil {
		t.Fatal(err)
	}
	tools := description.Tools()
	if n := tab.Count("details.fold pre ~ .copy"); n != len(tools) || n == 0 {
		t.Errorf("%d copy buttons for %d tools", n, len(tools))
	}
	holdRecord(t, tab)
}
