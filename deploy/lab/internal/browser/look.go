package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
)

// axeRun runs the rules of WCAG 2.2 A and AA, and the best practices.
const axeRun = `axe.run(document, {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"],
  resultTypes: ["violations"], preload: false,
}).then((r) => r.violations.map((v) => ({
  rule: v.id, impact: v.impact, help: v.help,
  nodes: v.nodes.map((n) => n.target.flat().join(" ") + ": " + n.html.slice(0, 200) + " " +
    [...n.any, ...n.all, ...n.none].map((c) => c.message).join("; ")),
})))`

// Axe returns what axe-core finds wrong with the page as it is now, one string for each violation.
func (tab *Tab) Axe() []string {
	tab.t.Helper()
	// The policy forbids a script element; the debugger needs none.
	if tab.String(`typeof axe`) == "undefined" {
		tab.Value(tab.browser.axe+"\n;true", new(bool))
	}
	var found []struct {
		Rule, Impact, Help string
		Nodes              []string
	}
	tab.Value(axeRun, &found)
	list := make([]string, len(found))
	for i, f := range found {
		list[i] = fmt.Sprintf("%s (%s): %s\n    %s", f.Rule, f.Impact, f.Help, strings.Join(f.Nodes, "\n    "))
	}
	return list
}

// Overflow is by how many pixels the page is wider than its window, with the elements that stick out.
func (tab *Tab) Overflow() (pixels int, elements string) {
	tab.t.Helper()
	tab.Value(`document.scrollingElement.scrollWidth - innerWidth`, &pixels)
	if pixels <= 0 {
		return 0, ""
	}
	// What scrolls by itself clips what is inside, but for what is placed by an element around it.
	return pixels, tab.String(`(() => {
		const clips = (e) => e && e !== document.body &&
			(getComputedStyle(e).overflowX !== "visible" || clips(e.parentElement));
		return [...document.querySelectorAll("main *, header *, footer *")]
			.filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !clips(e.offsetParent ?? e.parentElement))
			.map((e) => e.tagName.toLowerCase() + (e.id && "#" + e.id) + "." + e.getAttribute("class"))
			.slice(0, 12).join(", "); })()`)
}

// Screenshot saves the whole page as name-width-look.png, look being light, dark, forced or print, in the directory
// that LAB_SCREENSHOTS names; without it none is taken.
func (tab *Tab) Screenshot(name string) {
	tab.t.Helper()
	if os.Getenv("LAB_SCREENSHOTS") == "" {
		return
	}
	var look struct {
		Width int
		Name  string
	}
	tab.Value(`({ width: innerWidth, name: Object.entries({
		print: "print", forced: "(forced-colors: active)", dark: "(prefers-color-scheme: dark)", light: "all" })
		.find(([, query]) => matchMedia(query).matches)[0] })`, &look)
	size := do(tab, page.GetLayoutMetrics, struct{}{}).CSSContentSize
	yes := true
	shot := do(tab, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatPng, CaptureBeyondViewport: &yes, OptimizeForSpeed: &yes,
		Clip: &page.Viewport{Width: float64(look.Width), Height: size.Height, Scale: 1},
	})
	SaveShot(tab.t, fmt.Sprintf("%s-%d-%s", name, look.Width, look.Name), shot.Data)
}

// SaveShot saves a PNG by that name beside the screenshots, where these are saved.
func SaveShot(t testing.TB, name string, picture []byte) {
	t.Helper()
	dir := os.Getenv("LAB_SCREENSHOTS")
	if dir == "" {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}
