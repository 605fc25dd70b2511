package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"diagnostics/shared/waittest"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// keys are those that are pressed by name, with what Windows calls them: Chromium acts by that number.
var keys = map[string]input.DispatchKeyEventParams{
	"Tab": {WindowsVirtualKeyCode: 9}, "Enter": {WindowsVirtualKeyCode: 13, Text: "\r"},
	"Escape": {WindowsVirtualKeyCode: 27},
	"Delete": {WindowsVirtualKeyCode: 46}, "ArrowUp": {WindowsVirtualKeyCode: 38},
	"ArrowDown": {WindowsVirtualKeyCode: 40}, "ArrowLeft": {WindowsVirtualKeyCode: 37},
}

// Press presses a key by its name, wherever the page has its focus.
func (tab *Tab) Press(name string) {
	tab.t.Helper()
	key, ok := keys[name]
	if !ok {
		tab.t.Fatalf("no key is called %s", name)
	}
	key.Key, key.Code = name, name
	tab.strike(key)
}

// Type presses the key of each character.
func (tab *Tab) Type(text string) {
	tab.t.Helper()
	for _, char := range text {
		tab.strike(input.DispatchKeyEventParams{Key: string(char), Text: string(char)})
	}
}

// strike presses a key and lets it go. The text comes with the key, so that a page that forbids the one forbids the
// other.
func (tab *Tab) strike(key input.DispatchKeyEventParams) {
	tab.t.Helper()
	key.Type = input.DispatchKeyEventTypeKeyDown
	if key.Text == "" {
		key.Type = input.DispatchKeyEventTypeRawKeyDown
	}
	do(tab, input.DispatchKeyEvent, key)
	key.Type, key.Text = input.DispatchKeyEventTypeKeyUp, ""
	do(tab, input.DispatchKeyEvent, key)
}

// Fill replaces a field's text, as a paste does.
func (tab *Tab) Fill(selector, text string) {
	tab.t.Helper()
	tab.WaitFor(selector)
	tab.Run(`const field = document.querySelector(` + quote(selector) + `); field.focus(); field.select();`)
	if text == "" {
		tab.Press("Delete")
		return
	}
	do(tab, input.InsertText, input.InsertTextParams{Text: text})
}

// Choose sets a select or a radio button as a visitor's choice does.
func (tab *Tab) Choose(selector, value string) {
	tab.t.Helper()
	tab.WaitFor(selector)
	tab.Run(`const field = document.querySelector(` + quote(selector) + `);
		if (field.type === "radio") field.click();
		else {
			field.value = ` + quote(value) + `;
			field.dispatchEvent(new Event("change", { bubbles: true }));
		}`)
}

// Click clicks an element with the mouse where it is shown.
func (tab *Tab) Click(selector string) {
	tab.t.Helper()
	tab.Until(`document.querySelector(` + quote(selector) + `)?.checkVisibility()`)
	var at struct{ X, Y float64 }
	tab.Value(`(() => {
		const shown = document.querySelector(`+quote(selector)+`);
		shown.scrollIntoView({ block: "center", behavior: "instant" });
		const box = shown.getBoundingClientRect();
		return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
	})()`, &at)
	ctx, cancel := context.WithTimeout(tab.ctx, commandTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.MouseClickXY(at.X, at.Y)); err != nil {
		tab.t.Fatalf("click %s: %v", selector, err)
	}
}

// Back goes back in the tab's history.
func (tab *Tab) Back() {
	tab.t.Helper()
	tab.Run(`history.back()`)
}

// WaitFor waits until an element fits the selector.
func (tab *Tab) WaitFor(selector string) {
	tab.t.Helper()
	tab.Until(`document.querySelector(` + quote(selector) + `) !== null`)
}

// Until waits until the expression is true. It may be one that a navigation interrupts.
func (tab *Tab) Until(expression string) {
	tab.t.Helper()
	tab.UntilWithin(expression, waitTimeout)
}

