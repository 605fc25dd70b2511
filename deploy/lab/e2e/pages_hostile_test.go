//go:build e2e

package e2e

import (
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
