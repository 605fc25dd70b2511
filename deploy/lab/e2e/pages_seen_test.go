//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"diagnostics/lab/internal/browser"
)

// copiedLink presses the entry of the menu that copies a link to the result, and gives what was copied as a path.
func copiedLink(tab *browser.Tab) string {
	tab.Run(`navigator.clipboard.writeText = async (text) => { globalThis.labCopied = text; };`)
	fromMenu(tab, "#copy-seen")
	tab.Until(`globalThis.labCopied`)
	return strings.TrimPrefix(tab.String(`labCopied`), tab.Origin())
}

// A link with a result in it shows what was seen, and runs nothing before the visitor asks for it.
func TestLinksWithAResult(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name, path, ended, title string
		want                     []string
	}{
		{"a tool", toolPath("uptime", "https://fast.lab-site.com/"), answered, "https://fast.lab-site.com/ · ",
			[]string{"fast.lab-site.com is up: it answers 200 OK over IPv4 and IPv6.", "Response time"}},
		{"an option", toolPath("dns-lookup", "fast.lab-site.com", "types", "AAAA"), answered,
			"fast.lab-site.com · DNS lookup", []string{"AAAA", "2a10:80::1"}},
		{"a report", "/report?target=11.80.0.5", reported, "11.80.0.5 · Report",
			[]string{"Ping", "11.80.0.5 answers in", "Traceroute", "AS212002"}},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{Width: 1280})
			tab.Open(one.path)
			tab.UntilWithin(one.ended, patience)
			link := copiedLink(tab)
			if path, fragment, _ := strings.Cut(link, "#"); path != one.path || len(fragment) > 8192 {
				t.Fatalf("%s, and %d characters of %.200s", path, len(fragment), fragment)
			}

			other := openTab(t, browser.Options{Width: 360})
			other.Open(link)
			other.WaitFor(".seen-bar")
			other.Settle()
			holdText(t, other, "#result", append(one.want, "cannot confirm", "not checked again")...)
			if n := asks(other); n != 0 || strings.Contains(strings.Join(other.Record().Requests, " "), "/api/") {
				t.Errorf("%d runs, and the requests %q", n, other.Record().Requests)
			}
			if got := other.String(`document.title`); !strings.HasPrefix(got, one.title) {
				t.Errorf("the title is %q", got)
			}
			if n := other.Count("#result :is(.mark, .good, .warn, .bad, .info, .badge, a, code, svg, .copy)"); n > 0 {
				t.Errorf("%d marks, colours, links or lines to paste", n)
			}
			if other.Holds(`localStorage.getItem("diagnostics.answers") || localStorage.getItem("diagnostics.recent")`) {
				t.Error("what came in a link is kept")
			}
			other.Run(`scrollTo(0, document.body.scrollHeight)`)
			other.Settle()
			if other.Holds(`document.querySelector(".seen-bar").getBoundingClientRect().top < 0`) {
				t.Error("the bar leaves the page as it is scrolled")
			}
			other.Run(`scrollTo(0, 0)`)
			other.Screenshot("seen-" + strings.ReplaceAll(one.name, " ", "-") + "-360")
			for _, look := range []struct {
				width int
				dark  bool
			}{{360, true}, {1280, false}} {
				other.Look(look.width, look.dark)
				if pixels, wide := other.Overflow(); pixels > 0 {
					t.Errorf("%d pixels too wide: %s", pixels, wide)
				}
				if wrong := other.Axe(); len(wrong) > 0 {
					t.Errorf("axe: %v", wrong)
				}
				other.Screenshot("seen-" + strings.ReplaceAll(one.name, " ", "-"))
			}
			holdRecord(t, other)

			// What changed since: the tools run, and the result leaves the address.
			other.Click(".seen-bar button.second")
			other.UntilWithin(one.ended+` && document.querySelector("#result :is(.changed, .unchanged)")`, patience)
			holdText(t, other, "#result", "which this service cannot confirm")
			if !other.Holds(`location.hash === ""`) || asks(other) == 0 {
				t.Errorf("%d runs at %s", asks(other), other.String(`location.href`))
			}
			other.Screenshot("seen-since-" + strings.ReplaceAll(one.name, " ", "-"))
			holdQuiet(t, other)

			// What is in the link is of its own page alone.
			_, fragment, _ := strings.Cut(link, "#")
			other.Open(toolPath("dns-lookup", "v4only.lab-site.com") + "#" + fragment)
			other.WaitFor(".seen-bar")
			if other.Holds(`document.querySelector("#result .seen")`) {
				t.Error("another target's result is shown")
			}
			other.Forget()
			other.Click(".seen-bar button")
			untilAnswered(other)
			if n := asks(other); n != 1 {
				t.Errorf("Run now sent %d requests", n)
			}
		})
	}
}

// A result that does not fit a link is offered as a file. Here every octet counts a hundred times.
func TestAResultTooLongForALink(t *testing.T) {
	t.Parallel()
	tab := openTab(t, browser.Options{Width: 360})
	tab.Open(toolPath("dns-lookup", "fast.lab-site.com"))
	untilAnswered(tab)
	tab.Run(`CompressionStream = class extends TransformStream { constructor() { super({ transform(part, to) {
		for (let i = 0; i < 100; i++) to.enqueue(part); } }); } };`)
	fromMenu(tab, "#copy-seen")
	tab.Until(`document.activeElement.textContent === "Download HTML"`)
	name, file := tab.Download(func() { tab.Press("Enter") })
	if !strings.HasSuffix(name, ".html") || !strings.Contains(string(file), "fast.lab-site.com points to") {
		t.Errorf("%s:\n%.2000s", name, file)
	}
	holdRecord(t, tab)
}
