//go:build e2e

package e2e

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
)

// Registries that offer no RDAP are asked on port 43, as the old whois command asks them.
func TestWhoisOverPort43(t *testing.T) {
	t.Parallel()
	const server, iana = "whois." + lab.SiteZone, "whois.iana.org"
	answered := func(from facts) facts {
		from["sources"], from["sources.1.name"], from["sources.1.server"] = length(2), "whois", server
		return from
	}
	unread := func(server, says string) facts {
		return facts{"found": false, "reason": "noRdapService", "domain": nil, "sources.1.server": server,
			"notices.0.fromService": true, "notices.0.description": contains(says)}
	}
	t.Run("answers", func(t *testing.T) {
		runRegistrations(t, "whois-lookup", []check{
			{name: "blocks", input: "www.example-shop.it", shown: true, facts: answered(facts{
				"found": true, "reason": nil, "registrableDomain": "example-shop.it", "domain.name": "example-shop.it", "domain.status": []string{"ok"},
				"domain.registrar.name": "Lab Registrar S.r.l.", "domain.registrar.url": "https://lab-site.com/", "domain.registrar.abuseEmail": nil,
				"domain.events.registered": "1999-12-09T23:00:00Z", "domain.events.updated": "2026-05-06T23:04:50Z", "domain.events.expires": "2031-04-21T00:00:00Z",
				"domain.nameservers": []string{"ns1.example-shop.com", "ns2.example-shop.com"}, "domain.dnssec.signed": false, "domain.contacts": length(0), "notices": length(0)})},
			{name: "brackets", input: "example-shop.jp", facts: answered(facts{"found": true, "domain.status": []string{"Active"},
				"domain.events.updated": "2026-05-31T16:05:04Z", "domain.events.expires": "2031-05-31T00:00:00Z", "domain.registrar": nil})},
			{name: "people after the domain", input: "example-shop.at", facts: answered(facts{"found": true, "domain.registrar.name": "Lab Registrar GmbH",
				"domain.events.updated": "2023-07-03T07:38:55Z"})},
			{name: "an IDN", input: "中文.cn", facts: answered(facts{"found": true, "domain.name": "xn--fiq228c.cn", "domain.unicodeName": "中文.cn",
				"domain.registrar.name": "实验室注册商", "domain.events.registered": "2003-03-17T04:20:05Z"})},
			{name: "available", input: "nobody-there.it", facts: answered(facts{"found": false, "reason": "notFound", "domain": nil})},
			{name: "no match", input: "nobody-there.jp", facts: answered(facts{"found": false, "reason": "notFound"})},
			{name: "not found", input: "nobody-there.se", facts: answered(facts{"found": false, "reason": "notFound"})},
			{name: "another form", input: "odd-shop.it", facts: unread(server, "a format that this service does not read")},
			{name: "no server", input: "example.gr", facts: unread(iana, "IANA lists no WHOIS server for .gr.")},
			{name: "nothing at IANA", input: "example.kiwi", facts: unread(iana, "IANA lists no WHOIS server for .kiwi.")},
			{name: "a closed server", input: "example.es", facts: unread("whois-closed."+lab.SiteZone, "does not answer this service")},
			{name: "no text", input: "example.ir", facts: unread("whois-binary."+lab.SiteZone, "a format that this service does not read")},
		})
	})
	t.Run("failures", func(t *testing.T) {
		t.Parallel()
		for input, want := range map[string]struct {
			status int
			says   string
		}{
			"example.cl": {504, "whois-drip.lab-site.com did not send its whole answer in time"},
			"example.be": {502, "larger than 64 KiB"},
			"example.pt": {502, "refused the connection"},
			"example.mx": {502, "not at a public address"},
			"example.il": {502, "has no address"},
		} {
			t.Run(input, func(t *testing.T) {
				t.Parallel()
				a := patiently(t, "whois-lookup", input)
				if a.Status != want.status || !strings.Contains(a.Error, want.says) || a.Took > 20*time.Second {
					t.Errorf("status %d after %v, %q; want %d, …%s…", a.Status, a.Took, a.Error, want.status, want.says)
				}
			})
		}
	})
	// A server that asks for a pause gets it, and the visitor hears how long.
	t.Run("a pause", func(t *testing.T) {
		t.Parallel()
		for _, input := range []string{"example.com.tr", "other.com.tr"} {
			a := patiently(t, "whois-lookup", input)
			seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
			if a.Status != 503 || err != nil || seconds < 1 || seconds > 7 || !strings.Contains(a.Error, "asked too often") {
				t.Errorf("%s: status %d, Retry-After %q, %s", input, a.Status, a.Header.Get("Retry-After"), a.Error)
			}
		}
	})
}
