//go:build e2e

package e2e

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"

	"diagnostics/lab/internal/browser"
)

// The tests of the pages are not parallel with others: they run one after the other before all that are, because a
// browser needs the processor for itself. Within one of them three tabs work at once.

// visitor is the address of the browser as a proxy passes it to the pages' gateway.
const visitor = "11.80.0.77"

// pagesGateway serves the pages to the browser: unlimited, and behind what it takes for a proxy.
var pagesGateway = sync.OnceValues(func() (origin string, err error) {
	return startPages("gateway-pages", append(unlimited, "TRUST_PROXY_HEADERS=true")...)
})

// startPages starts a gateway, and gives its origin on this machine's loopback.
func startPages(name string, env ...string) (origin string, err error) {
	gateway, err := service.StartGateway(context.Background(), name, env...)
	if err != nil {
		return "", err
	}
	at, err := internet.Forward("127.0.0.1:0", gateway.Addr)
	return "http://" + at, err
}

// chromium is one browser for all tests. stopChromium ends it; TestMain does.
var (
	stopChromium = func() {}
	chromium     = sync.OnceValues(func() (*browser.Browser, error) {
		b, err := browser.Start()
		if err == nil {
			stopChromium = b.Close
		}
		return b, err
	})
)

// openTab opens a tab on the pages' gateway, or on the one that the options name.
func openTab(t *testing.T, o browser.Options) *browser.Tab {
	t.Helper()
	b, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	if o.Origin == "" {
		if o.Origin, err = pagesGateway(); err != nil {
			t.Fatal(err)
		}
	}
	o.Headers = network.Headers{"X-Real-IP": visitor}
	return b.Tab(t, o)
}

// toolPath is the link that reproduces a check.
func toolPath(slug, input string, options ...string) string {
	query := url.Values{}
	if input != "" {
		query.Set("input", input)
	}
	for i := 0; i < len(options); i += 2 {
		query.Set(options[i], options[i+1])
	}
	return "/tools/" + slug + "?" + query.Encode()
}

// answered is true when a tool's page shows an answer or a failure.
const answered = `document.querySelector("#result[aria-busy=false] :is(.verdict, .notice)")`

// answeredOrRefused is true as well when a field says that it is refused.
const answeredOrRefused = answered + ` || document.querySelector("[aria-invalid=true]")`

// patience is longer than the deadline of any tool, and than a report.
const patience = 60 * time.Second

func untilAnswered(tab *browser.Tab) { tab.UntilWithin(answered, patience) }

// reported is true when the whole report has come to an end: a card that is limited may still wait for its turn.
const reported = `document.querySelector("#result[aria-busy=false] article.tool-card")`

// holdRecord fails for all that must not happen behind a page, and for what moved without an input.
func holdRecord(t *testing.T, tab *browser.Tab, expected ...string) {
	t.Helper()
	holdQuiet(t, tab, expected...)
	if seen := tab.Record(); seen.Shift > 0.1 {
		t.Errorf("the layout shifts by %.3f:\n%s", seen.Shift, strings.Join(seen.Shifts, "\n"))
	}
}

// holdQuiet fails for all that must not happen behind a page. Where the API answers with a failure, Chromium says so
// in the console; expected are parts of such messages.
func holdQuiet(t *testing.T, tab *browser.Tab, expected ...string) {
	t.Helper()
	seen := tab.Record()
	origin := tab.Origin()
	for _, message := range seen.Console {
		if !containsAny(message, expected...) {
			t.Errorf("console: %s", message)
		}
	}
	for _, request := range seen.Requests {
		if !strings.HasPrefix(request, origin+"/") {
			t.Errorf("a request to %s", request)
		}
	}
	for _, violation := range seen.Violations {
		t.Errorf("policy: %s", violation)
	}
	for _, dialog := range seen.Dialogs {
		t.Errorf("a dialog: %s", dialog)
	}
}

// holdText fails for the first text that an element does not show; what is folded away counts.
func holdText(t *testing.T, tab *browser.Tab, selector string, want ...string) {
	t.Helper()
	tab.WaitFor(selector)
	shown := tab.String(textOf(selector))
	for _, text := range want {
		if !strings.Contains(shown, text) {
			t.Errorf("%s does not show %q:\n%.6000s", selector, text, shown)
			return
		}
	}
}

// textOf is an expression for the text of an element as data has it: with what is folded away, without what is hidden
// and the JSON view, and without the case that the style gives it.
func textOf(selector string) string {
	return `(() => { const copy = document.querySelector("` + selector + `").cloneNode(true);
		for (const hidden of copy.querySelectorAll("[hidden], .json")) hidden.remove();
		return copy.textContent; })()`
}

// noElements are elements that no page of ours makes: one of them would be made of data.
const noElements = `:is(script, img, iframe, object, embed, base, link, style, meta, b, i, [onerror], [onload], [onclick], [style])`

// holdTextOnly fails where an element's content has become more than text and our own elements.
func holdTextOnly(t *testing.T, tab *browser.Tab, selector string) {
	t.Helper()
	if made := tab.String(`[...document.querySelectorAll("` + selector + ` ` + noElements +
		`")].map((e) => e.outerHTML.slice(0, 200)).join("\n")`); made != "" {
		t.Errorf("elements made of data:\n%s", made)
	}
	if links := tab.String(`[...document.querySelectorAll("` + selector +
		` [href]")].map((a) => new URL(a.getAttribute("href"), location.href).href).filter((href) => !/^https?:/.test(href)).join("\n")`); links != "" {
		t.Errorf("links that lead nowhere good:\n%s", links)
	}
}