// UntilWithin is Until with a limit of its own.
func (tab *Tab) UntilWithin(expression string, limit time.Duration) {
	tab.t.Helper()
	var last error
	if waittest.Within(limit, func() bool {
		var value []byte
		value, last = tab.evaluate(`Boolean(` + expression + `)`)
		return last == nil && string(value) == "true"
	}) {
		return
	}
	text, _ := tab.evaluate(`location.href + "\n" + document.body?.innerText`)
	tab.t.Fatalf("not true after %s: %s (%v)\n%.3000s\n%v", limit, expression, last, text, tab.record.console())
}

// Run evaluates statements for what they do.
func (tab *Tab) Run(statements string) {
	tab.t.Helper()
	if _, err := tab.evaluate(`(async () => {` + statements + `})().then(() => null)`); err != nil {
		tab.t.Fatalf("%s: %v", statements, err)
	}
}

// Value evaluates an expression, or what it promises, into a Go value.
func (tab *Tab) Value(expression string, into any) {
	tab.t.Helper()
	value, err := tab.evaluate(expression)
	if err == nil {
		err = json.Unmarshal(value, into)
	}
	if err != nil {
		tab.t.Fatalf("%.300s: %v: %.300s", expression, err, value)
	}
}

// String evaluates an expression to a string.
func (tab *Tab) String(expression string) string {
	tab.t.Helper()
	var s string
	tab.Value(`String(`+expression+`)`, &s)
	return s
}

// Text is what an element shows, as it is rendered.
func (tab *Tab) Text(selector string) string {
	tab.t.Helper()
	tab.WaitFor(selector)
	return tab.String(`document.querySelector(` + quote(selector) + `).innerText`)
}

// Attribute is an element's attribute, empty where it has none.
func (tab *Tab) Attribute(selector, name string) string {
	tab.t.Helper()
	tab.WaitFor(selector)
	return tab.String(`document.querySelector(` + quote(selector) + `).getAttribute(` + quote(name) + `) ?? ""`)
}

// Count returns how many elements fit the selector.
func (tab *Tab) Count(selector string) int {
	tab.t.Helper()
	var n int
	tab.Value(`document.querySelectorAll(`+quote(selector)+`).length`, &n)
	return n
}

// Holds reports whether an expression is true.
func (tab *Tab) Holds(expression string) bool {
	tab.t.Helper()
	return tab.String(`Boolean(`+expression+`)`) == "true"
}

// Settle waits until what the page has done is drawn and its observers have run.
func (tab *Tab) Settle() {
	tab.t.Helper()
	if tab.noScript {
		return
	}
	_, _ = tab.evaluate(
		`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))))
			.then(() => null)`)
}

// evaluate gives an expression's value as JSON.
func (tab *Tab) evaluate(expression string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(tab.ctx, commandTimeout)
	defer cancel()
	yes := true
	result, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, ReturnByValue: &yes, AwaitPromise: &yes, UserGesture: &yes,
	})
	if err != nil {
		return nil, err
	}
	if result.ExceptionDetails != nil {
		return nil, errors.New(exception(result.ExceptionDetails))
	}
	if result.Result.Value == nil {
		return []byte("null"), nil
	}
	return result.Result.Value, nil
}

// Download does what starts a download, and gives the file's name and content.
func (tab *Tab) Download(start func()) (name string, content []byte) {
	tab.t.Helper()
	start()
	waittest.Until(tab.t, "a file is downloaded", func() bool { name = tab.downloaded(); return name != "" })
	content, err := os.ReadFile(filepath.Join(tab.downloads, name))
	if err == nil {
		err = os.Remove(filepath.Join(tab.downloads, name))
	}
	if err != nil {
		tab.t.Fatal(err)
	}
	return name, content
}

// downloaded is the name of a file that is there in full: Chromium gives it its name at the end. An empty one only
// keeps the name free until then.
func (tab *Tab) downloaded() string {
	files, err := os.ReadDir(tab.downloads)
	if err != nil {
		tab.t.Fatal(err)
	}
	for _, file := range files {
		name := file.Name()
		info, err := file.Info()
		if err == nil && info.Size() > 0 && !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, ".crdownload") {
			return name
		}
	}
	return ""
}

// quote is a string as JavaScript has it.
func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("quote %q: %v", s, err)) // no string fails
	}
	return string(text)
}
