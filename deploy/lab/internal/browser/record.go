package browser

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// binding is the function by which watch reports. It outlives navigation, which a variable of the page does not.
const binding = "labReport"

// watch runs in every document before its own scripts.
const watch = `{
  const report = globalThis.` + binding + `;
  const send = (kind, text, value) => report(JSON.stringify({ kind, text, value }));
  addEventListener("securitypolicyviolation", (e) =>
    send("violation", e.effectiveDirective + " " + e.blockedURI +
      " at " + e.sourceFile + ":" + e.lineNumber + " " + e.sample, 0));
  const element = (n) => n.tagName.toLowerCase() + (n.id && "#" + n.id) + (n.className && "." + n.className);
  const name = (n) => n?.nodeType === 1 ? element(n) : String(n?.nodeName);
  const box = (r) => [r.x, r.y, r.width, r.height].map(Math.round).join(" ");
  new PerformanceObserver((list) => {
    for (const e of list.getEntries()) {
      if (e.hadRecentInput) continue;
      const moves = e.sources.map((s) => name(s.node) + " from " + box(s.previousRect) + " to " + box(s.currentRect));
      send("shift", e.value.toFixed(4) + ": " + moves.join(", "), e.value);
    }
  }).observe({ type: "layout-shift", buffered: true });
}`

// Record is what a tab saw since it was opened or last forgot.
type Record struct {
	// Console is errors, warnings and uncaught exceptions. Chromium logs a failed request there too.
	Console []string
	// Requests are the requested URLs, without blob: and data:, which send nothing.
	Requests []string
	// Received is how many bytes their answers took on the wire, with their headers.
	Received int
	// Violations are of the Content-Security-Policy.
	Violations []string
	// Dialogs are the texts of alerts and the like; they were dismissed.
	Dialogs []string
	// Shift is the sum of all layout shifts that did not follow an input; Shifts lists them one by one.
	Shift  float64
	Shifts []string
}

type recorder struct {
	mu   sync.Mutex
	seen Record
	// dismiss closes the dialog that is open: it would block the page, and the test with it.
	dismiss func()
}

// Record gives what was seen until now.
func (tab *Tab) Record() Record {
	tab.t.Helper()
	tab.Settle()
	r := tab.record
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.seen
	for _, list := range []*[]string{&seen.Console, &seen.Requests, &seen.Violations, &seen.Dialogs, &seen.Shifts} {
		*list = slices.Clone(*list)
	}
	return seen
}

// Forget begins a new record.
func (tab *Tab) Forget() {
	tab.record.mu.Lock()
	defer tab.record.mu.Unlock()
	tab.record.seen = Record{}
}

// hear receives every event of the tab, in order.
func (r *recorder) hear(event any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning ||
			e.Type == runtime.ConsoleAPICalledTypeAssert {
			r.seen.Console = append(r.seen.Console, fmt.Sprintf("console.%s: %s", e.Type, arguments(e.Args)))
		}
	case *runtime.EventExceptionThrown:
		r.seen.Console = append(r.seen.Console, exception(e.ExceptionDetails))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			r.seen.Console = append(r.seen.Console, fmt.Sprintf("%s: %s (%s)", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, "blob:") && !strings.HasPrefix(url, "data:") {
			r.seen.Requests = append(r.seen.Requests, url)
		}
	case *network.EventLoadingFinished:
		r.seen.Received += int(e.EncodedDataLength)
	case *audits.EventIssueAdded:
		if d := e.Issue.Details; d != nil && d.ContentSecurityPolicyIssueDetails != nil {
			r.seen.Violations = append(r.seen.Violations, fmt.Sprintf("issue: %+v", *d.ContentSecurityPolicyIssueDetails))
		}
	case *page.EventJavascriptDialogOpening:
		r.seen.Dialogs = append(r.seen.Dialogs, e.Message)
		go r.dismiss()
	case *runtime.EventBindingCalled:
		r.reported(e)
	}
}

func (r *recorder) reported(e *runtime.EventBindingCalled) {
	var report struct {
		Kind, Text string
		Value      float64
	}
	if e.Name != binding || json.Unmarshal([]byte(e.Payload), &report) != nil {
		return
	}
	switch report.Kind {
	case "violation":
		r.seen.Violations = append(r.seen.Violations, report.Text)
	case "shift":
		r.seen.Shift += report.Value
		r.seen.Shifts = append(r.seen.Shifts, report.Text)
	}
}

func arguments(list []*runtime.RemoteObject) string {
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = strings.TrimSpace(string(a.Value) + " " + a.Description)
	}
	return strings.Join(texts, " ")
}

func exception(d *runtime.ExceptionDetails) string {
	text := d.Text
	if d.Exception != nil {
		text += " " + d.Exception.Description
	}
	return fmt.Sprintf("exception: %s (%s:%d)", text, d.URL, d.LineNumber+1)
}

func (r *recorder) console() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.seen.Console, "\n")
}
