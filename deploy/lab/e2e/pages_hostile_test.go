//go:build e2e

package e2e

import (
	"net/url"
	"strings"
	"testing"

	"diagnostics/lab"
	"diagnostics/lab/internal/browser"
)

// Markup in whatever a server can answer stays text: it is shown as it is, makes no element and runs nowhere.
func TestHostileAnswersStayText(t *testing.T) {
	for _, c := range []struct{ name, path, shown string }{
		{"TXT", toolPath("dns-lookup", lab.DNSZone), "<script>alert(1)</script>"},
		{"TXT of resolvers", toolPath("dns-resolver-check", lab.DNSZone, "recordType", "TXT"), "<script>alert(1)</script>"},
		{"headers", toolPath("http-headers", "https://hostile.lab-site.com/"), `"><img src=x onerror=alert(1)>`},
		{"headers judged", toolPath("security-headers", "https://hostile.lab-site.com/"), ""},
		{"certificate", toolPath("ssl-checker", "hostilecert.lab-site.com"), "<img src=x onerror=alert(1)>"},
		{"mail records", toolPath("email-dns-health", "lab-hostile-mail.com", "dkimSelector", "s1"), "<script>alert(1)</script>"},
		{"robots.txt", toolPath("robots-sitemap", "https://robots-hostile.lab-site.com/"), "/<script>alert(1)</script>"},
		{"RDAP", toolPath("whois-lookup", "example.top"), "<script>alert(1)</script>"},
		{"RDAP of the wrong types", toolPath("whois-lookup", "odd-site.net"), ""},
		{"Location", toolPath("redirect-checker", lab.RedirectTo("redirects.lab-site.com", "javascript:alert(1)", 302)), "javascript:alert(1)"},
		{"ASN", toolPath("asn-lookup", "11.80.0.1"), "LAB-SITES-2 | the second"},
		{"the link's input", toolPath("dns-lookup", `"><img src=x onerror=alert(1)>`), ""},
		{"the link's URL", toolPath("http-headers", `http://fast.lab-site.com/"><script>alert(1)</script>`), ""},
		{"the link's option", toolPath("email-dns-health", "lab-good-mail.com", "dkimSelector", `"><script>alert(1)</script>`), ""},
		{"the report's target", `/report?target=%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{})
			tab.Open(c.path)
			tab.UntilWithin(answeredOrRefused, patience)
			holdTextOnly(t, tab, "#result")
			if c.shown != "" {
				holdText(t, tab, "#result", c.shown)
			}
			if title := tab.String(`document.title`); title == "taken" {
				t.Error("a script ran")
			}
			// The JSON view and the comparison show the same once more.
			if tab.Count("#show-json") > 0 {
				fromMenu(tab, "#show-json")
				tab.Reload()
				tab.UntilWithin(answered, patience)
				holdTextOnly(t, tab, "#result")
			}
			holdRecord(t, tab, "status of 400", "status of 502")
		})
	}
}

// The words of a link are no heading and no title, before the answer and after it. A target that is typed in, or taken
// out of a text, is named once the service has accepted it.
func TestHostileLinksAreNoHeadings(t *testing.T) {
	t.Parallel()
	const hacked = "Your bank was hacked, call 1-800-555-0100"
	page := "https://fast.lab-site.com/call-1-800-555-0100-your-bank-was-hacked?a=1"
	headings := `[...document.querySelectorAll("#heading, #report-title, .report-head h2")].map((h) => h.textContent).join()`
	for _, c := range []struct {
		name, path string
		host       string // which title and heading name in the end; empty for none
	}{
		{"a sentence", toolPath("dns-lookup", hacked), ""},
		{"a sentence for a URL", toolPath("uptime", hacked), ""},
		{"a name that is refused", toolPath("uptime", "https://bank.example/call-1-800-555-0100"), ""},
		{"a report of a sentence", "/report?target=" + url.QueryEscape(hacked), ""},
		{"a report of a name that is refused", "/report?target=https://bank.example/call-1-800-555-0100", ""},
		{"a page", toolPath("uptime", page), "fast.lab-site.com"},
		{"a report of a page", "/report?target=" + url.QueryEscape(page), "fast.lab-site.com"},
		{"a report of a mailbox", "/report?target=your-bank-was-hacked@fast.lab-site.com", "fast.lab-site.com"},
		{"a name in a sentence", toolPath("dns-lookup", "https://fast.lab-site.com/"+hacked), "fast.lab-site.com"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{Width: 360})
			// Every title that the page has had.
			tab.Before(`globalThis.labTitles = []; new MutationObserver(() => labTitles.push(document.title,
				...[...document.querySelectorAll("#heading, .report-head h2")].map((h) => h.firstChild?.textContent ?? "")))
				.observe(document, { subtree: true, childList: true, characterData: true });`)
			tab.Open(c.path)
			tab.UntilWithin(answeredOrRefused, patience)
			if c.host != "" {
				tab.UntilWithin(`document.title.includes("`+c.host+` · ")`, patience)
			}
			title, had := tab.String(`document.title`), tab.String(`labTitles.join("\n")`)
			if strings.Contains(had, "800") || strings.Contains(had, "hacked") {
				t.Errorf("the page has had the titles and headings\n%s", had)
			}
			heading := tab.String(headings)
			if c.host == "" && (strings.Contains(title, "bank") || strings.Contains(heading, "bank")) ||
				!strings.Contains(heading, c.host) {
				t.Errorf("the title is %q, and the heading %q", title, heading)
			}
			if wrong := tab.Axe(); len(wrong) > 0 {
				t.Errorf("axe: %v", wrong)
			}
			tab.Screenshot("heading-" + strings.ReplaceAll(c.name, " ", "-") + "-360")
			tab.Look(1280, false)
			tab.Screenshot("heading-" + strings.ReplaceAll(c.name, " ", "-") + "-1280")
			holdRecord(t, tab, "status of 400")
		})
	}
	t.Run("typed in", func(t *testing.T) {
		t.Parallel()
		tab := openTab(t, browser.Options{Width: 1280})
		tab.Open("/tools/uptime")
		tab.Fill("#input", page)
		tab.Click("#run")
		untilAnswered(tab)
		if title := tab.String(`document.title`); !strings.HasPrefix(title, "fast.lab-site.com · Uptime check · ") {
			t.Errorf("the title is %q", title)
		}
		if got := tab.String(headings); got != "https://fast.lab-site.com/call-1-800-555-0100-your-bank-w…" {
			t.Errorf("the heading is %q", got)
		}
		tab.Fill("#input", hacked)
		tab.Click("#run")
		tab.UntilWithin(answeredOrRefused, patience)
		if title := tab.String(`document.title`); title != "Uptime check · Network diagnostics" {
			t.Errorf("the title is %q", title)
		}
		// The way back names the first one again.
		tab.Back()
		tab.UntilWithin(`document.title.startsWith("fast.lab-site.com · ")`, patience)
		holdRecord(t, tab, "status of 400")
	})
}
