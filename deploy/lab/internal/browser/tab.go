package browser

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// How long a command may take, and how long a condition may take to come true where the test names no limit.
const (
	commandTimeout = 20 * time.Second
	waitTimeout    = 15 * time.Second
)

// Options say what a tab is like.
type Options struct {
	// Origin is what paths are opened at, such as "http://127.0.0.1:1234".
	Origin string
	// Width of the window in pixels; 1280 where 0.
	Width int
	// Dark is what the visitor's system prefers.
	Dark bool
	// Headers are sent with every request.
	Headers network.Headers
	// NoScript switches JavaScript off.
	NoScript bool
}

// Tab is one tab with a profile of its own. Its methods fail the test that opened it.
type Tab struct {
	t         testing.TB
	browser   *Browser
	ctx       context.Context
	origin    string
	downloads string
	record    *recorder
	noScript  bool
	front     target.ID // the tab before this one
}

// Tab opens an empty tab, as soon as fewer than three are open. It is closed at the end of the test.
func (b *Browser) Tab(t testing.TB, o Options) *Tab {
	t.Helper()
	b.slots <- struct{}{}
	t.Cleanup(func() { <-b.slots })
	tab := &Tab{t: t, browser: b, origin: o.Origin, downloads: t.TempDir(), record: &recorder{}, noScript: o.NoScript}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(tab.record.hear))
	t.Cleanup(cancel)
	tab.ctx = ctx
	tab.record.dismiss = func() {
		_, _ = chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
	}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	tab.prepare(o)
	return tab
}

func (tab *Tab) prepare(o Options) {
	tab.t.Helper()
	do(tab, audits.Enable, cdp.Empty{})
	do(tab, runtime.AddBinding, runtime.AddBindingParams{Name: binding})
	tab.Before(watch)
	if _, err := chromedp.CallBrowser(tab.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: tab.downloads,
		BrowserContextID: chromedp.FromContext(tab.ctx).BrowserContextID,
	}); err != nil {
		tab.t.Fatal(err)
	}
	if o.Headers != nil {
		do(tab, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: o.Headers})
	}
	if o.NoScript {
		do(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	}
	width := o.Width
	if width == 0 {
		width = 1280
	}
	tab.resize(width)
	tab.prefer(theme(o.Dark))
}

// Origin is what the tab's paths are opened at.
func (tab *Tab) Origin() string { return tab.origin }

// do sends one command; its failure ends the test.
func do[P, R any](tab *Tab, command cdp.Command[P, R], params P) R {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, commandTimeout)
	defer cancel()
	result, err := chromedp.Call(ctx, command, params)
	if err != nil {
		tab.t.Fatalf("%s: %v", command.Method, err)
	}
	return result
}

// Open loads a path of the origin, and returns when the document has loaded.
func (tab *Tab) Open(path string) {
	tab.t.Helper()
	tab.navigate(chromedp.Navigate(tab.origin + path))
}

// Refused loads a path of the origin and says why the browser shows no page of it, nothing where it does.
func (tab *Tab) Refused(path string) string {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, commandTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(tab.origin+path)); err != nil {
		return err.Error()
	}
	return ""
}

// Reload loads the page again.
func (tab *Tab) Reload() {
	tab.t.Helper()
	tab.navigate(chromedp.Reload())
}

func (tab *Tab) navigate(step chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, commandTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, step); err != nil {
		tab.t.Fatalf("load a page: %v", err)
	}
}

// Before runs a script in every later document before its own scripts.
func (tab *Tab) Before(script string) {
	tab.t.Helper()
	do(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// Block keeps every later request from being sent whose path fits one of the patterns, such as "/assets/*/home.css".
// Without a pattern nothing is blocked any more.
func (tab *Tab) Block(patterns ...string) {
	tab.t.Helper()
	blocked := []*network.BlockPattern{}
	for _, pattern := range patterns {
		blocked = append(blocked, &network.BlockPattern{URLPattern: tab.origin + pattern, Block: true})
	}
	do(tab, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: blocked})
}

// networkConditions are those of the command of that name, which cdproto has no more and Debian's Chromium still takes.
type networkConditions struct {
	Offline            bool    `json:"offline"`
	Latency            float64 `json:"latency"`            // milliseconds
	DownloadThroughput float64 `json:"downloadThroughput"` // bytes a second
	UploadThroughput   float64 `json:"uploadThroughput"`
}

// SlowLink has every request wait for this long and all of them share so many bits a second.
func (tab *Tab) SlowLink(latency time.Duration, bitsPerSecond float64) {
	tab.t.Helper()
	do(tab, network.Enable, network.EnableParams{})
	do(tab, cdp.Command[networkConditions, cdp.Empty]{Method: "Network.emulateNetworkConditions"}, networkConditions{
		Latency: float64(latency.Milliseconds()), DownloadThroughput: bitsPerSecond / 8, UploadThroughput: bitsPerSecond / 8,
	})
}

// Look makes the window this wide and the visitor's system prefer light or dark, and waits until the page is drawn so.
// Motion is reduced: a colour half-way through a transition is not a chosen one.
func (tab *Tab) Look(width int, dark bool) {
	tab.t.Helper()
	tab.resize(width)
	tab.prefer(theme(dark), reducedMotion)
	tab.Settle()
}

// LookForced shows the page in the visitor's own few colours, as Windows' contrast themes do.
func (tab *Tab) LookForced(width int) {
	tab.t.Helper()
	tab.resize(width)
	tab.prefer(theme(false), reducedMotion, &emulation.MediaFeature{Name: "forced-colors", Value: "active"})
	tab.Settle()
}

// LookPrinted shows the page as it is printed, this wide, and leaves it in the middle of that: see Printed.
func (tab *Tab) LookPrinted(width int) {
	tab.t.Helper()
	tab.resize(width)
	do(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print",
		Features: []*emulation.MediaFeature{theme(false), reducedMotion}})
	tab.Run(`dispatchEvent(new Event("beforeprint"))`)
	tab.Settle()
}

// Printed fires the page's event after printing.
func (tab *Tab) Printed() {
	tab.t.Helper()
	tab.Run(`dispatchEvent(new Event("afterprint"))`)
}

func (tab *Tab) resize(width int) {
	tab.t.Helper()
	do(tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: int64(width), Height: 900, DeviceScaleFactor: 1,
	})
}

var reducedMotion = &emulation.MediaFeature{Name: "prefers-reduced-motion", Value: "reduce"}

func theme(dark bool) *emulation.MediaFeature {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	return &emulation.MediaFeature{Name: "prefers-color-scheme", Value: scheme}
}

// prefer sets what the visitor's system prefers, and nothing else.
func (tab *Tab) prefer(features ...*emulation.MediaFeature) {
	tab.t.Helper()
	do(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
}
