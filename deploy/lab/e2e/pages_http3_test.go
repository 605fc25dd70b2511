//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"diagnostics/lab"
	"diagnostics/lab/internal/browser"
)

// apiRequests are those that a tab has made to the API.
func apiRequests(tab *browser.Tab) (requests []string) {
	for _, request := range tab.Record().Requests {
		if strings.Contains(request, "/api/") {
			requests = append(requests, request)
		}
	}
	return requests
}

// The pages ask for HTTP/3 by themselves once the first answer stands, and say in words what came of it.
func TestHTTP3OnThePages(t *testing.T) {
	http3Servers(t)
	const triedHTTP3 = `document.querySelector(":has(> div > #second) .badge")`
	for _, c := range []struct {
		slug, label string
		facts       []string
	}{
		{"http-headers", "works", []string{"works", "the Alt-Svc header", "Handshake"}},
		{"uptime", "works", []string{"works", "the Alt-Svc header", "Handshake"}},
		{"http-headers", "dropped", []string{"does not work", "nothing answers on UDP port 443", "firewall"}},
		{"uptime", "stranger", []string{"does not work", "certificate"}},
		{"uptime", "absent", []string{"not used", "which is fine"}},
	} {
		t.Run(c.slug+"/"+c.label, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{})
			tab.Open(toolPath(c.slug, "https://"+c.label+"."+lab.HTTP3Zone+"/"))
			untilAnswered(tab)
			tab.UntilWithin(triedHTTP3, patience)
			holdRecord(t, tab) // nothing has moved
			tab.Run(`document.querySelector("#second").closest("details").open = true`)
			text := tab.Text(":has(> div > #second)")
			for _, fact := range c.facts {
				if !strings.Contains(text, fact) {
					t.Errorf("%q is not in: %s", fact, text)
				}
			}
			if n := len(apiRequests(tab)); n != 2 {
				t.Errorf("%d requests: %v", n, apiRequests(tab))
			}
			if wrong := tab.Axe(); len(wrong) > 0 {
				t.Errorf("axe: %v", wrong)
			}
			tab.Screenshot("http3-" + c.slug + "-" + c.label)
		})
	}
	t.Run("another site's link", func(t *testing.T) {
		t.Parallel()
		origin, err := pagesGateway()
		if err != nil {
			t.Fatal(err)
		}
		tab := openTab(t, browser.Options{Origin: "data:text/html,"})
		tab.Open("elsewhere")
		tab.Run(`location.href = "` + origin + toolPath("uptime", "https://works."+lab.HTTP3Zone+"/") + `"`)
		tab.Until(`location.origin === "` + origin + `" && document.readyState === "complete"`)
		tab.Settle()
		if tab.Count("#waits") > 0 {
			tab.Click("#run")
		}
		untilAnswered(tab)
		tab.Settle()
		if n := len(apiRequests(tab)); n != 1 || tab.Holds(`!!`+triedHTTP3) {
			t.Errorf("%d requests: %v", n, apiRequests(tab))
		}
	})
	for left, requests := range map[string]int{"RATE_LIMIT_REQUESTS=6": 2, "RATE_LIMIT_REQUESTS=5": 1} {
		t.Run(left, func(t *testing.T) {
			t.Parallel()
			origin, err := startPages("gateway-"+strings.ToLower(strings.ReplaceAll(left, "=", "-")), append(append([]string{},
				unlimited...), "TRUST_PROXY_HEADERS=true", left, "RATE_LIMIT_WINDOW=1h")...)
			if err != nil {
				t.Fatal(err)
			}
			tab := openTab(t, browser.Options{Origin: origin})
			tab.Open(toolPath("http-headers", "https://works."+lab.HTTP3Zone+"/"))
			untilAnswered(tab)
			if requests == 2 {
				tab.UntilWithin(triedHTTP3, patience)
			}
			tab.Settle()
			if n := len(apiRequests(tab)); n != requests {
				t.Errorf("%d requests, want %d: %v", n, requests, apiRequests(tab))
			}
		})
	}
}
