package browser

import (
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Hide opens another tab in front of this one, which Show closes.
func (tab *Tab) Hide() {
	tab.t.Helper()
	front, err := chromedp.CallBrowser(tab.ctx, target.CreateTarget, target.CreateTargetParams{
		URL: "about:blank", BrowserContextID: chromedp.FromContext(tab.ctx).BrowserContextID,
	})
	if err != nil {
		tab.t.Fatalf("open another tab: %v", err)
	}
	tab.front = front.TargetID
	tab.Until(`document.visibilityState === "hidden"`)
}

// Show brings this tab to the front.
func (tab *Tab) Show() {
	tab.t.Helper()
	_, err := chromedp.CallBrowser(tab.ctx, target.CloseTarget, target.CloseTargetParams{TargetID: tab.front})
	if err != nil {
		tab.t.Fatalf("close the other tab: %v", err)
	}
	tab.Until(`document.visibilityState === "visible"`)
}

// Permit has the visitor allow the origin what a permission names, such as "notifications".
func (tab *Tab) Permit(name string) {
	tab.t.Helper()
	_, err := chromedp.CallBrowser(tab.ctx, browser.SetPermission, browser.SetPermissionParams{
		Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted,
		Origin: tab.origin, BrowserContextID: chromedp.FromContext(tab.ctx).BrowserContextID,
	})
	if err != nil {
		tab.t.Fatalf("permit %s: %v", name, err)
	}
}
