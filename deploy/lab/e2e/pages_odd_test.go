//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/browser"
)

// oddAnswers are the answers of each tool that are drawn differently, are empty, or fail.
func oddAnswers() map[string][]string {
	silent := "silent." + lab.TransitZone
	return map[string][]string{
		"dns-lookup": {"nowhere.lab-dns.com", "servfail.lab-dns.com", "timeout.lab-dns.com", "alias.lab-dns.com", "loop.lab-dns.com", "signed.lab-dns.com", "types.lab-dns.com", "private.lab-site.com", "endless.lab-resolve.com"},
		"dns-resolver-check": {"absent.lab-resolve.com", "empty.lab-resolve.com", "partial.lab-resolve.com", "varies.lab-resolve.com", "alone.lab-resolve.com",
			"nobody.lab-resolve.com", "unsigned.lab-resolve.com", "expired.lab-resolve.com", "unreachable.lab-resolve.com", "older.lab-resolve.com", "faulty.lab-resolve.com", "filtered.lab-resolve.com", "blockpage.lab-resolve.com", "long.lab-resolve.com"},
		"email-dns-health": {"lab-nomail-mail.com", "lab-nothing-mail.com", "lab-bare-mail.com", "lab-mxfails-mail.com", "lab-spftree-mail.com", "lab-spfloop-mail.com",
			"lab-spffails-mail.com", "lab-dmarcstrict-mail.com", "lab-dmarcfails-mail.com", "lab-stslong-mail.com", "lab-tlsrptfails-mail.com",
			"lab-tlsazero-mail.com", "lab-dkimfound-mail.com", "lab-dkimwild-mail.com", "lab-bimihttp-mail.com", "lab-ptr-mail.com"},
		"http-headers":     {"http://slow.lab-site.com/", "https://expired.lab-site.com/", "http://redirects.lab-site.com/chain/3", "http://http10.lab-site.com/", "http://reset.lab-site.com/", "http://broken.lab-site.com/"},
		"uptime":           {"http://v4only.lab-site.com/", "http://v6only.lab-site.com/", "http://noaddress.lab-site.com/", "http://reset.lab-site.com/", "https://expired.lab-site.com/", "http://redirects.lab-site.com/chain/5", "http://unavailable.lab-site.com/"},
		"ssl-checker":      {"notyet.lab-site.com", "selfsigned.lab-site.com", "wronghost.lab-site.com", "untrusted.lab-site.com", "nointermediate.lab-site.com", "tls10.lab-site.com", "rsa.lab-site.com", "mail.lab-site.com:25", "notls.lab-site.com"},
		"port-checker":     {"fast.lab-site.com:81", "silent.lab-site.com:443", "unreachable.lab-transit.net:443", "broken6.lab-site.com:80", "v6only.lab-site.com:443"},
		"ip-geolocation":   {"2a10:80::5", "11.90.0.7", "11.94.9.9", "11.94.1.1", "11.91.0.5", "8.8.8.8"},
		"asn-lookup":       {"11.90.0.1", "11.91.0.1", "11.93.0.1", "AS212002", "AS212999", "2a10:80::1", "11.94.2.1"},
		"whois-lookup":     {"lonely-shop.com", "charity-site.org", "münchen-shop.de", "www.news-site.co.uk", "example.kiwi", "11.80.0.1", "example.biz"},
		"redirect-checker": {"http://fast.lab-site.com/", "http://upgrade.lab-site.com/", "http://redirects.lab-site.com/none", "http://redirects.lab-site.com/meta", "http://fast.lab-site.com:81/", "https://expired.lab-site.com/", lab.RedirectTo("redirects.lab-site.com", "http://10.0.0.1/", 301)},
		"robots-sitemap":   {"http://robots-closed.lab-site.com/", "https://robots-empty.lab-site.com/", "http://notfound.lab-site.com/", "https://fast.lab-site.com/", "https://robots-broken.lab-site.com/", "https://robots-huge.lab-site.com/", "http://reset.lab-site.com/"},
		"security-headers": {"http://v4only.lab-site.com/", "https://robots.lab-site.com/list.txt", "http://sec-expired.lab-site.com/", "https://sec-challenge.lab-site.com/", "http://redirects.lab-site.com/chain/5", "http://redirects.lab-site.com/none"},
		"traceroute":       {"clean." + lab.TransitZone, "unreachable." + lab.TransitZone, "prohibited." + lab.TransitZone, silent},
		"ping":             {"dirty." + lab.TransitZone, "lossy." + lab.TransitZone, "unreachable." + lab.TransitZone},
		"packet-loss":      {"clean." + lab.TransitZone, "prohibited." + lab.TransitZone, silent},
	}
}

// answeredInTurn opens a tool's page, again where other tests have used up the lab's one redirector for the moment.
func answeredInTurn(tab *browser.Tab, path string) {
	for end := time.Now().Add(patience); ; time.Sleep(2 * time.Second) {
		tab.Forget()
		tab.Open(path)
		tab.UntilWithin(answered, patience)
		if !containsAny(strings.Join(tab.Record().Console, "\n"), "status of 503") || time.Now().After(end) {
			return
		}
	}
}

// However a tool's answer turns out, its page is drawn without a mistake, fits a narrow telephone and is accessible
// there.
func TestOddAnswers(t *testing.T) {
	proofOnly(t)
	for slug, inputs := range oddAnswers() {
		t.Run(slug, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{Width: 320})
			for _, input := range inputs {
				answeredInTurn(tab, toolPath(slug, input))
				if pixels, elements := tab.Overflow(); pixels > 0 {
					t.Errorf("the page is %d px too wide: %s", pixels, elements)
				}
				holdRecord(t, tab, "status of 502", "status of 504")
				for _, finding := range tab.Axe() {
					t.Error(finding)
				}
				holdLengths(t, tab)
				tab.Look(320, false)
				if t.Failed() {
					t.Fatalf("with the answer for %s", input)
				}
			}
		})
	}
}
